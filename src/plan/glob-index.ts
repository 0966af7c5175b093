/**
 * Globs of names, found by what they say. A glob has a beginning, an end, and of what stands between asterisks the longest piece: those whose three have
 * the same lengths are a table, in which a name is looked up by its own beginning, end and pieces of these lengths. There are few such lengths, however
 * many globs there are, so that a search costs the length of the name.
 */
export interface GlobIndex<T> {
  readonly add: (glob: string, value: T) => void
  /** The values of all globs that match a name, and perhaps of others, each once. */
  readonly near: (name: string) => Iterable<T>
}

/** A table of globs with the same lengths of beginning, end and piece. */
interface GlobTable<T> {
  readonly first: number
  readonly last: number
  readonly piece: number
  readonly values: Map<string, Set<T>>
}

export function globIndex<T>(): GlobIndex<T> {
  const ofNames = new Map<string, Set<T>>()
  const tables = new Map<string, GlobTable<T>>()
  return {
    add(glob, value) {
      const parts = glob.split('*')
      if (parts.length === 1) {
        addTo(ofNames, glob, value)
        return
      }
      const [first = '', last = ''] = [parts[0], parts.at(-1)]
      const piece = parts.slice(1, -1).reduce((longest, part) => (part.length > longest.length ? part : longest), '')
      const lengths = `${first.length} ${last.length} ${piece.length}`
      let table = tables.get(lengths)
      if (table === undefined) {
        table = { first: first.length, last: last.length, piece: piece.length, values: new Map() }
        tables.set(lengths, table)
      }
      addTo(table.values, first + last + piece, value)
    },
    near(name) {
      const found = [...(ofNames.get(name) ?? [])]
      for (const table of tables.values()) for (const values of valuesOf(table, name)) found.push(...values)
      return found.length < 2 ? found : new Set(found)
    },
  }
}

function* valuesOf<T>({ first, last, piece, values }: GlobTable<T>, name: string): Generator<Iterable<T>> {
  const end = name.length - last
  if (end - first < piece) return
  const ends = name.slice(0, first) + name.slice(end)
  for (let from = first; from + piece <= end; from += 1) {
    const some = values.get(ends + name.slice(from, from + piece))
    if (some) yield some
    if (piece === 0) return
  }
}

function addTo<T>(groups: Map<string, Set<T>>, key: string, value: T): void {
  const group = groups.get(key)
  if (group) group.add(value)
  else groups.set(key, new Set([value]))
}

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

/** A test for a glob in which `*` stands for any run of characters, also across dots. The time is linear in glob and text. */
export function globTest(glob: string): (text: string) => boolean {
  const parts = glob.split('*')
  if (parts.length === 1) return (text) => text === glob
  const first = parts[0] as string
  const last = parts[parts.length - 1] as string
  const middle = parts.slice(1, -1).filter((part) => part !== '')
  const searches = middle.map(searchFor)
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    const end = text.length - last.length
    let from = first.length
    for (const [i, part] of middle.entries()) {
      const found = searches[i]?.(text, from) ?? -1
      if (found === -1 || found + part.length > end) return false
      from = found + part.length
    }
    return true
  }
}

/** Letters up to which the engine's own search is fast in the worst case too. */
const SHORT = 32

/** Where a part begins in a text, from a place on; -1 if nowhere. A long part is searched for in linear time (Knuth, Morris, Pratt 1977). */
function searchFor(part: string): (text: string, from: number) => number {
  if (part.length <= SHORT) return (text, from) => text.indexOf(part, from)
  /** For each length of a beginning of the part, the length of the longest shorter beginning that it ends with. */
  const borders = new Int32Array(part.length + 1)
  const extend = (length: number, character: number): number => {
    let known = length
    while (known > 0 && part.charCodeAt(known) !== character) known = borders[known] as number
    return part.charCodeAt(known) === character ? known + 1 : 0
  }
  for (let length = 2; length <= part.length; length += 1)
    borders[length] = extend(borders[length - 1] as number, part.charCodeAt(length - 1))
  return (text, from) => {
    let length = 0
    for (let at = from; at < text.length; at += 1) {
      length = extend(length, text.charCodeAt(at))
      if (length === part.length) return at + 1 - length
    }
    return -1
  }
}

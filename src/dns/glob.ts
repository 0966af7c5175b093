/**
 * An index of globs. The key of a glob is its prefix, its suffix and the longest piece between asterisks. Globs whose keys have the same lengths
 * share a table, in which a name is looked up by its own prefix, suffix and pieces of these lengths. There are few such lengths even for many
 * globs, so a lookup takes time linear in the length of the name.
 */
export interface GlobIndex<T> {
  readonly add: (glob: string, value: T) => void
  /** The values of all globs that match a name and possibly of others, without duplicates. */
  readonly near: (name: string) => Iterable<T>
}

/** The parts of a glob between its asterisks. `\\*` is an asterisk itself. */
const partsOf = (glob: string): string[] => glob.split(/(?<!\\)\*/).map((part) => part.replaceAll('\\*', '*'))

/** Globs with the same lengths of prefix, suffix and piece. */
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
      const parts = partsOf(glob)
      if (parts.length === 1) {
        addTo(ofNames, parts[0] as string, value)
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

/** Returns a test for a glob in which `*` matches any characters, including dots, and `\\*` an asterisk. It takes time linear in glob and text. */
export function globTest(glob: string): (text: string) => boolean {
  const parts = partsOf(glob)
  if (parts.length === 1) return (text) => text === parts[0]
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

/** Up to this length `indexOf` is fast even in the worst case. */
const SHORT = 32

/** Returns a search for a part: its offset in a text at or after `from`, or -1. Long parts use a linear search (Knuth, Morris, Pratt 1977). */
function searchFor(part: string): (text: string, from: number) => number {
  if (part.length <= SHORT) return (text, from) => text.indexOf(part, from)
  /** Per length of a prefix of the part, the length of its longest proper prefix that is also its suffix. */
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

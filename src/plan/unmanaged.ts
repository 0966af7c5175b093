import { textOfRdata } from '../dns/character-string.ts'
import { type DomainName, parseDomainName, relativeName } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import type { UnmanagedSelector } from '../dns/zone.ts'
import type { Change } from './change.ts'
import { globIndex } from './glob-index.ts'

/**
 * A test for records of `zone` that any of the selectors leaves to others. Cost is linear, for each record, in the length of its name and the selectors
 * whose names say the same of it (see `globIndex`), as those without a name do.
 */
export function unmanagedTest(selectors: readonly UnmanagedSelector[], zone: DomainName): (record: ResourceRecord) => boolean {
  if (selectors.length === 0) return () => false
  const tests = globIndex<SelectorTest>()
  for (const selector of selectors) {
    const glob = nameGlob(selector.name ?? '*')
    tests.add(glob, selectorTest(selector, glob.includes('*') ? globTest(glob) : null))
  }
  return (record) => {
    const relative = relativeName(record.name, zone)
    for (const test of tests.near(relative)) if (test(record, relative)) return true
    return false
  }
}

/** Tests a record with its name relative to the zone. */
type SelectorTest = (record: ResourceRecord, relative: string) => boolean

function selectorTest(selector: UnmanagedSelector, name: ((relative: string) => boolean) | null): SelectorTest {
  const target = selector.target === undefined ? null : globTest(selector.target.toLowerCase())
  const type = selector.type?.toUpperCase()
  return (record, relative) =>
    (type === undefined || record.type === type) &&
    (name === null || name(relative)) &&
    (target === null || target(record.data.toLowerCase()) || matchesText(record, target))
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['TXT', 'SPF'])

/** Whether the text of a TXT or SPF record matches as its author thinks of it: its strings joined, without quotes and escapes. */
function matchesText({ type, data }: ResourceRecord, target: (text: string) => boolean): boolean {
  const octets = TEXT_TYPES.has(type) ? textOfRdata(data) : null
  return octets !== null && target(Buffer.from(octets).toString('utf8').toLowerCase())
}

/**
 * The selectors whose records may come and go while changes wait to be applied, without their places. None where the zone is deleted, with all that is in
 * it, and where a change is itself of a record they select: of that nothing may move.
 */
export function selectorsBeside(
  changes: readonly Change[],
  selectors: readonly UnmanagedSelector[],
  zone: DomainName,
): readonly UnmanagedSelector[] {
  const isUnmanaged = unmanagedTest(selectors, zone)
  const reached = changes.some((change) =>
    change.subject === 'domain'
      ? change.action === 'delete'
      : (change.existing !== null && isUnmanaged(change.existing)) || (change.desired !== null && isUnmanaged(change.desired)),
  )
  return reached ? [] : selectors.map(({ at, ...selector }) => selector)
}

/** A glob over relative names, its Unicode labels as A-labels so that both forms of a name meet. */
function nameGlob(glob: string): string {
  if (glob === '@') return ''
  if (/^[\x20-\x7e]*$/.test(glob)) return glob.toLowerCase()
  const ascii = parseDomainName(`${glob}.`)
  return ascii.ok ? ascii.value.slice(0, -1) : glob.toLowerCase()
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

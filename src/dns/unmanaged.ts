/** Matches records with selectors of `unmanaged`. */
import { parseTxtRdata } from './character-string.ts'
import { type DomainName, isAtOrBelow, parseDomainName, relativeName } from './domain-name.ts'
import { globIndex, globTest } from './glob.ts'
import type { ResourceRecord } from './record.ts'
import type { UnmanagedSelector } from './zone.ts'

/**
 * Returns a test for records of `zone` that a selector leaves unmanaged. Its time per record is linear in the length of the name and the number of
 * selectors whose name globs are near (see `globIndex`).
 */
export function unmanagedTest(selectors: readonly UnmanagedSelector[], zone: DomainName): (record: ResourceRecord) => boolean {
  if (selectors.length === 0) return () => false
  const tests = globIndex<SelectorTest>()
  for (const selector of selectors) {
    const glob = nameGlob(selector.name ?? '*')
    tests.add(glob, selectorTest(selector, glob.includes('*') ? globTest(glob) : null))
  }
  return (record) => {
    // A file may hold anything.
    if (!isAtOrBelow(record.name, zone)) return false
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

/** Whether the text of a TXT or SPF record matches: its strings joined, without quotes and escapes. */
function matchesText({ type, data }: ResourceRecord, target: (text: string) => boolean): boolean {
  const octets = TEXT_TYPES.has(type) ? parseTxtRdata(data) : null
  return octets !== null && target(Buffer.from(octets).toString('utf8').toLowerCase())
}

/** A glob for names, in the form in which they are compared. Unicode labels become A-labels, so both spellings of a name match. */
export function nameGlob(glob: string): string {
  if (glob === '@') return ''
  if (/^[\x20-\x7e]*$/.test(glob)) return glob.toLowerCase()
  const ascii = parseDomainName(`${glob}.`)
  return ascii.ok ? ascii.value.slice(0, -1) : glob.toLowerCase()
}

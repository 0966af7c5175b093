import { parseTxtRdata } from './character-string.ts'
import { type DomainName, parseDomainName, relativeName } from './domain-name.ts'
import { globIndex, globTest } from './glob.ts'
import type { ResourceRecord } from './record.ts'
import type { UnmanagedSelector } from './zone.ts'

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
  const octets = TEXT_TYPES.has(type) ? parseTxtRdata(data) : null
  return octets !== null && target(Buffer.from(octets).toString('utf8').toLowerCase())
}

/** A glob over relative names, its Unicode labels as A-labels so that both forms of a name meet. */
function nameGlob(glob: string): string {
  if (glob === '@') return ''
  if (/^[\x20-\x7e]*$/.test(glob)) return glob.toLowerCase()
  const ascii = parseDomainName(`${glob}.`)
  return ascii.ok ? ascii.value.slice(0, -1) : glob.toLowerCase()
}

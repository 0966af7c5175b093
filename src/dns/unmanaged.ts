/** Matches records with selectors of `unmanaged`. */
import { parseTxtRdata } from './character-string.ts'
import { type DomainName, isAtOrBelow, parseDomainName, relativeName } from './domain-name.ts'
import { globIndex, globTest } from './glob.ts'
import { externalDnsTest, type LiveRecord, presetTest } from './other-clients.ts'
import { type ResourceRecord, recordKey, rrsetKey } from './record.ts'
import type { ExistingZone, UnmanagedSelector } from './zone.ts'

/** What selectors of an owner or a preset are judged by. */
export interface LiveContext {
  /** The live zone, also at several times. */
  readonly live: readonly (ExistingZone | null)[]
  /** The records of the definition, as the target stores them; none if absent. */
  readonly declared?: readonly ResourceRecord[] | undefined
}

/**
 * Returns a test for records of `zone` that a selector leaves unmanaged. Without a live zone, no selector of an owner or a preset matches. Its time per
 * record is linear in the length of the name and the number of selectors whose name globs are near (see `globIndex`).
 */
export function unmanagedTest(
  selectors: readonly UnmanagedSelector[],
  zone: DomainName,
  context: LiveContext | null = null,
): (record: ResourceRecord) => boolean {
  if (selectors.length === 0) return () => false
  const tests = globIndex<SelectorTest>()
  for (const selector of selectors) {
    const isOfClient = selector.owner === undefined && selector.preset === undefined ? null : clientTest(selector, context)
    const glob = nameGlob(selector.name ?? '*')
    tests.add(glob, selectorTest(selector, glob.includes('*') ? globTest(glob) : null, isOfClient))
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

/** A test for the records of an owner, of a preset, or of both. Other clients may share a TXT RRset, so only declared values of it are managed. */
function clientTest({ owner, preset }: UnmanagedSelector, context: LiveContext | null): (record: ResourceRecord) => boolean {
  if (context === null) return () => false
  const keyOf = (record: LiveRecord): string => (record.type === 'TXT' ? recordKey(record) : rrsetKey(record))
  const declared = new Set((context.declared ?? []).map(keyOf))
  const isDeclared = (record: LiveRecord): boolean => declared.has(keyOf(record))
  const live = context.live.flatMap((one) => (one === null ? [] : [...one.records, ...(one.unplanned ?? [])]))
  const isOwned = owner === undefined ? null : externalDnsTest(live, isDeclared)
  const isPreset = preset === undefined ? null : presetTest(preset, live)
  return (record) => (isOwned === null || isOwned(record)) && (isPreset === null || (isPreset(record) && !isDeclared(record)))
}

function selectorTest(
  selector: UnmanagedSelector,
  name: ((relative: string) => boolean) | null,
  isOfClient: ((record: ResourceRecord) => boolean) | null,
): SelectorTest {
  const target = selector.target === undefined ? null : globTest(selector.target.toLowerCase())
  const type = selector.type?.toUpperCase()
  return (record, relative) =>
    (type === undefined || record.type === type) &&
    (name === null || name(relative)) &&
    (isOfClient === null || isOfClient(record)) &&
    (target === null || target(record.data.toLowerCase()) || matchesText(record, target))
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['TXT', 'SPF'])

/** Whether the text of a TXT or SPF record matches: its strings joined, without quotes and escapes. */
function matchesText({ type, data }: ResourceRecord, target: (text: string) => boolean): boolean {
  const octets = TEXT_TYPES.has(type) ? parseTxtRdata(data) : null
  return octets !== null && target(Buffer.from(octets).toString('utf8').toLowerCase())
}

/** A selector without its position, its keys in the order of documents. */
export const plainSelector = ({ name, type, target, owner, preset }: UnmanagedSelector) => ({
  ...(name !== undefined && { name }),
  ...(type !== undefined && { type }),
  ...(target !== undefined && { target }),
  ...(owner !== undefined && { owner }),
  ...(preset !== undefined && { preset }),
})

/** A glob for names, in the form in which they are compared. Unicode labels become A-labels, so both spellings of a name match. */
export function nameGlob(glob: string): string {
  if (glob === '@') return ''
  // Only labels that need it: parsing would remove the backslash of an asterisk that stands for itself.
  const labels = glob.split('.').map((label) => {
    const ascii = /^[\x20-\x7e]*$/.test(label) ? null : parseDomainName(`${label}.`)
    return ascii?.ok ? ascii.value.slice(0, -1) : label.toLowerCase()
  })
  return labels.join('.')
}

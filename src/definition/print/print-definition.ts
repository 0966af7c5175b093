import { compareNames, type DomainName, relativeName } from '../../dns/domain-name.ts'
import { compareRecords, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import { ZONE_SETTINGS, type ZoneSettings } from '../../dns/zone.ts'
import type { ImportedZone } from '../imported-zone.ts'
import { SETTING_KEYS } from '../parse/keys.ts'
import { type PlainYaml, printEntry, printText } from '../yaml/print-plain.ts'
import { apartLines, commentIndex, commentLines, withComments } from './definition-comments.ts'
import { compareNatural } from './natural-order.ts'
import { type PrintedRrset, printRrset } from './print-rrset.ts'
import { printValue } from './print-value.ts'

/** Records that share a TTL before it is worth a line of its own. */
const MANY = 3

/**
 * A new definition in the layout with settings, as `fmt` would have it. Reading it gives the settings and records again, all of them;
 * a record without a TTL has none again. Comments stand where what they are about does.
 */
export function printDefinition(zone: ImportedZone): string {
  const commentsOf = commentIndex(zone.comments ?? [], zone.records)
  const ofAll = commentsOf({ name: null })
  const defaultTtl = commonestTtl(zone.records)
  const settings: Record<string, PlainYaml> = { domain: zone.name.slice(0, -1) }
  for (const key of ZONE_SETTINGS) {
    const value = zone.settings[key]
    if (value !== undefined) settings[key] = value
  }
  if (defaultTtl !== null) settings['default_ttl'] = defaultTtl
  if (zone.targets !== undefined) settings['targets'] = zone.targets
  if (zone.policy !== undefined) settings['policy'] = zone.policy
  if (zone.apexNs === 'manage') settings['apex_ns'] = 'manage'
  if (zone.unmanaged && zone.unmanaged.length > 0) {
    settings['unmanaged'] = zone.unmanaged.map(({ name, type, target }) => ({
      ...(name !== undefined && { name }),
      ...(type !== undefined && { type }),
      ...(target !== undefined && { target }),
    }))
  }
  const extras = extrasOf(zone)
  let text = apartLines(ofAll.apart, 0) + commentLines(ofAll.above, 0)
  for (const key of SETTING_KEYS) {
    const value = settings[key]
    const comments = commentsOf({ name: null, setting: key as keyof ZoneSettings })
    // Those of a setting that is not there stand where it would.
    text += value === undefined ? withComments('', comments, 0) : withComments(printEntry(key, value, 0), comments, 0)
  }
  const end = ofAll.end.map((one) => `\n${commentLines([one], 0)}`).join('')
  if (zone.settings.type === 'slave' && zone.records.length === 0) return text + end
  if (zone.records.length === 0) return `${text}records: {}\n${end}`
  text += 'records:\n'
  for (const { name, records } of byOwner(zone.records, zone.name)) {
    text += commentLines(commentsOf({ name }).above, 2)
    const sets = rrsetsOf(records, zone.name, defaultTtl, extras).map((set) => ({ ...set, commentsOf }))
    const [first] = sets
    const key = relativeName(name, zone.name)
    if (sets.length === 1 && first) text += printRrset(key, first, 2)
    else text += `  ${printText(key, 'key')}:\n${sets.map((set) => printRrset(null, set, 4)).join('')}`
  }
  return (text.endsWith('\n\n') ? text.slice(0, -1) : text) + end
}

/** The TTL that most records have, where all have one and that saves lines; null otherwise. */
function commonestTtl(records: readonly ResourceRecord[]): Ttl | null {
  const counts = new Map<Ttl, number>()
  for (const { ttl } of records) {
    if (ttl === null) return null
    counts.set(ttl, (counts.get(ttl) ?? 0) + 1)
  }
  let commonest: Ttl | null = null
  for (const [ttl, count] of counts) if (count >= MANY && count > (commonest === null ? 0 : (counts.get(commonest) ?? 0))) commonest = ttl
  return commonest
}

interface OwnerRecords {
  readonly name: DomainName
  readonly records: readonly ResourceRecord[]
}

function byOwner(records: readonly ResourceRecord[], zone: DomainName): OwnerRecords[] {
  const owners = new Map<DomainName, ResourceRecord[]>()
  for (const record of records) {
    const known = owners.get(record.name)
    if (known) known.push(record)
    else owners.set(record.name, [record])
  }
  return [...owners]
    .map(([name, all]) => ({ name, key: relativeName(name, zone), records: all.sort(compareRecords) }))
    .sort((a, b) => compareNatural(a.key, b.key) || compareNames(a.name, b.name))
}

/** The entries of one owner, an RRset each, or more of them where its TTLs differ. */
function rrsetsOf(
  records: readonly ResourceRecord[],
  zone: DomainName,
  defaultTtl: Ttl | null,
  extras: ReadonlyMap<string, PlainYaml>,
): Pick<PrintedRrset, 'records' | 'entry'>[] {
  const sets = new Map<string, ResourceRecord[]>()
  for (const record of records) {
    const key = `${record.type} ${record.ttl}`
    const known = sets.get(key)
    if (known) known.push(record)
    else sets.set(key, [record])
  }
  return [...sets.values()].map((set) => {
    const { type, ttl } = set[0] as ResourceRecord
    const values = set.map((record) => printValue(type, record.data, zone))
    const [value] = values
    const octodns = extras.get(rrsetKey(set[0] as ResourceRecord))
    const entry = {
      type,
      ...(ttl !== null && ttl !== defaultTtl && { ttl }),
      ...(values.length === 1 && value !== undefined ? { value } : { values }),
      ...(octodns !== undefined && { octodns }),
    }
    return { records: set, entry }
  })
}

/** What stands under `octodns:` of RRsets, by `rrsetKey`. */
function extrasOf({ scopes = [], lenient = new Set() }: ImportedZone): Map<string, PlainYaml> {
  const extras = new Map<string, PlainYaml>()
  for (const key of lenient) extras.set(key, { lenient: true })
  for (const scope of scopes) {
    const key = rrsetKey(scope)
    extras.set(key, {
      ...(scope.ignored && { ignored: true }),
      ...(scope.included.length > 0 && { included: scope.included }),
      ...(scope.excluded.length > 0 && { excluded: scope.excluded }),
      ...(lenient.has(key) && { lenient: true }),
    })
  }
  return extras
}

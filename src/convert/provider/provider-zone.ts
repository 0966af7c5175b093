import type { Config } from '../../definition/config/config.ts'
import type { ImportedRecord, ImportedZone } from '../../definition/imported-zone.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { type ExistingRecord, recordKey } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ExistingZone, UnmanagedSelector } from '../../dns/zone.ts'
import type { ZoneComment } from '../../dns/zone-comment.ts'
import { automationRecords } from '../automation-records.ts'
import type { UnsupportedFeature } from '../conversion.ts'
import { type DefinableRecords, definableRecords, type Holder, type UndefinableRecord } from '../definable-records.ts'
import { excerpt } from '../excerpt.ts'
import { type DerivedSelectors, isExposed, unmanagedSelectorsFor } from '../unmanaged-selectors.ts'
import { definableSettings } from './provider-settings.ts'

export interface ProviderZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
}

/**
 * A zone as a provider holds it, to be defined so that a plan of the definition is empty: what the config's defaults would add is said
 * otherwise, what is said by saying nothing is left out, and what no definition can have is left alone.
 */
export function zoneOfProvider(existing: ExistingZone, config: Pick<Config, 'defaults'>, holder: Holder): ProviderZone {
  const { name } = existing
  const { settings, dropped } = definableSettings(existing, config.defaults.settings, holder)
  // The records of a slave are its master's.
  if (existing.settings.type === 'slave') return { zone: { name, settings, records: [] }, dropped }
  const definable = definableRecords(existing, eachOnce(existing.records), holder)
  const left = unmanagedSelectorsFor(name, definable)
  const records = definable.records.map(
    (record): ImportedRecord => ({ name: record.name, type: record.type, ttl: ttlOf(record, config.defaults.ttl), data: record.data }),
  )
  const { selectors } = left
  const zone: ImportedZone = {
    name,
    settings,
    records,
    ...(selectors.length > 0 && { unmanaged: selectors }),
    comments: apart([...commentOnLeft(name, definable, left, holder), ...guesses(name, records, selectors.length > 0)]),
  }
  return { zone, dropped: [...dropped, ...definable.others.map((other) => lostRecord(name, other, left, holder))] }
}

/** Of exact duplicates the one that the provider lists first: a definition says a record once. */
function eachOnce(records: readonly ExistingRecord[]): ExistingRecord[] {
  const known = new Set<string>()
  return records.filter((record) => known.size < known.add(recordKey(record)).size)
}

/** Without a TTL a record would get the config's; 0 is no TTL of its own either, where there are defaults. */
const ttlOf = ({ ttl }: ExistingRecord, defaultTtl: Ttl | null): Ttl | null => (ttl === null && defaultTtl !== null ? (0 as Ttl) : ttl)

function lostRecord(zone: DomainName, { record, why }: UndefinableRecord, left: DerivedSelectors, { target }: Holder): UnsupportedFeature {
  const what = `${excerpt(record.data)}: ${why}`
  const outcome = isExposed(record, left)
    ? `no selector of "unmanaged" tells it from others, so that the next plan deletes it at ${target}`
    : `"unmanaged" in the definition leaves it as it is at ${target}`
  return { zone, name: record.name, type: record.type, what, outcome }
}

/** Records that a comment lists one by one. */
const MOST_LISTED = 20

function commentOnLeft(zone: DomainName, { others }: DefinableRecords, left: DerivedSelectors, { target }: Holder): ZoneComment[] {
  const kept = others.filter(({ record }) => !isExposed(record, left))
  if (kept.length === 0) return []
  const lines = kept
    .slice(0, MOST_LISTED)
    .map(({ record: { name, type, data }, why }) => `  ${relativeName(name, zone) || '@'} ${type} ${excerpt(data)}: ${why}`)
  if (kept.length > MOST_LISTED) lines.push(`  and ${kept.length - MOST_LISTED} more`)
  return [
    { name: null, text: [`What ${target} holds and no definition can have, so that "unmanaged" leaves it alone:`, ...lines].join('\n') },
  ]
}

/** Comments of one place with an empty line between them. */
const apart = (comments: readonly ZoneComment[]): ZoneComment[] =>
  comments.map((comment, index) => (index < comments.length - 1 ? { ...comment, text: `${comment.text}\n` } : comment))

/** Selectors that a comment lists. */
const MOST_SELECTORS = 200

/** Words about records that are perhaps somebody else's, with the setting that leaves them alone. */
function guesses(zone: DomainName, records: readonly ImportedRecord[], hasSelectors: boolean): ZoneComment[] {
  const found = automationRecords(zone, records)
  const selectors = found.flatMap((one) => one.selectors)
  if (selectors.length === 0) return []
  const about = `${found.map((one) => one.about).join('\n')}${found.length === 1 ? ' ' : '\n'}If they are, take them out of "records"`
  const printed = selectors.slice(0, MOST_SELECTORS).map(printSelector)
  const isOne = selectors.length === 1
  const more = selectors.length > MOST_SELECTORS ? `\nand ${selectors.length - MOST_SELECTORS} more` : ''
  const list = isOne ? printed.join() : printed.map((one) => `  - ${one}`).join('\n') + more
  const text = hasSelectors
    ? `${about}\nand add ${isOne ? 'this' : 'these'} to "unmanaged", and they are never touched and never counted:\n${list}`
    : `${about}\nand the number ${isOne ? 'sign off this line' : 'signs off these lines'}, and they are never touched and never counted:\nunmanaged:${isOne ? ` [${list}]` : `\n${list}`}`
  return [{ name: null, text }]
}

const printSelector = ({ name, type, target }: UnmanagedSelector): string => {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
  const parts = [name === undefined ? [] : `name: ${quoted(name)}`, type === undefined ? [] : `type: ${type}`]
  return `{${[...parts, target === undefined ? [] : `target: ${quoted(target)}`].flat().join(', ')}}`
}

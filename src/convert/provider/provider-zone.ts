/** Converts a zone of a provider to a definition whose plan is empty. */
import type { Config } from '../../definition/config/config.ts'
import type { ImportedRecord, ImportedZone } from '../../definition/imported-zone.ts'
import { parseTxtRdata } from '../../dns/character-string.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { type ExistingRecord, type ResourceRecord, recordKey, rrsetKey, statedSettings } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ExistingZone, UnmanagedSelector, UnplannedRecord, ZoneComment } from '../../dns/zone.ts'
import { undescribableReason } from '../../plan/undescribable.ts'
import {
  type DefinableRecords,
  type DerivedSelectors,
  definableRecords,
  isInseparable,
  type UndefinableRecord,
  unmanagedSelectorsFor,
  type ZoneTarget,
} from '../definable-records.ts'
import { definableSettings } from '../definable-settings.ts'
import { shownData, type UnsupportedFeature } from '../unsupported-features.ts'

export interface ProviderZone {
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
}

/**
 * Converts a provider's zone to a definition whose plan is empty. Settings that the config's defaults would add are overridden, settings
 * with their default value are left out, and selectors of unmanaged records protect what no definition can contain.
 */
export function convertProviderZone(existing: ExistingZone, config: Pick<Config, 'defaults'>, zoneTarget: ZoneTarget): ProviderZone {
  const { name } = existing
  const { settings, dropped } = definableSettings(existing, config.defaults.settings, zoneTarget)
  // A slave zone gets its records from its masters.
  if (existing.settings.type === 'slave') return { zone: { name, settings, records: [] }, dropped }
  const definable = definableRecords(existing, withoutDuplicates(existing.records), zoneTarget)
  const derived = unmanagedSelectorsFor(name, definable)
  const records = definable.records.map(
    (record): ImportedRecord => ({
      name: record.name,
      type: record.type,
      ttl: ttlOf(record, config.defaults.ttl),
      data: record.data,
      ...settingsOf(record, zoneTarget),
    }),
  )
  const { selectors } = derived
  const zone: ImportedZone = {
    name,
    settings,
    records,
    ...(selectors.length > 0 && { unmanaged: selectors }),
    comments: withBlankLines([
      ...undefinableComment(name, definable, derived, zoneTarget),
      ...automationComment(name, records, selectors.length > 0),
    ]),
  }
  const unplanned = (existing.unplanned ?? []).map((record) => unplannedRecord(name, record, zoneTarget))
  return {
    zone,
    dropped: [...dropped, ...unplanned, ...definable.undefinable.map((other) => droppedRecord(name, other, derived, zoneTarget))],
  }
}

/** Keeps the first of exact duplicates: a definition can contain a record once. */
function withoutDuplicates(records: readonly ExistingRecord[]): ExistingRecord[] {
  const known = new Set<string>()
  return records.filter((record) => known.size < known.add(recordKey(record)).size)
}

/** A record without a TTL would get the default of the config. A TTL of 0 prevents that: it too means the zone's default. */
const ttlOf = ({ ttl }: ExistingRecord, defaultTtl: Ttl | null): Ttl | null => (ttl === null && defaultTtl !== null ? (0 as Ttl) : ttl)

function settingsOf(record: ExistingRecord, { capabilities }: ZoneTarget): Pick<ImportedRecord, 'providerSettings'> {
  const stated = statedSettings(record)
  if (stated.length === 0 || capabilities.recordSettings === undefined) return {}
  return { providerSettings: { [capabilities.recordSettings]: Object.fromEntries(stated) } }
}

function droppedRecord(
  zone: DomainName,
  { record, reason }: UndefinableRecord,
  derived: DerivedSelectors,
  { target, capabilities }: ZoneTarget,
): UnsupportedFeature {
  const what = `${shownData(record.data)}: ${reason}`
  const outcome = !isInseparable(record, derived)
    ? `"unmanaged" in the definition keeps it unchanged at ${target}`
    : undescribableReason(record, zone, capabilities) !== null
      ? `plans leave it unchanged at ${target}`
      : `no selector of "unmanaged" can separate it from managed records, so the next plan deletes it at ${target}`
  return { zone, name: record.name, type: record.type, what, outcome }
}

const unplannedRecord = (zone: DomainName, record: UnplannedRecord, { target }: ZoneTarget): UnsupportedFeature => ({
  zone,
  name: record.name,
  type: record.type,
  what: `${shownData(record.data)}: the record ${record.reason}`,
  outcome: `plans leave it unchanged at ${target}`,
  keepsRecords: true,
})

/** Records that a comment lists one by one. */
const MAX_LISTED = 20

function undefinableComment(
  zone: DomainName,
  { undefinable }: DefinableRecords,
  derived: DerivedSelectors,
  { target }: ZoneTarget,
): ZoneComment[] {
  const kept = undefinable.filter(({ record }) => !isInseparable(record, derived))
  if (kept.length === 0) return []
  const lines = kept
    .slice(0, MAX_LISTED)
    .map(({ record: { name, type, data }, reason }) => `  ${relativeName(name, zone) || '@'} ${type} ${shownData(data)}: ${reason}`)
  if (kept.length > MAX_LISTED) lines.push(`  and ${kept.length - MAX_LISTED} more`)
  return [{ name: null, text: [`Records at ${target} that no definition can contain; "unmanaged" keeps them:`, ...lines].join('\n') }]
}

/** Separates comments at the same place by an empty line. */
const withBlankLines = (comments: readonly ZoneComment[]): ZoneComment[] =>
  comments.map((comment, index) => (index < comments.length - 1 ? { ...comment, text: `${comment.text}\n` } : comment))

/** Selectors that a comment lists. */
const MAX_SELECTORS = 200

/** A comment on records that other software probably manages, with the setting that leaves them to it. */
function automationComment(zone: DomainName, records: readonly ImportedRecord[], hasSelectors: boolean): ZoneComment[] {
  const found = automationRecords(zone, records)
  const selectors = found.flatMap((one) => one.selectors)
  if (selectors.length === 0) return []
  const about = `${found.map((one) => one.about).join('\n')}${found.length === 1 ? ' ' : '\n'}If so, remove them from "records"`
  const printed = selectors.slice(0, MAX_SELECTORS).map(printSelector)
  const isOne = selectors.length === 1
  const more = selectors.length > MAX_SELECTORS ? `\nand ${selectors.length - MAX_SELECTORS} more` : ''
  const list = isOne ? printed.join() : printed.map((one) => `  - ${one}`).join('\n') + more
  const text = hasSelectors
    ? `${about}\nand add ${isOne ? 'this' : 'these'} to "unmanaged", so that no plan changes or counts them:\n${list}`
    : `${about}\nand uncomment ${isOne ? 'this line' : 'these lines'}, so that no plan changes or counts them:\nunmanaged:${isOne ? ` [${list}]` : `\n${list}`}`
  return [{ name: null, text }]
}

const printSelector = ({ name, type, target }: UnmanagedSelector): string => {
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
  const parts = [name === undefined ? [] : `name: ${quoted(name)}`, type === undefined ? [] : `type: ${type}`]
  return `{${[...parts, target === undefined ? [] : `target: ${quoted(target)}`].flat().join(', ')}}`
}

/** Records that other software probably creates and updates: guesses for the user to judge. */
interface AutomationRecords {
  /** Which records they are and which software probably manages them. */
  readonly about: string
  /** Selectors for exactly these records, and for future ones if their names identify them. */
  readonly selectors: readonly UnmanagedSelector[]
}

/** Finds records in a zone that look generated; none in most zones. */
function automationRecords(zone: DomainName, records: readonly ResourceRecord[]): AutomationRecords[] {
  const named = records.map((record) => ({ record, relative: relativeName(record.name, zone) }))
  const found: AutomationRecords[] = []
  const challenges = named.filter(({ record, relative }) => record.type === 'TXT' && /(?:^|\.)_acme-challenge(?:\.|$)/.test(relative))
  if (challenges.length > 0) {
    // Challenges per account have an account label before _acme-challenge (dns-account-01).
    const before = challenges.every(({ relative }) => relative.startsWith('_acme-challenge')) ? '' : '*'
    const about = 'Records at _acme-challenge usually belong to a certificate client.'
    found.push({ about, selectors: [{ name: `${before}_acme-challenge*`, type: 'TXT' }] })
  }
  if (named.some(({ record, relative }) => record.type === 'TXT' && /^_dnsauth(?:\.|$)/.test(relative)))
    found.push({
      about: 'Records at _dnsauth usually prove a domain to a certificate authority.',
      selectors: [{ name: '_dnsauth*', type: 'TXT' }],
    })
  found.push(...externalDnsRecords(named), ...dhcpRecords(named))
  return found
}

interface NamedRecord {
  readonly record: ResourceRecord
  readonly relative: string
}

/** The start of the TXT records in which external-dns registers its records. Some providers keep the quotation marks in the text. */
const HERITAGE = /^"?heritage=external-dns,/

/** Record types that external-dns manages. */
const EXTERNAL_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'MX', 'NAPTR', 'NS', 'PTR', 'SRV', 'TXT'])

function externalDnsRecords(named: readonly NamedRecord[]): AutomationRecords[] {
  const isNote = ({ type, data }: ResourceRecord): boolean =>
    type === 'TXT' && HERITAGE.test(Buffer.from(parseTxtRdata(data) ?? []).toString('latin1'))
  const notes = named.filter(({ record }) => isNote(record))
  if (notes.length === 0) return []
  const owned = new Map<string, UnmanagedSelector>()
  const add = ({ record: { name, type }, relative }: NamedRecord): void => {
    if (relative !== '' && !relative.includes('*')) owned.set(rrsetKey({ name, type }), { name: relative, type })
  }
  /**
   * Record sets by the names that external-dns gives its TXT record for them: the type and a hyphen or dot before the name, or the name
   * itself.
   */
  const byNote = new Map<string, NamedRecord[]>()
  const note = (key: string, one: NamedRecord): void => {
    const known = byNote.get(key)
    if (known) known.push(one)
    else byNote.set(key, [one])
  }
  for (const one of named) {
    const { record, relative } = one
    if (!EXTERNAL_TYPES.has(record.type) || isNote(record)) continue
    const type = record.type.toLowerCase()
    note(`${type}-${relative}`, one)
    note(`${type}.${relative}`, one)
    if (['a', 'aaaa', 'cname'].includes(type)) note(`=${relative}`, one)
  }
  for (const { relative } of notes) {
    for (let from = 0; from < relative.length; from += 1) {
      const owners = byNote.get(relative.slice(from)) ?? (from === 0 ? byNote.get(`=${relative}`) : undefined)
      if (owners === undefined) continue
      for (const one of owners) add(one)
      break
    }
  }
  const about = 'Records with a TXT record "heritage=external-dns" belong to external-dns.'
  return [{ about, selectors: [{ type: 'TXT', target: '*heritage=external-dns,*' }, ...owned.values()] }]
}

/** A DHCP server updates names with a DHCID record (RFC 4703). */
function dhcpRecords(named: readonly NamedRecord[]): AutomationRecords[] {
  const names = new Set(named.filter(({ record }) => record.type === 'DHCID').map(({ relative }) => relative))
  const selectors = [...names].filter((name) => name !== '' && !name.includes('*')).map((name): UnmanagedSelector => ({ name }))
  return selectors.length === 0 ? [] : [{ about: 'Names with a DHCID record belong to a DHCP server (RFC 4703).', selectors }]
}

import type { Config } from '../../definition/config/config.ts'
import type { ImportedRecord, ImportedZone } from '../../definition/imported-zone.ts'
import { parseTxtRdata } from '../../dns/character-string.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { type ExistingRecord, type ResourceRecord, recordKey, rrsetKey } from '../../dns/record.ts'
import type { Ttl } from '../../dns/ttl.ts'
import type { ExistingZone, UnmanagedSelector, ZoneComment } from '../../dns/zone.ts'
import {
  type DefinableRecords,
  type DerivedSelectors,
  definableRecords,
  type Holder,
  isExposed,
  type UndefinableRecord,
  unmanagedSelectorsFor,
} from '../definable-records.ts'
import { definableSettings } from '../definable-settings.ts'
import { excerpt, type UnsupportedFeature } from '../unsupported-features.ts'

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

/** Records that programs have most likely made, and go on making: guesses, for a person to judge. */
interface AutomationRecords {
  /** Which records, and whose they mostly are. */
  readonly about: string
  /** Selectors that leave exactly such records alone, also those to come where their names say so. */
  readonly selectors: readonly UnmanagedSelector[]
}

/** What of a zone's records looks as if made by programs; empty for most zones. */
function automationRecords(zone: DomainName, records: readonly ResourceRecord[]): AutomationRecords[] {
  const named = records.map((record) => ({ record, relative: relativeName(record.name, zone) }))
  const found: AutomationRecords[] = []
  const challenges = named.filter(({ record, relative }) => record.type === 'TXT' && /(?:^|\.)_acme-challenge(?:\.|$)/.test(relative))
  if (challenges.length > 0) {
    // Challenges of one account have a label of it before theirs (dns-account-01).
    const before = challenges.every(({ relative }) => relative.startsWith('_acme-challenge')) ? '' : '*'
    const about = 'Records at _acme-challenge are mostly those of a certificate client.'
    found.push({ about, selectors: [{ name: `${before}_acme-challenge*`, type: 'TXT' }] })
  }
  if (named.some(({ record, relative }) => record.type === 'TXT' && /^_dnsauth(?:\.|$)/.test(relative)))
    found.push({
      about: 'Records at _dnsauth mostly prove a domain to a certificate authority.',
      selectors: [{ name: '_dnsauth*', type: 'TXT' }],
    })
  found.push(...ofExternalDns(named), ...ofDhcp(named))
  return found
}

interface NamedRecord {
  readonly record: ResourceRecord
  readonly relative: string
}

/** What begins the text of external-dns's records about its others (its TXT registry); some providers keep the quotation marks as text. */
const HERITAGE = /^"?heritage=external-dns,/

/** Types that external-dns makes records of. */
const EXTERNAL_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'MX', 'NAPTR', 'NS', 'PTR', 'SRV', 'TXT'])

function ofExternalDns(named: readonly NamedRecord[]): AutomationRecords[] {
  const isNote = ({ type, data }: ResourceRecord): boolean =>
    type === 'TXT' && HERITAGE.test(Buffer.from(parseTxtRdata(data) ?? []).toString('latin1'))
  const notes = named.filter(({ record }) => isNote(record))
  if (notes.length === 0) return []
  const owned = new Map<string, UnmanagedSelector>()
  const add = ({ record: { name, type }, relative }: NamedRecord): void => {
    if (relative !== '' && !relative.includes('*')) owned.set(rrsetKey({ name, type }), { name: relative, type })
  }
  /** Record sets by the names that external-dns gives its note of them: the type and a hyphen or a dot before the name, or the name itself. */
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
  const about = 'Records that a TXT record "heritage=external-dns" tells of are those of external-dns.'
  return [{ about, selectors: [{ type: 'TXT', target: '*heritage=external-dns,*' }, ...owned.values()] }]
}

/** Names with a DHCID record are kept up to date by a DHCP server (RFC 4703). */
function ofDhcp(named: readonly NamedRecord[]): AutomationRecords[] {
  const names = new Set(named.filter(({ record }) => record.type === 'DHCID').map(({ relative }) => relative))
  const selectors = [...names].filter((name) => name !== '' && !name.includes('*')).map((name): UnmanagedSelector => ({ name }))
  return selectors.length === 0 ? [] : [{ about: 'Names with a DHCID record are those of a DHCP server (RFC 4703).', selectors }]
}

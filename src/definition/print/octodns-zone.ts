/** Prints zones as files of octoDNS's YamlProvider. */
import type { SourcePosition } from '../../base/diagnostic.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import { type DomainName, isBelow, parentOf, relativeName } from '../../dns/domain-name.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import { type DefinedRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { suppressionsData } from '../../dns/suppression.ts'
import type { DesiredZone, RrsetTargets } from '../../dns/zone.ts'
import { OCTODNS_TYPES, octodnsValue, printMap, SINGLE_VALUE_TYPES, type YamlMap, type YamlValue } from './octodns-value.ts'

/** Types whose target may be the root. */
const SINGLE_DOT_TYPES: ReadonlySet<string> = new Set(['HTTPS', 'MX', 'SVCB', 'SRV'])

/** At least two labels of letters, digits, hyphens and underscores, without a hyphen at either end (its package fqdn). */
const HOST = /^(?:(?!-)[-_a-z0-9]{1,63}(?<!-)\.){1,126}(?!-)[-_a-z0-9]{1,63}(?<!-)\.$/

const SERVICE_NAME = /^(?:\*|_[^.]+)\.[^.]+/

type OctodnsZone = Pick<DesiredZone, 'name' | 'records' | 'rrsetTargets'> & {
  /** The TTL in seconds for records without one. If null, they get that of octoDNS's config, and each is reported. */
  readonly defaultTtl: number | null
  /**
   * All zones of the octoDNS instance that reads the file. It accepts records at or below another of its zones only if they are lenient.
   */
  readonly managed?: ReadonlySet<DomainName>
  /** More RRsets to mark as lenient, by `rrsetKey`. */
  readonly lenient?: ReadonlySet<string>
}

/** A record, or a part of it, that octoDNS cannot express. */
export interface DroppedPart {
  readonly zone: DomainName
  readonly name: DomainName
  readonly type: string
  /** A few words for the message. */
  readonly what: string
  readonly at: SourcePosition
}

interface OctodnsText {
  readonly text: string
  /** Records, or parts of them, that octoDNS cannot express. */
  readonly dropped: readonly DroppedPart[]
}

/**
 * The file name for a zone; null if a part of it is not a valid one. octoDNS appends the zone name and `yaml` to its directory, so a slash
 * leads into a folder: `0/26.2.0.192.in-addr.arpa.yaml` of an RFC 2317 zone.
 */
export const octodnsFileName = ({ name }: Pick<DesiredZone, 'name'>): string | null =>
  /^(?:[a-z0-9_-][a-z0-9_.-]*\/)*[a-z0-9_-][a-z0-9_.-]{0,199}$/.test(name) ? `${name}yaml` : null

/**
 * Prints a zone for octoDNS with `enforce_order: true` (keys in natural order at every depth), one entry per RRset. Every entry has a TTL,
 * so no `default_ttl` of a config applies. Valid DNS that octoDNS's checks refuse gets `lenient: true`.
 */
export function printOctodnsZone(zone: OctodnsZone): OctodnsText {
  const dropped: DroppedPart[] = []
  const targets = new Map(zone.rrsetTargets.map((scope) => [rrsetKey(scope), scope]))
  const cnames = new Set(zone.records.flatMap(({ name, type }) => (type === 'CNAME' ? [name] : [])))
  /** The names of CNAMEs that are proxied, with other records beside them, which octoDNS refuses otherwise. */
  const shared = new Set(zone.records.flatMap(({ name, type }) => (type !== 'CNAME' && cnames.has(name) ? [name] : [])))
  const names: Record<string, YamlMap[]> = Object.create(null)
  for (const [key, records] of groupRrsets(zone.records)) {
    const [first] = records as [DefinedRecord]
    const name = relativeName(first.name, zone.name)
    const entry = rrsetEntry(records, name, { ...zone, shared }, targets.get(key), dropped)
    if (entry === null) continue
    names[name] ??= []
    names[name].push(entry)
  }
  const map: Record<string, YamlValue> = Object.create(null)
  for (const [name, entries] of Object.entries(names)) {
    const [only] = entries
    map[name] = entries.length === 1 ? (only as YamlMap) : entries.sort((a, b) => (String(a['type']) < String(b['type']) ? -1 : 1))
  }
  return { text: `---\n${printMap(map, '') || '{}\n'}`, dropped }
}

/** The entry for an RRset; null if octoDNS supports none of its records. */
function rrsetEntry(
  records: readonly DefinedRecord[],
  name: string,
  zone: OctodnsZone & { readonly shared: ReadonlySet<DomainName> },
  scope: RrsetTargets | undefined,
  dropped: DroppedPart[],
): YamlMap | null {
  const [first] = records as [DefinedRecord]
  const { type } = first
  const drop = (what: string, record = first): void => {
    dropped.push({ zone: zone.name, name: first.name, type, what, at: record.at })
  }
  if (!OCTODNS_TYPES.has(type)) {
    drop(`records of type ${type}, which octoDNS does not support`)
    return null
  }
  const values = new Map<string, YamlValue>()
  let lenient = isOfSubzone(first, zone) || zone.shared.has(first.name) || zone.lenient?.has(rrsetKey(first)) === true
  for (const record of [...records].sort((a, b) => (a.data < b.data ? -1 : 1))) {
    const value = octodnsValue(type, record.data)
    if (!value.ok) drop(value.message, record)
    else if (SINGLE_VALUE_TYPES.has(type) && values.size > 0) drop(`a second value: in octoDNS, ${type} has only one`, record)
    else {
      if (hasCustomStrings(record)) drop('the division of its text into strings', record)
      values.set(record.data, value.value)
      lenient ||= needsLenient(record, name)
    }
  }
  if (values.size === 0) return null
  const list = [...values.values()]
  const ttl = ttlOf(records, zone.defaultTtl, drop)
  if (records.some(({ providerSettings }) => JSON.stringify(providerSettings) !== JSON.stringify(first.providerSettings)))
    drop('settings of single values')
  const ignore = distinctSuppressions(records)
  const octodns = extrasOf(scope, lenient, first.providerSettings)
  return {
    ...(ignore.length === 0 ? {} : { ignore }),
    ...(octodns === null ? {} : { octodns }),
    ...(ttl === null ? {} : { ttl }),
    type,
    ...(list.length === 1 ? { value: list[0] ?? null } : { values: list }),
  }
}

/** Whether the record belongs to another zone. NS and DS at its apex belong to the delegation (octodns/zone/base.py, `add_record`). */
function isOfSubzone({ name, type }: DefinedRecord, { name: zone, managed }: OctodnsZone): boolean {
  if (managed === undefined) return false
  const first = type === 'NS' || type === 'DS' ? parentOf(name) : name
  for (let at = first; isBelow(at, zone); at = parentOf(at)) if (managed.has(at)) return true
  return false
}

/** Whether a text is divided otherwise than into as few strings of 255 octets as possible, which is what octoDNS does. */
const hasCustomStrings = ({ type, data }: DefinedRecord): boolean =>
  (type === 'TXT' || type === 'SPF') && data.includes('" "') && octetsToTxtRdata(txtRdataToOctets(data)) !== data

/** octoDNS has one TTL per RRset: the lowest, as resolvers use it (RFC 2181 section 5.2). */
function ttlOf(records: readonly DefinedRecord[], defaultTtl: number | null, drop: (what: string) => void): number | null {
  const ttls = [...new Set(records.map(({ ttl }) => ttl ?? defaultTtl))]
  const given = ttls.filter((ttl): ttl is number => ttl !== null)
  if (given.length < ttls.length) drop("the use of the zone's default TTL")
  if (given.length > 1) drop(`different TTLs (${given.sort((a, b) => a - b).join(', ')}); all get the lowest`)
  return given.length === 0 ? null : Math.min(...given)
}

/** octoDNS ignores the key. */
function distinctSuppressions(records: readonly DefinedRecord[]): YamlMap[] {
  const found = records.flatMap(suppressionsData)
  return found.filter(({ code }, index) => found.findIndex((one) => one.code === code) === index)
}

function extrasOf(scope: RrsetTargets | undefined, lenient: boolean, settings: DefinedRecord['providerSettings']): YamlMap | null {
  const extras: Record<string, YamlValue> = {}
  for (const [provider, own] of Object.entries(settings ?? {}))
    extras[provider] = Object.fromEntries(
      Object.entries(own).map(([key, value]): [string, YamlValue] => [
        key.replaceAll('_', '-'),
        typeof value === 'object' ? [...value] : value,
      ]),
    )
  if (scope !== undefined && scope.excluded.length > 0) extras['excluded'] = scope.excluded
  if (scope?.ignored) extras['ignored'] = true
  if (scope !== undefined && scope.included.length > 0) extras['included'] = scope.included
  if (lenient) extras['lenient'] = true
  return Object.keys(extras).length === 0 ? null : extras
}

/**
 * Whether octoDNS accepts the record only as lenient; `name` is relative to the zone. Follows the validators of octoDNS 1.22
 * (octodns/record/*.py, its default set `legacy`); in doubt true, because unnecessary leniency is harmless.
 */
function needsLenient({ name: owner, type, data }: ResourceRecord, name: string): boolean {
  if (owner.length > 253 || name.split('.').some((label) => label.length > 63)) return true
  const fields = rdataFields(data)
  const target = convertTarget(type, data, fields)
  if (target !== null && !isHost(target, type)) return true
  switch (type) {
    case 'CNAME':
      return name === ''
    case 'ALIAS':
      return name !== ''
    case 'SRV':
    case 'URI':
      return !SERVICE_NAME.test(name)
    case 'TXT':
    case 'SPF':
      return isUnusualText(txtRdataToOctets(data))
    case 'SSHFP':
      return !/^[1-4] (?:1 [0-9a-f]{40}|2 [0-9a-f]{64})$/.test(data)
    case 'TLSA':
      return !/^[0-3] [01] [0-2] /.test(data)
    case 'NAPTR':
      return !/^"[SAUP]"$/i.test(fields[2] ?? '')
    case 'SVCB':
    case 'HTTPS':
      return fields[0] === '0' && fields.length > 2
    case 'URLFWD':
      return !/^30[12] [0-2] [01]$/.test(fields.slice(2).join(' '))
    default:
      return false
  }
}

const convertTarget = (type: string, data: string, fields: readonly string[]): string | null =>
  type === 'SVCB' || type === 'HTTPS' ? (fields[1] ?? '') : targetName(type, data)

const isHost = (target: string, type: string): boolean =>
  target === '.' ? SINGLE_DOT_TYPES.has(type) : target.length <= 254 && HOST.test(target) && !/^[0-9.]+$/.test(target)

/** Text that is empty, is not ASCII, or has a backslash before a semicolon, which octoDNS takes for an escaped escape. */
const isUnusualText = (octets: Uint8Array): boolean =>
  octets.length === 0 || octets.some((octet) => octet > 0x7e) || Buffer.from(octets).includes('\\;')

import { OCTODNS_TYPES, octodnsValue, SINGLE_VALUE_TYPES, type YamlMap, type YamlValue } from '../../definition/print/octodns-value.ts'
import { octetsToTxtRdata, txtRdataToOctets } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, isBelow, parentOf, relativeName } from '../../dns/domain-name.ts'
import { rdataFields, targetName } from '../../dns/rdata/canonical.ts'
import { type DefinedRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { DesiredZone, RrsetScope, ZoneSettings } from '../../dns/zone.ts'
import { type Exporter, unsupportedFeaturesOf } from '../exporter.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { printMap } from './print-yaml.ts'

/** Seconds that a record without a TTL has where its zone says none. */
const DEFAULT_TTL = 86_400

const HELD: ReadonlySet<keyof ZoneSettings> = new Set()

/** Each zone as the file that octoDNS's YamlProvider looks for. A record without a TTL gets that of its zone. */
export const exportOctodns: Exporter = (zones) => {
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  const managed = new Set(zones.map(({ name }) => name))
  const files = zones.flatMap((zone) => {
    if (zone.settings.type === 'slave' || zone.absent) {
      const what = zone.absent ? 'that the zone is to be deleted' : 'a slave zone: its records are those of its masters'
      dropped.push({ zone: zone.name, name: null, type: null, what, at: zone.at })
      return []
    }
    const path = fileNameOf(zone)
    if (path === null) {
      dropped.push({ zone: zone.name, name: null, type: null, what: 'a zone whose name is no name of a file', at: zone.at })
      return []
    }
    if (!isListed(path)) {
      const message = `${zone.name}: octoDNS finds ${path} only where its configuration names the zone; an entry "*" passes over it`
      diagnostics.push({ severity: 'warning', code: 'file-format', message, at: zone.at })
    }
    const printed = printOctodnsZone({ ...zone, defaultTtl: zone.settings.ttl_sec || DEFAULT_TTL, managed })
    dropped.push(...unsupportedFeaturesOf({ ...zone, scopes: [] }, { settings: HELD }), ...printed.dropped)
    return [{ path, text: printed.text }]
  })
  return { files, isSingleFile: false, dropped, diagnostics }
}

/**
 * octoDNS joins the name of a zone and `yaml` to its directory, so that a slash leads into a folder: `0/26.2.0.192.in-addr.arpa.yaml` of an
 * RFC 2317 zone. Null where a part of that is no name of a file.
 */
const fileNameOf = ({ name }: DesiredZone): string | null =>
  /^(?:[a-z0-9_-][a-z0-9_.-]*\/)*[a-z0-9_-][a-z0-9_.-]{0,199}$/.test(name) ? `${name}yaml` : null

/** Whether octoDNS lists the file as one of a zone: in its directory itself, with two dots (its provider/yaml.py). */
const isListed = (path: string): boolean => !path.includes('/') && /\..*\.yaml$/.test(path)

type OctodnsZone = Pick<DesiredZone, 'name' | 'records' | 'scopes'> & {
  /** Seconds for records without a TTL; where it is null they get that of octoDNS's config, and are named for it. */
  readonly defaultTtl: number | null
  /** All zones of the octoDNS that reads the file. It takes records at or below another of them only as lenient. */
  readonly managed?: ReadonlySet<DomainName>
}

interface OctodnsText {
  readonly text: string
  /** Records, or what of them, octoDNS cannot hold. */
  readonly dropped: readonly UnsupportedFeature[]
}

/**
 * A zone as a file that octoDNS reads with `enforce_order: true` (keys in natural order at every depth), an RRset an entry. TTLs are always
 * said, so that no `default_ttl` of a config matters. What octoDNS's checks refuse though it is good DNS says `lenient: true`.
 */
export function printOctodnsZone(zone: OctodnsZone): OctodnsText {
  const dropped: UnsupportedFeature[] = []
  const scopes = new Map(zone.scopes.map((scope) => [rrsetKey(scope), scope]))
  const names: Record<string, YamlMap[]> = Object.create(null)
  for (const [key, records] of groupRrsets(zone.records)) {
    const [first] = records as [DefinedRecord]
    const name = relativeName(first.name, zone.name)
    const entry = rrsetEntry(records, name, zone, scopes.get(key), dropped)
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

/** An RRset as octoDNS has it; null where nothing of it is left. */
function rrsetEntry(
  records: readonly DefinedRecord[],
  name: string,
  zone: OctodnsZone,
  scope: RrsetScope | undefined,
  dropped: UnsupportedFeature[],
): YamlMap | null {
  const [first] = records as [DefinedRecord]
  const { type } = first
  const lose = (what: string, record = first): void => {
    dropped.push({ zone: zone.name, name: first.name, type, what, at: record.at })
  }
  if (!OCTODNS_TYPES.has(type)) {
    lose(`records of type ${type}, which octoDNS does not know`)
    return null
  }
  const values = new Map<string, YamlValue>()
  let lenient = isOfSubzone(first, zone)
  for (const record of [...records].sort((a, b) => (a.data < b.data ? -1 : 1))) {
    const value = octodnsValue(type, record.data)
    if (!value.ok) lose(value.message, record)
    else if (SINGLE_VALUE_TYPES.has(type) && values.size > 0) lose(`a second value, of which ${type} has one`, record)
    else {
      if (hasOwnStrings(record)) lose('where its strings are cut', record)
      values.set(record.data, value.value)
      lenient ||= needsLenient(record, name)
    }
  }
  if (values.size === 0) return null
  const list = [...values.values()]
  const ttl = ttlOf(records, zone.defaultTtl, lose)
  const octodns = extrasOf(scope, lenient)
  return {
    ...(octodns === null ? {} : { octodns }),
    ...(ttl === null ? {} : { ttl }),
    type,
    ...(list.length === 1 ? { value: list[0] ?? null } : { values: list }),
  }
}

/** Whether another zone should have the record: at its apex NS and DS are those of the delegation (octodns/zone/base.py, `add_record`). */
function isOfSubzone({ name, type }: DefinedRecord, { name: zone, managed }: OctodnsZone): boolean {
  if (managed === undefined) return false
  const first = type === 'NS' || type === 'DS' ? parentOf(name) : name
  for (let at = first; isBelow(at, zone); at = parentOf(at)) if (managed.has(at)) return true
  return false
}

/** Whether a text is cut otherwise than as few strings of 255 octets, which is how octoDNS cuts. */
const hasOwnStrings = ({ type, data }: DefinedRecord): boolean =>
  (type === 'TXT' || type === 'SPF') && data.includes('" "') && octetsToTxtRdata(txtRdataToOctets(data)) !== data

/** octoDNS has one TTL for an RRset: the lowest, as resolvers take it (RFC 2181 section 5.2). */
function ttlOf(records: readonly DefinedRecord[], defaultTtl: number | null, lose: (what: string) => void): number | null {
  const ttls = [...new Set(records.map(({ ttl }) => ttl ?? defaultTtl))]
  const given = ttls.filter((ttl): ttl is number => ttl !== null)
  if (given.length < ttls.length) lose("that its TTL is the zone's default")
  if (given.length > 1) lose(`TTLs that differ (${given.sort((a, b) => a - b).join(', ')}); all have the lowest`)
  return given.length === 0 ? null : Math.min(...given)
}

function extrasOf(scope: RrsetScope | undefined, lenient: boolean): YamlMap | null {
  const extras: Record<string, YamlValue> = {}
  if (scope !== undefined && scope.excluded.length > 0) extras['excluded'] = scope.excluded
  if (scope?.ignored) extras['ignored'] = true
  if (scope !== undefined && scope.included.length > 0) extras['included'] = scope.included
  if (lenient) extras['lenient'] = true
  return Object.keys(extras).length === 0 ? null : extras
}

/**
 * Which records octoDNS's own checks refuse though they are good DNS, so that its file says `lenient: true` for them. After the
 * validators of octoDNS 1.22 (octodns/record/*.py, its set `legacy`, which is the default); where a look decides, on the safe side: too
 * much leniency costs nothing.
 */
const SINGLE_DOT_TYPES: ReadonlySet<string> = new Set(['HTTPS', 'MX', 'SVCB', 'SRV'])

/** At least two labels of letters, digits, hyphens and underscores, no hyphen at an end (its package fqdn). */
const HOST = /^(?:(?!-)[-_a-z0-9]{1,63}(?<!-)\.){1,126}(?!-)[-_a-z0-9]{1,63}(?<!-)\.$/

const SERVICE_NAME = /^(?:\*|_[^.]+)\.[^.]+/

/** Whether octoDNS takes the record only as lenient; `name` is relative to the zone. */
function needsLenient({ name: owner, type, data }: ResourceRecord, name: string): boolean {
  if (owner.length > 253 || name.split('.').some((label) => label.length > 63)) return true
  const fields = rdataFields(data)
  const target = targetOf(type, data, fields)
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
      return isOddText(txtRdataToOctets(data))
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

const targetOf = (type: string, data: string, fields: readonly string[]): string | null =>
  type === 'SVCB' || type === 'HTTPS' ? (fields[1] ?? '') : targetName(type, data)

const isHost = (target: string, type: string): boolean =>
  target === '.' ? SINGLE_DOT_TYPES.has(type) : target.length <= 254 && HOST.test(target) && !/^[0-9.]+$/.test(target)

/** Text that is not ASCII, is empty, or has a backslash before a semicolon, which octoDNS takes for an escape escaped. */
const isOddText = (octets: Uint8Array): boolean =>
  octets.length === 0 || octets.some((octet) => octet > 0x7e) || Buffer.from(octets).includes('\\;')

/** Reads the output of `dnscontrol get-zones`: TSV and concatenated zone files. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import type { ImportedRecord } from '../../definition/imported-zone.ts'
import { octetsToTxtRdata } from '../../dns/character-string.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName, parseDomainName } from '../../dns/domain-name.ts'
import { parseRdata } from '../../dns/rdata/canonical.ts'
import { presentationTokens } from '../../dns/rdata/field.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { parseTtl } from '../../dns/ttl.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { type InvalidRecord, printableData } from './read-records.ts'

/** A zone in the output of `dnscontrol get-zones --format=tsv`. */
export interface TsvZone {
  readonly name: DomainName
  /** Includes the SOA record. */
  readonly records: readonly ImportedRecord[]
  /** Records that no definition can contain. */
  readonly invalidRecords: readonly InvalidRecord[]
}

export interface TsvZones {
  readonly zones: readonly TsvZone[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Errors that are reported per file. */
const MAX_DIAGNOSTICS = 1000

/** The columns `FQDN, label, TTL, IN, type, data` and a last one for settings of providers: `cloudflare_proxy=true,cloudflare_tags=a:b`. */
const LINE = /^([^\t]*)\t([^\t]*)\t([^\t]*)\tIN\t([^\t]*)\t(.*?)(?:\t((?:cloudflare|hedns)_[a-z_]+=.*))?$/s

/** Whether a text looks like TSV output. */
export const isTsv = (text: string): boolean => LINE.test(text.slice(0, 100_000).trimStart().split('\n', 1)[0]?.replace(/\r$/, '') ?? '')

/** Reads TSV output. A zone's name is an owner name without its label. Never throws on bad input. */
export function readTsv(text: string, file: string): TsvZones {
  const zones = new Map<DomainName, { readonly records: ImportedRecord[]; readonly invalidRecords: InvalidRecord[] }>()
  const dropped: UnsupportedFeature[] = []
  const diagnostics: Diagnostic[] = []
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  const isQuoted = hasQuotedTexts(lines)
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '' || diagnostics.length >= MAX_DIAGNOSTICS) continue
    const at = { file, line: i + 1, column: 1 }
    const read = readLine(line, isQuoted)
    if (!read.ok) {
      diagnostics.push({ severity: 'error', code: 'value-invalid', message: read.message, at })
      continue
    }
    const { zone, extra, ...record } = read.value
    const name = record.name
    if (extra !== null) dropped.push({ zone, name, type: record.type, what: extra, at })
    if (record.data === null) dropped.push({ zone, name, type: record.type, what: `a record of DNSControl's type ${record.type}`, at })
    const { records, invalidRecords } = zones.get(zone) ?? { records: [], invalidRecords: [] }
    zones.set(zone, { records, invalidRecords })
    const { problem: reason, data } = record
    if (reason !== null) invalidRecords.push({ record: { name, type: record.type, ttl: null, data: data ?? '', at }, reason })
    else if (data !== null) records.push({ name, type: record.type, ttl: record.ttl, data, at })
  }
  return { zones: [...zones].map(([name, found]) => ({ name, ...found })), dropped, diagnostics }
}

interface TsvLine {
  readonly zone: DomainName
  readonly name: DomainName
  readonly type: string
  readonly ttl: ImportedRecord['ttl']
  /** Null for a type that only DNSControl knows. */
  readonly data: string | null
  readonly extra: string | null
  /** Why the data is invalid; it is unparsed then. */
  readonly problem: string | null
}

function readLine(line: string, isQuoted: boolean): Result<TsvLine> {
  const [, fqdn = '', label = '', seconds = '', type = '', data = '', extra = null] = LINE.exec(line) ?? []
  if (fqdn === '') return { ok: false, message: 'the line is not NAME, LABEL, TTL, IN, TYPE and DATA separated by tabs' }
  const apex = label === '@' ? fqdn : fqdn.startsWith(`${label}.`) ? fqdn.slice(label.length + 1) : ''
  const zone = parseAbsoluteName(apex)
  if (!zone.ok) return zone
  const name = parseDomainName(label, zone.value)
  if (!name.ok) return name
  if (!isAtOrBelow(name.value, zone.value)) return { ok: false, message: `${quoted(label)} is not in ${zone.value}` }
  const ttl = parseTtl(seconds)
  if (!ttl.ok) return ttl
  const known = RDATA_TYPES.has(type)
  const rdata = known ? dataOf(type, data, zone.value, isQuoted) : ok(null)
  return ok({
    zone: zone.value,
    name: name.value,
    type: known ? type : JSON.stringify(type.slice(0, 40)),
    ttl: ttl.value,
    data: rdata.ok ? rdata.value : printableData(data),
    extra,
    problem: rdata.ok ? null : rdata.message,
  })
}

/**
 * Whether texts are quoted as in a zone file, which DNSControl 3 writes, and not bare. A text that is not all quoted strings shows that
 * they are bare.
 */
function hasQuotedTexts(lines: readonly string[]): boolean {
  const texts = lines.map((line) => LINE.exec(line)).flatMap((parts) => (parts?.[4] === 'TXT' ? [parts[5] ?? ''] : []))
  return texts.every((text) => {
    const tokens = presentationTokens(text)
    return tokens.ok && tokens.value.length > 0 && tokens.value.every(({ quoted }) => quoted)
  })
}

/** Parses data in presentation form; bare text is taken as it is. */
function dataOf(type: string, text: string, zone: DomainName, isQuoted: boolean): Result<string> {
  if (type === 'TXT' && !isQuoted) return ok(octetsToTxtRdata(Buffer.from(text, 'utf8')))
  return parseRdata(type, text, (name) => parseDomainName(name, zone))
}

/** The zone file of one zone in a text with several. */
interface ZoneText {
  readonly text: string
  /** The lines of the text before it. */
  readonly linesBefore: number
}

const ORIGIN = /^\$ORIGIN[ \t]+([^\s;]+\.)[ \t]*(?:;.*)?$/

/**
 * Splits the output of `dnscontrol get-zones --format=zone` into zone files. A zone begins at an `$ORIGIN` outside the current zone, or at
 * one below it that follows a blank line and precedes a `$TTL`, as `get-zones` writes it. Any other `$ORIGIN` only changes the origin
 * within the zone.
 */
export function splitZones(text: string): ZoneText[] {
  const lines = text.split('\n')
  const parts: ZoneText[] = []
  let from = 0
  let zone: DomainName | null = null
  for (const [i, line] of lines.entries()) {
    const origin = parseDomainName(ORIGIN.exec(line.trimEnd())?.[1] ?? '')
    if (!origin.ok) continue
    const isHead = lines[i - 1]?.trim() === '' && /^\$TTL\s/.test(lines[i + 1] ?? '')
    if (zone !== null && isAtOrBelow(origin.value, zone) && !isHead) continue
    if (zone !== null) {
      parts.push({ text: lines.slice(from, i).join('\n'), linesBefore: from })
      from = i
    }
    zone = origin.value
  }
  return [...parts, { text: lines.slice(from).join('\n'), linesBefore: from }]
}

/** Something about a record that is in a comment. */
interface CommentedFeature {
  readonly line: number
  readonly type: string | null
  readonly what: string
}

/** A commented-out record of a type that zone files do not support; TTL and name are optional. */
const PSEUDO_RECORD = /^;(?:\S+)?\s+(?:\d+\s+)?IN\s+([A-Z][A-Z0-9_]*)\s+(\S.*)$/s

/** Cloudflare settings of a record. */
const CLOUDFLARE_SETTINGS = /\s;((?: (?:CF_PROXY_ON|CF_CNAME_FLATTEN_ON|CF_COMMENT="(?:[^"\\]|\\.)*"|CF_TAGS=[^\s"]+))+)$/

/** Features that DNSControl writes into comments of a zone file. */
export function commentedFeatures(text: string): CommentedFeature[] {
  return text.split('\n').flatMap((given, i): CommentedFeature[] => {
    const line = given.trimEnd()
    const [, type, target = ''] = PSEUDO_RECORD.exec(line) ?? []
    if (type !== undefined) {
      return [{ line: i + 1, type, what: `a record of DNSControl's type ${type}, with the target ${quoted(target)}` }]
    }
    const [, settings] = CLOUDFLARE_SETTINGS.exec(line) ?? []
    return settings === undefined ? [] : [{ line: i + 1, type: null, what: settings.trim().slice(0, 120) }]
  })
}

import type { ImportedRecord } from '../../definition/imported-zone.ts'
import { presentationTokens } from '../../definition/parse/presentation-tokens.ts'
import { octetsToTxtRdata } from '../../dns/character-string.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, parseDomainName } from '../../dns/domain-name.ts'
import { canonicalRdata } from '../../dns/rdata/canonical.ts'
import { RDATA_TYPES } from '../../dns/rdata/rdata-types.ts'
import { ok, type Result } from '../../dns/result.ts'
import { parseTtl } from '../../dns/ttl.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'
import { plainData, type UnsupportedRecord } from './read-records.ts'

/** A zone as `dnscontrol get-zones --format=tsv` lists it. */
export interface TsvZone {
  readonly name: DomainName
  /** SOA included. */
  readonly records: readonly ImportedRecord[]
  /** Records that no definition can have. */
  readonly unknownSettings: readonly UnsupportedRecord[]
}

export interface TsvZones {
  readonly zones: readonly TsvZone[]
  readonly dropped: readonly UnsupportedFeature[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Faults that are told of one file. */
const MAX_DIAGNOSTICS = 1000

/** `FQDN, label, TTL, IN, type, data`, and a column of what providers know besides: `cloudflare_proxy=true,cloudflare_tags=a:b`. */
const LINE = /^([^\t]*)\t([^\t]*)\t([^\t]*)\tIN\t([^\t]*)\t(.*?)(?:\t((?:cloudflare|hedns)_[a-z_]+=.*))?$/s

/** Whether a text looks like that list. */
export const isTsv = (text: string): boolean => LINE.test(text.slice(0, 100_000).trimStart().split('\n', 1)[0]?.replace(/\r$/, '') ?? '')

/** Reads the list; a zone's name is what is left of an owner's without its label. Never throws on bad input. */
export function readTsv(text: string, file: string): TsvZones {
  const zones = new Map<DomainName, { readonly records: ImportedRecord[]; readonly unknownSettings: UnsupportedRecord[] }>()
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
    const { records, unknownSettings } = zones.get(zone) ?? { records: [], unknownSettings: [] }
    zones.set(zone, { records, unknownSettings })
    const { problem: why, data } = record
    if (why !== null) unknownSettings.push({ record: { name, type: record.type, ttl: null, data: data ?? '', at }, why })
    else if (data !== null) records.push({ name, type: record.type, ttl: record.ttl, data, at })
  }
  return { zones: [...zones].map(([name, found]) => ({ name, ...found })), dropped, diagnostics }
}

interface TsvLine {
  readonly zone: DomainName
  readonly name: DomainName
  readonly type: string
  readonly ttl: ImportedRecord['ttl']
  /** Null for a type that is known to DNSControl only. */
  readonly data: string | null
  readonly extra: string | null
  /** What is wrong with data that are none of the type; they are as they stand then. */
  readonly problem: string | null
}

function readLine(line: string, isQuoted: boolean): Result<TsvLine> {
  const [, fqdn = '', label = '', seconds = '', type = '', data = '', extra = null] = LINE.exec(line) ?? []
  if (fqdn === '') return { ok: false, message: 'the line is not NAME, LABEL, TTL, IN, TYPE and DATA with tabs between' }
  const apex = label === '@' ? fqdn : fqdn.startsWith(`${label}.`) ? fqdn.slice(label.length + 1) : ''
  const zone = parseDomainName(apex.endsWith('.') ? apex : `${apex}.`)
  if (!zone.ok) return zone
  const name = parseDomainName(label, zone.value)
  if (!name.ok) return name
  if (!isAtOrBelow(name.value, zone.value)) return { ok: false, message: `${JSON.stringify(label.slice(0, 60))} is not in ${zone.value}` }
  const ttl = parseTtl(seconds)
  if (!ttl.ok) return ttl
  const known = RDATA_TYPES.has(type)
  const rdata = known ? dataOf(type, data, zone.value, isQuoted) : ok(null)
  return ok({
    zone: zone.value,
    name: name.value,
    type: known ? type : JSON.stringify(type.slice(0, 40)),
    ttl: ttl.value,
    data: rdata.ok ? rdata.value : plainData(data),
    extra,
    problem: rdata.ok ? null : rdata.message,
  })
}

/** Whether texts stand as in a zone file, as DNSControl 3 has them, and not bare: one that is not all quoted strings says they are bare. */
function hasQuotedTexts(lines: readonly string[]): boolean {
  const texts = lines.map((line) => LINE.exec(line)).flatMap((parts) => (parts?.[4] === 'TXT' ? [parts[5] ?? ''] : []))
  return texts.every((text) => {
    const tokens = presentationTokens(text)
    return tokens.ok && tokens.value.length > 0 && tokens.value.every(({ quoted }) => quoted)
  })
}

/** Data in presentation form; a bare text is not. */
function dataOf(type: string, text: string, zone: DomainName, isQuoted: boolean): Result<string> {
  if (type === 'TXT' && !isQuoted) return ok(octetsToTxtRdata(Buffer.from(text, 'utf8')))
  const tokens = presentationTokens(text)
  return tokens.ok ? canonicalRdata(type, tokens.value, (name) => parseDomainName(name, zone)) : tokens
}

/** What `dnscontrol get-zones --format=zone` writes: zone files one after another, and comments for what a zone file cannot hold. */
/** The zone file of one zone within the text of several. */
interface ZonePart {
  readonly text: string
  /** Lines of the whole before it. */
  readonly linesBefore: number
}

const ORIGIN = /^\$ORIGIN[ \t]+([^\s;]+\.)[ \t]*(?:;.*)?$/

/**
 * Cuts the text apart where a zone begins: at an `$ORIGIN` that leads out of the zone so far, and at one below it that stands as
 * `get-zones` begins a zone, after a blank line and before a `$TTL`. Any other only says where names of the same zone end.
 */
export function zoneParts(text: string): ZonePart[] {
  const lines = text.split('\n')
  const parts: ZonePart[] = []
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

/** What a comment says of a record. */
interface CommentedItem {
  readonly line: number
  readonly type: string | null
  readonly what: string
}

/** A record of a type that zone files do not have, behind a semicolon; TTL and name may be left out. */
const PSEUDO_RECORD = /^;(?:\S+)?\s+(?:\d+\s+)?IN\s+([A-Z][A-Z0-9_]*)\s+(\S.*)$/s

/** What Cloudflare knows of a record besides. */
const MARK = /\s;((?: (?:CF_PROXY_ON|CF_CNAME_FLATTEN_ON|CF_COMMENT="(?:[^"\\]|\\.)*"|CF_TAGS=[^\s"]+))+)$/

/** Items that DNSControl puts in comments of a zone file. */
export function commentedItems(text: string): CommentedItem[] {
  return text.split('\n').flatMap((given, i): CommentedItem[] => {
    const line = given.trimEnd()
    const [, type, target = ''] = PSEUDO_RECORD.exec(line) ?? []
    if (type !== undefined) {
      return [{ line: i + 1, type, what: `a record of DNSControl's type ${type}, which leads to ${JSON.stringify(target.slice(0, 60))}` }]
    }
    const [, marks] = MARK.exec(line) ?? []
    return marks === undefined ? [] : [{ line: i + 1, type: null, what: marks.trim().slice(0, 120) }]
  })
}

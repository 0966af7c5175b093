/** Prints zone files. */
import { type DomainName, isAtOrBelow, relativeName, sortKey } from '../domain-name.ts'
import { rdataFields } from '../rdata/canonical.ts'
import { toGenericForm } from '../rdata/generic-form.ts'
import { rdataOctets } from '../rdata/rdata-codec.ts'
import { GENERIC_ONLY_TYPES, RDATA_TYPES, takesRest } from '../rdata/rdata-types.ts'
import { svcParamKey } from '../rdata/svc-param-forms.ts'
import { compareRecords, type ResourceRecord } from '../record.ts'
import { typeCode } from '../record-type.ts'
import type { Ttl } from '../ttl.ts'

export interface PrintOptions {
  /** The zone. In the pretty style names in it are relative. With null all names are absolute. */
  readonly origin: DomainName | null
  /** `canonical`: one record per line, absolute names, nothing inherited. `pretty`: for people, in columns, grouped by owner. */
  readonly style: 'canonical' | 'pretty'
  /** The TTL, in seconds, of records without one, and the `$TTL` of the pretty style. Without it, or if it is 0, `$TTL` is the most common TTL. */
  readonly defaultTtl?: Ttl | null | undefined
  /** Types to print in the generic form of RFC 3597, because the reader does not know them. */
  readonly genericTypes?: ReadonlySet<string> | undefined
}

/**
 * Prints records as a zone file that every server reads, in canonical order (RFC 4034 section 6) with SOA and NS first. Parsing the file
 * returns the same records. Records without a TTL get `defaultTtl`; without that they precede all others, so they have no TTL when
 * parsed.
 */
export function printZoneFile(records: Iterable<ResourceRecord>, options: PrintOptions): string {
  const sorted = inOrder(records, options.defaultTtl ?? null).map((record) => asPrinted(record, options.genericTypes))
  if (options.style === 'pretty') return printPretty(sorted, options)
  let text = ''
  for (const record of sorted) {
    const { name, ttl, type, data } = record
    const printed = PLAIN_NAMES.test(data) ? data : printedData(record, printedName).join(' ')
    text += `${printedName(name)}\t${ttl === null ? '' : `${ttl}\t`}IN\t${type}\t${printed}\n`
  }
  return text
}

/** The record in a form that every reader accepts. */
function asPrinted(record: ResourceRecord, genericTypes: ReadonlySet<string> | undefined): ResourceRecord {
  const { type, data } = record
  if (isMisread(type, data)) return { ...record, data: toGenericForm(type, data) }
  const isFormless = GENERIC_ONLY_TYPES.has(type)
  if (!isFormless && !genericTypes?.has(type)) return record
  const code = typeCode(type)
  if (code === null) return record
  return { ...record, type: `TYPE${code}`, data: isFormless ? data : toGenericForm(type, data) }
}

/**
 * Records in printing order with their TTLs. Those without one come first, since each record inherits the TTL of the one before it. Names
 * are in canonical order and the records of an RRset in the order of their octets (RFC 4034 section 6).
 */
function inOrder(records: Iterable<ResourceRecord>, defaultTtl: Ttl | null): ResourceRecord[] {
  const keyed: KeyedRecord[] = []
  for (const record of records) {
    const { name, ttl, type } = record
    const filled = ttl === null && defaultTtl !== null ? { ...record, ttl: defaultTtl } : record
    keyed.push({ bareRank: filled.ttl === null && type !== 'SOA' ? 0 : 1, key: sortKey(name), record: filled, octets: null })
  }
  keyed.sort(compareKeyed)
  return keyed.map(({ record }) => record)
}

interface KeyedRecord {
  readonly bareRank: number
  readonly key: string
  readonly record: ResourceRecord
  /** The octets of the data, computed on demand. */
  octets: Buffer | null
}

function compareKeyed(a: KeyedRecord, b: KeyedRecord): number {
  if (a.bareRank !== b.bareRank) return a.bareRank - b.bareRank
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  if (a.record.type !== b.record.type || typeCode(a.record.type) === null) return compareRecords(a.record, b.record)
  return Buffer.compare(octetsOf(a), octetsOf(b)) || compareRecords(a.record, b.record)
}

function octetsOf(keyed: KeyedRecord): Buffer {
  keyed.octets ??= rdataOctets(keyed.record.type, keyed.record.data)
  return keyed.octets
}

const SOA_FIELDS = ['serial', 'refresh', 'retry', 'expire', 'minimum']

/** Longer owners do not widen the column. */
const OWNER_WIDTH = 32

/** ldns gives signatures without a TTL the TTL of the records that they sign. */
const SIGNATURES: ReadonlySet<string> = new Set(['RRSIG', 'SIG'])

/** Maximum length of TXT data on one line in characters; longer data has one string per line. */
const LINE_WIDTH = 100

function printPretty(records: readonly ResourceRecord[], { origin, defaultTtl }: PrintOptions): string {
  // ldns ignores `$TTL 0`, so a TTL of 0 is printed with each record.
  const fileTtl = records.some(({ ttl }) => ttl === null) ? null : defaultTtl || commonestTtl(records)
  const short = (name: DomainName): string => {
    if (origin === null || !isAtOrBelow(name, origin)) return printedName(name)
    return printedName(relativeName(name, origin)) || '@'
  }
  const rows = records.map((record, i) => ({
    record,
    owner: i > 0 && records[i - 1]?.name === record.name ? '' : short(record.name),
    ttl: record.ttl === null || (record.ttl === fileTtl && !SIGNATURES.has(record.type)) ? '' : String(record.ttl),
  }))
  const width = (lengths: Iterable<number>, most: number): number => {
    let widest = 0
    for (const length of lengths) if (length > widest && length <= most) widest = length
    return widest
  }
  const ownerWidth = width(
    rows.map(({ owner }) => owner.length),
    OWNER_WIDTH,
  )
  const ttlWidth = width(
    rows.map(({ ttl }) => ttl.length),
    10,
  )
  const typeWidth = width(
    records.map(({ type }) => type.length),
    10,
  )
  let text = ''
  if (origin !== null) text += `$ORIGIN ${printedName(origin)}\n`
  if (fileTtl !== null) text += `$TTL ${fileTtl}\n`
  for (const { record, owner, ttl } of rows) {
    const head = `${owner.padEnd(ownerWidth)} ${ttl.padStart(ttlWidth)}${ttlWidth === 0 ? '' : ' '}IN ${record.type.padEnd(typeWidth)} `
    text += `${head}${prettyData(record, head.length, short)}`.trimEnd()
    text += '\n'
  }
  return text
}

/** The most common TTL other than 0. */
function commonestTtl(records: readonly ResourceRecord[]): Ttl | null {
  const counts = new Map<Ttl, number>()
  let commonest: Ttl | null = null
  for (const { ttl } of records) {
    if (ttl === null || ttl === 0) continue
    const count = (counts.get(ttl) ?? 0) + 1
    counts.set(ttl, count)
    if (commonest === null || count > (counts.get(commonest) ?? 0)) commonest = ttl
  }
  return commonest
}

function prettyData({ type, data }: ResourceRecord, indent: number, short: (name: DomainName) => string): string {
  const definition = RDATA_TYPES.get(type)
  if (!definition || data.startsWith('\\#')) return data
  const fields = printedData({ type, data }, short)
  const next = `\n${' '.repeat(indent)}`
  if (type === 'SOA') {
    const [mname, rname, ...numbers] = fields
    const lines = numbers.map((number, i) => `${next}${number.padEnd(10)} ; ${SOA_FIELDS[i]}`)
    return `${mname} ${rname} (${lines.join('')}${next})`
  }
  if (definition.fields[0]?.kind === 'strings') {
    const strings = rdataFields(data)
    return data.length > LINE_WIDTH && strings.length > 1 ? `(${next}${strings.join(next)} )` : data
  }
  return fields.join(' ')
}

/** The fields of the data, with names formatted by `print`. Names in kinds that span several fields stay absolute. */
function printedData({ type, data }: Pick<ResourceRecord, 'type' | 'data'>, print: (name: DomainName) => string): string[] {
  const definition = RDATA_TYPES.get(type)
  if (definition === undefined || data.startsWith('\\#')) return [data]
  const first = LATE_NAMES.get(type)
  if (first !== undefined) return rdataFields(data).map((field, i) => (i >= first && field.includes('\\') ? printedName(field) : field))
  if (!definition.fields.some(({ kind }) => kind === 'name')) return [data]
  const fields = rdataFields(data)
  for (const [i, { kind }] of definition.fields.entries()) {
    if (takesRest(kind)) break
    if (kind === 'name') fields[i] = print(fields[i] as DomainName)
  }
  return fields
}

/** Types whose fields depend on each other, and the first field that can be a name. Only names have escapes there. */
const LATE_NAMES: ReadonlyMap<string, number> = new Map([
  ['AMTRELAY', 3],
  ['HIP', 3],
])

/** Names that need no escape, and fields between them. */
const PLAIN_NAMES = /^[\w*/. -]*$/

/**
 * A name that every server reads. Knot requires an escape for all other characters, and NSD reads a backslash at the end of a label as an
 * escape of the dot after it.
 */
function printedName(name: string): string {
  if (PLAIN_NAMES.test(name)) return name
  return name.replace(/\\(?:[0-9]{3}|.)|[^\w*/.-]/gs, (part) =>
    part.length > 1 && part !== '\\\\' ? part : `\\${String(part.charCodeAt(0)).padStart(3, '0')}`,
  )
}

/** Data, by type, that some program refuses or misreads in the type's own form. */
const MISREAD: Readonly<Record<string, RegExp>> = {
  // ldns refuses certificate type 0, and requires types and a key.
  CERT: /^0 /,
  CSYNC: /^\S+ \S+$/,
  KEY: /^\S+ \S+ \S+$/,
  // NSD decodes escapes in the gateway twice; ldns requires a key.
  IPSECKEY: /\\|^\S+ \S+ \S+ \S+$/,
}

/** ldns replaces a name whose first label is `@` with the origin, even if it is escaped. */
const AT_LABEL = /(?:^| )\\@\./

/** `dohpath` (RFC 9461). Most servers do not know the names of later keys. */
const LAST_KNOWN_KEY = 7

/** Whether some program misreads the data unless it is in the generic form (RFC 3597 section 5). */
function isMisread(type: string, data: string): boolean {
  if (data.startsWith('\\#') || type === 'SOA' || typeCode(type) === null) return false
  if (MISREAD[type]?.test(data) || AT_LABEL.test(data)) return true
  return (type === 'SVCB' || type === 'HTTPS') && rdataFields(data).slice(2).some(hasLaterKey)
}

function hasLaterKey(param: string): boolean {
  const [name = ''] = param.split('=')
  return !name.startsWith('key') && (svcParamKey(name) ?? 0) > LAST_KNOWN_KEY
}

import { compareNames, type DomainName, isAtOrBelow, relativeName, sortKey } from '../../model/domain-name.ts'
import { rdataFields } from '../../model/rdata/canonical.ts'
import { takesRest } from '../../model/rdata/kinds.ts'
import { FORMLESS_TYPES, RDATA_TYPES } from '../../model/rdata/rdata-types.ts'
import { compareRecords, type ResourceRecord } from '../../model/record.ts'
import type { Ttl } from '../../model/ttl.ts'

export interface PrintOptions {
  /** The zone; names at or below it are relative to it in the pretty style. Null leaves all names absolute. */
  readonly origin: DomainName | null
  /** `canonical`: one record a line, all names absolute, nothing inherited. `pretty`: for people, in columns, grouped by owner. */
  readonly style: 'canonical' | 'pretty'
  /** Seconds for records without a TTL, and the `$TTL` of the pretty style; without it that is the commonest TTL. */
  readonly defaultTtl?: Ttl | null | undefined
}

/**
 * Records as a zone file that every server reads, in the canonical order of owners, SOA and NS before other types. Reading it
 * gives the same records; those without a TTL get `defaultTtl`, or stand before the first TTL that is stated where there is none,
 * which leaves them without one.
 */
export function printZoneFile(records: Iterable<ResourceRecord>, options: PrintOptions): string {
  const sorted = inOrder(records, options.defaultTtl ?? null)
  if (options.style === 'pretty') return printPretty(sorted, options)
  let text = ''
  for (const { name, ttl, type, data } of sorted) text += `${name}\t${ttl === null ? '' : `${ttl}\t`}IN\t${printedType(type)}\t${data}\n`
  return text
}

/** The type as every reader knows it; obsolete mnemonics are not known to all (RFC 3597 section 5). */
const printedType = (type: string): string => (FORMLESS_TYPES.has(type) ? `TYPE${FORMLESS_TYPES.get(type)}` : type)

/** Records in printing order, TTLs filled in; those that stay without one come first, for each TTL is inherited from above. */
function inOrder(records: Iterable<ResourceRecord>, defaultTtl: Ttl | null): ResourceRecord[] {
  const keyed: { key: string; record: ResourceRecord }[] = []
  for (const record of records) {
    const key = sortKey(record.name)
    keyed.push({ key, record: record.ttl === null && defaultTtl !== null ? { ...record, ttl: defaultTtl } : record })
  }
  const bareRank = ({ ttl, type }: ResourceRecord): number => (ttl === null && type !== 'SOA' ? 0 : 1)
  keyed.sort(
    (a, b) =>
      bareRank(a.record) - bareRank(b.record) ||
      (a.key < b.key
        ? -1
        : a.key > b.key
          ? 1
          : a.record.name === b.record.name
            ? compareRecords(a.record, b.record)
            : compareNames(a.record.name, b.record.name)),
  )
  return keyed.map(({ record }) => record)
}

const SOA_FIELDS = ['serial', 'refresh', 'retry', 'expire', 'minimum']

/** Owners longer than this do not widen the column. */
const OWNER_WIDTH = 32

/** Characters of TXT data in one line before its strings go one to a line. */
const LINE_WIDTH = 100

function printPretty(records: readonly ResourceRecord[], { origin, defaultTtl }: PrintOptions): string {
  const fileTtl = records.some(({ ttl }) => ttl === null) ? null : (defaultTtl ?? commonestTtl(records))
  const short = (name: DomainName): string => {
    if (origin === null || !isAtOrBelow(name, origin)) return name
    return relativeName(name, origin) || '@'
  }
  const rows = records.map((record, i) => ({
    record,
    owner: i > 0 && records[i - 1]?.name === record.name ? '' : short(record.name),
    ttl: record.ttl === null || record.ttl === fileTtl ? '' : String(record.ttl),
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
    records.map(({ type }) => printedType(type).length),
    10,
  )
  let text = ''
  if (origin !== null) text += `$ORIGIN ${origin}\n`
  if (fileTtl !== null) text += `$TTL ${fileTtl}\n`
  for (const { record, owner, ttl } of rows) {
    const head = `${owner.padEnd(ownerWidth)} ${ttl.padStart(ttlWidth)}${ttlWidth === 0 ? '' : ' '}IN ${printedType(record.type).padEnd(typeWidth)} `
    text += `${head}${prettyData(record, head.length, short)}`.trimEnd()
    text += '\n'
  }
  return text
}

function commonestTtl(records: readonly ResourceRecord[]): Ttl | null {
  const counts = new Map<Ttl, number>()
  let commonest: Ttl | null = null
  for (const { ttl } of records) {
    if (ttl === null) continue
    const count = (counts.get(ttl) ?? 0) + 1
    counts.set(ttl, count)
    if (commonest === null || count > (counts.get(commonest) ?? 0)) commonest = ttl
  }
  return commonest
}

function prettyData({ type, data }: ResourceRecord, indent: number, short: (name: DomainName) => string): string {
  const definition = RDATA_TYPES.get(type)
  if (!definition || data.startsWith('\\#')) return data
  const fields = rdataFields(data)
  const next = `\n${' '.repeat(indent)}`
  if (type === 'SOA') {
    const [mname = '', rname = '', ...numbers] = fields
    const lines = numbers.map((number, i) => `${next}${number.padEnd(10)} ; ${SOA_FIELDS[i]}`)
    return `${short(mname as DomainName)} ${short(rname as DomainName)} (${lines.join('')}${next})`
  }
  if (definition.fields[0]?.kind === 'strings') {
    return data.length > LINE_WIDTH && fields.length > 1 ? `(${next}${fields.join(next)} )` : data
  }
  for (const [i, { kind }] of definition.fields.entries()) {
    if (takesRest(kind)) break
    if (kind === 'name') fields[i] = short(fields[i] as DomainName)
  }
  return fields.join(' ')
}

/** ZONEMD digests of zones (RFC 8976). */
import { createHash } from 'node:crypto'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { compareNames, type DomainName, isAtOrBelow } from '../domain-name.ts'
import { rdataFields } from '../rdata/canonical.ts'
import { rdataOctets } from '../rdata/rdata-codec.ts'
import type { DefinedRecord, ResourceRecord } from '../record.ts'
import { typeCode } from '../record-type.ts'
import { createWriter, resetWriter, writeName, writeOctets, writeU16, writeU32, writtenOctets } from '../wire/writer.ts'

/** Node's names of the hash algorithms, by number (RFC 8976 section 5.3). */
const HASHES: Readonly<Record<string, string>> = { 1: 'sha384', 2: 'sha512' }

/** The only registered scheme: one digest of the whole zone (RFC 8976 section 5.2). */
const SIMPLE = '1'

const CLASS_IN = 1

/** The result of verifying the ZONEMD records of a zone. `reasons` has one entry per record. */
export type ZoneDigestVerdict<R extends ResourceRecord = ResourceRecord> =
  | { readonly kind: 'absent' }
  | { readonly kind: 'verified'; readonly by: R }
  | { readonly kind: 'mismatch'; readonly reasons: readonly { readonly record: R; readonly message: string }[] }

/**
 * Verifies the ZONEMD records at the apex (RFC 8976 section 4); one valid record is enough. DNSSEC signatures are not checked. Names in
 * data are in lower case here, so a digest over capital letters in data of NSEC (RFC 6840 section 5.1) and of types that RFC 4034
 * section 6.2 does not list (SVCB, HTTPS, LP, IPSECKEY and other later ones) does not verify.
 */
export function verifyZoneDigest<R extends ResourceRecord>(records: Iterable<R>, apex: DomainName): ZoneDigestVerdict<R> {
  const all = [...records]
  const digests = all.filter(({ name, type }) => name === apex && type === 'ZONEMD')
  if (digests.length === 0) return { kind: 'absent' }
  const serials = new Set(all.filter(({ name, type }) => name === apex && type === 'SOA').map(({ data }) => rdataFields(data)[2]))
  const computed = new Map<string, string>()
  let octets: readonly Buffer[] | null = null
  const reasons: { record: R; message: string }[] = []
  for (const record of digests) {
    const [serial, scheme = '', algorithm = '', digest] = rdataFields(record.data)
    const message = ((): string | null => {
      if (serials.size !== 1) return serials.size === 0 ? 'the zone has no SOA record' : 'the zone has several SOA records'
      if (!serials.has(serial)) return `it is for serial ${serial}; the zone has ${[...serials].join()}`
      if (scheme !== SIMPLE) return `its scheme, ${scheme}, is not known`
      const hash = HASHES[algorithm]
      if (hash === undefined) return `its hash algorithm, ${algorithm}, is not known`
      if (digests.some((other) => other !== record && sameMethod(other.data, record.data) && other.data !== record.data))
        return `another record has the same scheme and hash algorithm, ${scheme} and ${algorithm}`
      octets ??= digestedOctets(all, apex)
      if (octets === null) return 'records without a TTL, or of types that exist only at providers, have no digest'
      const value = computed.get(hash) ?? hashOf(octets, hash)
      computed.set(hash, value)
      return value === digest ? null : `the digest of the records is ${value}`
    })()
    if (message === null) return { kind: 'verified', by: record }
    reasons.push({ record, message })
  }
  return { kind: 'mismatch', reasons }
}

/** Whether scheme and hash algorithm are equal. */
const sameMethod = (a: string, b: string): boolean => rdataFields(a).slice(1, 3).join() === rdataFields(b).slice(1, 3).join()

function hashOf(octets: readonly Buffer[], algorithm: string): string {
  const hash = createHash(algorithm)
  for (const part of octets) hash.update(part)
  return hash.digest('hex')
}

/** A record to digest. `rdata` has uncompressed names. */
interface DigestedRecord {
  readonly name: DomainName
  readonly code: number
  readonly ttl: number
  readonly rdata: Buffer
}

/** The records in canonical form and order, without duplicates, records outside the zone, and the apex ZONEMD RRset and its signatures. */
function digestedOctets(records: Iterable<ResourceRecord>, apex: DomainName): Buffer[] | null {
  const digested: DigestedRecord[] = []
  for (const { name, type, ttl, data } of records) {
    if (!isAtOrBelow(name, apex)) continue
    if (name === apex && (type === 'ZONEMD' || (type === 'RRSIG' && data.startsWith('ZONEMD ')))) continue
    const code = typeCode(type)
    if (code === null || ttl === null) return null
    // The mailbox of an SOA record may have capital letters.
    digested.push({ name, code, ttl, rdata: rdataOctets(type, type === 'SOA' ? data.toLowerCase() : data) })
  }
  digested.sort((a, b) => compareNames(a.name, b.name) || a.code - b.code || Buffer.compare(a.rdata, b.rdata))
  const writer = createWriter({ compress: false, size: 1024 })
  const octets: Buffer[] = []
  let last: DigestedRecord | null = null
  for (const record of digested) {
    const { name, code, ttl, rdata } = record
    const isRepeated = last !== null && last.name === name && last.code === code && last.rdata.equals(rdata)
    last = record
    if (isRepeated) continue
    resetWriter(writer)
    writeName(writer, name, false)
    writeU16(writer, code)
    writeU16(writer, CLASS_IN)
    writeU32(writer, ttl)
    writeU16(writer, rdata.length)
    writeOctets(writer, rdata)
    octets.push(Buffer.from(writtenOctets(writer)))
  }
  return octets
}

/** A warning for each ZONEMD record if none verifies; empty if one does or there is none. `isLowered` says that capital letters are lost. */
export function checkZoneDigest(records: Iterable<DefinedRecord>, apex: DomainName, isLowered = false): Diagnostic[] {
  const verdict = verifyZoneDigest(records, apex)
  if (verdict.kind !== 'mismatch') return []
  return verdict.reasons.map(({ record, message }) => ({
    severity: 'warning',
    code: 'zonemd-mismatch',
    message: `${apex} ZONEMD does not verify: ${message}`,
    at: record.at,
    hint: isLowered
      ? 'A digest over capital letters in data does not verify here, because definitions have names in lower case.'
      : 'The file may be damaged or edited since the digest was made; remove the record or create it again.',
  }))
}

import { createHash } from 'node:crypto'
import type { Diagnostic } from '../diagnostic.ts'
import { compareNames, type DomainName, isAtOrBelow } from '../domain-name.ts'
import { rdataFields } from '../rdata/canonical.ts'
import { rdataOctets } from '../rdata/rdata-codec.ts'
import type { DefinedRecord, ResourceRecord } from '../record.ts'
import { typeCode } from '../record-type.ts'
import { createWriter, resetWriter, writeName, writeOctets, writeU16, writeU32, writtenOctets } from '../wire/writer.ts'

/** Hash algorithms of zone digests by their numbers (RFC 8976 section 5.3), as the platform names them. */
const HASHES: Readonly<Record<string, string>> = { 1: 'sha384', 2: 'sha512' }

/** The only scheme there is: the whole zone in one digest (RFC 8976 section 5.2). */
const SIMPLE = '1'

const CLASS_IN = 1

/** What the ZONEMD records at the apex of a zone say of its contents. `reasons` has one for each record that does not verify. */
export type ZoneDigestVerdict<R extends ResourceRecord = ResourceRecord> =
  | { readonly kind: 'absent' }
  | { readonly kind: 'verified'; readonly by: R }
  | { readonly kind: 'mismatch'; readonly reasons: readonly { readonly record: R; readonly message: string }[] }

/**
 * Whether a ZONEMD record at the apex fits the zone (RFC 8976 section 4); one that does is enough. DNSSEC signatures are not looked
 * at. Names in data are in lower case here; a digest made over capitals in data of NSEC (RFC 6840 section 5.1) and of types that
 * RFC 4034 section 6.2 does not list (SVCB, HTTPS, LP, IPSECKEY and other late ones) does not verify.
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
      if (!serials.has(serial)) return `it is of serial ${serial}; the zone has ${[...serials].join()}`
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

/** Scheme and hash algorithm, the same for both. */
const sameMethod = (a: string, b: string): boolean => rdataFields(a).slice(1, 3).join() === rdataFields(b).slice(1, 3).join()

/**
 * The digest of a zone as a ZONEMD record of scheme 1 (SIMPLE) holds it, in hexadecimal (RFC 8976 section 3.3); null where a record
 * has no TTL or no number for its type.
 */
export function zoneDigest(records: Iterable<ResourceRecord>, apex: DomainName, hash: 'sha384' | 'sha512'): string | null {
  const octets = digestedOctets(records, apex)
  return octets === null ? null : hashOf(octets, hash)
}

function hashOf(octets: readonly Buffer[], algorithm: string): string {
  const hash = createHash(algorithm)
  for (const part of octets) hash.update(part)
  return hash.digest('hex')
}

/** A record on its way into the digest: `rdata` are its octets, names in full. */
interface DigestedRecord {
  readonly name: DomainName
  readonly code: number
  readonly ttl: number
  readonly rdata: Buffer
}

/** The records in canonical form and order, each once: without those outside the zone, the ZONEMD set of the apex and its signatures. */
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

/** A warning at each ZONEMD record of a zone none of which verifies; empty where one does, or there is none. */
export function checkZoneDigest(records: Iterable<DefinedRecord>, apex: DomainName): Diagnostic[] {
  const verdict = verifyZoneDigest(records, apex)
  if (verdict.kind !== 'mismatch') return []
  return verdict.reasons.map(({ record, message }) => ({
    severity: 'warning',
    code: 'zonemd-mismatch',
    message: `${apex} ZONEMD does not verify: ${message}`,
    at: record.at,
    hint: 'The file may be damaged or edited since the digest was made; remove the record, or have it made anew.',
  }))
}

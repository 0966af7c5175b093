/** What is wrong with data whose fields are right one by one, and the field it is about. */
export interface RdataProblem {
  readonly field: number
  readonly message: string
}

/** Octets of digests by their type; the data of others may have any length. */
type DigestOctets = Readonly<Record<string, number>>

/** The registry of digest types of DS records: SHA-1, SHA-256, GOST R 34.11-94, SHA-384, GOST R 34.11-2012, SM3. */
const DELEGATION: DigestOctets = { 1: 20, 2: 32, 3: 32, 4: 48, 5: 32, 6: 32 }

/** SHA-256 and SHA-512 (RFC 6698 section 2.1.3); of type 0 the whole certificate or key stands there. */
const ASSOCIATION: DigestOctets = { 1: 32, 2: 64 }

/** SHA-1 (RFC 4255 section 3.1.2) and SHA-256 (RFC 6594 section 3.2). */
const FINGERPRINT: DigestOctets = { 1: 20, 2: 32 }

/**
 * SHA-384 and SHA-512 (RFC 8976 section 5.3) in the only registered scheme, SIMPLE; what digests of other schemes look like is not known,
 * and the example of appendix A.3 has such a short one. All have twelve octets at least (section 2.2.4).
 */
const ZONE: DigestOctets = { 1: 48, 2: 64 }
const SIMPLE = '1'
const MIN_ZONE_OCTETS = 12

type Check = (fields: readonly string[]) => RdataProblem | null

/** The digest in the last field has the length that its type, in the field before, says. */
const digestOf =
  (octets: DigestOctets): Check =>
  (fields) => {
    const [type = '', digest = ''] = fields.slice(-2)
    const expected = octets[type]
    if (expected === undefined || digest.length === 2 * expected) return null
    return { field: fields.length - 1, message: `has ${digest.length / 2} octets; type ${type} makes ${expected}` }
  }

const DELEGATION_DIGEST = digestOf(DELEGATION)
const ASSOCIATION_DIGEST = digestOf(ASSOCIATION)
const ZONE_DIGEST = digestOf(ZONE)

/** Types whose digests most readers take in any length; the digest of a CDS record that asks for no DS record is of type 0 (RFC 8078 section 4). */
const DOUBTS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ...['DS', 'CDS', 'DLV', 'TA'].map((type) => [type, DELEGATION_DIGEST] as const),
  ...['TLSA', 'SMIMEA'].map((type) => [type, ASSOCIATION_DIGEST] as const),
])

/** Types whose data are none otherwise. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['SSHFP', digestOf(FINGERPRINT)],
  [
    'ZONEMD',
    (fields) => {
      const [, scheme, , digest = ''] = fields
      const octets = digest.length / 2
      if (octets < MIN_ZONE_OCTETS) return { field: 3, message: `${octets} octets are fewer than ${MIN_ZONE_OCTETS}` }
      return scheme === SIMPLE ? ZONE_DIGEST(fields) : null
    },
  ],
  // Only flags that begin with two ones say that there is no key (RFC 2535 section 3.1.2).
  ['KEY', ([flags, , , key]) => (key !== undefined || Number(flags) >= 0xc000 ? null : { field: 3, message: 'is missing' })],
  // No flags were ever given a meaning (draft-reid-dnsext-rkey).
  ['RKEY', ([flags = '']) => (flags === '0' ? null : { field: 0, message: `${flags} is not 0, as flags of an RKEY record are` })],
])

/** What is wrong with canonical data of the type; null where nothing is. */
export const rdataProblem = (type: string, data: string): RdataProblem | null => problemOf(CHECKS.get(type), data)

/** What is wrong with a digest that may stand in a zone all the same, though nothing can ever fit it; null where nothing is. */
export const digestProblem = (type: string, data: string): RdataProblem | null => problemOf(DOUBTS.get(type), data)

const problemOf = (check: Check | undefined, data: string): RdataProblem | null =>
  check === undefined || data.startsWith('\\#') ? null : check(data.split(' '))

/** A problem that spans several fields, each of which is valid on its own. */
export interface RdataProblem {
  readonly field: number
  readonly message: string
}

/** The name and the length in octets of each digest type. Other types have any length. */
type DigestTypes = Readonly<Record<string, readonly [name: string, octets: number]>>

/** The digest types of DS records. */
const DELEGATION: DigestTypes = {
  1: ['SHA-1', 20],
  2: ['SHA-256', 32],
  3: ['GOST R 34.11-94', 32],
  4: ['SHA-384', 48],
  5: ['GOST R 34.11-2012', 32],
  6: ['SM3', 32],
}

/** RFC 6698 section 2.1.3; type 0 is the whole certificate or key. */
const ASSOCIATION: DigestTypes = { 1: ['SHA-256', 32], 2: ['SHA-512', 64] }

/** RFC 4255 section 3.1.2 and RFC 6594 section 3.2. */
const FINGERPRINT: DigestTypes = { 1: ['SHA-1', 20], 2: ['SHA-256', 32] }

/**
 * The hash algorithms (RFC 8976 section 5.3) of the only registered scheme, SIMPLE. Digests of other schemes have unknown lengths, and
 * appendix A.3 has a short one. Every digest has at least twelve octets (section 2.2.4).
 */
const ZONE: DigestTypes = { 1: ['SHA-384', 48], 2: ['SHA-512', 64] }
const SIMPLE = '1'
const MIN_ZONE_OCTETS = 12

type Check = (fields: readonly string[]) => RdataProblem | null

/** Checks that the digest in the last field has the length of the type in the field before it. */
const digestOf =
  (types: DigestTypes, field: string): Check =>
  (fields) => {
    const [type = '', digest = ''] = fields.slice(-2)
    const [name, octets] = types[type] ?? []
    if (octets === undefined || digest.length === 2 * octets) return null
    return { field: fields.length - 1, message: `has ${digest.length} digits, but ${field} ${type} (${name}) needs ${2 * octets}` }
  }

const DELEGATION_DIGEST = digestOf(DELEGATION, 'digest_type')
const ASSOCIATION_DIGEST: Check = (fields) => {
  const problem = digestOf(ASSOCIATION, 'matching_type')(fields)
  // RFC 6698 section 2.1.1; 255 is for private use.
  return problem && Number(fields[0]) > 3 && fields[0] !== '255'
    ? { ...problem, message: `${problem.message}; certificate_usage ${fields[0]} is not assigned, only 0 to 3 are` }
    : problem
}
const ZONE_DIGEST = digestOf(ZONE, 'hash_algorithm')

/** Checks whose failure is only suspicious, since most programs accept any length. A CDS record that deletes the DS records has type 0 (RFC 8078 section 4). */
const SUSPICIONS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ...['DS', 'CDS', 'DLV', 'TA'].map((type) => [type, DELEGATION_DIGEST] as const),
  ...['TLSA', 'SMIMEA'].map((type) => [type, ASSOCIATION_DIGEST] as const),
])

/** Checks whose failure makes the data invalid. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['SSHFP', digestOf(FINGERPRINT, 'fingerprint_type')],
  [
    'ZONEMD',
    (fields) => {
      const [, scheme, , digest = ''] = fields
      if (digest.length < 2 * MIN_ZONE_OCTETS)
        return { field: 3, message: `has ${digest.length} digits; a digest has at least ${2 * MIN_ZONE_OCTETS}` }
      return scheme === SIMPLE ? ZONE_DIGEST(fields) : null
    },
  ],
  // Flags that begin with two ones mean that there is no key (RFC 2535 section 3.1.2).
  ['KEY', ([flags, , , key]) => (key !== undefined || Number(flags) >= 0xc000 ? null : { field: 3, message: 'is missing' })],
  // No flag has a meaning (draft-reid-dnsext-rkey).
  [
    'RKEY',
    ([flags = '']) => (flags === '0' ? null : { field: 0, message: `${flags} is not 0, the only value that an RKEY record allows` }),
  ],
])

/** Why canonical data of the type is invalid; null if it is not. */
export const rdataProblem = (type: string, data: string): RdataProblem | null => problemOf(CHECKS.get(type), data)

/** Why a digest cannot match anything, though servers accept it; null if it can. */
export const digestProblem = (type: string, data: string): RdataProblem | null => problemOf(SUSPICIONS.get(type), data)

const problemOf = (check: Check | undefined, data: string): RdataProblem | null =>
  check === undefined || data.startsWith('\\#') ? null : check(data.split(' '))

/** Octets of the digests of a zone by hash algorithm: SHA-384 and SHA-512 (RFC 8976 section 5.3). */
const DIGEST_OCTETS: Readonly<Record<string, number>> = { 1: 48, 2: 64 }

/** The only registered scheme, SIMPLE; what digests of other schemes look like is not known. */
const SIMPLE = '1'

const MIN_DIGEST_OCTETS = 12

/** What is wrong with the digest of canonical ZONEMD data (RFC 8976 section 2.2.4); null where nothing is. */
export function zonemdProblem(data: string): string | null {
  const [, scheme, algorithm = '', digest = ''] = data.split(' ')
  const octets = digest.length / 2
  if (octets < MIN_DIGEST_OCTETS) return `digest: ${octets} octets are fewer than ${MIN_DIGEST_OCTETS}`
  const expected = scheme === SIMPLE ? DIGEST_OCTETS[algorithm] : undefined
  return expected === undefined || octets === expected
    ? null
    : `digest: has ${octets} octets; hash algorithm ${algorithm} makes ${expected}`
}

/** Seconds that times of a domain and TTLs of records can have, beside 0 for the default (interface, Domain). */
const VALID = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200] as const

const LONGEST = 2419200

/** A domain's time: 0 stays, all else is rounded up to a valid value, and what is above them all is the longest. */
export const roundDomainTime = (seconds: number): number => (seconds === 0 ? 0 : (VALID.find((valid) => valid >= seconds) ?? LONGEST))

/** A record's TTL: 0 stays, all else becomes the nearest valid value, the lower of two as near. */
export function roundRecordTtl(seconds: number): number {
  if (seconds === 0 || seconds >= LONGEST) return Math.min(seconds, LONGEST)
  let nearest: number = VALID[0]
  for (const valid of VALID) if (Math.abs(valid - seconds) < Math.abs(nearest - seconds)) nearest = valid
  return nearest
}

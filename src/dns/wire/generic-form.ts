import { rdataOctets } from './rdata-codec.ts'

/** Canonical data of a type in the registry as its octets: `\# LENGTH HEX` (RFC 3597 section 5). */
export function genericForm(type: string, data: string): string {
  const octets = rdataOctets(type, data)
  return octets.length === 0 ? '\\# 0' : `\\# ${octets.length} ${Buffer.from(octets).toString('hex')}`
}

import { parseDomainName } from '../domain-name.ts'
import { canonicalRdata, type RdataResult } from '../rdata/canonical.ts'
import type { Token } from '../rdata/token.ts'
import { typeCode } from '../record-type.ts'
import { decodeRdata, rdataOctets } from '../wire/rdata-codec.ts'

/** `\# LENGTH HEX` for a type with a form of its own (RFC 3597 section 5): the canonical text of those octets. */
export function genericRdata(type: string, tokens: readonly Token[]): RdataResult {
  const code = typeCode(type)
  const generic = canonicalRdata('TYPE65535', tokens, parseDomainName)
  if (!generic.ok) return generic
  if (code === null) return { ok: false, token: 0, message: `${type} exists only at providers: it has no generic form` }
  const hex = generic.value.slice(generic.value.lastIndexOf(' ') + 1)
  const octets = generic.value === '\\# 0' ? [] : Buffer.from(hex, 'hex')
  const data = decodeRdata(code, Buffer.concat([NO_NAMES, Uint8Array.from(octets)]), NO_NAMES.length, octets.length)
  return data.ok ? data : { ok: false, token: 0, message: `the octets are not ${type} rdata: ${data.message}` }
}

/**
 * What compression pointers lead to, which generic rdata cannot hold, for they would mean something else in every message
 * (RFC 3597 section 4): as many octets as a pointer reaches, none of which begins a label.
 */
const NO_NAMES = Buffer.alloc(0x4000, 0x40)

/** The canonical data of a type with a number as `\\# LENGTH HEX`. */
export function genericData(type: string, data: string): string {
  const octets = rdataOctets(type, data)
  return octets.length === 0 ? '\\# 0' : `\\# ${octets.length} ${octets.toString('hex')}`
}

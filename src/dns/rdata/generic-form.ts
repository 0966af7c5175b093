/** The generic form of rdata, `\# LENGTH HEX` (RFC 3597 section 5), of types that also have a form of their own. */
import { typeCode } from '../record-type.ts'
import { formatGeneric, parseGenericOctets, type RdataResult } from './canonical.ts'
import type { Token } from './field.ts'
import { decodeRdata, rdataOctets } from './rdata-codec.ts'

/** Canonical data of a type from its generic form. */
export function parseGenericForm(type: string, tokens: readonly Token[]): RdataResult {
  const octets = parseGenericOctets(tokens)
  if (!octets.ok) return octets
  const code = typeCode(type)
  if (code === null) return { ok: false, token: 0, message: `${type} exists only at providers: it has no generic form` }
  const data = decodeRdata(code, Buffer.concat([POINTER_TARGETS, octets.value]), POINTER_TARGETS.length, octets.value.length)
  return data.ok ? data : { ok: false, token: 0, message: `the octets are not ${type} rdata: ${data.message}` }
}

/**
 * As many octets as a compression pointer reaches, none of which can begin a label. Placed before generic rdata they make every
 * pointer in it an error: generic rdata must not contain any, since they would mean something else in each message (RFC 3597 section 4).
 */
const POINTER_TARGETS = Buffer.alloc(0x4000, 0x40)

/** Canonical data in its generic form. The type must have a number. */
export const toGenericForm = (type: string, data: string): string => formatGeneric(rdataOctets(type, data))

/** Data of types that nobody makes any more and that old zones still hold. */
import type { DomainName } from '../domain-name.ts'
import { formatIpv6, ipv6Groups, parseIpv6 } from '../ip-address.ts'
import { parseRecordType, typeCode } from '../record-type.ts'
import { failure, ok, type Result } from '../result.ts'
import { excerpt, joinFields, type Token } from './field.ts'
import { canonicalUnsigned } from './numbers.ts'
import { canonicalBase64, canonicalHex } from './octets.ts'
import { formatTypes } from './type-bitmap.ts'

type ReadName = (text: string) => Result<DomainName>

/** The highest type that the bit map of an NXT record has room for (RFC 2535 section 5.2). */
export const MAX_OLD_TYPE = 127

/** Types of an NXT record, by name or number, each once, in the order of their numbers. */
export function canonicalOldTypes(tokens: readonly Token[]): Result<string> {
  const codes = new Set<number>()
  for (const { text } of tokens) {
    const type = parseRecordType(/^[0-9]{1,3}$/.test(text) ? `TYPE${text}` : text)
    if (!type.ok) return type
    const code = typeCode(type.value)
    if (code === null || code === 0 || code > MAX_OLD_TYPE) return failure(`${excerpt(text)} has no place in an NXT record`)
    codes.add(code)
  }
  return ok(formatTypes([...codes].sort((a, b) => a - b)))
}

/** `PREFIX-LENGTH [SUFFIX] [PREFIX-NAME]` (RFC 2874 section 3.1): no suffix where the length is 128, no name where it is 0. */
export function canonicalA6(tokens: readonly Token[], readName: ReadName): Result<string> {
  const texts = tokens.map(({ text }) => text)
  const length = /^[0-9]{1,3}$/.test(texts[0] ?? '') ? Number(texts[0]) : 129
  if (length > 128) return failure(`${excerpt(texts[0] ?? '')} is not a length of a prefix from 0 to 128`)
  const expected = 1 + (length === 128 ? 0 : 1) + (length === 0 ? 0 : 1)
  if (texts.length !== expected) return failure('is PREFIX-LENGTH [SUFFIX] [PREFIX-NAME]')
  const fields: Result<string>[] = [ok(String(length))]
  if (length < 128) {
    const address = parseIpv6(texts[1] as string)
    fields.push(address.ok ? ok(suffixOf(address.value, length)) : address)
  }
  if (length > 0) fields.push(readName(texts[expected - 1] as string))
  return joinFields(...fields)
}

/** The address with its first `length` bits zero. */
function suffixOf(address: string, length: number): string {
  const groups = ipv6Groups(address).map((group, i) => group & (0xffff >> Math.min(16, Math.max(0, length - 16 * i))))
  return formatIpv6(groups)
}

/** `MEANING CODING SUBCODING [DATA]`, the data in base64 (draft-eastlake-kitchen-sink). */
export function canonicalSink(tokens: readonly Token[]): Result<string> {
  const [meaning, coding, subcoding, ...data] = tokens
  if (!meaning || !coding || !subcoding) return failure('is MEANING CODING SUBCODING [DATA]')
  const head = joinFields(...[meaning, coding, subcoding].map(({ text }) => canonicalUnsigned(text, 'u8')))
  return data.length === 0 ? head : joinFields(head, canonicalBase64(data))
}

/** `+` and the digits of an E.164 number, or the address of an ATM end system in hexadecimal, dots ignored (AF-SAA-0069 of the ATM Forum). */
export function canonicalAtmAddress(text: string): Result<string> {
  if (text.startsWith('+')) return /^\+[0-9]{1,255}$/.test(text) ? ok(text) : failure(`${excerpt(text)} is not + and digits`)
  return canonicalHex([{ text: text.replaceAll('.', ''), quoted: false }])
}

/** Type bit maps (RFC 4034 section 4.1.2). */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { parseReferencedType, typeCode, typeName } from '../record-type.ts'
import { readOctets, readU8, remainingOctets, throwWireError } from '../wire/reader.ts'
import { writeOctets, writeU8 } from '../wire/writer.ts'
import type { FieldCodec, Token } from './field.ts'

/** Record types without duplicates, in the order of their numbers. */
export function canonicalTypes(tokens: readonly Token[]): Result<string> {
  const codes = new Set<number>()
  for (const { text } of tokens) {
    const type = parseReferencedType(text)
    if (!type.ok) return type
    const code = typeCode(type.value)
    if (code === null) return failure(`${quoted(text)} exists only at providers`)
    codes.add(code)
  }
  return ok(formatTypes([...codes].sort((a, b) => a - b)))
}

/** The names of these types, separated by spaces. */
const formatTypes = (codes: readonly number[]): string => codes.map(typeName).join(' ')

/** Octets of a window, which covers 256 types. */
const WINDOW_OCTETS = 32

/** A type bit map: one window per block of 256 types that has any (RFC 4034 section 4.1.2). */
export const TYPE_BITMAP: FieldCodec = {
  encode: (writer, tokens) => {
    const windows = new Map<number, Uint8Array>()
    for (const token of tokens) {
      const code = typeCode(token)
      if (code === null) throw new RangeError(`${token} has no number in the registry of types`)
      const bits = windows.get(code >> 8) ?? new Uint8Array(WINDOW_OCTETS)
      const at = (code & 0xff) >> 3
      bits[at] = (bits[at] as number) | (0x80 >> (code & 7))
      windows.set(code >> 8, bits)
    }
    for (const [window, bits] of [...windows].sort(([a], [b]) => a - b)) {
      const octets = bits.subarray(0, bits.findLastIndex((octet) => octet !== 0) + 1)
      writeU8(writer, window)
      writeU8(writer, octets.length)
      writeOctets(writer, octets)
    }
  },
  decode: (reader) => {
    const codes: number[] = []
    let last = -1
    while (remainingOctets(reader) > 0) {
      const window = readU8(reader)
      const length = readU8(reader)
      if (window <= last) throwWireError('the windows of a type bit map are not in order (RFC 4034 section 4.1.2)')
      if (length === 0 || length > WINDOW_OCTETS) throwWireError(`a window of ${length} octets in a type bit map (RFC 4034 section 4.1.2)`)
      last = window
      for (const [at, octet] of readOctets(reader, length).entries()) {
        for (let bit = 0; bit < 8; bit += 1) if ((octet & (0x80 >> bit)) !== 0) codes.push((window << 8) | (at << 3) | bit)
      }
    }
    return formatTypes(codes)
  },
}

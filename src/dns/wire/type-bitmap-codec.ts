import { formatTypes } from '../rdata/type-bitmap.ts'
import { typeCode } from '../record-type.ts'
import type { FieldCodec } from './field-codec.ts'
import { readOctets, readU8, remaining } from './reader.ts'
import { wireProblem } from './wire-problem.ts'
import { writeOctets, writeU8 } from './writer.ts'

/** Octets of the bits of one window of 256 types. */
const WINDOW_OCTETS = 32

/** A type bit map: windows of types that have any (RFC 4034 section 4.1.2). */
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
    while (remaining(reader) > 0) {
      const window = readU8(reader)
      const length = readU8(reader)
      if (window <= last) wireProblem('the windows of a type bit map are not in order (RFC 4034 section 4.1.2)')
      if (length === 0 || length > WINDOW_OCTETS) wireProblem(`a window of ${length} octets in a type bit map (RFC 4034 section 4.1.2)`)
      last = window
      for (const [at, octet] of readOctets(reader, length).entries()) {
        for (let bit = 0; bit < 8; bit += 1) if ((octet & (0x80 >> bit)) !== 0) codes.push((window << 8) | (at << 3) | bit)
      }
    }
    return formatTypes(codes)
  },
}

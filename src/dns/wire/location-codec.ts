import { formatLocation, parseLocation } from '../rdata/location.ts'
import type { FieldCodec } from './field-codec.ts'
import { readU8, readU32 } from './reader.ts'
import { wireProblem } from './wire-problem.ts'
import { writeU8, writeU32 } from './writer.ts'

const EQUATOR = 2 ** 31
const POLE = 90 * 3_600_000

/** LOC rdata (RFC 1876 section 2). */
export const LOCATION: FieldCodec = {
  encode: (writer, tokens) => {
    const location = parseLocation(tokens)
    if (!location.ok) throw new RangeError(`not canonical LOC data: ${tokens.join(' ')}`)
    const { size, horizontal, vertical, latitude, longitude, altitude } = location.value
    for (const octet of [0, size, horizontal, vertical]) writeU8(writer, octet)
    for (const number of [latitude, longitude, altitude]) writeU32(writer, number)
  },
  decode: (reader) => {
    const version = readU8(reader)
    if (version !== 0) wireProblem(`LOC rdata of version ${version} is not known (RFC 1876 section 2)`)
    const [size, horizontal, vertical] = [readU8(reader), readU8(reader), readU8(reader)]
    for (const precision of [size, horizontal, vertical]) {
      if (precision >> 4 > 9 || (precision & 0xf) > 9) wireProblem('a size in LOC rdata has no decimal digit (RFC 1876 section 2)')
    }
    const [latitude, longitude, altitude] = [readU32(reader), readU32(reader), readU32(reader)]
    if (Math.abs(latitude - EQUATOR) > POLE) wireProblem('a latitude is more than 90 degrees')
    if (Math.abs(longitude - EQUATOR) > 2 * POLE) wireProblem('a longitude is more than 180 degrees')
    return formatLocation({ size, horizontal, vertical, latitude, longitude, altitude })
  },
}

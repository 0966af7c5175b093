/** LOC rdata (RFC 1876). */
import { failure, ok, type Result } from '../../base/result.ts'
import { quoted } from '../../base/text.ts'
import { readU8, readU32, throwWireError } from '../wire/reader.ts'
import { writeU8, writeU32 } from '../wire/writer.ts'
import type { FieldCodec, Token } from './field.ts'

/** LOC rdata in the units of its wire form (RFC 1876 section 2). */
export interface Location {
  /** Diameter and precisions in centimetres: four bits of mantissa, four bits of power of ten. */
  readonly size: number
  readonly horizontal: number
  readonly vertical: number
  /** Thousandths of a second of arc. The equator and the prime meridian are 2^31. */
  readonly latitude: number
  readonly longitude: number
  /** Centimetres above a base 100,000 m below the reference spheroid. */
  readonly altitude: number
}

const EQUATOR = 2 ** 31
const ALTITUDE_ZERO = 10_000_000
const MILLISECONDS_PER_DEGREE = 3_600_000

/** Canonical LOC data with all fields: `31 58 52.100 S 115 49 11.700 E 20.00m 10.00m 10.00m 2.00m`. */
export function canonicalLocation(tokens: readonly Token[]): Result<string> {
  const location = parseLocation(tokens.map(({ text }) => text))
  return location.ok ? ok(formatLocation(location.value)) : location
}

/**
 * Parses `d [m [s]] N|S d [m [s]] E|W alt[m] [size[m] [hp[m] [vp[m]]]]` (RFC 1876 section 3). Sizes are rounded down to one digit and a
 * power of ten, as in the code of the RFC.
 */
export function parseLocation(tokens: readonly string[]): Result<Location> {
  const south = tokens.findIndex((text) => /^[NS]$/i.test(text))
  const west = tokens.findIndex((text) => /^[EW]$/i.test(text))
  if (south === -1 || west < south)
    return failure('is DEGREES [MINUTES [SECONDS]] N|S DEGREES [MINUTES [SECONDS]] E|W ALTITUDE [SIZE [HP [VP]]]')
  const latitude = parseAngle(tokens.slice(0, south), 90)
  if (!latitude.ok) return latitude
  const longitude = parseAngle(tokens.slice(south + 1, west), 180)
  if (!longitude.ok) return longitude
  const [altitudeText, ...sizes] = tokens.slice(west + 1)
  if (altitudeText === undefined) return failure('the altitude is missing')
  if (sizes.length > 3) return failure(`${quoted(sizes[3] ?? '')} follows the last field`)
  const altitude = parseMetres(altitudeText, -ALTITUDE_ZERO, 0xffffffff - ALTITUDE_ZERO)
  if (!altitude.ok) return altitude
  const precisions: number[] = []
  for (const text of [sizes[0] ?? '1', sizes[1] ?? '10000', sizes[2] ?? '10']) {
    const metres = parseMetres(text, 0, 9_000_000_000)
    if (!metres.ok) return metres
    precisions.push(encodePrecision(metres.value))
  }
  const [size = 0, horizontal = 0, vertical = 0] = precisions
  return ok({
    size,
    horizontal,
    vertical,
    latitude: EQUATOR + (/s/i.test(tokens[south] ?? '') ? -latitude.value : latitude.value),
    longitude: EQUATOR + (/w/i.test(tokens[west] ?? '') ? -longitude.value : longitude.value),
    altitude: altitude.value + ALTITUDE_ZERO,
  })
}

/** Degrees, minutes and seconds as thousandths of a second. */
function parseAngle(tokens: readonly string[], limit: number): Result<number> {
  const [degrees = '', minutes = '0', seconds = '0', ...rest] = tokens
  const number = /^([0-9]{1,2})(?:\.([0-9]{1,3}))?$/.exec(seconds)
  if (!/^[0-9]{1,3}$/.test(degrees) || !/^[0-9]{1,2}$/.test(minutes) || !number || rest.length > 0) {
    return failure(`${quoted(tokens.join(' '))} is not DEGREES [MINUTES [SECONDS]], seconds to three decimals`)
  }
  if (Number(minutes) > 59 || Number(number[1]) > 59) return failure(`${quoted(tokens.join(' '))}: minutes and seconds are less than 60`)
  const milliseconds = Number(number[1]) * 1000 + Number((number[2] ?? '').padEnd(3, '0'))
  const angle = Number(degrees) * MILLISECONDS_PER_DEGREE + Number(minutes) * 60_000 + milliseconds
  return angle > limit * MILLISECONDS_PER_DEGREE ? failure(`${quoted(tokens.join(' '))} is more than ${limit} degrees`) : ok(angle)
}

/** Metres with up to two decimals and an optional `m`, as centimetres. */
function parseMetres(text: string, least: number, most: number): Result<number> {
  const match = /^(-?)([0-9]{1,8})(?:\.([0-9]{1,2}))?m?$/i.exec(text)
  if (!match) return failure(`${quoted(text)} is not a number of metres with up to two decimals`)
  const size = Number(match[2]) * 100 + Number((match[3] ?? '').padEnd(2, '0'))
  const centimetres = match[1] === '-' && size !== 0 ? -size : size
  if (centimetres >= least && centimetres <= most) return ok(centimetres)
  return failure(`${text} is not from ${least / 100} to ${most / 100} metres`)
}

function encodePrecision(centimetres: number): number {
  let mantissa = centimetres
  let exponent = 0
  for (; mantissa > 9; exponent += 1) mantissa = Math.floor(mantissa / 10)
  return (mantissa << 4) | exponent
}

/** Canonical text of LOC rdata. */
export function formatLocation({ latitude, longitude, altitude, size, horizontal, vertical }: Location): string {
  const angles = `${formatAngle(latitude, 'N', 'S')} ${formatAngle(longitude, 'E', 'W')}`
  return `${angles} ${formatMetres(altitude - ALTITUDE_ZERO)} ${[size, horizontal, vertical].map(formatPrecision).join(' ')}`
}

function formatAngle(angle: number, positive: string, negative: string): string {
  const size = Math.abs(angle - EQUATOR)
  const degrees = Math.floor(size / MILLISECONDS_PER_DEGREE)
  const minutes = Math.floor((size % MILLISECONDS_PER_DEGREE) / 60_000)
  const milliseconds = size % 60_000
  const seconds = `${Math.floor(milliseconds / 1000)}.${String(milliseconds % 1000).padStart(3, '0')}`
  return `${degrees} ${minutes} ${seconds} ${angle < EQUATOR ? negative : positive}`
}

function formatMetres(centimetres: number): string {
  const size = Math.abs(centimetres)
  return `${centimetres < 0 ? '-' : ''}${Math.floor(size / 100)}.${String(size % 100).padStart(2, '0')}m`
}

const formatPrecision = (precision: number): string => formatMetres((precision >> 4) * 10 ** (precision & 0xf))

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
    if (version !== 0) throwWireError(`LOC rdata of version ${version} is not known (RFC 1876 section 2)`)
    const [size, horizontal, vertical] = [readU8(reader), readU8(reader), readU8(reader)]
    for (const precision of [size, horizontal, vertical]) {
      if (precision >> 4 > 9 || (precision & 0xf) > 9) throwWireError('a size in LOC rdata has no decimal digit (RFC 1876 section 2)')
    }
    const [latitude, longitude, altitude] = [readU32(reader), readU32(reader), readU32(reader)]
    if (Math.abs(latitude - EQUATOR) > POLE) throwWireError('a latitude is more than 90 degrees')
    if (Math.abs(longitude - EQUATOR) > 2 * POLE) throwWireError('a longitude is more than 180 degrees')
    return formatLocation({ size, horizontal, vertical, latitude, longitude, altitude })
  },
}

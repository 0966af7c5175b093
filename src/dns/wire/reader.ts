import { type DomainName, MAX_LABEL_OCTETS, MAX_NAME_OCTETS, nameFromLabels, ROOT } from '../domain-name.ts'
import { failure, ok, type Result } from '../result.ts'

/**
 * A place in a DNS message. Reads advance `offset`, never pass `end`, and throw a wire fault instead (see `wire-fault.ts`).
 * Names may point back into all of `octets`.
 */
export interface WireReader {
  readonly octets: Uint8Array
  offset: number
  end: number
}

export const createReader = (octets: Uint8Array, offset = 0, end = octets.length): WireReader => ({ octets, offset, end })

export const remainingOctets = (reader: WireReader): number => reader.end - reader.offset

export function readU8(reader: WireReader): number {
  const at = advance(reader, 1)
  return reader.octets[at] as number
}

export function readU16(reader: WireReader): number {
  const at = advance(reader, 2)
  const { octets } = reader
  return ((octets[at] as number) << 8) | (octets[at + 1] as number)
}

export function readU32(reader: WireReader): number {
  const high = readU16(reader)
  return high * 0x10000 + readU16(reader)
}

/** The next octets: a view into the message, not a copy. */
export function readOctets(reader: WireReader, length: number): Uint8Array {
  const at = advance(reader, length)
  return reader.octets.subarray(at, at + length)
}

/** All octets up to the end. */
export const readRest = (reader: WireReader): Uint8Array => readOctets(reader, remainingOctets(reader))

/** Octets after a length octet (RFC 1035 section 3.3). */
export const readString = (reader: WireReader): Uint8Array => readOctets(reader, readU8(reader))

/** The presentation form of each octet of a label, in lower case. */
const LABEL_TEXT: readonly string[] = Array.from({ length: 256 }, (_, octet) => nameFromLabels([Uint8Array.of(octet)]).slice(0, -1))

/** The same with capital letters as they are. */
const WRITTEN_TEXT: readonly string[] = LABEL_TEXT.map((text, octet) =>
  octet >= 0x41 && octet <= 0x5a ? String.fromCharCode(octet) : text,
)

/**
 * A domain name, decompressed (RFC 1035 section 4.1.4). A pointer must lead to before the labels it continues, so every name
 * ends: each jump goes further back.
 */
export const readName = (reader: WireReader): DomainName => readLabels(reader, LABEL_TEXT) as DomainName

/** As `readName`, with the capital letters that it has in the message. */
export const readNameWithCase = (reader: WireReader): string => readLabels(reader, WRITTEN_TEXT)

function readLabels(reader: WireReader, texts: readonly string[]): string {
  const { octets } = reader
  let { offset, end } = reader
  let segment = offset
  let jumped = false
  let length = 1
  let text = ''
  for (;;) {
    if (offset >= end) throwWireError('a domain name runs over the end of its field')
    const octet = octets[offset] as number
    if (octet === 0) {
      if (!jumped) reader.offset = offset + 1
      return text === '' ? ROOT : text
    }
    if (octet >= 0xc0) {
      if (offset + 1 >= end) throwWireError('a compression pointer runs over the end of its field')
      const target = ((octet & 0x3f) << 8) | (octets[offset + 1] as number)
      if (target >= segment) throwWireError('a compression pointer does not lead backwards (RFC 1035 section 4.1.4)')
      if (!jumped) reader.offset = offset + 2
      jumped = true
      // What a pointer leads to lies before the field, in the message.
      end = segment
      offset = target
      segment = target
      continue
    }
    if (octet > MAX_LABEL_OCTETS) throwWireError(`a label of type ${octet >> 6} is not known (RFC 6891 section 5)`)
    length += octet + 1
    if (length > MAX_NAME_OCTETS) throwWireError(`a domain name is longer than ${MAX_NAME_OCTETS} octets`)
    const next = offset + 1 + octet
    if (next > end) throwWireError('a label runs over the end of its field')
    for (let i = offset + 1; i < next; i += 1) text += texts[octets[i] as number]
    text += '.'
    offset = next
  }
}

function advance(reader: WireReader, length: number): number {
  const at = reader.offset
  if (at + length > reader.end) throwWireError(`${length} octet${length === 1 ? '' : 's'} wanted where ${remainingOctets(reader)} are left`)
  reader.offset = at + length
  return at
}

/** What decoding code throws on bytes that break the format; it leaves the decoder only as a `Result`. */
interface WireFormatError extends Error {
  readonly code: 'WIRE_FORMAT'
}

/** Gives up decoding: the bytes are not what the format says. */
export function throwWireError(message: string): never {
  throw Object.assign(new Error(message), { code: 'WIRE_FORMAT' as const })
}

const isWireFormatError = (error: unknown): error is WireFormatError => (error as Partial<WireFormatError> | null)?.code === 'WIRE_FORMAT'

/** The value, or what `recover` makes of a fault of the bytes. */
export function decodeOr<T>(decode: () => T, recover: (message: string) => T): T {
  try {
    return decode()
  } catch (error) {
    if (isWireFormatError(error)) return recover(error.message)
    throw error
  }
}

/** Has faults of the bytes say what they are about. */
export function decodeWithSubject<T>(subject: () => string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (isWireFormatError(error)) error.message = `${subject()}: ${error.message}`
    throw error
  }
}

/** The edge of the decoder: faults of the bytes become a result, bugs stay exceptions. */
export function decodeToResult<T>(decode: () => T): Result<T> {
  return decodeOr<Result<T>>(() => ok(decode()), failure)
}

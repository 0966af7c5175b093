/** Reads values from a DNS message. */
import { failure, ok, type Result } from '../../base/result.ts'
import { type DomainName, MAX_LABEL_OCTETS, MAX_NAME_OCTETS, nameFromLabels, ROOT } from '../domain-name.ts'

/**
 * A reading position in a DNS message. Reads advance `offset` and throw a `WireFormatError` rather than pass `end`. Names may point back
 * into all of `octets`.
 */
export interface WireReader {
  readonly octets: Uint8Array
  offset: number
  end: number
  /** Whether names keep their capital letters. Otherwise they are canonical. */
  readonly keepsCase: boolean
}

export const createReader = (octets: Uint8Array, offset = 0, end = octets.length, keepsCase = false): WireReader => ({
  octets,
  offset,
  end,
  keepsCase,
})

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

/** The next octets, as a view of the message. */
export function readOctets(reader: WireReader, length: number): Uint8Array {
  const at = advance(reader, length)
  return reader.octets.subarray(at, at + length)
}

/** The remaining octets, as a view of the message. */
export const readRest = (reader: WireReader): Uint8Array => readOctets(reader, remainingOctets(reader))

/** A character-string: a length octet and its octets (RFC 1035 section 3.3). */
export const readString = (reader: WireReader): Uint8Array => readOctets(reader, readU8(reader))

/** The presentation form of each octet of a label, in lower case. */
const LABEL_TEXT: readonly string[] = Array.from({ length: 256 }, (_, octet) => nameFromLabels([Uint8Array.of(octet)]).slice(0, -1))

/** `LABEL_TEXT` with capital letters. */
const LABEL_TEXT_WITH_CASE: readonly string[] = LABEL_TEXT.map((text, octet) =>
  octet >= 0x41 && octet <= 0x5a ? String.fromCharCode(octet) : text,
)

/**
 * Reads a compressed domain name (RFC 1035 section 4.1.4). Each pointer must lead to before the labels that it continues, so reading
 * always terminates.
 */
export function readName(reader: WireReader): DomainName {
  const { octets } = reader
  const texts = reader.keepsCase ? LABEL_TEXT_WITH_CASE : LABEL_TEXT
  let { offset, end } = reader
  let segment = offset
  let jumped = false
  let length = 1
  let text = ''
  for (;;) {
    if (offset >= end) throwWireError('a domain name exceeds its field')
    const octet = octets[offset] as number
    if (octet === 0) {
      if (!jumped) reader.offset = offset + 1
      return text === '' ? ROOT : (text as DomainName)
    }
    if (octet >= 0xc0) {
      if (offset + 1 >= end) throwWireError('a compression pointer exceeds its field')
      const target = ((octet & 0x3f) << 8) | (octets[offset + 1] as number)
      if (target >= segment) throwWireError('a compression pointer does not point backwards (RFC 1035 section 4.1.4)')
      if (!jumped) reader.offset = offset + 2
      jumped = true
      // The target is earlier in the message than the field.
      end = segment
      offset = target
      segment = target
      continue
    }
    if (octet > MAX_LABEL_OCTETS) throwWireError(`a label of type ${octet >> 6} is not known (RFC 6891 section 5)`)
    length += octet + 1
    if (length > MAX_NAME_OCTETS) throwWireError(`a domain name is longer than ${MAX_NAME_OCTETS} octets`)
    const next = offset + 1 + octet
    if (next > end) throwWireError('a label exceeds its field')
    for (let i = offset + 1; i < next; i += 1) text += texts[octets[i] as number]
    text += '.'
    offset = next
  }
}

function advance(reader: WireReader, length: number): number {
  const at = reader.offset
  if (at + length > reader.end) throwWireError(`octets expected: ${length}, left: ${remainingOctets(reader)}`)
  reader.offset = at + length
  return at
}

/** Thrown by decoding code on malformed octets, and converted to a `Result` at the edge of the decoder. */
interface WireFormatError extends Error {
  readonly code: 'WIRE_FORMAT'
}

/** Throws a `WireFormatError`. */
export function throwWireError(message: string): never {
  throw Object.assign(new Error(message), { code: 'WIRE_FORMAT' as const })
}

const isWireFormatError = (error: unknown): error is WireFormatError => (error as Partial<WireFormatError> | null)?.code === 'WIRE_FORMAT'

/** The decoded value, or the result of `recover` if the octets are malformed. */
export function decodeOr<T>(decode: () => T, recover: (message: string) => T): T {
  try {
    return decode()
  } catch (error) {
    if (isWireFormatError(error)) return recover(error.message)
    throw error
  }
}

/** Runs `decode` and prefixes the message of a `WireFormatError` with the subject. */
export function decodeWithSubject<T>(subject: () => string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (isWireFormatError(error)) error.message = `${subject()}: ${error.message}`
    throw error
  }
}

/** The decoded value as a `Result`: malformed octets are a failure, bugs remain exceptions. */
export function decodeToResult<T>(decode: () => T): Result<T> {
  return decodeOr<Result<T>>(() => ok(decode()), failure)
}

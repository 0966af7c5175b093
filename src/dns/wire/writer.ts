/** Writes values to a DNS message. */
import type { DomainName } from '../domain-name.ts'

/**
 * A DNS message in progress. `names` maps the names written so far to their offsets, for compression; null disables compression.
 */
export interface WireWriter {
  octets: Buffer
  offset: number
  readonly names: Map<string, number> | null
}

/** Creates a writer that grows as needed. Rdata outside a message needs `compress: false`. */
export const createWriter = (options: { compress?: boolean; size?: number } = {}): WireWriter => ({
  octets: Buffer.allocUnsafe(options.size ?? 512),
  offset: 0,
  names: options.compress === false ? null : new Map(),
})

/** Empties the writer for the next message and keeps its memory. */
export function resetWriter(writer: WireWriter): void {
  writer.offset = 0
  writer.names?.clear()
}

/** Removes everything from offset `mark` on, including names for compression. */
export function rewindWriter(writer: WireWriter, mark: number): void {
  writer.offset = mark
  if (!writer.names) return
  for (const [name, offset] of writer.names) if (offset >= mark) writer.names.delete(name)
}

/** The octets so far, as a view that the next write may change. */
export const writtenOctets = (writer: WireWriter): Buffer => writer.octets.subarray(0, writer.offset)

export function writeU8(writer: WireWriter, value: number): void {
  const at = reserve(writer, 1)
  writer.octets[at] = value
}

export function writeU16(writer: WireWriter, value: number): void {
  const at = reserve(writer, 2)
  overwriteU16(writer, at, value)
}

/** Overwrites two octets, such as a length that was not known before. */
export function overwriteU16(writer: WireWriter, at: number, value: number): void {
  writer.octets[at] = value >>> 8
  writer.octets[at + 1] = value
}

export function writeU32(writer: WireWriter, value: number): void {
  const at = reserve(writer, 4)
  overwriteU16(writer, at, value >>> 16)
  overwriteU16(writer, at + 2, value & 0xffff)
}

export function writeOctets(writer: WireWriter, octets: Uint8Array): void {
  const at = reserve(writer, octets.length)
  writer.octets.set(octets, at)
}

/** Writes a character-string: a length octet and at most 255 octets (RFC 1035 section 3.3). */
export function writeString(writer: WireWriter, octets: Uint8Array): void {
  if (octets.length > 255) throw new RangeError(`a character-string of ${octets.length} octets`)
  writeU8(writer, octets.length)
  writeOctets(writer, octets)
}

/** Runs `write` and puts the length of its output in two octets before it. */
export function writeSized(writer: WireWriter, write: () => void): void {
  const at = reserve(writer, 2)
  write()
  const length = writer.offset - at - 2
  if (length > 0xffff) throw new RangeError(`${length} octets; 65535 are allowed`)
  overwriteU16(writer, at, length)
}

const POINTER_LIMIT = 0x4000
const DOT = 0x2e
const BACKSLASH = 0x5c

/**
 * Writes a name. With `compress` it ends in a pointer to the longest suffix written before (RFC 1035 section 4.1.4), as owner names and
 * the types of RFC 3597 section 4 allow. Later names can point to any name.
 */
export function writeName(writer: WireWriter, name: DomainName, compress: boolean): void {
  const { names } = writer
  let i = name === '.' ? 1 : 0
  while (i < name.length) {
    const suffix = i === 0 ? name : name.slice(i)
    const earlier = names?.get(suffix)
    if (earlier === undefined) {
      if (names && writer.offset < POINTER_LIMIT) names.set(suffix, writer.offset)
    } else if (compress) {
      writeU16(writer, 0xc000 | earlier)
      return
    }
    i = writeLabel(writer, name, i)
  }
  writeU8(writer, 0)
}

/** Writes the label at offset `from` of the text and returns the offset of the next one. */
function writeLabel(writer: WireWriter, text: string, from: number): number {
  // A label has at most 63 octets and a length. Reserving too much is harmless.
  const start = reserve(writer, 64)
  let at = start + 1
  let i = from
  for (;;) {
    let code = text.charCodeAt(i)
    if (code === DOT) break
    if (code === BACKSLASH) {
      const next = text.charCodeAt(i + 1)
      const isDecimal = next >= 0x30 && next <= 0x39
      code = isDecimal ? Number(text.slice(i + 1, i + 4)) : next
      i += isDecimal ? 4 : 2
    } else i += 1
    if (i >= text.length || at > start + 63) throw new RangeError(`not a canonical name: ${text}`)
    writer.octets[at] = code
    at += 1
  }
  writer.octets[start] = at - start - 1
  writer.offset = at
  return i + 1
}

function reserve(writer: WireWriter, length: number): number {
  const at = writer.offset
  if (at + length > writer.octets.length) {
    const larger = Buffer.allocUnsafe(Math.max(2 * writer.octets.length, at + length))
    writer.octets.copy(larger, 0, 0, at)
    writer.octets = larger
  }
  writer.offset = at + length
  return at
}

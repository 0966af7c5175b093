import type { DomainName } from '../domain-name.ts'

/**
 * A DNS message being written. `names` maps the names written so far to where they start, for compression; null writes every
 * name in full.
 */
export interface WireWriter {
  octets: Buffer
  offset: number
  readonly names: Map<string, number> | null
}

/** A writer that grows as needed. `compress: false` makes names stand on their own, as rdata outside a message needs. */
export const createWriter = (options: { compress?: boolean; size?: number } = {}): WireWriter => ({
  octets: Buffer.allocUnsafe(options.size ?? 512),
  offset: 0,
  names: options.compress === false ? null : new Map(),
})

/** Empties the writer for the next message; its memory is kept. */
export function resetWriter(writer: WireWriter): void {
  writer.offset = 0
  writer.names?.clear()
}

/** Takes back everything from `mark` on, names to point at included. */
export function rewindWriter(writer: WireWriter, mark: number): void {
  writer.offset = mark
  if (!writer.names) return
  for (const [name, offset] of writer.names) if (offset >= mark) writer.names.delete(name)
}

/** What has been written: a view that the next write to the writer may change. */
export const writtenOctets = (writer: WireWriter): Buffer => writer.octets.subarray(0, writer.offset)

export function writeU8(writer: WireWriter, value: number): void {
  const at = reserve(writer, 1)
  writer.octets[at] = value
}

export function writeU16(writer: WireWriter, value: number): void {
  const at = reserve(writer, 2)
  overwriteU16(writer, at, value)
}

/** Overwrites two octets written before: a length or count that is known only now. */
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

/** Octets after a length octet (RFC 1035 section 3.3); at most 255. */
export function writeString(writer: WireWriter, octets: Uint8Array): void {
  if (octets.length > 255) throw new RangeError(`a character-string of ${octets.length} octets`)
  writeU8(writer, octets.length)
  writeOctets(writer, octets)
}

/** Writes a length of two octets and then what `write` writes. */
export function writeSized(writer: WireWriter, write: () => void): void {
  const at = reserve(writer, 2)
  write()
  const length = writer.offset - at - 2
  if (length > 0xffff) throw new RangeError(`${length} octets where 65535 are allowed`)
  overwriteU16(writer, at, length)
}

const POINTER_LIMIT = 0x4000
const DOT = 0x2e
const BACKSLASH = 0x5c

/**
 * Writes a name. With `compress` it ends in a pointer to the longest suffix written before (RFC 1035 section 4.1.4), which is
 * for owner names and for the rdata of the types that RFC 3597 section 4 lists. Every name can be pointed at later.
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

/** Writes the label that starts at `from` of the text; returns where the next one starts. */
function writeLabel(writer: WireWriter, text: string, from: number): number {
  // A label takes no more octets than characters and one for its length; an over-estimate is harmless.
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

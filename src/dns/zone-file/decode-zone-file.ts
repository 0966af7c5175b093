/** An octet of a zone file that is not UTF-8 text and not in a comment. */
export interface UndecodableOctet {
  readonly octet: number
  /** Its position, from 1. The column counts octets as the characters of Latin-1. */
  readonly line: number
  readonly column: number
}

export type DecodedZoneFile = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: UndecodableOctet }

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const LINE_FEED = 0x0a
const QUOTE = 0x22
const SEMICOLON = 0x3b
const BACKSLASH = 0x5c

/** Decodes a zone file that is not UTF-8 throughout. Comments that are not UTF-8 are read as Latin-1; the rest must be UTF-8. */
export function decodeZoneFile(octets: Uint8Array): DecodedZoneFile {
  let text = ''
  let line = 1
  for (let start = 0; start < octets.length; line += 1) {
    const lineFeed = octets.indexOf(LINE_FEED, start)
    const end = lineFeed === -1 ? octets.length : lineFeed + 1
    const whole = octets.subarray(start, end)
    const decoded = decodeUtf8(whole)
    if (decoded === null) {
      const comment = commentStart(whole)
      const before = decodeUtf8(whole.subarray(0, comment))
      if (before === null) return { ok: false, problem: { ...firstInvalid(whole), line } }
      text += before + Buffer.from(whole.subarray(comment)).toString('latin1')
    } else text += decoded
    start = end
  }
  return { ok: true, text }
}

function decodeUtf8(octets: Uint8Array): string | null {
  try {
    return UTF8.decode(octets)
  } catch {
    return null
  }
}

/** The index of the semicolon that begins the comment of a line; its length without one. A quoted string ends on its line. */
function commentStart(line: Uint8Array): number {
  let isQuoted = false
  for (let i = 0; i < line.length; i += 1) {
    const octet = line[i]
    if (octet === BACKSLASH) i += 1
    else if (octet === QUOTE) isQuoted = !isQuoted
    else if (octet === SEMICOLON && !isQuoted) return i
  }
  return line.length
}

/** The first octet at which the line stops being UTF-8. */
function firstInvalid(line: Uint8Array): { octet: number; column: number } {
  let index = 0
  while (index < line.length) {
    const length = characterLength(line[index] as number)
    if (decodeUtf8(line.subarray(index, index + length)) === null) break
    index += length
  }
  return { octet: line[index] ?? 0, column: index + 1 }
}

const characterLength = (first: number): number => (first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4)

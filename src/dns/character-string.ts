/** Character-strings (RFC 1035 section 3.3): quoting, escapes, and TXT data. */
import { failure, ok, type Result } from '../base/result.ts'

/** Octets one character-string can hold (RFC 1035 section 3.3). */
export const MAX_STRING_OCTETS = 255

/** Octets the rdata of one record can hold (RFC 1035 section 4.1.3: RDLENGTH is 16 bits). */
export const MAX_RDATA_OCTETS = 65535

/** Printable ASCII except the quote and the backslash. */
const PLAIN_STRING = /^[ !#-[\]-~]*$/

/** Formats octets as a quoted character-string: `"` and `\` are escaped, everything but printable ASCII becomes `\DDD` (RFC 1035 section 5.1). */
export function quoteString(octets: Uint8Array): string {
  const plain = Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1')
  if (PLAIN_STRING.test(plain)) return `"${plain}"`
  let text = '"'
  for (const octet of octets) {
    if (octet === 0x22) text += '\\"'
    else if (octet === 0x5c) text += '\\\\'
    else if (octet < 0x20 || octet > 0x7e) text += `\\${String(octet).padStart(3, '0')}`
    else text += String.fromCharCode(octet)
  }
  return `${text}"`
}

/** The octets of a zone-file token without its quotes: escapes are resolved, and non-ASCII characters become UTF-8. */
export function unescapeString(token: string): Result<Uint8Array> {
  if (!token.includes('\\')) return ok(Buffer.from(token, 'utf8'))
  const parts: Buffer[] = []
  let from = 0
  for (let i = token.indexOf('\\'); i !== -1; i = token.indexOf('\\', i)) {
    parts.push(Buffer.from(token.slice(from, i), 'utf8'))
    const next = token.charCodeAt(i + 1)
    if (Number.isNaN(next)) return failure('the text ends in a backslash that escapes nothing')
    if (next >= 0x30 && next <= 0x39) {
      const digits = token.slice(i + 1, i + 4)
      if (!/^[0-9]{3}$/.test(digits) || Number(digits) > 255) return failure(`\\${digits} is not an escape from \\000 to \\255`)
      parts.push(Buffer.from([Number(digits)]))
      i += 4
      from = i
    } else {
      from = i + 1
      i += 2
    }
  }
  parts.push(Buffer.from(token.slice(from), 'utf8'))
  return ok(Buffer.concat(parts))
}

/** Splits octets into as few character-strings as possible. No octets make one empty string. */
export function splitIntoStrings(octets: Uint8Array): Uint8Array[] {
  if (octets.length === 0) return [octets]
  const chunks: Uint8Array[] = []
  for (let i = 0; i < octets.length; i += MAX_STRING_OCTETS) chunks.push(octets.subarray(i, i + MAX_STRING_OCTETS))
  return chunks
}

/** Canonical TXT or SPF data that holds these octets, in strings of 255 octets. */
export const octetsToTxtRdata = (octets: Uint8Array): string => splitIntoStrings(octets).map(quoteString).join(' ')

/** Canonical TXT or SPF data that holds this text as UTF-8, in strings of 255 octets. */
export const stringToTxtRdata = (text: string): string =>
  text.length <= MAX_STRING_OCTETS && PLAIN_STRING.test(text) ? `"${text}"` : octetsToTxtRdata(Buffer.from(text, 'utf8'))

/** The octets in canonical TXT or SPF data, its strings joined. Throws if the data is not canonical. */
export function txtRdataToOctets(data: string): Uint8Array {
  const text = parseTxtRdata(data)
  if (text === null) throw new Error(`not canonical TXT data: ${data}`)
  return text
}

/** The octets in TXT or SPF data, its strings joined; null if the data is not canonical. */
export function parseTxtRdata(data: string): Uint8Array | null {
  if (!data.includes('\\')) {
    const texts = data.split('"')
    return texts.length % 2 === 0 ? null : Buffer.from(texts.filter((_, i) => i % 2 === 1).join(''), 'utf8')
  }
  const parts: Uint8Array[] = []
  for (let open = data.indexOf('"'); open !== -1; ) {
    let close = open + 1
    while (data[close] !== '"') {
      if (close >= data.length) return null
      close += data[close] === '\\' ? 2 : 1
    }
    const octets = unescapeString(data.slice(open + 1, close))
    if (!octets.ok) return null
    parts.push(octets.value)
    open = data.indexOf('"', close + 1)
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}

import type { Token } from '../../dns/rdata/field.ts'
import type { Layout } from './parse-state.ts'

/**
 * The octets of a TXT value: `\;` stands for `;` where semicolons are escaped, every other backslash for itself; characters beyond ASCII
 * are UTF-8.
 */
export function txtOctets(text: string, layout: Layout, escapesSemicolons = true): Uint8Array {
  const plain = layout === 'octodns' ? withoutQuotes(text) : text
  return Buffer.from(escapesSemicolons && plain.includes('\\') ? plain.replaceAll('\\;', ';') : plain, 'utf8')
}

/**
 * octoDNS takes the first and the last character off a TXT value that begins with a quote, as if it were written as in a zone file, and
 * the joints of its strings out of every value (its record/chunked.py).
 */
function withoutQuotes(text: string): string {
  const inner = text.startsWith('"') ? text.replace(/^.|.$/gsu, '') : text
  return inner.replaceAll('" "', '')
}

/**
 * The text of another string field, such as the value of CAA or the regexp of NAPTR, as a token of zone-file text. With
 * `domain:` it is read like TXT. octoDNS hands these fields to zone files and providers between quotes as they are, so in its
 * layout an escape is one where it can be (`\\`, `\"`, `\;`, `\DDD`), and another backslash stands for itself.
 */
export function stringToken(text: string, layout: Layout): Token {
  if (!text.includes('\\')) return { text, quoted: true }
  if (layout === 'settings') return { text: text.replaceAll('\\;', ';').replaceAll('\\', '\\\\'), quoted: true }
  const escaped = text.replace(/\\(\\|"|;|[01][0-9]{2}|2[0-4][0-9]|25[0-5])?/g, (match, meaning: string | undefined) =>
    meaning === undefined ? '\\\\' : match,
  )
  return { text: escaped, quoted: true }
}

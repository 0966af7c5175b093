/** Parses scalar values. */
import { isIPv4 } from 'node:net'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import { failure, type Result } from '../../base/result.ts'
import { type DomainName, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import type { Token } from '../../dns/rdata/field.ts'
import { hostOfUrl } from '../../dns/server-address.ts'
import { parseTtl, type Ttl } from '../../dns/ttl.ts'
import { isNull, type YamlNode } from '../yaml/yaml-node.ts'
import { kindName, type Layout, looksOctal } from './parse-state.ts'

/** The result of reading a name in rdata; the warning says how an ambiguous name was read. */
export type TargetName =
  | { readonly ok: true; readonly value: DomainName; readonly warning?: string; readonly hint?: string }
  | { readonly ok: false; readonly code: DiagnosticCode; readonly message: string; readonly hint?: string }

/**
 * Reads a name in rdata. In the layout with settings a final dot makes a name absolute, a single label is relative to the zone, `@` is
 * the apex, and any other name is ambiguous and refused. In octoDNS's layout every name is absolute.
 */
export function readTargetName(text: string, zone: DomainName, layout: Layout): TargetName {
  const host = hostOfUrl(text)
  if (host !== null) {
    const hint = `Write the host name alone: ${JSON.stringify(host)}.`
    return { ok: false, code: 'target-is-url', message: `${JSON.stringify(text)} is a URL, but a name is needed`, hint }
  }
  if (layout === 'octodns') return readAbsolute(text, zone)
  if (text === '@') return { ok: true, value: zone }
  if (text.endsWith('.') || !text.includes('.')) return parsed(text, zone)
  const relative = parseDomainName(text, zone)
  // A label may contain an escaped dot.
  if (relative.ok && isOneLabel(text)) return relative
  const absolute = parseDomainName(text, ROOT)
  if (!absolute.ok) return { ok: false, code: 'value-invalid', message: absolute.message }
  if (isIPv4(text)) {
    const hint = 'Give the address a name with an A record, and write that name here.'
    return { ok: false, code: 'value-invalid', message: `${JSON.stringify(text)} is an address, but a name is needed`, hint }
  }
  const message = `${JSON.stringify(text)} is ambiguous: it has dots but no final dot`
  const inside = relative.ok ? `, or ${JSON.stringify(`${text}.${zone}`)} for a name inside the zone` : ''
  return { ok: false, code: 'target-ambiguous', message, hint: `Write ${JSON.stringify(`${text}.`)} for the absolute name${inside}.` }
}

function readAbsolute(text: string, zone: DomainName): TargetName {
  if (text === '@') {
    return {
      ok: false,
      code: 'value-invalid',
      message: '"@" does not mean the zone in octoDNS\'s layout',
      hint: `Write ${JSON.stringify(zone)}.`,
    }
  }
  const name = parsed(text, ROOT)
  if (!name.ok || text.endsWith('.')) return name
  const warning = `${JSON.stringify(text)} has no final dot and was read as the absolute name ${name.value}`
  return { ...name, warning, hint: `Write ${JSON.stringify(name.value)}.` }
}

function parsed(text: string, origin: DomainName): TargetName {
  const name = parseDomainName(text, origin)
  return name.ok ? name : { ok: false, code: 'value-invalid', message: name.message }
}

/** Whether all dots are escaped. */
const isOneLabel = (text: string): boolean => !text.replace(/\\(?:[0-9]{3}|.)/g, '').includes('.')

/** Parses a TTL: seconds, or text with units such as 1h30m. */
export function parseTtlNode(node: YamlNode): Result<Ttl> {
  if (node.kind !== 'scalar') return failure(`the TTL must be a number of seconds, not ${kindName(node)}`)
  if (isNull(node)) return failure('the TTL is empty')
  if (looksOctal(node))
    return failure(`the TTL ${node.text} begins with a zero, so some YAML parsers read it as octal: write ${Number(node.text)}`)
  return parseTtl(node.text)
}

/** The octets of a TXT value, in UTF-8. `\;` means `;` if `escapesSemicolons`; any other backslash is literal. */
export function txtOctets(text: string, layout: Layout, escapesSemicolons = true): Uint8Array {
  const plain = layout === 'octodns' ? withoutQuotes(text) : text
  return Buffer.from(escapesSemicolons && plain.includes('\\') ? plain.replaceAll('\\;', ';') : plain, 'utf8')
}

/**
 * Removes the first and last character of a TXT value that begins with a quote, and `" "` from every value, as octoDNS does
 * (its record/chunked.py).
 */
function withoutQuotes(text: string): string {
  const inner = text.startsWith('"') ? text.replace(/^.|.$/gsu, '') : text
  return inner.replaceAll('" "', '')
}

/**
 * The text of another string field, such as the value of CAA or the regexp of NAPTR, as a token of zone-file text. In the layout with
 * settings it is read like TXT. octoDNS copies these fields into zone files in quotes, so in its layout `\\`, `\"`, `\;` and `\DDD` are
 * escapes, and any other backslash is literal.
 */
export function stringToken(text: string, layout: Layout): Token {
  if (!text.includes('\\')) return { text, quoted: true }
  if (layout === 'settings') return { text: text.replaceAll('\\;', ';').replaceAll('\\', '\\\\'), quoted: true }
  const escaped = text.replace(/\\(\\|"|;|[01][0-9]{2}|2[0-4][0-9]|25[0-5])?/g, (match, meaning: string | undefined) =>
    meaning === undefined ? '\\\\' : match,
  )
  return { text: escaped, quoted: true }
}

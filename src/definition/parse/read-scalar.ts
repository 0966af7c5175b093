import { isIPv4 } from 'node:net'
import type { DiagnosticCode } from '../../dns/diagnostic-codes.ts'
import { type DomainName, parseDomainName, ROOT } from '../../dns/domain-name.ts'
import type { Token } from '../../dns/rdata/field.ts'
import { failure, type Result } from '../../dns/result.ts'
import { parseTtl, type Ttl } from '../../dns/ttl.ts'
import { isNull, type YamlNode } from '../yaml/yaml-node.ts'
import type { Layout } from './parse-state.ts'
import { kindName, looksOctal } from './parse-state.ts'

/** A name in rdata, or what is wrong with it; a warning says how a name was read that could be meant otherwise. */
export type TargetName =
  | { readonly ok: true; readonly value: DomainName; readonly warning?: string; readonly hint?: string }
  | { readonly ok: false; readonly code: DiagnosticCode; readonly message: string; readonly hint?: string }

/**
 * Reads a name in rdata. With `domain:` above the records, the final dot makes a name absolute, one label is completed with the
 * zone, `@` is the apex, and anything else could be meant either way and is refused. In octoDNS's layout every name is absolute.
 */
export function readTargetName(text: string, zone: DomainName, layout: Layout): TargetName {
  if (layout === 'octodns') return readAbsolute(text, zone)
  if (text === '@') return { ok: true, value: zone }
  if (text.endsWith('.') || !text.includes('.')) return parsed(text, zone)
  const relative = parseDomainName(text, zone)
  // A label may hold an escaped dot, or end in one.
  if (relative.ok && isOneLabel(text)) return relative
  const absolute = parseDomainName(text, ROOT)
  if (!absolute.ok) return { ok: false, code: 'value-invalid', message: absolute.message }
  if (isIPv4(text)) {
    const hint = 'Give the address a name with an A record, and write that name.'
    return { ok: false, code: 'value-invalid', message: `${JSON.stringify(text)} is an address where a name is needed`, hint }
  }
  const message = `${JSON.stringify(text)} has dots but no final dot, so it could be meant in two ways`
  const inside = relative.ok ? `, or ${JSON.stringify(`${text}.${zone}`)} for the name inside the zone` : ''
  return { ok: false, code: 'target-ambiguous', message, hint: `Write ${JSON.stringify(`${text}.`)} for the name as it stands${inside}.` }
}

function readAbsolute(text: string, zone: DomainName): TargetName {
  if (text === '@') {
    return { ok: false, code: 'value-invalid', message: '"@" is not a name in octoDNS\'s layout', hint: `Write ${JSON.stringify(zone)}.` }
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

/** A TTL from a node: seconds, or text with units. */
export function parseTtlNode(node: YamlNode): Result<Ttl> {
  if (node.kind !== 'scalar') return failure(`a TTL is a number of seconds, not a ${kindName(node)}`)
  if (isNull(node)) return failure('the TTL is empty')
  if (looksOctal(node)) return failure(`the TTL ${node.text} begins with a zero, which some readers of YAML take for octal`)
  return parseTtl(node.text)
}

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

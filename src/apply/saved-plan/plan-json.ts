import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { escapeJson } from '../../report/escape.ts'

/** JSON as checksums need it: one text for one value, and bounds on what is parsed at all. */

/** A value's JSON without blanks, the keys of every object sorted by UTF-16 code unit. Members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

export interface JsonBounds {
  /** Arrays and objects within one another. */
  readonly depth: number
  /** Values in all. */
  readonly values: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])

/** Which bound the JSON of a text would pass; null where none. Looks at the text only, so that what would fill the memory is never parsed. */
export function boundPassed(text: string, bounds: JsonBounds): keyof JsonBounds | null {
  let depth = 0
  let values = 1
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at += 1
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === COMMA) values += 1
    else if (OPEN.has(code)) {
      depth += 1
      values += 1
      if (depth > bounds.depth) return 'depth'
    } else if (CLOSE.has(code)) depth -= 1
    if (values > bounds.values) return 'values'
  }
  return null
}

/** Where two JSON values first differ, as a path such as `zones[0].calls.total`; null where they are equal. */
export function firstDifference(a: unknown, b: unknown, path = ''): string | null {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
      const found = firstDifference(a[index], b[index], `${path}[${index}]`)
      if (found !== null) return found
    }
    return null
  }
  if (isObject(a) && isObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const found = firstDifference(a[key], b[key], path === '' ? key : `${path}.${key}`)
      if (found !== null) return found
    }
    return null
  }
  return Object.is(a, b) ? null : path
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * How a saved plan is closed. The checksum notices that a byte was changed; whoever changes the plan on purpose can make the checksum anew.
 * The signature, an HMAC with a key that only those have who plan and apply, cannot be made anew without the key.
 */
/** Over the canonical JSON of the document but for the checksum itself: `sha256:` and 64 hexadecimal digits. */
export const checksumOf = (document: object): string =>
  `sha256:${createHash('sha256')
    .update(canonicalJson({ ...document, checksum: undefined }))
    .digest('hex')}`

/** Over the canonical JSON of the document but for checksum and signature: `hmac-sha256:` and 64 hexadecimal digits (RFC 2104). */
export const signatureOf = (document: object, key: string): string =>
  `hmac-sha256:${createHmac('sha256', key)
    .update(canonicalJson({ ...document, checksum: undefined, signature: undefined }))
    .digest('hex')}`

/** Whether two seals are the same, in a time that does not tell how much of them is. */
export function sameSeal(a: string, b: string): boolean {
  const [octets, others] = [Buffer.from(a), Buffer.from(b)]
  return octets.length === others.length && timingSafeEqual(octets, others)
}

/** JSON for a file that people read too: indented, but a list of plain values (a record of the state, the changes one waits for) is one line. */

const INDENT = '  '

export const planFileText = (document: object): string => `${indented(document, '')}\n`

function indented(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return plain(value)
  const inner = indent + INDENT
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) return `[${value.map(plain).join(', ')}]`
    return `[\n${value.map((item) => inner + indented(item, inner)).join(',\n')}\n${indent}]`
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  if (members.length === 0) return '{}'
  return `{\n${members.map(([key, member]) => `${inner}${plain(key)}: ${indented(member, inner)}`).join(',\n')}\n${indent}}`
}

const plain = (value: unknown): string => escapeJson(JSON.stringify(value) ?? 'null')

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { SchemaError } from '../../../generated/plan-schema.js'
import { failure, ok, type Result } from '../../base/result.ts'
import { escapeJson, isObject, parseJson, quoted } from '../../base/text.ts'
import { TOOL } from '../../base/version.ts'

/** The JSON of plan files and snapshots: its layout, its canonical form and seal, and the limits of what is parsed. */

/** JSON without white space, with the keys of every object sorted by UTF-16 code unit and undefined members left out. */
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
  /** Levels of nesting. */
  readonly depth: number
  /** Values in total. */
  readonly values: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])

/** The limit that a JSON text exceeds; null if none. Scans the text without parsing it, so a huge value never fills the memory. */
function exceededBound(text: string, bounds: JsonBounds): keyof JsonBounds | null {
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

/** Parses a text that must be a JSON object, a `what`. Failures are worded to follow the file's name. */
export function readJsonObject(text: string, bounds: JsonBounds, what: string): Result<Readonly<Record<string, unknown>>> {
  const exceeded = exceededBound(text, bounds)
  if (exceeded === 'depth') return failure(`is nested more than ${bounds.depth} levels deep; no ${what} is`)
  if (exceeded === 'values') return failure(`has more than ${bounds.values} values; no ${what} has as many`)
  try {
    const value = parseJson(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return ok(value as Record<string, unknown>)
    return failure(`is not a ${what}: it is not a JSON object`)
  } catch {
    return failure('is not valid JSON: it is truncated or was changed')
  }
}

/** What to do about a document that does not have its format: `remake`, and before it the version that made the document if it is another. */
export const remakeHint = ({ tool }: Readonly<Record<string, unknown>>, remake: string): string =>
  typeof tool === 'string' && tool !== TOOL ? `${quoted(tool)} made it, and this is ${TOOL}: use that version, or ${remake}` : remake

/** The first error of the schema, with its path. */
export function schemaProblem(errors: readonly SchemaError[]): string {
  const error = errors[0]
  if (error === undefined) return 'it is not valid'
  const { instancePath, keyword, params, message } = error
  const where = instancePath === '' ? 'the document' : instancePath.slice(0, 200)
  const key = keyword === 'additionalProperties' ? ` (${quoted(String(params['additionalProperty']))})` : ''
  return `${where} ${message ?? keyword}${key}`
}

/** The path at which two JSON values first differ, such as `zones[0].calls.total`; null if they are equal. */
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

/*
 * The seal of a saved plan. The checksum detects accidental changes; an attacker can recompute it. The signature is an HMAC, which cannot be computed without
 * the key of those who plan and apply.
 */
/** The SHA-256 of the canonical document without its checksum: `sha256:` and 64 hexadecimal digits. */
export const checksumOf = (document: object): string =>
  `sha256:${createHash('sha256')
    .update(canonicalJson({ ...document, checksum: undefined }))
    .digest('hex')}`

/** The HMAC of the canonical document without checksum and signature (RFC 2104): `hmac-sha256:` and 64 hexadecimal digits. */
export const signatureOf = (document: object, key: string): string =>
  `hmac-sha256:${createHmac('sha256', key)
    .update(canonicalJson({ ...document, checksum: undefined, signature: undefined }))
    .digest('hex')}`

/** Whether two seals are equal, in constant time. */
export function sameSeal(a: string, b: string): boolean {
  const [octets, others] = [Buffer.from(a), Buffer.from(b)]
  return octets.length === others.length && timingSafeEqual(octets, others)
}

/** Indented JSON, with a list of plain values, such as a record of the state, on one line. */
export const planFileText = (document: object): string => `${indented(document, '')}\n`

function indented(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return plain(value)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) return `[${value.map(plain).join(', ')}]`
    return `[\n${value.map((item) => inner + indented(item, inner)).join(',\n')}\n${indent}]`
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  if (members.length === 0) return '{}'
  return `{\n${members.map(([key, member]) => `${inner}${plain(key)}: ${indented(member, inner)}`).join(',\n')}\n${indent}}`
}

const plain = (value: unknown): string => escapeJson(JSON.stringify(value) ?? 'null')

/** Domain names: parsing, canonical form, order and relations. */
import { domainToASCII, domainToUnicode } from 'node:url'
import { failure, ok, type Result } from '../base/result.ts'

declare const nameBrand: unique symbol

/**
 * An absolute domain name in canonical presentation form: lower case, internationalised labels as A-labels, special
 * characters escaped (`\.`, `\DDD`), with the final dot. Two names are equal exactly if their texts are (RFC 4343).
 */
export type DomainName = string & { readonly [nameBrand]: true }

export const ROOT = '.' as DomainName

/** Octets in a label and in a whole name on the wire (RFC 1035 section 2.3.4). */
export const MAX_LABEL_OCTETS = 63
export const MAX_NAME_OCTETS = 255

const PLAIN_LABEL = /^[a-z0-9_*/-]+$/

/**
 * Parses a name in presentation form (RFC 1035 section 5.1). A name without the final dot is completed with `origin`, and is an error
 * without one; `@` is the origin. Labels with non-ASCII characters become A-labels (UTS 46).
 */
export function parseDomainName(text: string, origin: DomainName | null = null): Result<DomainName> {
  const plain = parsePlainName(text, origin)
  if (plain !== null) return ok(plain)
  if (text === '') return failure('a domain name cannot be empty')
  if (text.length > 4 * MAX_NAME_OCTETS + 4)
    return failure(`the domain name is ${text.length} characters long, which is longer than any name can be`)
  if (text === '.') return ok(ROOT)
  if (text === '@') return origin === null ? failure('"@" means the zone, which is not known here') : ok(origin)
  const split = splitLabels(text)
  if (!split.ok) return split
  const { labels, absolute } = split.value
  let canonical = ''
  for (const label of labels) canonical += `${formatLabel(label)}.`
  if (!absolute) {
    if (origin === null) return failure(`${JSON.stringify(text)} is not absolute: end it with a dot`)
    if (origin !== ROOT) canonical += origin
  }
  const name = canonical as DomainName
  const octets = nameOctets(name)
  if (octets > MAX_NAME_OCTETS)
    return failure(`the domain name ${JSON.stringify(text)} takes ${octets} octets; ${MAX_NAME_OCTETS} are allowed`)
  return ok(name)
}

/** The canonical form of a name that differs from it only in capital letters. */
export const lowerCaseName = (text: string): DomainName => text.toLowerCase() as DomainName

/** Parses a name that is absolute even without its final dot. */
export const parseAbsoluteName = (text: string): Result<DomainName> => parseDomainName(text.endsWith('.') ? text : `${text}.`)

const DOT = 0x2e

/** Characters that need no escape in a label: 1, or 2 for letters that become lower case. */
const PLAIN_CHARACTER = new Uint8Array(128)
for (const c of 'abcdefghijklmnopqrstuvwxyz0123456789_-*/') PLAIN_CHARACTER[c.charCodeAt(0)] = 1
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') PLAIN_CHARACTER[c.charCodeAt(0)] = 2

/** Parses a name of plain characters, as nearly all are, in one pass; null if the text needs `splitLabels` or is invalid. */
function parsePlainName(text: string, origin: DomainName | null): DomainName | null {
  const { length } = text
  if (length === 0 || length >= MAX_NAME_OCTETS) return null
  let labelStart = 0
  let hasUpperCase = false
  for (let i = 0; i < length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === DOT) {
      if (i === labelStart || i - labelStart > MAX_LABEL_OCTETS) return null
      labelStart = i + 1
      continue
    }
    const kind = PLAIN_CHARACTER[code]
    if (kind !== 1 && kind !== 2) return null
    if (kind === 2) hasUpperCase = true
  }
  const written = hasUpperCase ? text.toLowerCase() : text
  if (labelStart === length) return written as DomainName
  if (origin === null || length - labelStart > MAX_LABEL_OCTETS || length + 1 + nameOctets(origin) > MAX_NAME_OCTETS) return null
  return (origin === ROOT ? `${written}.` : `${written}.${origin}`) as DomainName
}

/** The labels of a name as octets, without the root label. */
export function labelsOf(name: DomainName): Uint8Array[] {
  if (name === ROOT) return []
  const split = splitLabels(name)
  if (!split.ok) throw new Error(`not a canonical name: ${name}`)
  return split.value.labels
}

/** The name made of these labels, most specific first. Each must have 1 to 63 octets. */
export function nameFromLabels(labels: readonly Uint8Array[]): DomainName {
  if (labels.length === 0) return ROOT
  let text = ''
  for (const label of labels) text += `${formatLabel(label)}.`
  return text as DomainName
}

/** The octets of the name on the wire, uncompressed and with the root label. */
export function nameOctets(name: DomainName): number {
  if (name === ROOT) return 1
  if (!name.includes('\\')) return name.length + 1
  return labelsOf(name).reduce((sum, label) => sum + label.length + 1, 1)
}

/** The name without its first label; the parent of the root is the root. */
export function parentOf(name: DomainName): DomainName {
  let index = name.includes('\\') ? 0 : name.indexOf('.')
  while (index < name.length && name[index] !== '.') {
    if (name[index] === '\\') index += /[0-9]/.test(name[index + 1] ?? '') ? 4 : 2
    else index += 1
  }
  const rest = name.slice(index + 1)
  return (rest === '' ? '.' : rest) as DomainName
}

/** Whether `name` is `ancestor` or below it. */
export function isAtOrBelow(name: DomainName, ancestor: DomainName): boolean {
  if (ancestor === ROOT || name === ancestor) return true
  if (!name.endsWith(ancestor)) return false
  const cut = name.length - ancestor.length - 1
  return cut > 0 && name[cut] === '.' && !isEscapedAt(name, cut)
}

export const isBelow = (name: DomainName, ancestor: DomainName): boolean => name !== ancestor && isAtOrBelow(name, ancestor)

/** The part of `name` before `origin` without the joining dot: `''` at the apex. The name must be at or below the origin. */
export function relativeName(name: DomainName, origin: DomainName): string {
  if (name === origin) return ''
  if (!isAtOrBelow(name, origin)) throw new Error(`${name} is not in ${origin}`)
  return origin === ROOT ? name.slice(0, -1) : name.slice(0, -origin.length - 1)
}

/** Whether the first label is `*` (RFC 4592). */
export const isWildcard = (name: DomainName): boolean => name.startsWith('*.')

/** The name for people, with A-labels decoded to Unicode. Not for comparisons. */
export const displayName = (name: DomainName): string => (name.includes('xn--') ? domainToUnicode(name.slice(0, -1)) || name : name)

/** Compares names in canonical order (RFC 4034 section 6.1): label by label from the root, so the apex comes first and subtrees stay together. */
export function compareNames(a: DomainName, b: DomainName): number {
  if (a === b) return 0
  if (a !== ROOT && b !== ROOT && !a.includes('\\') && !b.includes('\\')) return comparePlainNames(a, b)
  const left = sortKey(a)
  const right = sortKey(b)
  return left < right ? -1 : left > right ? 1 : 0
}

/** `compareNames` for two names without escapes, in place. */
function comparePlainNames(a: string, b: string): number {
  let aEnd = a.length - 1
  let bEnd = b.length - 1
  while (aEnd > 0 && bEnd > 0) {
    const aStart = a.lastIndexOf('.', aEnd - 1) + 1
    const bStart = b.lastIndexOf('.', bEnd - 1) + 1
    const shared = Math.min(aEnd - aStart, bEnd - bStart)
    for (let i = 0; i < shared; i += 1) {
      const difference = a.charCodeAt(aStart + i) - b.charCodeAt(bStart + i)
      if (difference !== 0) return difference
    }
    const longer = aEnd - aStart - (bEnd - bStart)
    if (longer !== 0) return longer
    aEnd = aStart - 1
    bEnd = bStart - 1
  }
  return aEnd - bEnd
}

/** A string that sorts in the canonical order of names. */
export function sortKey(name: DomainName): string {
  if (name === ROOT) return ''
  if (!name.includes('\\')) return name.slice(0, -1).split('.').reverse().join('\u0000')
  return labelsOf(name)
    .reverse()
    .map((label) => Buffer.from(label).toString('latin1'))
    .join('\u0000')
}

function isEscapedAt(text: string, index: number): boolean {
  let backslashes = 0
  for (let i = index - 1; i >= 0 && text[i] === '\\'; i -= 1) backslashes += 1
  return backslashes % 2 === 1
}

function splitLabels(text: string): Result<{ labels: Uint8Array[]; absolute: boolean }> {
  const labels: Uint8Array[] = []
  let octets: number[] = []
  let unicode = ''
  let absolute = false
  let plain = true
  let escapesOctets = false
  const finish = (): string | null => {
    let label: Uint8Array
    if (plain) label = Uint8Array.from(octets)
    else {
      // A label that is still to be encoded cannot contain an escaped octet.
      const ascii = escapesOctets ? null : asciiLabel(unicode)
      if (ascii === null) return `the label ${JSON.stringify(unicode)} is not a valid internationalised label`
      label = Buffer.from(ascii, 'latin1')
    }
    if (label.length === 0) return `${JSON.stringify(text)} ${text.includes('..') ? 'has two dots in a row' : 'begins with a dot'}`
    if (label.length > MAX_LABEL_OCTETS) {
      return `the label ${JSON.stringify(unicode || Buffer.from(label).toString('latin1'))} takes ${label.length} octets; ${MAX_LABEL_OCTETS} are allowed`
    }
    labels.push(label)
    octets = []
    unicode = ''
    plain = true
    escapesOctets = false
    return null
  }
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    absolute = false
    if (code === 0x2e) {
      const problem = finish()
      if (problem !== null) return failure(problem)
      absolute = true
      continue
    }
    if (code === 0x5c) {
      const digits = /^[0-9]{1,3}/.exec(text.slice(i + 1, i + 4))?.[0]
      if (digits === undefined) {
        if (i + 1 >= text.length) return failure(`${JSON.stringify(text)} ends in a backslash that escapes nothing`)
        const escaped = text.charCodeAt(i + 1)
        if (escaped > 0x7e || escaped < 0x20) return failure(`${JSON.stringify(text)} escapes a character that is not printable ASCII`)
        octets.push(lower(escaped))
        unicode += String.fromCharCode(lower(escaped))
        i += 1
        continue
      }
      if (digits.length !== 3 || Number(digits) > 255) return failure(`${JSON.stringify(text)} has an escape that is not \\000 to \\255`)
      octets.push(lower(Number(digits)))
      escapesOctets = true
      i += 3
      continue
    }
    if (code > 0x7f) {
      plain = false
      unicode += text[i]
      continue
    }
    if (code <= 0x20 || code === 0x7f) return failure(`${JSON.stringify(text)} has a ${code === 0x20 ? 'space' : 'control character'}`)
    octets.push(lower(code))
    unicode += String.fromCharCode(lower(code))
  }
  if (!absolute) {
    const problem = finish()
    if (problem !== null) return failure(problem)
  }
  return ok({ labels, absolute })
}

const lower = (code: number): number => (code >= 0x41 && code <= 0x5a ? code + 0x20 : code)

/** Labels that `domainToASCII` treats as UTS 46 does. Its URL host parser interprets `/`, `%41` and `:`. */
const UNICODE_LABEL = /^[a-z0-9_\-\u0080-\uffff]+$/

/** The A-label of a label with non-ASCII characters; null if UTS 46 refuses it. */
function asciiLabel(label: string): string | null {
  if (!UNICODE_LABEL.test(label)) return null
  const ascii = domainToASCII(label)
  // UTS 46 can map a character to a dot, which would split the label, or to nothing, which would remove it.
  return ascii === '' || ascii.includes('.') ? null : ascii
}

function formatLabel(label: Uint8Array): string {
  const text = Buffer.from(label).toString('latin1').toLowerCase()
  if (PLAIN_LABEL.test(text)) return text
  let escaped = ''
  for (const octet of label) {
    const code = lower(octet)
    if (code <= 0x20 || code >= 0x7f) escaped += `\\${String(code).padStart(3, '0')}`
    else {
      const c = String.fromCharCode(code)
      escaped += '."\\();@$'.includes(c) ? `\\${c}` : c
    }
  }
  return escaped
}

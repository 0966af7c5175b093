/** Parses names in requests: of zones, records and hosts, and email addresses. */
import { domainToASCII } from 'node:url'
import { type DomainName, isAtOrBelow, MAX_NAME_OCTETS, nameOctets, parseAbsoluteName, relativeName } from '../../../dns/domain-name.ts'
import type { RequestProblem } from '../request-error.ts'

/** Maximum length of a name as text in characters, without the final dot. */
const MAX_NAME = 253

const HOST_NAME = /^[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*$/

/**
 * Parses the target name of a record to its stored form: without the final dot, in the given case, internationalised labels as A-labels. A
 * single label without a final dot is completed with the domain. Null if it is not a host name.
 */
export function parseHostName(text: string, domain: DomainName): string | null {
  const absolute = text.endsWith('.')
  const name = asciiName(absolute ? text.slice(0, -1) : text)
  if (name === null || !HOST_NAME.test(name)) return null
  const full = absolute || name.includes('.') ? name : `${name}.${domain.slice(0, -1)}`
  return full.length <= MAX_NAME ? full : null
}

/** The name of a zone: labels of RFC 1035 without a hyphen at either end, the last one of letters or an A-label. */
const DOMAIN = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?:[a-z]{2,63}|xn--[a-z0-9-]{1,58}[a-z0-9])\.$/

/** Parses the name of a domain; null if it is not valid. */
export function parseZoneName(text: string): DomainName | null {
  if (text.includes('\\')) return null
  const name = parseAbsoluteName(text)
  return name.ok && DOMAIN.test(name.value) ? name.value : null
}

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/

/** Parses an email address that fits in a SOA record; converts internationalised labels to A-labels. Null if it is not valid. */
export function parseEmail(text: string): string | null {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at)
  const host = asciiName(text.slice(at + 1))
  if (at < 1 || local.length > 63 || !LOCAL_PART.test(local)) return null
  if (host === null || !HOST_NAME.test(host) || !host.includes('.') || local.length + 1 + host.length > MAX_NAME) return null
  return `${local}@${host}`
}

function asciiName(text: string): string | null {
  if (text.length > 4 * MAX_NAME) return null
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  if (/^[\u0000-\u007f]*$/.test(text)) return text
  const labels = text.split('.').map((label) => (/[^a-zA-Z0-9_-]/.test(label) ? domainToASCII(label) : label))
  return labels.some((label) => label === '' || label.includes('.')) ? null : labels.join('.')
}

/** Maximum length of a record's name in characters, relative to its domain (API, Domain record). */
export const MAX_RECORD_NAME = 100

/** Letters, digits, hyphens and underscores; an asterisk may be the whole first label (RFC 4592). */
const RELATIVE_NAME = /^(?:\*|(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)?$/

/** ASCII characters that no record name contains. Other characters may be part of an internationalised label. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const INVALID_CHARACTER = /[\u0000-\u0029\u002b\u002c\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\u007f]/

type ParsedName = { readonly name: string } | { readonly problems: readonly RequestProblem[] }

/**
 * Parses a record's name to its stored form: relative to the domain, lower case, internationalised labels as A-labels, empty at the apex. A
 * name that ends in the domain is absolute, with or without a final dot.
 */
export function parseRecordName(text: string, domain: DomainName): ParsedName {
  if (text === '') return { name: '' }
  if (INVALID_CHARACTER.test(text)) return { problems: [problem('Name contains invalid characters'), problem('Invalid hostname')] }
  const parsed = parseAbsoluteName(text)
  if (!parsed.ok) return { problems: [problem(text.length > MAX_RECORD_NAME ? LENGTH : 'Invalid hostname')] }
  if (isAtOrBelow(parsed.value, domain)) return checkRelativeName(relativeName(parsed.value, domain), domain)
  if (text.endsWith('.')) return { problems: [problem('Invalid hostname')] }
  return checkRelativeName(parsed.value.slice(0, -1), domain)
}

function checkRelativeName(name: string, domain: DomainName): ParsedName {
  if (name.length > MAX_RECORD_NAME) return { problems: [problem(LENGTH)] }
  if (!RELATIVE_NAME.test(name) || !fitsNameLimit(name.length, domain)) return { problems: [problem('Invalid hostname')] }
  return { name }
}

/** Whether a relative name of this length and the domain together stay within 255 octets. */
export const fitsNameLimit = (characters: number, domain: DomainName): boolean =>
  characters === 0 || characters + 1 + nameOctets(domain) <= MAX_NAME_OCTETS

const LENGTH = `Length must be 1-${MAX_RECORD_NAME} characters`

const problem = (reason: string): RequestProblem => ({ field: 'name', reason })

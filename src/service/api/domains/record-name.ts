import { type DomainName, isAtOrBelow, MAX_NAME_OCTETS, nameOctets, parseDomainName, relativeName } from '../../../dns/domain-name.ts'
import type { RequestProblem } from '../request-error.ts'

/** Characters of a record's name, relative to its domain (interface, Domain record). */
export const MAX_RECORD_NAME = 100

/** Letters, digits, hyphens and underscores; an asterisk may be the whole first label (RFC 4592). */
const RELATIVE_NAME = /^(?:\*|(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)?$/

/** ASCII that no name of a record has. What is beyond ASCII may be part of an internationalised label. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const FOREIGN_CHARACTER = /[\u0000-\u0029\u002b\u002c\u002f\u003a-\u0040\u005b-\u005e\u0060\u007b-\u007f]/

export type NameReading = { readonly name: string } | { readonly problems: readonly RequestProblem[] }

/**
 * A record's name as it is stored: relative to the domain, lower case, internationalised labels as A-labels, empty at the apex.
 * A name that ends in the domain is taken as absolute, with or without a final dot.
 */
export function readRecordName(text: string, domain: DomainName): NameReading {
  if (text === '') return { name: '' }
  if (FOREIGN_CHARACTER.test(text)) return { problems: [problem('Name contains invalid characters'), problem('Invalid hostname')] }
  const written = parseDomainName(text.endsWith('.') ? text : `${text}.`)
  if (!written.ok) return { problems: [problem(text.length > MAX_RECORD_NAME ? LENGTH : 'Invalid hostname')] }
  if (isAtOrBelow(written.value, domain)) return checkRelativeName(relativeName(written.value, domain), domain)
  if (text.endsWith('.')) return { problems: [problem('Invalid hostname')] }
  return checkRelativeName(written.value.slice(0, -1), domain)
}

function checkRelativeName(name: string, domain: DomainName): NameReading {
  if (name.length > MAX_RECORD_NAME) return { problems: [problem(LENGTH)] }
  if (!RELATIVE_NAME.test(name) || !fitsDomain(name.length, domain)) return { problems: [problem('Invalid hostname')] }
  return { name }
}

/** Whether a relative name of so many characters makes a name of at most 255 octets with the domain. */
export const fitsDomain = (characters: number, domain: DomainName): boolean =>
  characters === 0 || characters + 1 + nameOctets(domain) <= MAX_NAME_OCTETS

const LENGTH = `Length must be 1-${MAX_RECORD_NAME} characters`

const problem = (reason: string): RequestProblem => ({ field: 'name', reason })

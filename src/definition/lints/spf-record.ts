/** Parses SPF records (RFC 7208). */
import { isIPv4, isIPv6 } from 'node:net'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { quoted } from '../../dns/excerpt.ts'
import { didYouMean } from '../../dns/nearest-word.ts'

/** A mechanism or modifier that costs a DNS query, or `all`, which ends the record. */
export interface SpfTerm {
  readonly kind: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'exists' | 'redirect'
  /** The term as it is written, without its qualifier. */
  readonly text: string
  /** The name that it asks for; `own` for the domain of the record; null if macros decide. */
  readonly domain: DomainName | 'own' | null
}

export interface SpfProblem {
  readonly message: string
  readonly hint?: string | undefined
}

export interface SpfRecord {
  readonly terms: readonly SpfTerm[]
  readonly problems: readonly SpfProblem[]
}

/** Whether a text is an SPF record (section 4.5). */
export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text)

/** Whether a text was meant as an SPF record, but receivers do not recognize it. */
export const isNearlySpf = (text: string): boolean =>
  !isSpf(text) && /^[\s"']{0,4}v\s?=\s?spf\s?1(?:[^0-9a-z]|$|(?:ip[46]|include|a|mx|all)[:\s])/i.test(text)

const MECHANISMS = ['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists'] as const

/** Maximum number of problems that a record reports. */
const MAX_PROBLEMS = 5

/** Parses a text for which `isSpf` holds. */
export function parseSpf(text: string): SpfRecord {
  const terms: SpfTerm[] = []
  const problems: SpfProblem[] = []
  const modifiers = new Set<string>()
  for (const term of text.slice('v=spf1'.length).split(' ')) {
    if (term === '') continue
    if (problems.length >= MAX_PROBLEMS) break
    const modifier = /^([a-z][a-z0-9_.-]{0,63})=(.*)$/is.exec(term)
    const read = modifier ? readModifier(modifier[1] ?? '', modifier[2] ?? '', modifiers) : readDirective(term)
    if ('message' in read) problems.push({ ...read, message: `${quoted(term)} ${read.message}` })
    else if (read.term !== null) terms.push(read.term)
  }
  return { terms, problems }
}

type ReadTerm = { readonly term: SpfTerm | null } | SpfProblem

function readModifier(name: string, value: string, seen: Set<string>): ReadTerm {
  const kind = name.toLowerCase()
  if (kind !== 'redirect' && kind !== 'exp') return isMacroString(value) ? { term: null } : BAD_MACRO
  if (seen.has(kind)) return { message: 'is the second of its kind; a record has one at most' }
  seen.add(kind)
  const problem = domainProblem(value)
  if (problem !== null) return problem
  return { term: kind === 'redirect' ? { kind, text: `${name}=${value}`, domain: nameOf(value) } : null }
}

function readDirective(term: string): ReadTerm {
  const text = term.replace(/^[-+?~]/, '')
  const [, name = '', rest = ''] = /^([a-z0-9]{0,64})(.*)$/is.exec(text) ?? []
  const kind = MECHANISMS.find((one) => one === name.toLowerCase())
  if (kind === undefined) {
    const hint = /^ipv?[46]?$/i.test(name) ? 'write ip4:192.0.2.1 or ip6:2001:db8::1' : didYouMean(name, MECHANISMS)
    return { message: 'is not a mechanism of SPF', hint: hint ?? `the mechanisms are ${MECHANISMS.join(', ')}` }
  }
  switch (kind) {
    case 'all':
      return rest === '' ? { term: { kind, text, domain: null } } : { message: 'has something after "all"', hint: 'write -all or ~all' }
    case 'ip4':
    case 'ip6':
      return addressProblem(kind, rest) ?? { term: null }
    case 'include':
    case 'exists': {
      const problem = rest.startsWith(':') ? domainProblem(rest.slice(1)) : { message: `needs a domain: ${kind}:example.com` }
      return problem ?? { term: { kind, text, domain: nameOf(rest.slice(1)) } }
    }
    case 'ptr':
      return rest === '' ? { term: { kind, text, domain: 'own' } } : hostTerm(kind, text, rest)
    default: {
      const length = /(?:\/([0-9]+))?(?:\/\/([0-9]+))?$/.exec(rest)
      const [suffix = '', four, six] = length ?? []
      if (!isLength(four, 32) || !isLength(six, 128)) return { message: `has a prefix length that no address has` }
      return hostTerm(kind, text, rest.slice(0, rest.length - suffix.length))
    }
  }
}

function hostTerm(kind: 'a' | 'mx' | 'ptr', text: string, host: string): ReadTerm {
  if (host === '') return { term: { kind, text, domain: 'own' } }
  if (!host.startsWith(':')) return { message: `has something after "${kind}" that is no domain`, hint: `write ${kind}:example.com` }
  return domainProblem(host.slice(1)) ?? { term: { kind, text, domain: nameOf(host.slice(1)) } }
}

/** A prefix length without leading zeros (section 5.6). */
const isLength = (text: string | undefined, most: number): boolean =>
  text === undefined || (/^(?:0|[1-9][0-9]{0,2})$/.test(text) && Number(text) <= most)

function addressProblem(kind: 'ip4' | 'ip6', rest: string): SpfProblem | null {
  const [address = '', length, ...more] = rest.replace(/^:/, '').split('/')
  const isAddress = kind === 'ip4' ? isIPv4(address) : isIPv6(address) && !address.includes('%')
  if (!rest.startsWith(':') || !isAddress) {
    const other = kind === 'ip4' ? isIPv6(address) && 'ip6' : isIPv4(address) && 'ip4'
    return { message: `needs an IPv${kind.slice(2)} address`, hint: other ? `write ${other}:${address}` : undefined }
  }
  if (more.length > 0 || !isLength(length, kind === 'ip4' ? 32 : 128)) return { message: 'has a prefix length that no address has' }
  return null
}

const MACRO = /%(?:\{(?:[slodiphv])[0-9]*r?[-.+,/_=]*\}|[%_-])/gi
const BAD_MACRO: SpfProblem = { message: 'has a macro that SPF does not define', hint: 'write %% for a percent sign' }

/** Whether a text is a macro-string (section 7.1). */
const isMacroString = (text: string): boolean => /^[\x21-\x24\x26-\x7e]*$/.test(text.replace(MACRO, ''))

/** Why a text is no domain-spec (section 7.1); null if it is one. */
function domainProblem(text: string): SpfProblem | null {
  if (text === '') return { message: 'lacks its domain' }
  if (!isMacroString(text)) return text.includes('%') ? BAD_MACRO : { message: 'has a character that is not possible in a domain' }
  if (/%(?:\{[^{}]*\}|[%_-])$/.test(text)) return null
  const labels = text.replace(/\.$/, '').split('.')
  const top = labels.at(-1) ?? ''
  if (labels.length >= 2 && /^[0-9a-z-]+$/i.test(top) && !/^[0-9]+$/.test(top) && !/^-|-$/.test(top)) return null
  const isAddress = isIPv4(text)
  return { message: 'does not name a domain', hint: isAddress ? `write ip4:${text}` : 'write a full name, such as _spf.example.com' }
}

/** The name that a domain-spec without macros is; null with macros, or if it is no name. */
function nameOf(text: string): DomainName | null {
  if (text.includes('%')) return null
  const name = parseAbsoluteName(text.endsWith('.') ? text : `${text}.`)
  return name.ok ? name.value : null
}

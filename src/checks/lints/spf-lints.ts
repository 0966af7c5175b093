/**
 * Lints for SPF records (RFC 7208): their syntax, the queries that a receiver has to send for them, and the names that they lead to. Records that
 * include each other are followed through all managed zones; each is evaluated once.
 */
import { isIPv4, isIPv6 } from 'node:net'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { agreeing, counted, listed } from '../../base/english.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import { excerpt, quoted } from '../../base/text.ts'
import { type DomainName, isWildcard, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { textOf } from '../rules/value-rules.ts'
import type { ZoneIndex } from '../rules/zone-index.ts'
import type { LintedZone, ManagedNames } from './managed-names.ts'

/** Maximum number of terms that cause queries, of queries without an answer, and of MX records per `mx` (section 4.6.4). */
const MAX_LOOKUPS = 10
const MAX_VOID = 2
const MAX_MX = 10

/** Maximum number of characters of a term, and of names, that a message lists. */
const MAX_TEXT = 60
const LISTED = 3

/** The cost of a record, with everything that it includes. */
interface Cost {
  /** Terms that cause queries; infinite if the record includes itself. */
  readonly lookups: number
  /** Queries that are known to have no answer. */
  readonly voids: number
  /** Names of records outside the managed zones. Each counts as one query, though its record may need more. */
  readonly unmanaged: readonly string[]
}

const NO_COST: Cost = { lookups: 0, voids: 0, unmanaged: [] }

const TXT: ReadonlySet<string> = new Set(['TXT'])
const MX: ReadonlySet<string> = new Set(['MX'])
const ADDRESSES: ReadonlySet<string> = new Set(['A', 'AAAA', 'ALIAS'])
const ASKED: Readonly<Record<'a' | 'exists' | 'mx', { readonly types: ReadonlySet<string>; readonly words: string }>> = {
  a: { types: ADDRESSES, words: 'addresses' },
  exists: { types: new Set(['A', 'ALIAS']), words: 'addresses' },
  mx: { types: MX, words: 'MX records' },
}

export type SpfLint = (linted: LintedZone, index: ZoneIndex) => Diagnostic[]

/** The lint for one zone after the other; `managed` knows them all. */
export function spfLint(managed: ManagedNames): SpfLint {
  const recordAt = recordFinder(managed)
  const costAt = spfCosts(managed, recordAt)
  return (_linted, { ofType }) =>
    ofType('TXT').flatMap((record) => {
      if (!/^"[\s"'\\]{0,4}v\s?=\s?spf/i.test(record.data)) return []
      const text = textOf(record)
      if (!isSpf(text)) return isNearlySpf(text) ? [unrecognized(record)] : []
      const spf = parseSpf(text)
      if (spf.problems.length > 0) return spf.problems.map(({ message, hint }) => invalid(record, message, hint))
      return [...missingTargets(record, spf, managed, recordAt), ...tooManyLookups(record, spf, managed, costAt)]
    })
}

const unrecognized = (record: DefinedRecord): Diagnostic => ({
  severity: 'warning',
  code: 'spf-invalid',
  message: `${record.name} TXT: the record looks like SPF, but receivers ignore it: an SPF record begins with "v=spf1 "`,
  at: record.at,
  hint: 'write it as v=spf1 mx -all',
})

const invalid = (record: DefinedRecord, message: string, hint: string | undefined): Diagnostic => ({
  severity: 'warning',
  code: 'spf-invalid',
  message: `${record.name} TXT: receivers cannot read the SPF record (permerror): ${message}`,
  at: record.at,
  hint,
})

/** The terms that a receiver may evaluate: those up to `all`, and `redirect` if there is no `all` (sections 5.1 and 6.1). */
function effectiveTerms({ terms }: SpfRecord): readonly SpfTerm[] {
  const end = terms.findIndex(({ kind }) => kind === 'all')
  if (end !== -1) return terms.slice(0, end).filter(({ kind }) => kind !== 'redirect')
  return [...terms.filter(({ kind }) => kind !== 'redirect'), ...terms.filter(({ kind }) => kind === 'redirect')]
}

/** The name that a term asks for; null if it depends on the message, or on the name that a wildcard stands for. */
const nameOf = ({ domain }: SpfTerm, own: DomainName): DomainName | null => (domain === 'own' ? (isWildcard(own) ? null : own) : domain)

const isReference = ({ kind }: SpfTerm): boolean => kind === 'include' || kind === 'redirect'

/** The SPF record at a name; `unknown` if it is not managed, and `several` if there are more than one, which `policy-multiple` reports. */
function spfAt(name: DomainName, managed: ManagedNames): SpfRecord | 'missing' | 'unknown' | 'several' {
  const answer = managed.resolve(name, TXT)
  if (typeof answer === 'string') return answer
  const [text, ...others] = answer.map(textOf).filter(isSpf)
  if (text === undefined) return 'missing'
  return others.length > 0 ? 'several' : parseSpf(text)
}

type RecordFinder = (name: DomainName) => ReturnType<typeof spfAt>

/** Finds SPF records, and parses each once: many records may include a large one. */
function recordFinder(managed: ManagedNames): RecordFinder {
  const records = new Map<DomainName, ReturnType<typeof spfAt>>()
  return (name) => {
    const found = records.get(name) ?? spfAt(name, managed)
    records.set(name, found)
    return found
  }
}

/** Terms with a managed name that has no data: an include makes the whole record invalid (section 5.2), another term never matches. */
function missingTargets(record: DefinedRecord, spf: SpfRecord, managed: ManagedNames, recordAt: RecordFinder): Diagnostic[] {
  return effectiveTerms(spf).flatMap((term): Diagnostic[] => {
    const name = nameOf(term, record.name)
    if (name === null || term.kind === 'all' || term.kind === 'ptr') return []
    if (term.kind === 'include' || term.kind === 'redirect') {
      if (recordAt(name) !== 'missing') return []
      return [missing(record, `${term.text}: ${name} has no SPF record, so receivers reject the whole record (permerror)`)]
    }
    const { types, words } = ASKED[term.kind]
    if (managed.resolve(name, types) !== 'missing') return []
    return [missing(record, `${term.text} never matches: ${name} has no ${words}`)]
  })
}

const missing = (record: DefinedRecord, message: string): Diagnostic => ({
  severity: 'warning',
  code: 'spf-target-missing',
  message: `${record.name} TXT: ${message}`,
  at: record.at,
  hint: 'correct the name, add its records, or remove the term',
})

type CostFinder = (name: DomainName) => Cost

function tooManyLookups(record: DefinedRecord, spf: SpfRecord, managed: ManagedNames, costAt: CostFinder): Diagnostic[] {
  const { lookups, voids, unmanaged } = costOf(spf, record.name, managed, costAt)
  const others =
    unmanaged.length === 0 ? '' : `; ${listed(unmanaged, LISTED)} ${agreeing(unmanaged.length, 'is', 'are')} not managed here and`
  const report = (severity: 'warning' | 'notice', message: string, hint: string): Diagnostic => ({
    severity,
    code: 'spf-lookups',
    message: `${record.name} TXT: ${message}`,
    at: record.at,
    hint,
  })
  const fewer = 'remove senders that are not used, or replace a, mx and include by the addresses that they stand for'
  if (lookups === Number.POSITIVE_INFINITY)
    return [
      report('warning', 'the SPF record includes itself, so receivers reject it (permerror)', 'remove one of the include and redirect'),
    ]
  const found: Diagnostic[] = []
  if (lookups > MAX_LOOKUPS) {
    const counting = others === '' ? '' : `${others} counted as one each`
    found.push(
      report(
        'warning',
        `the SPF record needs ${lookups < MANY ? lookups : `more than ${MANY - 1}`} DNS queries; receivers allow ${MAX_LOOKUPS} (permerror)${counting}`,
        fewer,
      ),
    )
  } else if (lookups + unmanaged.length > MAX_LOOKUPS) {
    const words = `the SPF record needs at least ${lookups} DNS queries of the ${MAX_LOOKUPS} that receivers allow${others} may need more`
    found.push(report('notice', words, fewer))
  }
  if (voids > MAX_VOID) {
    const words = `the SPF record has ${counted(voids, 'query', 'queries')} without an answer; receivers allow ${MAX_VOID} (permerror)`
    found.push(report('warning', words, 'remove the terms whose names have no records'))
  }
  for (const term of effectiveTerms(spf)) {
    const name = term.kind === 'mx' ? nameOf(term, record.name) : null
    const answer = name === null ? 'unknown' : managed.resolve(name, MX)
    if (typeof answer === 'string' || answer.length <= MAX_MX) continue
    const words = `${term.text} stands for ${answer.length} MX records; receivers allow ${MAX_MX} (permerror)`
    found.push(report('warning', words, 'write the addresses of the mail servers with ip4: and ip6:'))
  }
  return found
}

/** Finds the cost of the SPF record at a name, without recursion: chains of records may be long. */
export function spfCosts(managed: ManagedNames, recordAt: RecordFinder = recordFinder(managed)): CostFinder {
  const costs = new Map<DomainName, Cost>()
  return (start) => {
    const open = new Set<DomainName>()
    const stack = [start]
    for (let name = stack.at(-1); name !== undefined; name = stack.at(-1)) {
      const spf = recordAt(name)
      if (costs.has(name)) stack.pop()
      else if (spf === 'several') costs.set(name, NO_COST)
      else if (spf === 'unknown') costs.set(name, { ...NO_COST, unmanaged: [name] })
      else if (spf === 'missing') costs.set(name, { ...NO_COST, voids: 1 })
      else if (open.has(name)) {
        // A name that is still open includes this one, and this one includes it.
        const cost = costOf(spf, name, managed, (other) => costs.get(other) ?? { ...NO_COST, lookups: Number.POSITIVE_INFINITY })
        costs.set(name, cost)
        open.delete(name)
      } else {
        open.add(name)
        for (const other of referencesOf(spf, name)) if (!costs.has(other) && !open.has(other)) stack.push(other)
      }
    }
    return costs.get(start) ?? NO_COST
  }
}

const referencesOf = (spf: SpfRecord, own: DomainName): DomainName[] =>
  effectiveTerms(spf).flatMap((term) => (isReference(term) ? (nameOf(term, own) ?? []) : []))

function costOf(spf: SpfRecord, own: DomainName, managed: ManagedNames, costAt: CostFinder): Cost {
  let lookups = 0
  let voids = 0
  const unmanaged = new Set<string>()
  for (const term of effectiveTerms(spf)) {
    lookups += 1
    const name = nameOf(term, own)
    if (isReference(term)) {
      if (name === null) unmanaged.add(excerpt(term.text, MAX_TEXT))
      const cost = name === null ? NO_COST : costAt(name)
      lookups += cost.lookups
      voids += cost.voids
      for (const other of cost.unmanaged) if (unmanaged.size < MAX_UNMANAGED) unmanaged.add(other)
    } else if (name !== null && term.kind !== 'ptr' && term.kind !== 'all' && term.kind !== 'include' && term.kind !== 'redirect') {
      if (managed.resolve(name, ASKED[term.kind].types) === 'missing') voids += 1
    }
  }
  return {
    lookups: lookups === Number.POSITIVE_INFINITY ? lookups : Math.min(lookups, MANY),
    voids: Math.min(voids, MANY),
    unmanaged: [...unmanaged],
  }
}

/** Higher numbers, which records that include each other reach quickly, are not counted. */
const MANY = 1001

/** More names do not change what is reported. */
const MAX_UNMANAGED = 16

// Parses SPF records (RFC 7208).

/** A mechanism or modifier that costs a DNS query, or `all`, which ends the record. */
interface SpfTerm {
  readonly kind: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'exists' | 'redirect'
  /** The term as it is written, without its qualifier. */
  readonly text: string
  /** The name that it asks for; `own` for the domain of the record; null if macros decide. */
  readonly domain: DomainName | 'own' | null
}

interface SpfProblem {
  readonly message: string
  readonly hint?: string | undefined
}

interface SpfRecord {
  readonly terms: readonly SpfTerm[]
  readonly problems: readonly SpfProblem[]
}

/** Whether a text is an SPF record (section 4.5). */
export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text)

/** Whether a text was meant as an SPF record, but receivers do not recognize it. */
const isNearlySpf = (text: string): boolean =>
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
  return { term: kind === 'redirect' ? { kind, text: `${name}=${value}`, domain: domainOf(value) } : null }
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
      return problem ?? { term: { kind, text, domain: domainOf(rest.slice(1)) } }
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
  return domainProblem(host.slice(1)) ?? { term: { kind, text, domain: domainOf(host.slice(1)) } }
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
function domainOf(text: string): DomainName | null {
  if (text.includes('%')) return null
  const name = parseAbsoluteName(text.endsWith('.') ? text : `${text}.`)
  return name.ok ? name.value : null
}

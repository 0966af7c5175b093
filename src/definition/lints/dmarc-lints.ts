/** Lints for DMARC records (RFC 9989, RFC 9990, and RFC 7489, which they replace and some receivers still follow). */
import type { Diagnostic, Severity } from '../../dns/diagnostic.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName } from '../../dns/domain-name.ts'
import { quoted } from '../../dns/excerpt.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { textOf } from '../rules/value-rules.ts'
import type { LintedZone, ManagedNames } from './managed-names.ts'
import { parseTagList } from './tag-list.ts'

const OWNER = '_dmarc.'

interface Problem {
  /** A warning if absent. */
  readonly severity?: Severity
  readonly message: string
  readonly hint?: string | undefined
}

/** Maximum number of report addresses that are checked per record. */
const MAX_ADDRESSES = 20

/** Whether receivers take a text for a DMARC record (RFC 7489 section 6.4). */
const isDmarc = (text: string): boolean => /^v\s{0,9}=\s{0,9}DMARC1\s{0,9}(?:;|$)/.test(text)

const isNearlyDmarc = (text: string): boolean =>
  /^.{0,40}\bv\s?=\s?dmarc|^[\s"']{0,4}dmarc1\b|^[\s"']{0,4}p\s?=\s?(?:none|quarantine|reject)/i.test(text)

/** The records at names of DMARC policies, with their texts. */
const policies = ({ zone }: LintedZone): [DefinedRecord, string][] =>
  zone.records.flatMap((record): [DefinedRecord, string][] =>
    record.type === 'TXT' && record.name.startsWith(OWNER) ? [[record, textOf(record)]] : [],
  )

/** Reports records that receivers ignore as a whole or in part. */
export function dmarcInvalid(linted: LintedZone): Diagnostic[] {
  return policies(linted).flatMap(([record, text]) => {
    const problems = isDmarc(text) ? dmarcProblems(text) : isNearlyDmarc(text) ? [NOT_FIRST] : []
    return problems.map(
      ({ severity = 'warning', message, hint }): Diagnostic => ({
        severity,
        code: 'dmarc-invalid',
        message: `${record.name} TXT: ${message}`,
        at: record.at,
        hint: hint ?? 'write it as v=DMARC1; p=none; rua=mailto:postmaster@example.com',
      }),
    )
  })
}

const NOT_FIRST: Problem = { message: 'receivers ignore the DMARC record: it must begin with "v=DMARC1;", in upper case' }

/** RFC 7489 section 6.6.3, RFC 9989. */
const ONLY_REPORTS: Problem = {
  severity: 'notice',
  message: 'the DMARC record has no tag p with the policy, so receivers only send reports',
  hint: 'write p=none directly after v=DMARC1',
}

const ACTION = /^(?:none|quarantine|reject)$/i
const ALIGNMENT = /^[rs]$/i

/** The form of the values (RFC 7489 section 6.3, RFC 9989). Receivers ignore tags that they do not know, which are pct, rf and ri for those of RFC 9989. */
const VALUES: Readonly<Record<string, { readonly form: RegExp; readonly words: string }>> = {
  sp: { form: ACTION, words: 'none, quarantine or reject' },
  np: { form: ACTION, words: 'none, quarantine or reject' },
  psd: { form: /^[ynu]$/i, words: 'y, n or u' },
  t: { form: /^[yn]$/i, words: 'y or n' },
  adkim: { form: ALIGNMENT, words: 'r or s' },
  aspf: { form: ALIGNMENT, words: 'r or s' },
  fo: { form: /^[01ds](?:\s*:\s*[01ds]){0,3}$/i, words: '0, 1, d and s, with colons between them' },
  pct: { form: /^(?:[0-9]{1,2}|100)$/, words: 'a number from 0 to 100' },
  rf: { form: /^[a-z0-9-]+(?:\s*:\s*[a-z0-9-]+){0,9}$/i, words: 'afrf' },
  ri: { form: /^[0-9]{1,10}$/, words: 'a number of seconds' },
}

function dmarcProblems(text: string): Problem[] {
  const { tags, problem } = parseTagList(text)
  if (problem !== null) return [{ message: `receivers cannot read the DMARC record: ${problem}` }]
  const problems: Problem[] = []
  const action = tags.get('p')
  if (action === undefined) problems.push(tags.has('rua') ? ONLY_REPORTS : { message: 'the DMARC record has no tag p with the policy' })
  else if (!ACTION.test(action))
    problems.push({ message: `the policy p=${quoted(action)} is not one of none, quarantine and reject`, hint: 'correct p' })
  else if ([...tags.keys()][1] !== 'p')
    problems.push({
      severity: 'notice',
      message: 'the tag p is not the second one, where receivers of RFC 7489 require it',
      hint: 'write p directly after v=DMARC1',
    })
  for (const [tag, value] of tags) {
    const rule = Object.hasOwn(VALUES, tag) ? VALUES[tag] : undefined
    if (rule !== undefined && !rule.form.test(value))
      problems.push({ message: `receivers ignore ${tag}=${quoted(value)}: the value must be ${rule.words}`, hint: `correct ${tag}` })
  }
  for (const tag of ['rua', 'ruf']) problems.push(...addressProblems(tag, tags.get(tag)))
  return problems
}

const MAILTO = /^mailto:([^\s@,!]{1,256})@([^\s@,!]{1,253})(?:!([0-9]{1,12}[kmgt]?))?$/i

const addressesOf = (value: string | undefined): string[] =>
  (value ?? '').split(',', MAX_ADDRESSES).flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))

function addressProblems(tag: string, value: string | undefined): Problem[] {
  if (value === undefined) return []
  if (value === '') return [{ message: `${tag} has no address`, hint: `remove ${tag}, or write ${tag}=mailto:postmaster@example.com` }]
  return addressesOf(value).flatMap((uri) => {
    if (MAILTO.test(uri)) return []
    if (/^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(uri)) return [{ message: `${tag}: receivers send reports only by mail, not to ${quoted(uri)}` }]
    const hint = uri.includes(':') || uri.length > 254 ? undefined : `write ${tag}=mailto:${uri}`
    return [{ message: `${tag}: ${quoted(uri)} is not mailto: and an address, so it gets no reports`, hint }]
  })
}

const TXT: ReadonlySet<string> = new Set(['TXT'])

/**
 * The lint for report addresses in another domain, which has to agree to get the reports (RFC 9990, RFC 7489 section 7.1). Only managed domains are checked. Domains with a
 * common parent of at least two labels may be one organization, which needs no agreement.
 */
export const dmarcReportRefused =
  (managed: ManagedNames) =>
  (linted: LintedZone): Diagnostic[] =>
    policies(linted).flatMap(([record, text]) => {
      if (!isDmarc(text)) return []
      const { tags } = parseTagList(text)
      const policy = record.name.slice(OWNER.length) as DomainName
      const refusing = new Map<DomainName, DomainName>()
      for (const uri of [...addressesOf(tags.get('rua')), ...addressesOf(tags.get('ruf'))]) {
        const domain = domainOf(uri)
        if (domain === null || areRelated(domain, policy)) continue
        const agreement = parseAbsoluteName(`${policy.slice(0, -1)}._report._dmarc.${domain}`)
        if (!agreement.ok || policy.startsWith('*')) continue
        const answer = managed.resolve(agreement.value, TXT)
        if (answer === 'missing' || (typeof answer !== 'string' && !answer.some((one) => isDmarc(textOf(one)))))
          refusing.set(domain, agreement.value)
      }
      return [...refusing].map(
        ([domain, agreement]): Diagnostic => ({
          severity: 'warning',
          code: 'dmarc-report-refused',
          message: `${record.name} TXT: receivers send no reports to ${domain.slice(0, -1)}, which does not accept reports about ${policy.slice(0, -1)}`,
          at: record.at,
          hint: `add '${agreement} TXT "v=DMARC1"', or use an address of the domain itself`,
        }),
      )
    })

function domainOf(uri: string): DomainName | null {
  const [, , domain] = MAILTO.exec(uri) ?? []
  const name = domain === undefined ? null : parseAbsoluteName(domain)
  return name?.ok ? name.value : null
}

function areRelated(a: DomainName, b: DomainName): boolean {
  if (isAtOrBelow(a, b) || isAtOrBelow(b, a)) return true
  const [x, y] = [a.split('.').reverse(), b.split('.').reverse()]
  // The first part is empty: names end with a dot.
  return x[1] === y[1] && x[2] === y[2] && x[2] !== undefined
}

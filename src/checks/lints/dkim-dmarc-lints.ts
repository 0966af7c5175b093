/** Lints for DMARC records (RFC 9989, RFC 9990, and RFC 7489, which they replace and some receivers still follow). */
import { createPublicKey, type KeyObject } from 'node:crypto'
import type { Severity } from '../../base/diagnostic.ts'
import { quoted } from '../../base/text.ts'
import { type DomainName, isAtOrBelow, parseAbsoluteName } from '../../dns/domain-name.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { textOf } from '../rules/value-rules.ts'
import type { Finding, ZoneIndex } from '../rules/zone-index.ts'
import type { LintedZone, ManagedNames } from './managed-names.ts'

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
const policies = ({ ofType }: ZoneIndex): [DefinedRecord, string][] =>
  ofType('TXT').flatMap((record): [DefinedRecord, string][] => (record.name.startsWith(OWNER) ? [[record, textOf(record)]] : []))

/** Reports records that receivers ignore as a whole or in part. */
export function* dmarcInvalid(_linted: LintedZone, index: ZoneIndex): Iterable<Finding> {
  for (const [record, text] of policies(index)) {
    const problems = isDmarc(text) ? dmarcProblems(text) : isNearlyDmarc(text) ? [NOT_FIRST] : []
    for (const { message, hint = 'write it as v=DMARC1; p=none; rua=mailto:postmaster@example.com', ...severity } of problems)
      yield { ...severity, message: `${record.name} TXT: ${message}`, at: record.at, hint }
  }
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
export const dmarcReportRefused = (managed: ManagedNames) =>
  function* (_linted: LintedZone, index: ZoneIndex): Iterable<Finding> {
    for (const [record, text] of policies(index)) {
      if (!isDmarc(text)) continue
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
      for (const [domain, agreement] of refusing)
        yield {
          message: `${record.name} TXT: receivers send no reports to ${domain.slice(0, -1)}, which does not accept reports about ${policy.slice(0, -1)}`,
          at: record.at,
          hint: `add '${agreement} TXT "v=DMARC1"', or use an address of the domain itself`,
        }
    }
  }

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

// Tag lists `tag=value; tag=value`, which DKIM keys and DMARC records share (RFC 6376 section 3.2).

interface TagList {
  /** In the order of the text, without white space around the values. */
  readonly tags: ReadonlyMap<string, string>
  /** Why the text is no tag list; null if it is one. */
  readonly problem: string | null
}

function parseTagList(text: string): TagList {
  const tags = new Map<string, string>()
  const parts = text.split(';')
  // One final semicolon is allowed.
  if ((parts.at(-1) ?? '').trim() === '') parts.pop()
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = part.slice(0, Math.max(equals, 0)).trim()
    if (part.trim() === '') return { tags, problem: 'it has two semicolons with nothing between them' }
    if (equals === -1) return { tags, problem: `${quoted(part.trim())} is not TAG=VALUE` }
    if (!/^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(name)) return { tags, problem: `${quoted(name)} is not a name of a tag` }
    if (tags.has(name)) return { tags, problem: `it has the tag ${name} twice` }
    tags.set(name, part.slice(equals + 1).trim())
  }
  return { tags, problem: null }
}

// The lint for DKIM keys (RFC 6376 section 3.6.1, RFC 8301, RFC 8463).

/** Bits of the shortest RSA key that verifiers accept (RFC 8301 section 3.2). */
const MIN_RSA_BITS = 1024

const ED25519_OCTETS = 32

/** Maximum length of a key in characters: an RSA key of 16,384 bits has fewer. */
const MAX_KEY = 4096

/** The owner of a key. A selector that begins with an underscore is none: `_adsp` (RFC 5617), `_policy`, `_report`. */
const SELECTOR = /^[^_].*\._domainkey\./

/** Reports key records that verifiers cannot use. An empty `p=` says that a key is revoked, and is correct. */
export function* dkimInvalid(_linted: LintedZone, { ofType }: ZoneIndex): Iterable<Finding> {
  for (const record of ofType('TXT')) {
    const problem = SELECTOR.test(record.name) ? keyProblem(record) : null
    if (problem === null) continue
    yield {
      message: `${record.name} TXT: verifiers cannot use the DKIM key: ${problem.message}`,
      at: record.at,
      hint: problem.hint ?? 'copy the record again from the mail system that signs',
    }
  }
}

function keyProblem(record: DefinedRecord): Problem | null {
  const text = textOf(record)
  const { tags, problem } = parseTagList(text)
  if (text.includes('\\;')) return { message: 'it has a backslash before a semicolon', hint: 'write the semicolons without backslashes' }
  if (text.includes('"')) return { message: 'it has a quotation mark', hint: 'remove the quotation marks inside the text' }
  if (problem !== null) return { message: problem }
  const version = tags.get('v')
  if (version !== undefined && version !== 'DKIM1') return { message: `the version is ${quoted(version)}`, hint: 'write v=DKIM1' }
  if (version !== undefined && [...tags.keys()][0] !== 'v') return { message: 'v=DKIM1 is not its first tag', hint: 'write v=DKIM1 first' }
  const key = tags.get('p')
  if (key === undefined) return { message: 'it has no tag p with the key' }
  const algorithm = tags.get('k') ?? 'rsa'
  if (algorithm !== 'rsa' && algorithm !== 'ed25519')
    return { message: `the type of key ${quoted(algorithm)} is unknown`, hint: 'the types are rsa and ed25519' }
  const hashes = listOf(tags.get('h'))
  if (hashes !== null && !hashes.includes('sha256'))
    return { message: `h=${quoted(hashes.join(':'))} lacks sha256, which signatures use`, hint: 'write h=sha256, or remove h' }
  const services = listOf(tags.get('s'))
  if (services !== null && !services.includes('email') && !services.includes('*'))
    return { message: `s=${quoted(services.join(':'))} is not for mail`, hint: 'write s=email, or remove s' }
  return key === '' ? null : dataProblem(key.replace(/\s/g, ''), algorithm)
}

const listOf = (value: string | undefined): readonly string[] | null => value?.split(':').map((part) => part.trim()) ?? null

function dataProblem(key: string, algorithm: 'rsa' | 'ed25519'): Problem | null {
  if (key.length > MAX_KEY) return { message: `the key has ${key.length} characters, more than any key` }
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(key) && key.replace(/=+$/, '').length % 4 !== 1
  if (!isBase64) return { message: 'p is not base64' }
  const octets = Buffer.from(key, 'base64')
  if (algorithm === 'ed25519') {
    if (octets.length === ED25519_OCTETS) return null
    return { message: `p has ${octets.length} octets; an Ed25519 key has ${ED25519_OCTETS}` }
  }
  const rsa = rsaKey(octets)
  if (rsa === null) return { message: 'p is not an RSA key; it may be cut off' }
  const bits = rsa.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits >= MIN_RSA_BITS) return null
  return { message: `the RSA key has ${bits} bits; verifiers require ${MIN_RSA_BITS}`, hint: 'make a key of 2048 bits' }
}

/** The key as SubjectPublicKeyInfo, which everybody publishes, or as RSAPublicKey, as the RFC says (erratum 3017); null if it is neither. */
function rsaKey(octets: Buffer): KeyObject | null {
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      const key = createPublicKey({ key: octets, format: 'der', type })
      if (key.asymmetricKeyType === 'rsa') return key
    } catch {
      // The other form may fit.
    }
  }
  return null
}

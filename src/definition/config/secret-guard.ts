import type { Diagnostic, SourcePosition } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { ResourceRecord } from '../../dns/record.ts'

/** Characters a secret must have to be looked for: shorter ones are found by chance. */
const MIN_LENGTH = 8

/** Letters and digits a form must have to be looked for without regard to what is between them: `19202100` is in 192.0.2.100. */
const MIN_COMPACT = 32

/** Characters that a line of a secret of several lines, such as a private key, must have to be looked for on its own. */
const MIN_LINE = 16

/** Makes the run's guard at its first secret. */
export function addSecret(loaded: LoadedSecrets, setting: string, value: string): void {
  loaded.guard ??= createGuard()
  loaded.guard.add(setting, value)
}

export function createGuard(): SecretGuard {
  /** Forms, in small letters, with the setting they are of. */
  const exact = new Map<string, string>()
  const compact = new Map<string, string>()
  const known = new Set<string>()
  let shortest = Number.POSITIVE_INFINITY
  const add: SecretGuard['add'] = (setting, value) => {
    if (value.length < MIN_LENGTH || known.has(value)) return
    known.add(value)
    const lines = value.split(/[\r\n]+/).map((line) => line.trim())
    const ownLines = lines.length === 1 ? [] : lines.filter((line) => line.length >= MIN_LINE && !line.startsWith('-----'))
    for (const form of [...formsOf(value), ...ownLines]) {
      const folded = form.toLowerCase()
      const letters = lettersOf(folded)
      if (!exact.has(folded)) exact.set(folded, setting)
      shortest = Math.min(shortest, folded.length, letters.length >= MIN_COMPACT ? letters.length : folded.length)
      if (letters.length >= MIN_COMPACT && !compact.has(letters)) compact.set(letters, setting)
    }
  }
  const findWhole: SecretGuard['findWhole'] = (text) => firstIn(exact, text.toLowerCase())
  const find: SecretGuard['find'] = (text) => {
    const folded = text.toLowerCase()
    const joined = joinedStrings(unescaped(folded))
    return (
      firstIn(exact, folded) ??
      (joined === folded ? null : firstIn(exact, joined)) ??
      (compact.size === 0 ? null : firstIn(compact, lettersOf(joined)))
    )
  }
  const redact: SecretGuard['redact'] = (text) => {
    if (find(text) === null) return text
    const forms = [...exact.keys()].sort((a, b) => b.length - a.length)
    const replaced = forms.reduce((rest, form) => replaceAnyCase(rest, form, '***'), text)
    if (find(replaced) === null) return replaced
    const lines = replaced
      .split('\n')
      .map((line) => (find(line) === null ? line : LEFT_OUT))
      .join('\n')
    return find(lines) === null ? lines : LEFT_OUT
  }
  return { add, find, findWhole, mayHold: (length) => length >= shortest, redact }
}

const LEFT_OUT = '[left out: it holds a secret]'

/** Replaces a form in small letters, whatever case the text has it in. A text whose length changes in small letters stays as it is. */
function replaceAnyCase(text: string, form: string, replacement: string): string {
  const folded = text.toLowerCase()
  if (folded.length !== text.length) return text
  let replaced = ''
  let from = 0
  for (let at = folded.indexOf(form); at !== -1; at = folded.indexOf(form, from)) {
    replaced += text.slice(from, at) + replacement
    from = at + form.length
  }
  return replaced + text.slice(from)
}

function firstIn(forms: ReadonlyMap<string, string>, text: string): string | null {
  for (const [form, setting] of forms) if (text.includes(form)) return setting
  return null
}

function formsOf(value: string): string[] {
  const octets = Buffer.from(value)
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), octets]).toString('base64')
    return text.slice(Math.ceil((8 * before) / 6), Math.floor((8 * (before + octets.length)) / 6))
  })
  const urlSafe = base64.map((form) => form.replace(/\+/g, '-').replace(/\//g, '_'))
  return [value, ...base64, ...urlSafe, octets.toString('hex'), encodeURIComponent(octets.toString()), JSON.stringify(value).slice(1, -1)]
}

/** Without the backslashes of zone files (RFC 1035 section 5.1) and JSON, `\DDD` being the character of that code. */
const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(/\\(?:([0-2][0-9]{2})|([\s\S]))/g, (_, code: string | undefined, character: string) =>
        code === undefined ? character : String.fromCharCode(Number(code)).toLowerCase(),
      )
    : text

const joinedStrings = (text: string): string => (text.includes('" "') ? text.replaceAll('" "', '') : text)

/** For each ASCII code whether it stays: letters, digits and the end of a line. */
const STAYS = Uint8Array.from({ length: 128 }, (_, code) => (/[a-z0-9\n]/.test(String.fromCharCode(code)) ? 1 : 0))

/** The letters and digits of a text in small letters, with its ends of lines. */
function lettersOf(text: string): string {
  const kept = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (STAYS[code] === 1) kept[length++] = code
  }
  return kept.toString('latin1', 0, length)
}

/** Finds the secrets that a run has loaded in texts. */
export interface SecretGuard {
  /** Takes a secret; `setting` names it in messages (`providers.cloud.token`). One of fewer than 8 characters is not looked for. */
  add(setting: string, value: string): void
  /** The setting whose secret a text holds; null if it holds none. Linear in the length of the text. */
  find(text: string): string | null
  /** The same for a secret that is in one piece, which takes a third of the time. */
  findWhole(text: string): string | null
  /** Whether a text of so many characters is long enough to hold a secret in any form. */
  mayHold(length: number): boolean
  /** The text without secrets. */
  redact(text: string): string
}

/**
 * The secrets that a run has loaded: one value per run, filled where secrets are resolved and asked wherever something is read or written. Without
 * secrets `guard` is null, and nothing is compared.
 */
export interface LoadedSecrets {
  guard: SecretGuard | null
  /** A message held a secret and was redacted: the run may change nothing any more, and it fails. */
  hasLeaked: boolean
}

export const noSecrets = (): LoadedSecrets => ({ guard: null, hasLeaked: false })

export const redacted = ({ guard }: LoadedSecrets, text: string): string => (guard === null ? text : guard.redact(text))

const HINT = 'remove it there, and replace the secret: whoever can read that place knows it'

/** The error for a place that holds a secret. `what` names the place for a reader. */
export const secretExposedDiagnostic = (what: string, setting: string, at?: SourcePosition): Diagnostic => ({
  severity: 'error',
  code: 'secret-exposed',
  message: `${what} holds the secret of ${setting}`,
  at,
  hint: HINT,
})

/** Thrown in place of writing a secret. The program ends with its diagnostic. */
export class SecretExposed extends Error {
  readonly diagnostic: Diagnostic
  constructor(what: string, setting: string) {
    super(`${what} would hold the secret of ${setting}`)
    this.name = 'SecretExposed'
    this.diagnostic = { severity: 'error', code: 'secret-exposed', message: this.message, hint: 'it was not written; replace the secret' }
  }
}

/** Recognises `SecretExposed` by its name: the bundle has the class twice. */
export const isSecretExposed = (error: unknown): error is SecretExposed => error instanceof Error && error.name === 'SecretExposed'

/** Throws `SecretExposed` if a text that is about to be written holds a secret. */
export function assertNoSecret({ guard }: LoadedSecrets, text: string, what: string): void {
  const setting = guard?.find(text) ?? null
  if (setting !== null) throw new SecretExposed(what, setting)
}

/** A zone of a definition, or one that is imported. */
interface SearchedZone {
  readonly name: DomainName
  readonly at?: SourcePosition | undefined
  /** Places, and texts of files, which are compared on their own. */
  readonly settingsAt?: unknown
  readonly files?: unknown
  readonly records: readonly (ResourceRecord & { readonly at?: SourcePosition | undefined })[]
}

/** Records that are reported. */
const REPORTED = 20

/**
 * An error for each record or setting of a zone that holds a secret of the run. The text of its files was compared before; here it is what the records
 * mean: with escapes undone, variables replaced, and strings joined.
 */
export function secretsInZone(zone: SearchedZone, { guard }: LoadedSecrets): Diagnostic[] {
  if (guard === null) return []
  const { records, at, settingsAt: _, files: __, ...rest } = zone
  const found: Diagnostic[] = []
  const look = (text: string, what: string, place: SourcePosition | undefined): void => {
    const setting = guard.find(text)
    if (setting !== null && found.length < REPORTED) found.push(secretExposedDiagnostic(what, setting, place))
  }
  look(JSON.stringify(rest), 'the definition, beside its records,', at)
  // Most records are too short for a token; one search in all others costs a tenth of one in each.
  const candidates = records.filter(({ name, data }) => guard.mayHold(name.length) || guard.mayHold(data.length))
  const all = guard.find(candidates.map(textOf).join('\n'))
  if (all === null) return found
  const before = found.length
  for (const record of candidates) look(textOf(record), `${guard.redact(record.name)} ${record.type}`, record.at)
  if (found.length === before) found.push(secretExposedDiagnostic('the definition', all, at))
  return found
}

const textOf = ({ name, data }: Pick<ResourceRecord, 'name' | 'data'>): string => `${name}\n${data}`

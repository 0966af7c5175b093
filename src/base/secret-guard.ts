/**
 * Searches texts for the secrets of a run.
 *
 * A text is searched in two forms:
 * - in lower case (names are case-insensitive), without the escapes of zone files and JSON, and with the strings of TXT records joined (255 octets
 *   each, RFC 1035 section 3.3.14);
 * - reduced to letters and digits, line by line. This form reveals a secret that is split between labels, grouped or padded.
 *
 * Both forms are searched for the secret itself, and for the secret in hexadecimal, percent-encoded, as a JSON string and in base64. Base64 has three
 * variants, because the octets before a secret shift it by zero, two or four bits (RFC 4648 section 4). Each variant lacks the characters at both
 * ends that depend on neighbouring octets.
 */
import type { Diagnostic, SourcePosition } from './diagnostic.ts'

/** Minimum length of a secret: shorter ones match by chance, so they are ignored. */
const MIN_LENGTH = 8

/** Minimum letters and digits of a secret for a search in a text's second form: the secret `19202100` would match 192.0.2.100. */
const MIN_COMPACT = 32

/** Minimum length of a line that is searched for on its own, if the secret has several lines, as a private key does. */
const MIN_LINE = 16

/** Adds a secret to the run, and creates its guard for the first one. */
export function addSecret(loaded: LoadedSecrets, setting: string, value: string): void {
  loaded.guard ??= createGuard()
  loaded.guard.add(setting, value)
}

export function createGuard(): SecretGuard {
  /** The setting of each secret, by lower-case form. */
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
  const findUnsplit: SecretGuard['findUnsplit'] = (text) => firstIn(exact, text.toLowerCase())
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
      .map((line) => (find(line) === null ? line : OMITTED))
      .join('\n')
    return find(lines) === null ? lines : OMITTED
  }
  return { add, find, findUnsplit, mayContain: (length) => length >= shortest, redact }
}

const OMITTED = '[omitted: contains a secret]'

/** Replaces a lower-case form, ignoring the case of the text. A text whose length changes in lower case is returned unchanged. */
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

/** The text without the backslash escapes of zone files (RFC 1035 section 5.1) and JSON; `\DDD` becomes the character of that code. */
const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(/\\(?:([0-2][0-9]{2})|([\s\S]))/g, (_, code: string | undefined, character: string) =>
        code === undefined ? character : String.fromCharCode(Number(code)).toLowerCase(),
      )
    : text

const joinedStrings = (text: string): string => (text.includes('" "') ? text.replaceAll('" "', '') : text)

/** 1 for the ASCII codes of lower-case letters, digits and the line end. */
const IS_KEPT = Uint8Array.from({ length: 128 }, (_, code) => (/[a-z0-9\n]/.test(String.fromCharCode(code)) ? 1 : 0))

/** The letters, digits and line ends of a lower-case text. */
function lettersOf(text: string): string {
  const kept = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (IS_KEPT[code] === 1) kept[length++] = code
  }
  return kept.toString('latin1', 0, length)
}

/** Searches texts for the secrets that a run has loaded. */
export interface SecretGuard {
  /** Adds a secret. `setting` names it in messages (`providers.cloud.token`). Secrets under 8 characters are ignored. */
  add(setting: string, value: string): void
  /** The setting whose secret the text contains; null if it contains none. Linear in the length of the text. */
  find(text: string): string | null
  /** Like `find`, but only for unsplit secrets, in a third of the time. */
  findUnsplit(text: string): string | null
  /** Whether a text of this length can contain a secret in any form. */
  mayContain(length: number): boolean
  /** The text with its secrets replaced. */
  redact(text: string): string
}

/** The secrets of a run. Resolving a secret adds it here; every read and write searches for it. */
export interface LoadedSecrets {
  /** Null without secrets. */
  guard: SecretGuard | null
  /** A message contained a secret and was redacted. The run makes no further changes, and fails. */
  hasLeaked: boolean
}

export const noSecrets = (): LoadedSecrets => ({ guard: null, hasLeaked: false })

export const redacted = ({ guard }: LoadedSecrets, text: string): string => (guard === null ? text : guard.redact(text))

const HINT = 'remove the secret there and replace it: anyone who can read that place knows it'

/** The error for a place that contains a secret. `what` names the place. */
export const secretExposedDiagnostic = (what: string, setting: string, at?: SourcePosition): Diagnostic => ({
  severity: 'error',
  code: 'secret-exposed',
  message: `${what} contains the secret of ${setting}`,
  at,
  hint: HINT,
})

/** The error of a run whose messages contained a secret. */
export const LEAKED: Diagnostic = {
  severity: 'error',
  code: 'secret-exposed',
  message: 'a message contained a secret of the run and was redacted',
  hint: 'find where the secret is stored, remove it there and replace it',
}

/** Thrown instead of writing a secret. The program ends with its diagnostic. */
export class SecretExposed extends Error {
  readonly diagnostic: Diagnostic
  constructor(what: string, setting: string) {
    super(`${what} would contain the secret of ${setting}`)
    this.name = 'SecretExposed'
    this.diagnostic = { severity: 'error', code: 'secret-exposed', message: this.message, hint: 'nothing was written; replace the secret' }
  }
}

/** Recognises `SecretExposed` by its name, since the bundle contains the class twice. */
export const isSecretExposed = (error: unknown): error is SecretExposed => error instanceof Error && error.name === 'SecretExposed'

/** Throws `SecretExposed` if a text to be written contains a secret. */
export function assertNoSecret({ guard }: LoadedSecrets, text: string, what: string): void {
  const setting = guard?.find(text) ?? null
  if (setting !== null) throw new SecretExposed(what, setting)
}

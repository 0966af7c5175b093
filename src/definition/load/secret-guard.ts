/**
 * Finds secrets in texts.
 *
 * A text is compared in two forms. In the first, capital letters are small (names are compared so), escapes of zone files and JSON are undone, and the
 * strings of a TXT record (255 octets each, RFC 1035 section 3.3.14) are joined. The second has letters and digits only, line by line: there a secret is
 * found that is split between labels, in groups, or padded. A secret is looked for as it is, in hexadecimal, percent-encoded, as a JSON string and in
 * base64. The octets before a secret shift its base64 by none, two or four bits, so that there are three forms of it (RFC 4648 section 4); the characters
 * at both ends that depend on the neighbours are left out.
 */
import type { LoadedSecrets, SecretGuard } from './loaded-secrets.ts'

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

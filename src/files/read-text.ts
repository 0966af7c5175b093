/** Reads text files that may be hostile: size, type and encoding are checked. */
import { type BigIntStats, closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { nearestWord } from '../base/nearest-word.ts'
import { failure, ok, type Result } from '../base/result.ts'
import { decodeZoneFile } from '../dns/zone-file/decode-zone-file.ts'
import { notAFile } from './file-error.ts'
import { displayPath } from './file-path.ts'
import { refuseOpened, type SourcePolicy } from './source-policy.ts'

/** Maximum size of a definition or config in octets. Twelve thousand records in the longest form take about two million. */
export const MAX_FILE_OCTETS = 10 * 1024 * 1024

/** Why a text could not be read. Without `at` it concerns the whole file. */
export type ReadProblem = Pick<Diagnostic, 'code' | 'message' | 'hint' | 'at'>

export type TextResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: ReadProblem; readonly isMissing?: boolean }

/**
 * Reads a UTF-8 file without its byte order mark. Files that are too large and anything that is not a regular file are not opened. The policy refuses files
 * that may not be part of a definition; null for files that are not definitions.
 */
export const readText = async (path: string, shown: string, policy: SourcePolicy | null): Promise<TextResult> =>
  withoutSecrets(readFile(path, shown, policy, notUtf8), shown, policy)

/** Like `readText`, but for a zone file, whose comments may be in Latin-1. */
export const readZoneFileText = async (path: string, shown: string, policy: SourcePolicy | null): Promise<TextResult> =>
  withoutSecrets(readFile(path, shown, policy, zoneFileText), shown, policy)

/** Like `readText`, but keeps a byte order mark. */
export const readTextWithMark = async (path: string, shown: string, policy: SourcePolicy): Promise<TextResult> =>
  withoutSecrets(readFile(path, shown, policy, notUtf8, UTF8_WITH_MARK), shown, policy)

/** Like `readText` and `readZoneFileText`, but synchronous, for parsers that include another file. The caller searches it for secrets. */
export function readTextSync(path: string, shown: string, policy: SourcePolicy, kind: 'yaml' | 'zone-file'): Result<string> {
  const read = readFile(path, shown, policy, kind === 'zone-file' ? zoneFileText : notUtf8)
  return read.ok ? ok(read.text) : failure(placed(read.problem))
}

const withoutSecrets = (read: TextResult, shown: string, policy: SourcePolicy | null): TextResult =>
  policy === null || !read.ok ? read : refuseSecrets(read.text, shown, policy)

/** O_NONBLOCK keeps a named pipe from blocking. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Retries if the file is replaced between the check and the open. */
const ATTEMPTS = 10

const MOVED = 'is replaced repeatedly while it is read'

/** Decodes octets that are not UTF-8. */
type Fallback = (octets: Uint8Array, shown: string) => TextResult

/** Synchronous: for small files, the thread pool takes several times as much processor time. */
function readFile(path: string, shown: string, policy: SourcePolicy | null, fallback: Fallback, decoder = UTF8): TextResult {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const refused = refusal(statSync(path), shown)
      if (refused) return { ok: false, problem: refused }
      const file = openSync(path, READ_ONLY)
      try {
        const facts = fstatSync(file, { bigint: true })
        const unfit = refusal(facts, shown) ?? (policy && refusalOf(policy, path, facts, shown))
        if (unfit === 'moved' && attempt < ATTEMPTS) continue
        if (unfit) return { ok: false, problem: unfit === 'moved' ? { code: 'file-unreadable', message: `${shown} ${MOVED}` } : unfit }
        return decode(readFileSync(file), shown, fallback, decoder)
      } finally {
        closeSync(file)
      }
    }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return { ok: false, isMissing, problem: { code: 'file-unreadable', message: `${shown} ${describeReadError(error)}` } }
  }
}

/** The octets of a regular file that is not too large; null if they cannot be read. */
export function readOctets(path: string): Buffer | null {
  try {
    const file = openSync(path, READ_ONLY)
    try {
      const facts = fstatSync(file)
      return facts.isFile() && facts.size <= MAX_FILE_OCTETS ? readFileSync(file) : null
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

/** The text, or a problem with the places of the secrets in it. */
export function refuseSecrets(text: string, shown: string, policy: SourcePolicy): TextResult {
  const [first, ...more] = policy.secretsIn(text, shown)
  if (first === undefined) return { ok: true, text }
  const lines = more.map(({ at }) => at?.line).join(', ')
  return { ok: false, problem: { ...first, message: lines === '' ? first.message : `${first.message}; so do lines ${lines}` } }
}

function refusalOf(policy: SourcePolicy, path: string, facts: BigIntStats, shown: string): ReadProblem | 'moved' | null {
  const refused = refuseOpened(policy, path, facts)
  if (refused === null || refused === 'moved') return refused
  return { code: 'path-protected', message: `${shown} ${refused}` }
}

function refusal(facts: { isFile(): boolean; isDirectory(): boolean; size: number | bigint }, shown: string): ReadProblem | null {
  if (!facts.isFile()) return { code: 'file-unreadable', message: `${shown} ${notAFile(facts)}` }
  if (facts.size <= MAX_FILE_OCTETS) return null
  return {
    code: 'file-too-large',
    message: `${shown} has ${facts.size} octets; a definition has at most ${MAX_FILE_OCTETS}`,
    hint: 'split it with "include"',
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
const UTF8_WITH_MARK = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(octets: Uint8Array, shown: string, fallback: Fallback, decoder: typeof UTF8): TextResult {
  try {
    return { ok: true, text: decoder.decode(octets) }
  } catch {
    return fallback(octets, shown)
  }
}

const isUtf16 = ([first, second]: Uint8Array): boolean => (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)

function notUtf8(octets: Uint8Array, shown: string): TextResult {
  const message = `${shown} is not UTF-8 text${isUtf16(octets) ? ' but UTF-16' : ''}`
  return { ok: false, problem: { code: 'file-unreadable', message, hint: 'save it as UTF-8' } }
}

function zoneFileText(octets: Uint8Array, shown: string): TextResult {
  if (isUtf16(octets)) return notUtf8(octets, shown)
  const decoded = decodeZoneFile(octets)
  if (decoded.ok) return { ok: true, text: decoded.text.replace(/^\ufeff/, '') }
  const { octet, line, column } = decoded.problem
  const message = `the octet 0x${octet.toString(16)} is not UTF-8 text`
  const hint = `write it as \\${String(octet).padStart(3, '0')}, or save the file as UTF-8; only comments may be in Latin-1`
  return { ok: false, problem: { code: 'file-unreadable', message, hint, at: { file: shown, line, column } } }
}

const placed = ({ at, message }: ReadProblem): string => (at === undefined ? message : `${at.file}:${at.line}:${at.column}: ${message}`)

/** Describes the system's error for a file: `does not exist`. Throws other errors. */
export function describeReadError(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === undefined) throw error
  if (code === 'ENOENT') return 'does not exist'
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read: permission denied'
  if (code === 'EISDIR') return 'is a folder'
  if (code === 'ENOTDIR') return 'cannot be read: a file is in the place of a folder'
  if (code === 'ELOOP') return 'is a symbolic link in a cycle'
  return `cannot be read (${code})`
}

/** The hint for a missing file: the one beside it with the most similar name; undefined if none is similar. */
export function similarFile(path: string, cwd: string): string | undefined {
  try {
    const near = existsSync(path) ? null : nearestWord(basename(path), readdirSync(dirname(path)))
    return near === null ? undefined : `did you mean ${displayPath(join(dirname(path), near), cwd)}?`
  } catch {
    return undefined
  }
}

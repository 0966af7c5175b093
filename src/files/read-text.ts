/** Reads text files that may be hostile: size, type and encoding are checked. */
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Diagnostic } from '../base/diagnostic.ts'
import { failure, ok, type Result } from '../base/result.ts'
import { decodeZoneFile } from '../dns/zone-file/decode-zone-file.ts'
import { notAFile } from './file-error.ts'
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
export const readText = (path: string, shown: string, policy: SourcePolicy | null): Promise<TextResult> =>
  readWith(UTF8, path, shown, policy)

/** Like `readText`, but for a zone file, whose comments may be in Latin-1. */
export const readZoneFileText = (path: string, shown: string, policy: SourcePolicy | null): Promise<TextResult> =>
  readWith(UTF8, path, shown, policy, zoneFileText)

/** Like `readText`, but keeps a byte order mark. */
export const readTextWithMark = (path: string, shown: string, policy: SourcePolicy): Promise<TextResult> =>
  readWith(UTF8_WITH_MARK, path, shown, policy)

/** O_NONBLOCK keeps a named pipe from blocking. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Retries if the file is replaced between the check and the open. */
const ATTEMPTS = 10

const MOVED = 'is replaced repeatedly while it is read'

/** Decodes octets that are not UTF-8. */
type Fallback = (octets: Uint8Array, shown: string) => TextResult

async function readWith(
  decoder: typeof UTF8,
  path: string,
  shown: string,
  policy: SourcePolicy | null,
  fallback: Fallback = notUtf8,
): Promise<TextResult> {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const refused = refusal(await stat(path), shown)
      if (refused) return { ok: false, problem: refused }
      const handle = await open(path, READ_ONLY)
      try {
        const facts = fstatSync(handle.fd, { bigint: true })
        const unfit = refusal(facts, shown) ?? (policy && refusalOf(policy, path, facts, shown))
        if (unfit === 'moved' && attempt < ATTEMPTS) continue
        if (unfit) return { ok: false, problem: unfit === 'moved' ? { code: 'file-unreadable', message: `${shown} ${MOVED}` } : unfit }
        const decoded = decode(await octetsOf(handle, Number(facts.size)), shown, fallback, decoder)
        return policy === null || !decoded.ok ? decoded : refuseSecrets(decoded.text, shown, policy)
      } finally {
        await handle.close()
      }
    }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return { ok: false, isMissing, problem: { code: 'file-unreadable', message: `${shown} ${describeReadError(error)}` } }
  }
}

/** Reads a file with one call, if its size has not changed since it was opened. */
async function octetsOf(handle: FileHandle, size: number): Promise<Uint8Array> {
  const octets = Buffer.allocUnsafe(size + 1)
  const { bytesRead } = await handle.read(octets, 0, octets.length, 0)
  return bytesRead === size ? octets.subarray(0, size) : handle.readFile()
}

/** Like `readText` and `readZoneFileText`, but synchronous, for parsers that include another file. */
export function readTextSync(path: string, shown: string, policy: SourcePolicy, kind: 'yaml' | 'zone-file'): Result<string> {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const refused = refusal(statSync(path), shown)
      if (refused) return failure(refused.message)
      const file = openSync(path, READ_ONLY)
      try {
        const facts = fstatSync(file, { bigint: true })
        const unfit = refusal(facts, shown) ?? refusalOf(policy, path, facts, shown)
        if (unfit === 'moved' && attempt < ATTEMPTS) continue
        if (unfit) return failure(unfit === 'moved' ? `${shown} ${MOVED}` : unfit.message)
        const decoded = decode(readFileSync(file), shown, kind === 'zone-file' ? zoneFileText : notUtf8)
        return decoded.ok ? ok(decoded.text) : failure(placed(decoded.problem))
      } finally {
        closeSync(file)
      }
    }
  } catch (error) {
    return failure(`${shown} ${describeReadError(error)}`)
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

function decode(octets: Uint8Array, shown: string, fallback: Fallback, decoder = UTF8): TextResult {
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

import { readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { Diagnostic } from '../model/diagnostic.ts'
import { fault, ok, type Result } from '../model/result.ts'

/** Octets a definition or config may have. Twelve thousand records written at length take about two million. */
export const MAX_FILE_OCTETS = 10 * 1024 * 1024

/** Why a text could not be had, as diagnostics say it. */
export type ReadFault = Pick<Diagnostic, 'code' | 'message' | 'hint'>

export type ReadText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: ReadFault }

/** The text of a file in UTF-8, without its byte order mark. A file that is too large, or no file at all, is not opened. */
export const readText = (path: string, shown: string): Promise<ReadText> => readWith(UTF8, path, shown)

/** The same with the byte order mark, where there is one. */
export const readWholeText = (path: string, shown: string): Promise<ReadText> => readWith(UTF8_WITH_MARK, path, shown)

async function readWith(decoder: typeof UTF8, path: string, shown: string): Promise<ReadText> {
  try {
    const facts = await stat(path)
    const refused = refusal(facts, shown)
    return refused ? { ok: false, fault: refused } : decode(await readFile(path), shown, decoder)
  } catch (error) {
    return { ok: false, fault: { code: 'file-unreadable', message: `${shown} ${systemFault(error)}` } }
  }
}

/** The same, at once: for parsers that ask for a file in the middle of another. */
export function readTextSync(path: string, shown: string): Result<string> {
  try {
    const refused = refusal(statSync(path), shown)
    if (refused) return fault(refused.message)
    const decoded = decode(readFileSync(path), shown)
    return decoded.ok ? ok(decoded.text) : fault(decoded.fault.message)
  } catch (error) {
    return fault(`${shown} ${systemFault(error)}`)
  }
}

function refusal(facts: { isFile(): boolean; size: number }, shown: string): ReadFault | null {
  if (!facts.isFile()) return { code: 'file-unreadable', message: `${shown} is not a file` }
  if (facts.size <= MAX_FILE_OCTETS) return null
  return {
    code: 'file-too-large',
    message: `${shown} has ${facts.size} octets; a definition has at most ${MAX_FILE_OCTETS}`,
    hint: 'split it with "include"',
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
const UTF8_WITH_MARK = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(octets: Uint8Array, shown: string, decoder = UTF8): ReadText {
  try {
    return { ok: true, text: decoder.decode(octets) }
  } catch {
    const isUtf16 = (octets[0] === 0xff && octets[1] === 0xfe) || (octets[0] === 0xfe && octets[1] === 0xff)
    const message = `${shown} is not text in UTF-8${isUtf16 ? ' but in UTF-16' : ''}`
    return { ok: false, fault: { code: 'file-unreadable', message, hint: 'save it as UTF-8' } }
  }
}

/** What went wrong with a file, in words. */
export function systemFault(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === undefined) throw error
  if (code === 'ENOENT') return 'does not exist'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read'
  if (code === 'EISDIR') return 'is a folder'
  if (code === 'ELOOP') return 'is a symbolic link that leads in a circle'
  return `cannot be read (${code})`
}

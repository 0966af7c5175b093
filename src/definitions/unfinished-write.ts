/**
 * Several files that belong together take their names one after another. While they do, a note beside them names them all: a program that dies in
 * between leaves it, and nobody takes half of them for the whole.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Diagnostic } from '../model/diagnostic.ts'
import type { Config } from './config.ts'
import { displayPath, fromDisplayPath, isInside, realOr } from './file-path.ts'

/** The folder in which files are made ready; it begins with a dot, so that no glob goes into it. */
export const WRITE_FOLDER = '.zonewright-write'

const NOTE = 'unfinished.json'

export const notePath = (folder: string): string => join(folder, WRITE_FOLDER, NOTE)

export interface UnfinishedWrite {
  readonly command: string
  /** The SHA-256 digest of the text that each file, its path from the folder, was to have. */
  readonly digests: ReadonlyMap<string, string>
}

export const digestOf = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')

export const noteText = ({ command, digests }: UnfinishedWrite): string =>
  `${JSON.stringify({ command, files: Object.fromEntries(digests) }, null, 2)}\n`

/** What a folder's note says; null without one. One that cannot be understood names no files. */
export function readNote(folder: string): UnfinishedWrite | null {
  let text: string
  try {
    text = readFileSync(notePath(folder), 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    return { command: 'write', digests: new Map() }
  }
  try {
    const { command, files } = JSON.parse(text) as { readonly command: unknown; readonly files: Readonly<Record<string, unknown>> }
    const digests = Object.entries(files).map(([path, digest]) => [path, String(digest)] as const)
    return { command: String(command), digests: new Map(digests) }
  } catch {
    return { command: 'write', digests: new Map() }
  }
}

/** The files of a note that are not what they were to be. */
export const unfinishedFiles = (folder: string, { digests }: UnfinishedWrite): string[] =>
  [...digests].flatMap(([path, digest]) => (digestAt(join(folder, path)) === digest ? [] : [path]))

export function digestAt(path: string): string | null {
  try {
    return digestOf(readFileSync(path))
  } catch {
    return null
  }
}

/** An error for each folder, of those that files (as messages name them) are in or below, in which a write was cut off. */
export function unfinishedWrites(files: readonly string[], { folder: top, cwd }: Pick<Config, 'folder' | 'cwd'>): Diagnostic[] {
  const root = realOr(top)
  const folders = new Set<string>()
  for (const own of new Set(files.map((file) => dirname(fromDisplayPath(file, cwd))))) {
    let folder = realOr(own)
    while (!folders.has(folder)) {
      folders.add(folder)
      if (folder === root || !isInside(folder, root)) break
      folder = dirname(folder)
    }
  }
  return [...folders].flatMap((folder) => {
    const note = readNote(folder)
    if (note === null) return []
    const left = unfinishedFiles(folder, note)
    return left.length === 0 && note.digests.size > 0 ? [] : [unfinishedDiagnostic(displayPath(folder, realOr(cwd)), note, left)]
  })
}

export function unfinishedDiagnostic(folder: string, { command, digests }: UnfinishedWrite, left: readonly string[]): Diagnostic {
  const names = left.slice(0, 5).join(', ') + (left.length > 5 ? ` and ${left.length - 5} more` : '')
  const what = digests.size === 0 ? '' : `: ${left.length} of its ${digests.size} files are not in place (${names})`
  return {
    severity: 'error',
    code: 'write-unfinished',
    message: `in ${folder}, ${/^[aeiou]/.test(command) ? 'an' : 'a'} ${command} was cut off${what}`,
    hint: `give the same command again; or remove ${folder}/${WRITE_FOLDER} where the files are right as they are`,
  }
}

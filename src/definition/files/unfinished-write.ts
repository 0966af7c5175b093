/**
 * Several files that belong together take their names one after another. While they do, a note beside them names them all: a program that dies in
 * between leaves it, and nobody takes half of them for the whole.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { Config } from '../config/config.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from './file-path.ts'
import { isTemporaryName } from './temporary-file.ts'

/** The folder in which files are made ready; it begins with a dot, so that no glob goes into it. */
export const WRITE_FOLDER = '.zonewright-write'

/** Where in it the texts are that are about to take their names. */
export const READY = 'ready'

const NOTE = 'unfinished.json'

export const notePath = (folder: string): string => join(folder, WRITE_FOLDER, NOTE)

export interface UnfinishedWrite {
  readonly command: string
  /** The SHA-256 digest of the text that each file, its path from the folder, was to have. */
  readonly digests: ReadonlyMap<string, string>
  /** Of the files that change, the digest before, null for none, and the path of the text that is ready for it; null in notes without. */
  readonly changes: ReadonlyMap<string, { readonly before: string | null; readonly ready: string }> | null
}

export const digestOf = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')

export const noteText = ({ command, digests, changes }: UnfinishedWrite): string =>
  `${JSON.stringify({ command, files: Object.fromEntries(digests), changes: changes && Object.fromEntries(changes) }, null, 2)}\n`

/** What a folder's note says; null without one. One that cannot be understood names no files. */
export function readNote(folder: string): UnfinishedWrite | null {
  let text: string
  try {
    text = readFileSync(notePath(folder), 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    return UNREADABLE
  }
  try {
    const { command, files, changes } = JSON.parse(text) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
    const ready = Object.values(changes ?? {}).map((change) => (change as { readonly ready: unknown }).ready)
    if (![...Object.keys(files ?? {}), ...Object.keys(changes ?? {})].every(isBelow) || !ready.every(isReadyFile)) return UNREADABLE
    const digests = Object.entries(files ?? {}).map(([path, digest]) => [path, String(digest)] as const)
    return {
      command: String(command),
      digests: new Map(digests),
      changes: changes ? new Map(Object.entries(changes).map(readChange)) : null,
    }
  } catch {
    return UNREADABLE
  }
}

/** Whether a note, which may come with a repository, means a file below its folder. */
const isBelow = (path: unknown): boolean => typeof path === 'string' && !isAbsolute(path) && !path.split(/[/\\]/).includes('..')

/** Whether a text can be one that was made ready: nothing else is ever moved into the place of a definition. */
function isReadyFile(path: unknown): boolean {
  if (!isBelow(path)) return false
  const parts = (path as string).split(/[/\\]/)
  const isInArea = parts.length === 3 && parts[0] === WRITE_FOLDER && parts[1] === READY && /^\d+$/.test(parts[2] ?? '')
  return isInArea || isTemporaryName(parts.at(-1) ?? '')
}

const UNREADABLE: UnfinishedWrite = { command: 'write', digests: new Map(), changes: null }

function readChange([path, change]: [string, unknown]): readonly [string, { before: string | null; ready: string }] {
  const { before, ready } = change as { readonly before: unknown; readonly ready: unknown }
  return [path, { before: before === null ? null : String(before), ready: String(ready) }]
}

/** The files of a note that did not get their texts. One that has another text by now did, if somebody changed it since. */
export const unfinishedFiles = (folder: string, { digests, changes }: UnfinishedWrite): string[] => {
  const area = join(folder, WRITE_FOLDER, READY)
  const isInPlace = (path: string, digest: string): boolean => {
    const now = digestAt(join(folder, path))
    if (now === digest) return true
    if (changes === null) return false
    const change = changes.get(path)
    if (change === undefined) return true
    // A text takes its name away from where it was ready.
    if (existsSync(area)) return !existsSync(join(folder, change.ready))
    return now !== change.before
  }
  return [...digests].flatMap(([path, digest]) => (isInPlace(path, digest) ? [] : [path]))
}

export function digestAt(path: string): string | null {
  try {
    return digestOf(readFileSync(path))
  } catch {
    return null
  }
}

/** An error for each folder, of those that files (as messages name them) are in or below, in which a write was cut off. */
export const unfinishedWrites = (files: readonly string[], config: Pick<Config, 'folder' | 'cwd'>): Diagnostic[] =>
  unfinishedFolders(files, config).map(({ folder, note, left }) =>
    unfinishedDiagnostic(displayPath(folder, resolveLinks(config.cwd)), note, left),
  )

/** Folders with a write that was cut off. */
export function unfinishedFolders(
  files: readonly string[],
  { folder: top, cwd }: Pick<Config, 'folder' | 'cwd'>,
): { readonly folder: string; readonly note: UnfinishedWrite; readonly left: readonly string[] }[] {
  const root = resolveLinks(top)
  const folders = new Set<string>()
  for (const own of new Set(files.map((file) => dirname(fromDisplayPath(file, cwd))))) {
    let folder = resolveLinks(own)
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
    return left.length === 0 && note.digests.size > 0 ? [] : [{ folder, note, left }]
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

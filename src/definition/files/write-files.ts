/**
 * Writes files below a folder, all of them or none.
 *
 * Made ready: every text goes to the disk in a folder beside, so that a full disk or a folder that is not ours is found while nothing has changed.
 * Placed: they take their names with nothing in between. Where one does not get it, the others give theirs back.
 * Cut off: a program killed while they are made ready has changed nothing; one killed while they take their names leaves a note (unfinished-write.ts),
 * with which no definition is loaded until the same command has been given again. A single file needs none of this.
 */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { OutputFile } from '../imported-zone.ts'
import { assertNoSecret, type LoadedSecrets } from '../load/loaded-secrets.ts'
import { cleanAtExit } from './clean-at-exit.ts'
import { fileError } from './file-error.ts'
import { resolveLinks } from './file-path.ts'
import { type FileChange, type Finding, inspectDestination } from './inspect-destination.ts'
import { makeFolder, removeFolders } from './make-folder.ts'
import { placeFiles } from './place-files.ts'
import { syncFolder } from './temporary-file.ts'
import { readNote, unfinishedDiagnostic, unfinishedFiles, WRITE_FOLDER } from './unfinished-write.ts'
import { createFileAtomically, writeFileAtomically } from './write-file.ts'
import { openWriteFolder, type WriteFolder } from './write-folder.ts'

export interface WriteFilesOptions {
  /** Whether files that are there already are replaced. */
  readonly overwrite: boolean
  /** The command, for messages. */
  readonly command: string
  readonly now: () => Date
  /** Those of the run, which are not written. */
  readonly secrets: LoadedSecrets
}

/** Paths are those that were given. Only `written` leaves anything written, but for what `left` names. */
export type WrittenFiles =
  /** `unchanged` had their text already. */
  | { readonly state: 'written'; readonly written: readonly string[]; readonly unchanged: readonly string[] }
  | { readonly state: 'in-the-way'; readonly paths: readonly string[] }
  | { readonly state: 'refused'; readonly diagnostic: Diagnostic }
  /** The system's error, or one of `writeTarget`. */
  | { readonly state: 'failed'; readonly path: string; readonly error: unknown; readonly left: readonly string[] }

/** A backslash is a character like others but on Windows: octoDNS's folders have `\\@.yaml` of a name that begins so. */
const SEPARATOR = sep === '/' ? '/' : /[/\\]/

/** Throws `SecretExposed` rather than write a secret. */
export async function writeFiles(given: string, files: readonly OutputFile[], options: WriteFilesOptions): Promise<WrittenFiles> {
  for (const { path } of files) {
    if (isAbsolute(path) || path.split(SEPARATOR).some((part) => part === '..' || part === ''))
      throw new Error(`not a path in a folder: ${path}`)
  }
  for (const { path, text } of files) assertNoSecret(options.secrets, `${path}\n${text}`, path)
  const [first] = files
  if (first === undefined) return { state: 'written', written: [], unchanged: [] }
  let made: string[]
  try {
    made = makeFolder(given)
  } catch (error) {
    return { state: 'failed', path: first.path, error, left: [] }
  }
  const clean = (): void => removeFolders(made)
  const callOff = cleanAtExit(clean)
  try {
    const outcome = await writeInto(resolveLinks(given), files, options)
    if (outcome.state !== 'written') clean()
    return outcome
  } finally {
    callOff()
  }
}

async function writeInto(folder: string, files: readonly OutputFile[], options: WriteFilesOptions): Promise<WrittenFiles> {
  const found = lookAtAll(folder, files, options)
  if ('state' in found) return found
  const { changes, unchanged } = found
  const isCutOff = existsSync(join(folder, WRITE_FOLDER))
  const [change] = changes
  if (change === undefined && !isCutOff) return { state: 'written', written: [], unchanged }
  // A folder that is new is not to be found empty.
  if (change !== undefined && changes.length === 1 && !isCutOff && existsSync(dirname(change.path))) return writeOne(change, unchanged)
  let opened: ReturnType<typeof openWriteFolder>
  try {
    opened = openWriteFolder(folder, options)
  } catch (error) {
    return { state: 'failed', path: files[0]?.path ?? '', error, left: [] }
  }
  if ('diagnostic' in opened) return { state: 'refused', diagnostic: opened.diagnostic }
  const callOff = cleanAtExit(opened.close)
  try {
    // Somebody else may have been at it until now.
    const again = lookAtAll(folder, files, options)
    return 'state' in again ? again : await writeSet(opened, files, again)
  } finally {
    callOff()
    opened.close()
  }
}

export interface Changes {
  readonly changes: readonly FileChange[]
  readonly unchanged: readonly string[]
}

function lookAtAll(folder: string, files: readonly OutputFile[], { overwrite }: WriteFilesOptions): Changes | WrittenFiles {
  const unfinished = readNote(folder)
  const own = new Set(files.map(({ path }) => path))
  const left = unfinished === null ? [] : unfinishedFiles(folder, unfinished)
  if (unfinished !== null && (unfinished.digests.size === 0 || left.some((path) => !own.has(path)))) {
    return { state: 'refused', diagnostic: unfinishedDiagnostic(folder, unfinished, left) }
  }
  const found = files.map((file) => ({
    file,
    finding: inspectDestination(folder, join(folder, file.path), file, { overwrite, unfinished }),
  }))
  const of = (kind: Finding['kind']): string[] => found.flatMap(({ file, finding }) => (finding.kind === kind ? [file.path] : []))
  for (const { file, finding } of found)
    if (finding.kind === 'failed') return { state: 'failed', path: file.path, error: finding.error, left: [] }
  if (of('in-the-way').length > 0) return { state: 'in-the-way', paths: of('in-the-way') }
  const changes = found.flatMap(({ finding }) => (finding.kind === 'change' ? [finding.change] : []))
  const paths = new Set<string>()
  for (const change of changes) {
    if (paths.has(change.path)) return { state: 'failed', path: change.file.path, error: fileError('ESAMEFILE'), left: [] }
    paths.add(change.path)
  }
  return { changes, unchanged: of('same') }
}

async function writeOne({ file, path, mode }: FileChange, unchanged: readonly string[]): Promise<WrittenFiles> {
  try {
    await (mode === null ? createFileAtomically(path, file.text) : writeFileAtomically(path, file.text))
    return { state: 'written', written: [file.path], unchanged }
  } catch (error) {
    return { state: 'failed', path: file.path, error, left: [] }
  }
}

/** Puts texts that are to be in place of others there, all or none. */
export async function writeSet(area: WriteFolder, files: readonly OutputFile[], { changes, unchanged }: Changes): Promise<WrittenFiles> {
  const ready = await area.makeReady(changes)
  if ('failed' in ready) return { state: 'failed', path: ready.failed.file.path, error: ready.error, left: [] }
  try {
    area.note(files, ready)
  } catch (error) {
    area.done()
    return { state: 'failed', path: files[0]?.path ?? '', error, left: [] }
  }
  const placed = placeFiles(ready)
  if (!placed.ok) {
    if (placed.left.length === 0) area.done()
    return { state: 'failed', path: placed.failed.file.path, error: placed.error, left: placed.left.map(({ file }) => file.path) }
  }
  for (const folder of new Set(changes.map(({ path }) => dirname(path)))) await syncFolder(folder)
  area.done()
  return { state: 'written', written: changes.map(({ file }) => file.path), unchanged }
}

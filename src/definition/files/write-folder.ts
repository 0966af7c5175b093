import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import pLimit from 'p-limit'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { OutputFile } from '../imported-zone.ts'
import { fileError } from './file-error.ts'
import type { FileChange } from './inspect-destination.ts'
import { type LockHolder, type TakenLock, takeLock } from './lock-file.ts'
import { removeFolders } from './make-folder.ts'
import type { ReadyFile } from './place-files.ts'
import { ownProcess, processStatus } from './process-identity.ts'
import { LEFT_BEHIND, temporaryName, writeTemporary } from './temporary-file.ts'
import { digestAt, digestOf, notePath, noteText, READY, readNote, unfinishedFiles, WRITE_FOLDER } from './unfinished-write.ts'

/** Where the files of one write are made ready, while no other process writes several files into the same folder. */
export interface WriteFolder {
  /** Writes each text to the disk; where one cannot be written, nothing is left of any. */
  makeReady(changes: readonly FileChange[]): Promise<readonly ReadyFile[] | { readonly failed: FileChange; readonly error: unknown }>
  /** Names on the disk the files that are about to take their places. Throws the system's error. */
  note(files: readonly OutputFile[], ready: readonly ReadyFile[]): void
  /** The note is not needed: all files are in place, or none. */
  done(): void
  /** Removes all but the note, and lets others write. */
  close(): void
}

const LOCK = 'lock'

/** What a killed process leaves is nothing for a repository. */
const GITIGNORE = '.gitignore'

/** Files that are written at once. */
const OPEN_FILES = 16

/** Times it is tried because another process just removed the folder. */
const ATTEMPTS = 100

/** Who writes: the command, for messages. */
export interface Writer {
  readonly command: string
  readonly now: () => Date
}

/** Keeps other processes from writing into a folder, also in place of one that has died. Throws the system's error. */
export function holdFolder(
  folder: string,
  { command, now }: Writer,
): { readonly release: () => void } | { readonly diagnostic: Diagnostic } {
  const area = join(folder, WRITE_FOLDER)
  const holder: LockHolder = { ...ownProcess(), since: now().toISOString(), command, run: '' }
  const lock = lockIn(area, holder)
  if (lock.state === 'held') return { diagnostic: heldDiagnostic(area, lock, holder) }
  keepOutOfGit(area)
  removeFinishedNote(folder)
  return {
    release: () => {
      const note = basename(notePath(folder))
      removeAllBut(area, existsSync(join(area, note)) ? [LOCK, note, GITIGNORE, READY] : [LOCK])
      lock.release()
      removeFolders([area])
    },
  }
}

/** Takes the folder for a write of several files. Throws the system's error. */
export function openWriteFolder(folder: string, writer: Writer): WriteFolder | { readonly diagnostic: Diagnostic } {
  const area = join(folder, WRITE_FOLDER)
  const held = holdFolder(folder, writer)
  if ('diagnostic' in held) return held
  const ready = join(area, READY)
  const beside: string[] = []
  const close = (): void => {
    for (const path of beside.splice(0)) rmSync(path, { force: true })
    rmSync(ready, { recursive: true, force: true })
    held.release()
  }
  try {
    // What is in it a process left that has died.
    rmSync(ready, { recursive: true, force: true })
    mkdirSync(ready)
  } catch (error) {
    close()
    throw error
  }
  return {
    async makeReady(changes) {
      const device = statSync(ready).dev
      const limit = pLimit(OPEN_FILES)
      let failed: { readonly failed: FileChange; readonly error: unknown } | null = null
      const files = await Promise.all(
        changes.map((change, index) =>
          limit(async () => {
            if (failed !== null) return null
            try {
              // A file system that is mounted below the folder gets its files beside their places.
              const isHere = statSync(nearestFolder(change.path)).dev === device
              const temporary = isHere ? join(ready, String(index)) : temporaryName(change.path)
              const backup = isHere ? join(ready, `${index}.before`) : temporaryName(change.path)
              if (!isHere) beside.push(temporary, backup)
              await writeTemporary(temporary, change.file.text, change.mode)
              return { change, temporary, backup } satisfies ReadyFile
            } catch (error) {
              failed ??= { failed: change, error }
              return null
            }
          }),
        ),
      )
      return failed ?? files.filter((file): file is ReadyFile => file !== null)
    },
    note(files, readyFiles) {
      const digests = new Map(files.map(({ path, text }) => [path, digestOf(text)]))
      const changes = new Map(
        readyFiles.map(({ change, temporary }) => [
          change.file.path,
          { before: change.mode === null ? null : digestAt(change.path), ready: relative(folder, temporary) },
        ]),
      )
      const temporary = join(ready, 'note')
      writeFileSync(temporary, noteText({ command: writer.command, digests, changes }))
      syncSync(temporary)
      renameSync(temporary, notePath(folder))
      syncSync(area)
    },
    done: () => rmSync(notePath(folder), { force: true }),
    close,
  }
}

function lockIn(area: string, holder: LockHolder): TakenLock {
  for (let attempt = 1; ; attempt += 1) {
    try {
      mkdirSync(area)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      // What a link leads to is not this program's to remove.
      if (lstatSync(area, { throwIfNoEntry: false })?.isDirectory() === false) throw fileError('ENOTDIR', error)
    }
    try {
      return takeLock(join(area, LOCK), holder, LEFT_BEHIND)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt >= ATTEMPTS) {
        removeFolders([area])
        throw error
      }
    }
  }
}

function keepOutOfGit(area: string): void {
  try {
    writeFileSync(join(area, GITIGNORE), '*\n', { flag: 'wx' })
  } catch {
    // It is there, or nothing can be written, which whoever writes is told.
  }
}

/** A process that was killed right before its end left the note of a write that is whole: later edits are not to be taken for what is missing of it. */
function removeFinishedNote(folder: string): void {
  const note = readNote(folder)
  if (note !== null && note.digests.size > 0 && unfinishedFiles(folder, note).length === 0) rmSync(notePath(folder), { force: true })
}

/** Locks that killed processes were about to take are among it; one that does so just now begins anew. */
function removeAllBut(folder: string, kept: readonly string[]): void {
  for (const name of readdirSync(folder)) if (!kept.includes(name)) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Of folders that are yet to be made, the one that is there. */
function nearestFolder(path: string): string {
  const folder = dirname(path)
  return existsSync(folder) ? folder : nearestFolder(folder)
}

function syncSync(path: string): void {
  let handle: number
  try {
    handle = openSync(path, 'r')
  } catch {
    return
  }
  try {
    fsyncSync(handle)
  } catch {
    // Not every file system lets a folder be synced.
  } finally {
    closeSync(handle)
  }
}

function heldDiagnostic(area: string, { holder, path }: TakenLock & { readonly state: 'held' }, own: LockHolder): Diagnostic {
  const remedy = `where that run is surely over, remove the folder ${path}`
  const isHere = holder !== null && processStatus(holder, own) === 'running'
  const who = holder === null ? 'another run' : `${holder.command}, process ${holder.pid} on ${holder.host}, since ${holder.since}`
  return {
    severity: 'error',
    code: 'write-unfinished',
    message: `${who} is writing into ${dirname(area)}`,
    hint: isHere ? 'try again when it is done' : remedy,
  }
}

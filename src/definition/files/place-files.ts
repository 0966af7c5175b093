import { copyFileSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FileChange } from './inspect-destination.ts'
import { makeFolder, removeFolders } from './make-folder.ts'
import { takeName } from './write-file.ts'

/** A change whose text is on the disk, under another name of the same file system. */
export interface ReadyFile {
  readonly change: FileChange
  readonly temporary: string
  /** A free name for what it replaces, on the same file system. */
  readonly backup: string
}

export type Placed =
  | { readonly ok: true }
  /** `left` are those that could not be taken back. */
  | { readonly ok: false; readonly failed: FileChange; readonly error: unknown; readonly left: readonly FileChange[] }

/** Gives files their names, all at once as far as this process goes. Where one does not get its name, what was there before is there again. */
export function placeFiles(files: readonly ReadyFile[]): Placed {
  const placed: ReadyFile[] = []
  const made: string[] = []
  for (const file of files) {
    try {
      made.push(...makeFolder(dirname(file.change.path)))
      place(file)
      placed.push(file)
    } catch (error) {
      const left = placed.toReversed().filter((one) => !isTakenBack(one))
      removeFolders(made)
      return { ok: false, failed: file.change, error, left: left.map(({ change }) => change) }
    }
  }
  return { ok: true }
}

function place({ change: { path, mode }, temporary, backup }: ReadyFile): void {
  if (mode === null) {
    takeName(temporary, path)
    return
  }
  keep(path, backup)
  renameSync(temporary, path)
}

/** A second name costs nothing; where it is not given, as for files of others, a copy does. */
function keep(path: string, backup: string): void {
  try {
    linkSync(path, backup)
  } catch {
    copyFileSync(path, backup)
  }
}

function isTakenBack({ change: { path, mode }, backup }: ReadyFile): boolean {
  try {
    if (mode === null) rmSync(path)
    else renameSync(backup, path)
    return true
  } catch {
    return false
  }
}

import { lstatSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { digestAt, notePath, READY, readNote, unfinishedFiles, WRITE_FOLDER } from './unfinished-write.ts'
import { holdFolder, type Writer } from './write-folder.ts'

/**
 * Ends an edit of several files that was cut off while they took their names: its texts are all there, and were checked together. Whether there was one
 * that could be ended: none of its files has been changed since. `held` where a process is at it. Throws the system's error.
 */
export function finishEdit(folder: string, writer: Writer): boolean | 'held' {
  if (readNote(folder)?.command !== writer.command) return false
  const held = holdFolder(folder, writer)
  if ('diagnostic' in held) return 'held'
  try {
    const note = readNote(folder)
    // A link there, of somebody who wrote the note as well, would lead to files that were not made ready.
    if (!note?.changes || lstatSync(join(folder, WRITE_FOLDER, READY), { throwIfNoEntry: false })?.isSymbolicLink()) return false
    const left = unfinishedFiles(folder, note).map((path) => ({ path, change: note.changes?.get(path) }))
    const canEnd = left.every(
      ({ path, change }) =>
        change !== undefined &&
        digestAt(join(folder, change.ready)) === note.digests.get(path) &&
        digestAt(join(folder, path)) === change.before,
    )
    if (!canEnd) return false
    for (const { path, change } of left) if (change) renameSync(join(folder, change.ready), join(folder, path))
    rmSync(notePath(folder), { force: true })
    return true
  } finally {
    held.release()
  }
}

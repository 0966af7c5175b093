/** Writes edited files unless another process has changed them since they were read. */
import { dirname } from 'node:path'
import { lockFolders, type Writer } from './lock-folder.ts'
import { type FileChange, modeOf, type WriteOutcome, writeChanges, writeFailure } from './write-changes.ts'
import { type WriteTarget, writeTarget } from './write-target.ts'

/** An edit of a file. */
export interface TextChange {
  /** Absolute. */
  readonly path: string
  /** The text that was read; empty if there was no file. */
  readonly before: string
  readonly after: string
}

/**
 * Replaces files if none has changed since it was read (`ECHANGED` otherwise). Their folders are locked during the comparison and the
 * replacement, so no edit of another process is overwritten.
 */
export async function writeEdits(edits: readonly TextChange[], writer: Writer): Promise<WriteOutcome> {
  const paths = edits.map(({ path }) => path)
  let current = paths[0] ?? ''
  try {
    const targets = edits.map(({ path }) => {
      current = path
      return writeTarget(path)
    })
    const locks = await lockFolders(
      targets.map(({ path }) => dirname(path)),
      writer,
    )
    if ('diagnostic' in locks) return { state: 'locked', diagnostic: locks.diagnostic }
    try {
      const changes = edits.map(({ path, before, after }, index): FileChange => {
        const target = targets[index] as WriteTarget
        return { name: path, path: target.path, text: after, mode: modeOf(target), before: { text: before } }
      })
      return await writeChanges(changes, [])
    } finally {
      locks.release()
    }
  } catch (error) {
    return writeFailure(current, error, paths)
  }
}

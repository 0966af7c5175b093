import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { writeFileAtomically } from './write-file.ts'
import { holdFolder } from './write-folder.ts'
import { writeTarget } from './write-target.ts'

/** Times it is tried while another process writes into the folder, and the milliseconds between them. */
export const ATTEMPTS = 200
export const PAUSE = 50

/**
 * Replaces a file whose text is still `before`, empty for none. While one process looks and replaces no other does, so that of edits at once none is
 * lost. Gives what was in the way; throws the system's error, or `ECHANGED`.
 */
export async function writeEdited(
  path: string,
  { before, after }: { readonly before: string; readonly after: string },
  writer: { readonly command: string; readonly now: () => Date },
): Promise<Diagnostic | null> {
  const folder = dirname(writeTarget(path).path)
  for (let attempt = 1; ; attempt += 1) {
    const held = holdFolder(folder, writer)
    if (!('diagnostic' in held)) {
      try {
        await writeFileAtomically(path, after, before)
        return null
      } finally {
        held.release()
      }
    }
    if (attempt >= ATTEMPTS) return held.diagnostic
    await wait(PAUSE)
  }
}

import { linkSync, lstatSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { cleanAtExit } from './clean-at-exit.ts'
import { fileError } from './file-error.ts'
import { removeLeftBehind, syncFolder, temporaryName, writeTemporary } from './temporary-file.ts'
import { writeTarget } from './write-target.ts'

/**
 * Replaces a file, or makes it, so that readers find it whole, before or after, whatever happens in between: the text goes to a temporary
 * file in the same folder, to the disk, and takes the name. The mode is kept, and a symbolic link stays one. Throws the system's error,
 * that of `writeTarget`, or one with the code `ECHANGED` where the file is no longer as `expected`, empty for none. A new file gets the mode `newMode`.
 */
export async function writeFileAtomically(
  path: string,
  text: string | Uint8Array,
  expected?: string,
  newMode: number | null = null,
): Promise<void> {
  const { path: target, facts } = writeTarget(path)
  await throughTemporary(target, text, facts === null ? newMode : facts.mode & 0o7777, (temporary) => {
    // With nothing in between, so that of several changes at once none is lost.
    if (expected !== undefined && !octetsOf(target).equals(Buffer.from(expected))) throw fileError('ECHANGED')
    renameSync(temporary, target)
  })
}

/** The same for a name that must be free, whatever has come to it meanwhile. Throws the system's error, `EEXIST` where it is not. */
export const createFileAtomically = (path: string, text: string | Uint8Array): Promise<void> =>
  throughTemporary(path, text, null, (temporary) => takeName(temporary, path))

async function throughTemporary(
  target: string,
  text: string | Uint8Array,
  mode: number | null,
  take: (temporary: string) => void,
): Promise<void> {
  const temporary = temporaryName(target)
  const clean = (): void => rmSync(temporary, { force: true })
  const callOff = cleanAtExit(clean)
  try {
    await writeTemporary(temporary, text, mode)
    removeLeftBehind(target, temporary)
    take(temporary)
  } finally {
    callOff()
    clean()
  }
  await syncFolder(dirname(target))
}

/** Gives a file a name that must be free, and takes its own away; file systems without hard links get a look before the move. */
export function takeName(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) throw fileError('EEXIST', error)
    renameSync(from, to)
    return
  }
  rmSync(from, { force: true })
}

function octetsOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

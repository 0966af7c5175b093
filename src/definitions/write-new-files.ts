import { randomBytes } from 'node:crypto'
import { link, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { ExchangedFile } from '../model/exchange.ts'
import { writeFileAtomically } from './write-file.ts'

export interface WriteNewFilesOptions {
  /** Whether files that are there already are replaced. */
  readonly overwrite: boolean
}

export interface WrittenFiles {
  /** Paths of the files as they were given. */
  readonly written: readonly string[]
  /** Files in the way; nothing was written then. */
  readonly inTheWay: readonly string[]
  /** The file that could not be written and the system's error. What was written before it stands among `written`. */
  readonly failed: { readonly path: string; readonly error: unknown } | null
}

/**
 * Writes files below a folder, each under a temporary name first, so that no reader finds half of one. Nothing is written where any of
 * them is there already, unless `overwrite` says so; what comes into being meanwhile is not overwritten either.
 */
export async function writeNewFiles(
  folder: string,
  files: readonly ExchangedFile[],
  { overwrite }: WriteNewFilesOptions,
): Promise<WrittenFiles> {
  for (const { path } of files) {
    if (isAbsolute(path) || path.split(/[/\\]/).some((part) => part === '..' || part === ''))
      throw new Error(`not a path in a folder: ${path}`)
  }
  const inTheWay: string[] = []
  if (!overwrite) for (const { path } of files) if (await exists(join(folder, path))) inTheWay.push(path)
  if (inTheWay.length > 0) return { written: [], inTheWay, failed: null }
  const written: string[] = []
  for (const { path, text } of files) {
    const target = join(folder, path)
    try {
      await makeFolder(dirname(target))
      if (overwrite) await writeFileAtomically(target, text)
      else await createFile(target, text)
      written.push(path)
    } catch (error) {
      return { written, inTheWay: [], failed: { path, error } }
    }
  }
  return { written, inTheWay: [], failed: null }
}

/** A file in place of the folder is not a file in the way. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw isTaken ? Object.assign(new Error('not a folder', { cause: error }), { code: 'ENOTDIR' }) : error
  }
}

/** A link that leads nowhere is in the way too. */
const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** Gives the whole text a name that must be free. Throws the system's error, `EEXIST` where it is not. */
async function createFile(target: string, text: string): Promise<void> {
  const temporary = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx')
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await takeName(temporary, target)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** A second name is given only where there is none; file systems without hard links get a look before the move. */
async function takeName(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error
    if (await exists(target)) throw Object.assign(new Error('the file exists'), { code: 'EEXIST' })
    await rename(temporary, target)
  }
}

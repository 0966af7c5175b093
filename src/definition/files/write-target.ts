import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileError } from './file-error.ts'
import { isInside } from './file-path.ts'

/** Where a text goes. `facts` are those of the file that is there, null where there is none. */
export interface WriteTarget {
  /** Absolute, without a symbolic link at its end. */
  readonly path: string
  readonly facts: Stats | null
}

/**
 * What is at a path (absolute) that is to be written. A symbolic link stands for the file it leads to. With `folder`, absolute and without links, it
 * must end in there. Throws the system's error, or `EISDIR`, `ENOTFILE`, `EDANGLING`, `EOUTSIDE`: no folder, device or pipe is ever replaced.
 */
export function writeTarget(path: string, folder: string | null = null): WriteTarget {
  const own = lstatSync(path, { throwIfNoEntry: false })
  if (own === undefined) return { path: confined(join(realFolder(dirname(path)), basename(path)), folder), facts: null }
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts === undefined) throw fileError('EDANGLING')
  if (facts.isDirectory()) throw fileError('EISDIR')
  if (!facts.isFile()) throw fileError('ENOTFILE')
  return { path: confined(realpathSync(path), folder), facts }
}

/** Of a folder that is yet to be made, the part that is there has its links resolved. */
function realFolder(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path)
  const above = dirname(path)
  return above === path ? path : join(realFolder(above), basename(path))
}

function confined(path: string, folder: string | null): string {
  if (folder !== null && !isInside(path, folder)) throw fileError('EOUTSIDE')
  return path
}

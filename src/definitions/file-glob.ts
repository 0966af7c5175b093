import { isAbsolute, relative, sep } from 'node:path'
import picomatch from 'picomatch'

/** Globs of a rule as one test. */
export interface FileGlobs {
  /** Where the search begins, one place a glob: a folder, or for a glob without wildcards the path itself. */
  readonly starts: readonly GlobStart[]
  /** Whether a path (from the config's folder, with `/`) is matched and not taken out by a glob that begins with `!`. */
  readonly matches: (path: string) => boolean
}

export interface GlobStart {
  /** From the config's folder; `''` for the folder itself. */
  readonly path: string
  /** The glob has no wildcard: `path` itself is meant. */
  readonly literal: boolean
  /** Folders below `path` in which the glob can match; infinite with `**`. */
  readonly depth: number
}

/** Compiles the globs of a rule; absolute ones are taken from `folder` as well. */
export function compileGlobs(globs: readonly string[], folder: string): FileGlobs {
  const fromFolder = (glob: string): string => normalize(isAbsolute(glob) ? relative(folder, glob).split(sep).join('/') : glob)
  const wanted = globs.filter((glob) => !glob.startsWith('!')).map(fromFolder)
  const excluded = globs.filter((glob) => glob.startsWith('!')).map((glob) => fromFolder(glob.slice(1)))
  const isWanted = wanted.map((glob) => matcher(glob))
  const isExcluded = excluded.map((glob) => matcher(glob))
  return {
    starts: wanted.map(startOf),
    matches: (path) => isWanted.some((test) => test(path)) && !isExcluded.some((test) => test(path)),
  }
}

/** Whether a path is a glob and no plain path. */
export const hasGlob = (path: string): boolean => picomatch.scan(normalize(path)).isGlob === true

function matcher(glob: string): (path: string) => boolean {
  if (!hasGlob(glob)) return (path) => path === glob || path.startsWith(`${glob}/`)
  return picomatch(glob, { nonegate: true, noextglob: true })
}

function startOf(glob: string): GlobStart {
  const { base, glob: rest, isGlob } = picomatch.scan(glob)
  if (!isGlob) return { path: glob, literal: true, depth: Number.POSITIVE_INFINITY }
  const depth = rest.includes('**') ? Number.POSITIVE_INFINITY : rest.split('/').length - 1
  return { path: base === '.' ? '' : base, literal: false, depth }
}

const normalize = (glob: string): string => glob.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')

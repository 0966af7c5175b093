import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fault, ok, type Result } from '../model/result.ts'
import type { Config } from './config.ts'
import { compileGlobs } from './file-glob.ts'
import { displayPath, fromDisplayPath, isInside } from './file-path.ts'
import { readTextSync, systemFault } from './read-text.ts'

/** Reads files that definitions draw in; each is read once in a run. */
export type IncludeReader = (path: string, from: string) => Result<{ readonly file: string; readonly text: string }>

/**
 * A reader for `include:`, `!include` and `$INCLUDE`. Paths start from the including file and must end, symbolic links resolved,
 * in the config's folder or a folder its globs name: a definition draws in no other file of the machine.
 */
export function includeReader(config: Config): IncludeReader {
  const cwd = realOr(config.cwd)
  const roots = rootsOf(config)
  const texts = new Map<string, Result<string>>()
  return (path, from) => {
    const wanted = resolve(dirname(fromDisplayPath(from, config.cwd)), path)
    let real: string
    try {
      real = realpathSync(wanted)
    } catch (error) {
      return fault(`${displayPath(wanted, config.cwd)} ${systemFault(error)}`)
    }
    if (!roots.some((root) => isInside(real, root))) return fault('the path leads out of the folders that definitions may come from')
    const file = displayPath(real, cwd)
    let text = texts.get(file)
    if (!text) {
      text = readTextSync(real, file)
      texts.set(file, text)
    }
    return text.ok ? ok({ file, text: text.value }) : text
  }
}

function rootsOf(config: Config): string[] {
  const starts = config.rules.flatMap((rule) => compileGlobs(rule.files, config.folder).starts)
  const folders = starts.map((start) => resolve(config.folder, start.literal ? dirname(start.path) : start.path))
  return [...new Set([config.folder, ...folders].map(realOr))]
}

/** The path with symbolic links resolved; as it is where it does not exist. */
export function realOr(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

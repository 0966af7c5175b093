import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { Config } from '../config/config.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../files/file-path.ts'
import { describeReadError, readTextSync, refuseSecrets } from '../files/read-text.ts'
import { unprintableNameError } from './definition-name.ts'
import { sourcePolicy } from './source-policy.ts'

/** The longest path of Linux (PATH_MAX). */
const MAX_PATH_LENGTH = 4096

const OUTSIDE = 'the path is outside the folder of the config, so it cannot be included'

/** Reads included files, each once per run. */
export type IncludeReader = (path: string, from: string) => Result<{ readonly file: string; readonly text: string }>

/**
 * A reader for `include:`, `!include` and `$INCLUDE`. Paths are relative to the including file and must lead, after resolving symbolic links, into
 * the config's folder and to no protected file there. `kind` is the format of the including file. `given` has texts that replace files, by absolute path.
 */
export function includeReader(config: Config, kind: 'yaml' | 'zone-file', given: ReadonlyMap<string, string> = new Map()): IncludeReader {
  const cwd = resolveLinks(config.cwd)
  const root = resolveLinks(config.folder)
  const policy = sourcePolicy(config)
  const texts = new Map<string, Result<string>>()
  const confidential = (text: Result<string>, file: string): Result<string> => {
    const checked = text.ok ? refuseSecrets(text.value, file, policy) : null
    if (checked === null || checked.ok) return text
    const { at, message } = checked.problem
    return failure(`${at?.file}:${at?.line}: ${message}`)
  }
  return (path, from) => {
    if (path === '' || path.includes('\0'))
      return failure(path === '' ? 'the file name is empty' : 'the file name contains a NUL character')
    if (path.length > MAX_PATH_LENGTH) return failure(`the path has ${path.length} characters; at most ${MAX_PATH_LENGTH} are allowed`)
    const wanted = resolve(dirname(fromDisplayPath(from, config.cwd)), path)
    const unprintable = unprintableNameError(path, path)
    if (unprintable !== null) return failure(unprintable.message)
    // Checked first, so as not to reveal whether the file exists.
    const refused = policy.refusePath(wanted)
    if (refused !== null) return failure(`${displayPath(wanted, config.cwd)} ${refused}`)
    let real: string
    try {
      real = realpathSync(wanted)
    } catch (error) {
      // Do not reveal what exists elsewhere.
      const isElsewhere = !isInside(wanted, config.folder) && !isInside(wanted, root)
      return failure(isElsewhere ? OUTSIDE : `${displayPath(wanted, config.cwd)} ${describeReadError(error)}`)
    }
    if (!isInside(real, root)) return failure(OUTSIDE)
    const file = displayPath(real, cwd)
    let text = texts.get(file)
    if (!text) {
      const other = given.get(wanted) ?? given.get(real)
      text = confidential(other === undefined ? readTextSync(real, file, policy, kind) : ok(other), file)
      texts.set(file, text)
    }
    return text.ok ? ok({ file, text: text.value }) : text
  }
}

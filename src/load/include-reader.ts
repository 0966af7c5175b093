/** Reads included files. */
import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { failure, ok, type Result } from '../base/result.ts'
import type { Config } from '../config/config.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../files/file-path.ts'
import { describeReadError, readTextSync, refuseSecrets } from '../files/read-text.ts'
import { sourcePolicy } from '../files/source-policy.ts'
import { unprintableNameError } from './definition-name.ts'

/** An upper bound of paths on Linux (PATH_MAX), in characters. */
const MAX_PATH_LENGTH = 4096

const RELATIVE = 'a path starts at the folder of the file that includes it'
const OUTSIDE = 'the path is outside the config folder; move the file into that folder'

/**
 * Returns the file that `path` names in the file `from`, as messages show it, or a failure worded for a message. Reads each file once.
 */
export type IncludeReader = (path: string, from: string) => Result<{ readonly file: string; readonly text: string }>

/**
 * Creates a reader for `include:`, `!include` and `$INCLUDE`. Paths are relative to the including file. With symbolic links resolved, they must be
 * inside the config folder and must not name a protected file. `kind` is the format of the including file. `overrides` replaces the text of files, by absolute path.
 */
export function createIncludeReader(
  config: Config,
  kind: 'yaml' | 'zone-file',
  overrides: ReadonlyMap<string, string> = new Map(),
): IncludeReader {
  const cwd = resolveLinks(config.cwd)
  const root = resolveLinks(config.folder)
  const policy = sourcePolicy(config)
  const cache = new Map<string, Result<string>>()
  const checkSecrets = (text: Result<string>, file: string): Result<string> => {
    if (!text.ok) return text
    const checked = refuseSecrets(text.value, file, policy)
    if (checked.ok) return text
    const { at, message } = checked.problem
    return failure(`${at?.file}:${at?.line}: ${message}`)
  }
  return (path, from) => {
    if (path === '') return failure('the file name is empty')
    if (path.includes('\0')) return failure('the file name contains a NUL character')
    if (path.length > MAX_PATH_LENGTH) return failure(`the path has ${path.length} characters; at most ${MAX_PATH_LENGTH} are allowed`)
    const wanted = resolve(dirname(fromDisplayPath(from, config.cwd)), path)
    const unprintable = unprintableNameError(path, path)
    if (unprintable !== null) return failure(unprintable.message)
    // Before any access to the file, so that the message does not reveal whether a protected file exists.
    const refused = policy.refusePath(wanted)
    if (refused !== null) return failure(`${displayPath(wanted, config.cwd)} ${refused}`)
    let real: string
    try {
      real = realpathSync(wanted)
    } catch (error) {
      // The message must not reveal which files exist outside the config folder.
      const isElsewhere = !isInside(wanted, config.folder) && !isInside(wanted, root)
      return failure(isElsewhere ? OUTSIDE : `${displayPath(wanted, config.cwd)} ${describeReadError(error)}; ${RELATIVE}`)
    }
    if (!isInside(real, root)) return failure(OUTSIDE)
    const file = displayPath(real, cwd)
    let text = cache.get(file)
    if (!text) {
      const override = overrides.get(wanted) ?? overrides.get(real)
      text = checkSecrets(override === undefined ? readTextSync(real, file, policy, kind) : ok(override), file)
      cache.set(file, text)
    }
    return text.ok ? ok({ file, text: text.value }) : text
  }
}

import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { failure, ok, type Result } from '../../dns/result.ts'
import type { Config } from '../config/config.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../files/file-path.ts'
import { describeReadError, readTextSync, refuseSecrets } from '../files/read-text.ts'
import { unprintableNameError } from './definition-name.ts'
import { sourcePolicy } from './source-policy.ts'

/** No system takes longer paths (PATH_MAX of Linux). */
const MAX_PATH_LENGTH = 4096

const LEADS_OUT = 'the path leads out of the folder of the config, which definitions may not come from'

/** Reads files that definitions draw in; each is read once in a run. */
export type IncludeReader = (path: string, from: string) => Result<{ readonly file: string; readonly text: string }>

/**
 * A reader for `include:`, `!include` and `$INCLUDE`. Paths start from the including file and must end, symbolic links resolved,
 * in the config's folder: a definition draws in no other file of the machine, and in the folder none that its policy protects. `given` has texts that
 * stand for files, by absolute path.
 */
export function includeReader(config: Config, given: ReadonlyMap<string, string> = new Map()): IncludeReader {
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
      return failure(`${path === '' ? 'an empty name' : 'a name with the octet 0'} is that of no file`)
    if (path.length > MAX_PATH_LENGTH) return failure(`the name of the file has ${path.length} characters; ${MAX_PATH_LENGTH} are allowed`)
    const wanted = resolve(dirname(fromDisplayPath(from, config.cwd)), path)
    const unprintable = unprintableNameError(path, path)
    if (unprintable !== null) return failure(unprintable.message)
    // Before it is looked for: whether there is such a file is not reported either.
    const refused = policy.refusePath(wanted)
    if (refused !== null) return failure(`${displayPath(wanted, config.cwd)} ${refused}`)
    let real: string
    try {
      real = realpathSync(wanted)
    } catch (error) {
      // What there is elsewhere is not told.
      const isElsewhere = !isInside(wanted, config.folder) && !isInside(wanted, root)
      return failure(isElsewhere ? LEADS_OUT : `${displayPath(wanted, config.cwd)} ${describeReadError(error)}`)
    }
    if (!isInside(real, root)) return failure(LEADS_OUT)
    const file = displayPath(real, cwd)
    let text = texts.get(file)
    if (!text) {
      const other = given.get(wanted) ?? given.get(real)
      text = confidential(other === undefined ? readTextSync(real, file, policy) : ok(other), file)
      texts.set(file, text)
    }
    return text.ok ? ok({ file, text: text.value }) : text
  }
}

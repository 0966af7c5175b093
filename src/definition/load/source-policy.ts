/**
 * Where definitions may come from, and what may not be in them. A definition is written by whoever can open a pull request: it must not be able to draw
 * in a file with a secret and so publish it in a plan or in the DNS.
 */
import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { basename, relative, sep } from 'node:path'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { Config } from '../config/config.ts'
import { secretExposedDiagnostic } from '../config/secret-guard.ts'
import { fromDisplayPath, isInside, resolveLinks } from '../files/file-path.ts'

export interface SourcePolicy {
  /** Why no definition is read from a path (absolute, as it was named or with links resolved), in words that follow its name; null if one may be. */
  refusePath(path: string): string | null
  /** The same for a file that is open: it may have another name as well. */
  refuseFile(facts: BigIntStats): string | null
  /** An error for each line of a text that holds a secret. `file` names it in messages. */
  secretsIn(text: string, file: string): readonly Diagnostic[]
}

const HIDDEN = 'is hidden (with links followed, a name in its path begins with a dot): no definition is read from there'
const OF_SECRET = 'is the file of a secret in the config: no definition is read from it'
const OF_CONFIG = 'is the config: no definition is read from it'

/** Lines of a file that are reported. */
const REPORTED = 20

/** What holds for definitions of a config: names below its folder may not begin with a dot, unless `hidden` lets files that somebody named by hand do so. */
export function sourcePolicy({ folder, cwd, file, secretFiles, secrets }: Config, hidden: 'refused' | 'allowed' = 'refused'): SourcePolicy {
  const folders = hidden === 'allowed' ? [] : [...new Set([folder, resolveLinks(folder)])]
  const paths = new Map<string, string>()
  const files = new Map<string, string>()
  const protect = (path: string, reason: string): void => {
    const facts = factsOf(path)
    // No folder is a secret, whatever the config says; its provider reports that.
    if (facts?.isDirectory()) return
    for (const one of [path, resolveLinks(path)]) paths.set(one, reason)
    if (facts !== undefined) files.set(identityOf(facts), reason)
  }
  if (file !== null) protect(fromDisplayPath(file, cwd), OF_CONFIG)
  for (const path of secretFiles) protect(path, OF_SECRET)
  return {
    refusePath: (path) => paths.get(path) ?? (folders.some((one) => isHidden(path, one)) ? HIDDEN : null),
    refuseFile: (facts) => files.get(identityOf(facts)) ?? null,
    secretsIn(text, shown) {
      const { guard } = secrets
      // What is split between strings or labels is found in the records.
      const setting = guard?.findWhole(text) ?? null
      if (guard === null || setting === null) return []
      const found = text.split('\n').flatMap((line, index) => {
        const ofLine = guard.findWhole(line)
        return ofLine === null ? [] : [secretExposedDiagnostic('the line', ofLine, { file: shown, line: index + 1, column: 1 })]
      })
      return found.length > 0
        ? found.slice(0, REPORTED)
        : [secretExposedDiagnostic('the file', setting, { file: shown, line: 1, column: 1 })]
    },
  }
}

/** Undefined for a file that is not there, or that may not be looked at: it is protected by its path alone. */
function factsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}

const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`

/** A name of a mounted Kubernetes ConfigMap, to which the plain names in it are links: `..data` and `..2026_01_02_03_04_05.123456789`. */
const MOUNTED = /^\.\.(?:data$|\d{4}_\d{2}_\d{2}_)/

/** Of octoDNS's split zones with `split_catchall: false`: the file of the apex. */
const APEX_FILE = '.yaml'

function isHidden(path: string, folder: string): boolean {
  if (!isInside(path, folder)) return false
  const parts = relative(folder, path).split(sep)
  return parts.some((part, index) => part.startsWith('.') && !MOUNTED.test(part) && !(part === APEX_FILE && index === parts.length - 1))
}

/** Whether the name itself begins with a dot. */
export const isHiddenName = (path: string): boolean => basename(path).startsWith('.')

/**
 * Why an open file is none that a definition may come from. `path` is looked up again: a link in it may have been led elsewhere since it was opened.
 * `moved` if it names another file by now.
 */
export function refuseOpened(policy: SourcePolicy, path: string, facts: BigIntStats): string | null | 'moved' {
  const real = realpathSync.native(path)
  const now = statSync(real, { bigint: true })
  if (identityOf(now) !== identityOf(facts)) return 'moved'
  return policy.refusePath(real) ?? policy.refuseFile(facts)
}

/**
 * Which files definitions may be read from, and what they must not contain. Anyone who can open a pull request can write a definition; it must not be
 * able to include a file with a secret and publish it in a plan or in the DNS.
 */
import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { basename, sep } from 'node:path'
import type { Diagnostic } from '../base/diagnostic.ts'
import { type LoadedSecrets, secretExposedDiagnostic } from '../base/secret-guard.ts'
import { type PathScope, refusedPath } from './allowed-paths.ts'
import { fromDisplayPath, isInside, relativePath, resolveLinks } from './file-path.ts'

export interface SourcePolicy {
  /** Why no definition may be read from an absolute path (with or without links resolved), worded to follow its name; null if one may. */
  refusePath(path: string): string | null
  /** Like `refusePath` for an open file, which may have other names. */
  refuseFile(facts: BigIntStats): string | null
  /** An error for each line of a text that contains a secret. `file` names it in messages. */
  secretsIn(text: string, file: string): readonly Diagnostic[]
}

const HIDDEN = 'is hidden (a name in its path begins with a dot, links resolved), so no definition is read from it'
const OF_SECRET = 'contains a secret of the config, so no definition is read from it'
const OF_CONFIG = 'is the config, so no definition is read from it'

/** What a config says about the files that definitions are read from. */
interface ConfigFiles {
  /** The absolute path of the folder of the config. */
  readonly folder: string
  readonly cwd: string
  /** The config as messages name it; null without one. */
  readonly file: string | null
  /** Absolute paths of files with secrets. */
  readonly secretFiles: readonly string[]
  readonly secrets: LoadedSecrets
}

/** Maximum number of lines reported per file. */
const REPORTED = 20

/** The policy for the definitions of a config. Names below its folder must not begin with a dot, unless `hidden` allows it for files that the user names. */
export function sourcePolicy(
  { folder, cwd, file, secretFiles, secrets }: ConfigFiles,
  hidden: 'refused' | 'allowed' = 'refused',
): SourcePolicy {
  const folders = hidden === 'allowed' ? [] : [...new Set([folder, resolveLinks(folder)])]
  const paths = new Map<string, string>()
  const files = new Map<string, string>()
  const protect = (path: string, reason: string): void => {
    const facts = factsOf(path)
    // A folder cannot be a secret; the provider reports that mistake.
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
      // Secrets split between strings or labels are found later, in the records.
      const setting = guard?.findUnsplit(text) ?? null
      if (guard === null || setting === null) return []
      const found = text.split('\n').flatMap((line, index) => {
        const ofLine = guard.findUnsplit(line)
        return ofLine === null ? [] : [secretExposedDiagnostic('the line', ofLine, { file: shown, line: index + 1, column: 1 })]
      })
      return found.length > 0
        ? found.slice(0, REPORTED)
        : [secretExposedDiagnostic('the file', setting, { file: shown, line: 1, column: 1 })]
    },
  }
}

/** The policy for files that are no definitions, below folders that the config names: links must not lead out of what it may name. */
export const linkPolicy = (scope: PathScope): SourcePolicy => ({
  refusePath: (path) => refusedPath(path, scope),
  refuseFile: () => null,
  secretsIn: () => [],
})

/** Undefined for a file that is missing or inaccessible, which is protected by its path alone. */
function factsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}

const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`

/** Folders of a mounted Kubernetes ConfigMap that its files link to: `..data` and `..2026_01_02_03_04_05.123456789`. */
const MOUNTED = /^\.\.(?:data$|\d{4}_\d{2}_\d{2}_)/

/** The file of the apex in octoDNS's split zones with `split_catchall: false`. */
const APEX_FILE = '.yaml'

function isHidden(path: string, folder: string): boolean {
  if (!isInside(path, folder)) return false
  const parts = relativePath(folder, path).split(sep)
  return parts.some((part, index) => part.startsWith('.') && !MOUNTED.test(part) && !(part === APEX_FILE && index === parts.length - 1))
}

/** Whether the name itself begins with a dot. */
export const isHiddenName = (path: string): boolean => basename(path).startsWith('.')

/**
 * Why no definition may be read from an open file. Resolves `path` again, since a link in it may have changed after the file was opened; `moved` if it
 * now leads to another file.
 */
export function refuseOpened(policy: SourcePolicy, path: string, facts: BigIntStats): string | null | 'moved' {
  const real = realpathSync.native(path)
  const now = statSync(real, { bigint: true })
  if (identityOf(now) !== identityOf(facts)) return 'moved'
  return policy.refusePath(real) ?? policy.refuseFile(facts)
}

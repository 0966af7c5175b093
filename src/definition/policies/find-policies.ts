/** Finds the policy files of a config. Only names are examined. */
import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { compareText } from '../../dns/compare-text.ts'
import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { Config } from '../config/config.ts'
import { displayPath, isInside, resolveLinks } from '../files/file-path.ts'
import { describeReadError } from '../files/read-text.ts'

/** The folder that is read if the config does not have `policies`. */
export const POLICY_FOLDER = 'policies'

/** Maximum number of policy files. */
const MAX_FILES = 200

export interface PolicyFiles {
  /** Absolute, in the order of the config, those of a folder by name. */
  readonly paths: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The files that `policies` of the config names, and the YAML files of its folders, which may have folders of their own. Without the key, those of the folder `policies`, if it exists. */
export function findPolicyFiles({ policies, folder, cwd, file }: Pick<Config, 'policies' | 'folder' | 'cwd' | 'file'>): PolicyFiles {
  const diagnostics: Diagnostic[] = []
  const report = (code: Diagnostic['code'], message: string, at: Diagnostic['at']): void =>
    void diagnostics.push({ severity: 'error', code, message, at })
  // Definitions without a config have no policies.
  const named = policies ?? (file === null ? [] : [{ path: POLICY_FOLDER, at: undefined }])
  const paths = new Set<string>()
  for (const { path, at } of named) {
    const absolute = resolve(folder, path)
    const shown = displayPath(absolute, cwd)
    if (!isInside(resolveLinks(absolute), resolveLinks(folder))) {
      report('path-outside', `policies: ${shown} is outside the folder of the config`, at)
      continue
    }
    try {
      const found = statSync(absolute).isDirectory() ? filesOf(absolute) : [absolute]
      if (found.length === 0 && policies !== null) report('file-unreadable', `policies: ${shown} has no YAML file`, at)
      for (const one of found) {
        if (isInside(resolveLinks(one), resolveLinks(folder))) paths.add(one)
        else report('path-outside', `policies: ${displayPath(one, cwd)} is a link that leads outside the folder of the config`, at)
      }
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (policies !== null || !isMissing) report('file-unreadable', `policies: ${shown} ${describeReadError(error)}`, at)
    }
  }
  if (paths.size > MAX_FILES)
    report('file-too-large', `there are ${paths.size} policy files; at most ${MAX_FILES} are allowed`, named[0]?.at)
  return { paths: [...paths].slice(0, MAX_FILES), diagnostics }
}

/** The YAML files of a folder and of those in it. Links to folders are listed like files, so that reading them is an error. */
function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'))
  return entries
    .sort((a, b) => compareText(a.name, b.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesOf(path)
      return /\.ya?ml$/i.test(entry.name) || (entry.isSymbolicLink() && isFolder(path)) ? [path] : []
    })
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

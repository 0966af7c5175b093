/** Loads the policies of a config, from the working tree or from a git revision. */
import { readdirSync, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { compareText } from '../../base/text.ts'
import type { Config } from '../../config/config.ts'
import { readConfig } from '../../config/read-config.ts'
import { displayPath, fromDisplayPath, isInside, resolveLinks } from '../../files/file-path.ts'
import { describeReadError, readText } from '../../files/read-text.ts'
import { sourcePolicy } from '../../files/source-policy.ts'
import { openRevision } from '../../git/revision.ts'
import { DAYS_OF_NOTICE, daysLeft, type Policies, type PolicyRule } from './policy-rule.ts'

/** Maximum number of rules of a run. */
const MAX_RULES = 1000

export interface PolicySource {
  readonly now: Date
  /** The git revision that has the policies; the working tree if absent. */
  readonly revision?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The policies of a config; null if it has none. Those of the trusted config that it names come first: a trusted config in a folder of its own, without
 * policies beside it, leaves those of the config itself. Their compiler is loaded only if there are some.
 */
export async function loadPolicies(config: Config, { now, revision, env }: PolicySource): Promise<Policies | null> {
  const { trusted } = config
  if (revision === undefined) {
    const found = trusted === null ? null : await readAll(trusted, trusted, now)
    return found === null && (trusted?.policies ?? null) === null ? readAll(config, config, now) : found
  }
  const opened = await openRevision(config.folder, revision, env)
  if (!opened.ok) return { rules: [], diagnostics: [{ ...opened.diagnostic, message: `policies: ${opened.diagnostic.message}` }] }
  try {
    const former = await configOf(config, opened.revision.folder)
    if ('diagnostics' in former) return { rules: [], diagnostics: former.diagnostics }
    return former.config === null ? withoutConfig(config, revision) : await readAll(former.config, config, now)
  } finally {
    opened.revision.close()
  }
}

/** No policies, with a warning: a branch may have moved the config. */
const withoutConfig = ({ file }: Config, revision: string): Policies => ({
  rules: [],
  diagnostics: [
    {
      severity: 'warning',
      code: 'config-missing',
      message: `policies: ${revision} has no ${file ?? 'config'}, so none apply`,
      hint: 'policies are read from the config of that revision: they apply once the revision has a config',
    },
  ],
})

/** The config that a revision had, in the copy of its folder; null if it had none. */
async function configOf(
  config: Config,
  folder: string,
): Promise<{ readonly config: Config | null } | { readonly diagnostics: readonly Diagnostic[] }> {
  const file = config.file === null ? null : basename(fromDisplayPath(config.file, config.cwd))
  if (file === null) return { config: null }
  const text = await readText(join(folder, file), file, null)
  if (!text.ok) return text.isMissing ? { config: null } : { diagnostics: [{ severity: 'error', ...text.problem }] }
  const read = readConfig(text.text, { file, folder, cwd: folder, secrets: config.secrets })
  return read.config === null ? { diagnostics: read.diagnostics } : { config: read.config }
}

/** Reads the policies of a config. Messages name their files as below the folder of `shown`. */
async function readAll(config: Config, shown: Pick<Config, 'folder' | 'cwd'>, now: Date): Promise<Policies | null> {
  const { paths, diagnostics: found } = findPolicyFiles(config)
  if (paths.length === 0) return found.length === 0 ? null : { rules: [], diagnostics: found }
  const [{ createSchemaCompiler }, { readPolicies }] = await Promise.all([import('./compile-schema.ts'), import('./read-policies.ts')])
  const compiler = createSchemaCompiler()
  const policy = sourcePolicy(config)
  const diagnostics: Diagnostic[] = [...found]
  const byName = new Map<string, PolicyRule>()
  for (const path of paths) {
    const file = displayPath(resolve(shown.folder, relative(config.folder, path)), shown.cwd)
    const refused = policy.refusePath(resolveLinks(path))
    if (refused !== null) {
      diagnostics.push({ severity: 'error', code: 'path-protected', message: `${file} ${refused}` })
      continue
    }
    const text = await readText(path, file, policy)
    if (!text.ok) {
      diagnostics.push({ severity: 'error', ...text.problem, at: text.problem.at ?? { file, line: 1, column: 1 } })
      continue
    }
    const read = readPolicies(text.text, file, compiler)
    diagnostics.push(...read.diagnostics)
    for (const rule of read.rules) {
      const first = byName.get(rule.name)
      if (first === undefined) byName.set(rule.name, rule)
      else diagnostics.push(duplicate(rule, first))
    }
  }
  const rules = [...byName.values()]
  if (rules.length > MAX_RULES) diagnostics.push(tooMany(rules))
  diagnostics.push(...rules.flatMap((rule) => exceptionDiagnostics(rule, now)))
  return { rules: hasErrors(diagnostics) ? [] : rules, diagnostics }
}

const duplicate = ({ name, at }: PolicyRule, first: PolicyRule): Diagnostic => ({
  severity: 'error',
  code: 'policies-invalid',
  message: `there are two policies ${name}`,
  at,
  related: [{ message: 'the other policy', at: first.at }],
})

const tooMany = (rules: readonly PolicyRule[]): Diagnostic => ({
  severity: 'error',
  code: 'policies-invalid',
  message: `there are ${rules.length} policies; at most ${MAX_RULES} are allowed`,
  at: rules[MAX_RULES]?.at,
})

/** A warning for each exception that has expired, and a notice for each that will soon. */
function exceptionDiagnostics({ name, exceptions }: PolicyRule, now: Date): Diagnostic[] {
  return exceptions.flatMap((exception): Diagnostic[] => {
    const { until, reason, at } = exception
    const left = daysLeft(exception, now)
    if (left > DAYS_OF_NOTICE) return []
    const subject = `an exception from the policy ${name}`
    if (left < 0)
      return [
        {
          severity: 'warning',
          code: 'policies-exception-expired',
          message: `${subject} expired on ${until}: ${reason}`,
          at,
          hint: EXPIRED_HINT,
        },
      ]
    const when = left === 0 ? 'today' : left === 1 ? 'tomorrow' : `in ${left} days`
    return [{ severity: 'notice', code: 'policies-exception-ends', message: `${subject} expires ${when}, on ${until}: ${reason}`, at }]
  })
}

const EXPIRED_HINT = 'remove it, or give it a new date'

// Finds the policy files of a config. Only names are examined.

/** The folder that is read if the config does not have `policies`. */
const POLICY_FOLDER = 'policies'

/** Maximum number of policy files. */
const MAX_FILES = 200

interface PolicyFiles {
  /** Absolute, in the order of the config, those of a folder by name. */
  readonly paths: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The files that `policies` of the config names, and the YAML files of its folders, which may have folders of their own. Without the key, those of the folder `policies`, if it exists. */
function findPolicyFiles({ policies, folder, cwd, file }: Pick<Config, 'policies' | 'folder' | 'cwd' | 'file'>): PolicyFiles {
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

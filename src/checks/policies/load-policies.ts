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
import { withRevision } from '../../git/revision.ts'
import { DAYS_OF_NOTICE, daysLeft, type Policies, type PolicyRule } from './policy-rule.ts'

/** Maximum number of rules of a run. */
const MAX_RULES = 1000

export interface PolicySource {
  readonly now: Date
  /** The git revision to read the policies from; the working tree if absent. */
  readonly revision?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The policies of a config; null if it has none. If the config names a trusted config, the trusted policies apply. Then the config's own policies
 * apply only if the trusted config has neither the key `policies` nor policy files. The compiler of policies is loaded only if it is needed.
 */
export async function loadPolicies(config: Config, { now, revision, env }: PolicySource): Promise<Policies | null> {
  const { trusted } = config
  if (revision === undefined) {
    const found = trusted === null ? null : await readPoliciesOf(trusted, trusted, now)
    return found === null && (trusted?.policies ?? null) === null ? readPoliciesOf(config, config, now) : found
  }
  const read = await withRevision(config.folder, revision, env, async ({ copy }) => {
    const name = config.file === null ? null : basename(fromDisplayPath(config.file, config.cwd))
    const folder = await copy((path) => path === name)
    const reviewed = await readConfigIn(folder, config)
    if ('diagnostics' in reviewed) return { rules: [], diagnostics: reviewed.diagnostics }
    if (reviewed.config === null) return withoutConfig(config, revision)
    const named = (reviewed.config.policies ?? [{ path: POLICY_FOLDER }]).map(({ path }) => resolve(folder, path))
    await copy((path) => named.some((one) => isInside(join(folder, path), one)))
    return readPoliciesOf(reviewed.config, config, now)
  })
  if (read.ok) return read.value
  return { rules: [], diagnostics: [{ ...read.diagnostic, message: `policies: ${read.diagnostic.message}` }] }
}

/** No policies, with a warning rather than an error, since a branch may have moved the config. */
const withoutConfig = ({ file }: Config, revision: string): Policies => ({
  rules: [],
  diagnostics: [
    {
      severity: 'warning',
      code: 'config-missing',
      message: `policies: ${revision} has no ${file ?? 'config'}, so none apply`,
      hint: 'policies are read from the config of that revision; they apply once that revision has a config',
    },
  ],
})

/** Reads the config from `folder`, the copy of a revision; null if that revision has no config. */
async function readConfigIn(
  folder: string,
  config: Config,
): Promise<{ readonly config: Config | null } | { readonly diagnostics: readonly Diagnostic[] }> {
  const file = config.file === null ? null : basename(fromDisplayPath(config.file, config.cwd))
  if (file === null) return { config: null }
  const text = await readText(join(folder, file), file, null)
  if (!text.ok) return text.isMissing ? { config: null } : { diagnostics: [{ severity: 'error', ...text.problem }] }
  const read = readConfig(text.text, { file, folder, cwd: folder, secrets: config.secrets })
  return read.config === null ? { diagnostics: read.diagnostics } : { config: read.config }
}

/** Reads the policies of a config. Messages show their files below the folder of `shown`. */
async function readPoliciesOf(config: Config, shown: Pick<Config, 'folder' | 'cwd'>, now: Date): Promise<Policies | null> {
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

/** A warning for each expired exception, and a notice for each one that expires soon. */
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

// Finds the policy files of a config by their names, without reading them.

/** The folder that is read if the config does not have `policies`. */
const POLICY_FOLDER = 'policies'

/** Maximum number of policy files. */
const MAX_FILES = 200

interface PolicyFiles {
  /** Absolute, in the order of the config; files in a folder are sorted by name. */
  readonly paths: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * The files listed in the config's `policies`, and all YAML files below the listed folders. Without the key, the YAML files below the folder
 * `policies`, if it exists.
 */
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
      report('path-outside', `policies: ${shown} is outside the config folder`, at)
      continue
    }
    try {
      const found = statSync(absolute).isDirectory() ? yamlFilesBelow(absolute) : [absolute]
      if (found.length === 0 && policies !== null) report('file-unreadable', `policies: ${shown} has no YAML file`, at)
      for (const one of found) {
        if (isInside(resolveLinks(one), resolveLinks(folder))) paths.add(one)
        else report('path-outside', `policies: ${displayPath(one, cwd)} is a link that leads outside the config folder`, at)
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

/** The YAML files below a folder. A link to a folder is listed like a file, so reading it fails. */
function yamlFilesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'))
  return entries
    .sort((a, b) => compareText(a.name, b.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return yamlFilesBelow(path)
      return /\.ya?ml$/i.test(entry.name) || (entry.isSymbolicLink() && isFolder(path)) ? [path] : []
    })
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

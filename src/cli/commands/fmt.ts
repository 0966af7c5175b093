/** `zonewright fmt`: options and output; the layout is in `definition/print/format-definition.ts`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Diagnostic, hasErrors, isError } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import type { Config } from '../../config/config.ts'
import { formatDefinition } from '../../definition/print/format-definition.ts'
import { readYaml } from '../../definition/yaml/read-yaml.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { displayPath } from '../../files/file-path.ts'
import { readTextWithMark } from '../../files/read-text.ts'
import { type SourcePolicy, sourcePolicy } from '../../files/source-policy.ts'
import { writeEdits } from '../../files/write-files.ts'
import { writeProblems } from '../../files/write-problem.ts'
import { withRevision } from '../../git/revision.ts'
import { type FoundDefinition, findDefinitions } from '../../load/find-definitions.ts'
import { unmatchedDefinitions, unmatchedWarning } from '../../load/unmatched-definitions.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadConfigOrDefault } from '../../run/load/run-config.ts'
import { type CommonOptions, type SetAction, withConfigOption, withExamples } from '../command.ts'
import { endedBySignals } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { createOutput } from '../output.ts'

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command)
    .argument('[path...]', 'files or folders (default: those in the configuration)')
    .option('--since <revision>', 'only files that changed since this git revision')
    .option('--check', 'write nothing; exit with 2 if a file would change')
  withExamples(command, 'fmt', 'fmt --check zones')
  setAction(command, fmt)
}

type FmtOptions = CommonOptions & { readonly check?: boolean; readonly since?: string }

/** `zonewright fmt [path...]`: writes YAML definitions in the canonical layout. Lists changed files on standard output; with `--check` changes none. */
async function fmt(io: CliIo, [paths]: readonly [string[]], options: FmtOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const check = options.check === true
  const { config, diagnostics } = await loadConfigOrDefault(io, options.config)
  const found = config && (await findDefinitions(config, paths.length === 0 ? null : paths.map((path) => resolve(io.cwd, path))))
  const problems: Diagnostic[] = [...diagnostics.filter((diagnostic) => diagnostic.severity === 'error'), ...(found?.diagnostics ?? [])]
  if (found && !hasErrors(found.diagnostics)) {
    // Includes are not read, so only files with a zone's settings are recognised.
    const known = { found: found.definitions, isNamed: paths.length > 0, included: new Set<string>(), wanted: new Set<DomainName>() }
    problems.push(...unmatchedWarning(await unmatchedDefinitions(config, known)))
  }
  const all = yamlFiles(found?.definitions ?? [])
  const files = config === null || options.since === undefined ? all : await changedSince(options.since, all, { config, io, problems })
  const policy = config && sourcePolicy(config)
  const named = new Set(paths.map((path) => resolve(io.cwd, path)))
  const isSure = new Set(yamlFiles(found?.definitions.filter(({ rules, path }) => rules.length > 0 || named.has(path)) ?? []))
  let changed = 0
  let foreign = 0
  for (const path of files) {
    if (policy === null) break
    const file = displayPath(path, io.cwd)
    const formatted = await formatFile(path, file, check, { policy, io, isSure: isSure.has(path) })
    if (formatted === 'foreign') foreign += 1
    else if (typeof formatted === 'object') problems.push(...formatted)
    else if (formatted) {
      changed += 1
      output.report(`${file}\n`)
    }
  }
  output.diagnostics(problems)
  if (config !== null && !problems.some(({ code }) => code === 'revision-unreadable')) {
    if (files.length === 0) output.note('There are no YAML definitions to format.')
    else output.note(`${changed} of ${counted(files.length - foreign, 'file')} ${check ? 'would change' : 'changed'}.`)
    if (foreign > 0)
      output.note(`Not formatted, since nothing in them looks like a definition: ${counted(foreign, 'YAML file')}. To format one, name it.`)
  }
  if (hasErrors(problems)) return EXIT.failure
  return check && changed > 0 ? EXIT.pending : EXIT.done
}

/** The files that differ from a git revision. Adds the problem if it cannot be read. */
async function changedSince(
  since: string,
  paths: readonly string[],
  { config, io, problems }: { readonly config: Config; readonly io: CliIo; readonly problems: Diagnostic[] },
): Promise<string[]> {
  const changed = await withRevision(config.folder, since, io.env, ({ changed }) => changed(paths))
  if (!changed.ok) problems.push(changed.diagnostic)
  return changed.ok ? paths.filter((path) => changed.value.has(path)) : []
}

/** Whether a YAML text has the settings of a zone or a record. Other YAML below a folder that the user names, such as that of a CI system, is not ours. */
const isDefinition = (text: string): boolean =>
  /^["']?domain["']?[ \t]*:|\btype["']?[ \t]*:[ \t]*["']?[A-Z][A-Z0-9]*["']?[\s,}]/m.test(text)

const yamlFiles = (definitions: readonly FoundDefinition[]): string[] =>
  definitions.flatMap(({ kind, path, parts }) => (kind === 'yaml' ? [path] : kind === 'split' ? parts : []))

/** Formats a file. Returns whether its layout changes, or the problems. `isSure`: it is a definition by the config or by its name on the command line. */
async function formatFile(
  path: string,
  file: string,
  check: boolean,
  { policy, io, isSure }: { readonly policy: SourcePolicy; readonly io: CliIo; readonly isSure: boolean },
): Promise<boolean | 'foreign' | readonly Diagnostic[]> {
  const at = { file, line: 1, column: 1 }
  const whole = await readTextWithMark(path, file, policy)
  if (!whole.ok) return [{ severity: 'error', ...whole.problem, at: whole.problem.at ?? at }]
  const text = whole.text.replace(/^\ufeff/, '')
  if (!isSure && !isDefinition(text)) return 'foreign'
  const formatted = formatDefinition(text)
  if (!formatted.ok) {
    const problems = readYaml(text, { file }).diagnostics.filter(isError)
    return problems.length > 0 ? problems : [{ severity: 'error', code: 'yaml-unsupported', message: formatted.message, at }]
  }
  if (formatted.value === text) return false
  if (check) return true
  const edit = { path, before: whole.text, after: formatted.value }
  const outcome = await endedBySignals(() => writeEdits([edit], { command: 'fmt', now: io.now }))
  return outcome.state === 'written' || writeProblems(outcome, () => file)
}

/** `zonewright init` in a folder with zones: imports them, writes a config and CI jobs, and makes a first plan. Before consent it only reads files. */
import { existsSync } from 'node:fs'
import { dirname, posix, relative, resolve, sep } from 'node:path'
import { type Diagnostic, hasErrors, oneLine } from '../../base/diagnostic.ts'
import { counted, listed } from '../../base/english.ts'
import type { AcceptedLosses } from '../../checks/accepted-losses.ts'
import { CONFIG_FILE, type Config } from '../../config/config.ts'
import { defaultConfig } from '../../config/read-config.ts'
import { previewDnscontrolConfig } from '../../convert/dnscontrol/convert-targets.ts'
import { type ImportZonesRequest, type ImportZonesResult, importZones } from '../../convert/import.ts'
import { writeFiles } from '../../files/write-files.ts'
import { isPartlyWritten, writeProblems } from '../../files/write-problem.ts'
import { startProgramRunner } from '../../load/program-loader.ts'
import { missingPackages } from '../../providers/registry.ts'
import { textDiff } from '../../report/text-diff.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadRunConfig, readRunConfig } from '../../run/load/run-config.ts'
import type { PlanRunOptions } from '../../run/run-plan.ts'
import type { CommonOptions } from '../command.ts'
import { endedBySignals } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, lossReportOptions } from '../output.ts'
import { readOnlySetup } from '../run-setup.ts'
import { compareFiles, existingText, gitignore, type InitFile, withProvider } from './add-files.ts'
import { filesForCi, isJobFile, otherDeployJobs } from './ci-files.ts'
import { needsOf } from './ci-needs.ts'
import { withSchemas } from './editor-schemas.ts'
import { definitionsGlob, fileNameOf, hasDefinitions, missingNames, type SeenFile, type Source } from './find-sources.ts'
import { configText, type FirstProvider } from './first-provider.ts'
import type { Repository } from './repository.ts'

export interface InitContext {
  readonly io: CliIo
  readonly output: CliOutput
  readonly options: CommonOptions & { readonly lossy?: AcceptedLosses; readonly to?: string }
  readonly repository: Repository
  /** The files of the folder. */
  readonly seen: readonly SeenFile[]
  /** For zones that name no provider. */
  readonly provider: FirstProvider
}

/** What is about to be written. */
interface Prepared {
  /** What was found, which needs consent and ends with a plan. Absent if the command line says what to write. */
  readonly found?: string
  readonly files: readonly InitFile[]
  /** The config that CI jobs are added for. */
  readonly config: Config | null
  /** The lines of `.gitignore`; absent for none. */
  readonly ignored?: readonly string[]
  readonly nextSteps?: readonly string[] | undefined
  /** Reads what only a program knows, after consent. */
  readonly run?: () => Promise<Prepared | null>
}

const list = (paths: readonly string[]): string => paths.map((path) => `  ${oneLine(path)}\n`).join('')
const pathsOf = (files: readonly InitFile[]): string[] => files.map(({ path }) => path)

/** Shows what will be written, asks, writes and plans. `steps` are the last words, and then those about CI jobs if some were added. */
export async function complete(context: InitContext, preview: Prepared, steps: string, jobSteps: string): Promise<ExitStatus> {
  const { io, output, options } = context
  const folders = { cwd: io.cwd, root: context.repository.root }
  output.diagnostics(otherDeployJobs(context.repository))
  const first = compareFiles(folders, await allFiles(context, preview, null))
  if (first.added.length + first.changed.length === 0) {
    // Removes the lock of a killed run.
    if (!(await write(context, []))) return EXIT.failure
    output.printProse(`Nothing is missing:\n${list(first.kept)}`)
    sayUnsetRelease(context, first.kept)
    await sayOutdatedJobs(context, preview.config)
    return EXIT.done
  }
  const { found } = preview
  output.printProse(describe(preview, first, io.env))
  const isAsked = options.yes !== true && (found !== undefined || first.changed.length > 0)
  const question = preview.run ? 'Run the program, and write these files?' : 'Write these files?'
  const answer = isAsked ? await output.ask(found === undefined ? 'Make these changes?' : question, new AbortController().signal) : 'yes'
  if (answer === 'interrupted') return EXIT.interrupted
  if (answer === 'no-terminal' && found !== undefined)
    output.error('not-confirmed', 'there is no terminal to ask on', '--yes answers in advance')
  if (answer !== 'yes' && found !== undefined) return nothingWritten(output)
  const prepared = preview.run ? await preview.run() : preview
  if (prepared === null) return nothingWritten(output)
  const current = compareFiles(folders, await allFiles(context, prepared, output))
  const agreed = new Set(answer === 'yes' ? first.changed.map((file) => JSON.stringify(file)) : [])
  const isAgreed = (file: InitFile): boolean => agreed.has(JSON.stringify(file))
  const left = pathsOf(current.changed.filter((file) => !isAgreed(file)))
  if (left.length > 0) output.say(`Not changed: ${left.join(', ')}.${answer === 'no-terminal' ? ' --yes changes it.' : ''}`)
  if (!(await write(context, [...current.added, ...current.changed.filter(isAgreed)]))) return EXIT.failure
  for (const step of prepared.nextSteps ?? []) output.say(step)
  const status = found === undefined || prepared.config === null ? EXIT.done : await planShown(context, prepared.config, preview.config)
  const jobs = current.added.some(({ path }) => isJobFile(path)) ? jobSteps : ''
  if (current.added.length > 0) output.printProse(steps + jobs)
  sayUnsetRelease(context, [...pathsOf([...current.added, ...current.changed]), ...current.kept])
  await sayOutdatedJobs(context, prepared.config)
  return status
}

/** Says whether job files that exist differ from those for the config. Only a run that may start classes knows the packages for Python, so these lines do not matter. */
async function sayOutdatedJobs({ io, output, repository }: InitContext, config: Config | null): Promise<void> {
  const withoutPython = (text: string): string => text.replace(/^.*\bpython3?\b.*\n/gm, '')
  const jobs = config === null ? [] : await filesForCi(io, repository, config, null)
  const isOutdated = jobs.some(({ path, text }) => {
    const existing = existingText(repository.root, resolve(io.cwd, path)) ?? ''
    return existing.includes('zonewright') && withoutPython(existing) !== withoutPython(text)
  })
  if (isOutdated) output.printProse(`The CI jobs differ from what the config needs: zonewright init --ci ${repository.site} shows how\n`)
}

/** Says which job files lack the release that CI is to install. */
function sayUnsetRelease({ io, output, repository: { root } }: InitContext, paths: readonly string[]): void {
  const texts = paths.map((path) => [path, existingText(root, resolve(io.cwd, path)) ?? ''] as const)
  const unset = texts.filter(([, text]) => /^ *ZONEWRIGHT_(?:TARBALL|CHECKSUM): ''/m.test(text))
  if (unset.length === 0) return
  const all = unset.map(([, text]) => text).join('')
  const names = ['ZONEWRIGHT_TARBALL', 'ZONEWRIGHT_CHECKSUM'].filter((name) => all.includes(`${name}: ''`))
  output.printProse(`Set ${listed(names)} in ${listed(unset.map(([path]) => path))}: each job ends with an error until then.\n`)
}

async function allFiles({ io, repository }: InitContext, { files, config, ignored }: Prepared, output: CliOutput | null) {
  const jobs = config === null ? [] : await filesForCi(io, repository, config, output)
  const packages = ['package.json', 'node_modules'].some((name) => existsSync(resolve(io.cwd, name))) ? ['node_modules/'] : []
  return [
    ...withSchemas(io.cwd, files),
    ...jobs,
    ...(ignored === undefined ? [] : [gitignore(io.cwd, ['.zonewright/', 'zonewright-data/', ...packages, ...ignored])]),
  ]
}

function describe({ found, config }: Prepared, { added, changed }: ReturnType<typeof compareFiles>, env: CliIo['env']): string {
  const diffs = changed.map(({ path, replaces, text }) => textDiff(path, replaces, text)).join('')
  if (found === undefined) return diffs
  const { hosts = [], variables = [], code = [] } = config ? needsOf(config) : {}
  const { packages, variables: missing } = config ? missingFor(config, env) : { packages: [], variables: [] }
  const rows = Object.entries({
    hosts,
    variables: variables.map((name) => (env[name] ? name : `${name} (not set)`)),
    code,
    packages: packages.map((name) => `${name} (not installed)`),
  }).flatMap(([title, names]) => (names.length === 0 ? [] : `  ${title.padEnd(11)}${names.map(oneLine).join(', ')}\n`))
  const isReady = missing.length + packages.length === 0
  const uses = rows.length === 0 ? '' : `${isReady ? 'The first plan follows, and uses' : 'Plans use'}:\n${rows.join('')}`
  return `Found ${oneLine(found)}.\n${added.length === 0 ? '' : `To be written:\n${list(pathsOf(added))}`}${diffs}${uses}`
}

/** Returns whether all files are in place. */
async function write({ io, output, repository: { root, below } }: InitContext, files: readonly InitFile[]): Promise<boolean> {
  const options = { overwrite: false, command: 'init', now: io.now, secrets: io.secrets } as const
  const inRoot = files.map((file) => ({ ...file, path: posix.join(below, file.path) }))
  const outcome = await endedBySignals(() => writeFiles(root, inRoot, options))
  const shown = (path: string): string => posix.relative(below, path)
  output.diagnostics(writeProblems(outcome, shown))
  if (outcome.state === 'written' && outcome.written.length > 0) output.printProse(`Written:\n${list(outcome.written.map(shown))}`)
  if (outcome.state !== 'written' && !isPartlyWritten(outcome)) nothingWritten(output)
  return outcome.state === 'written'
}

export function nothingWritten(output: CliOutput): ExitStatus {
  output.say('Nothing was written.')
  return EXIT.failure
}

/** Plans, unless a program has named hosts or code that the question did not show. */
async function planShown({ io, output, options }: InitContext, config: Config, shown: Config | null): Promise<ExitStatus> {
  const used = (one: Config | null): string[] => (one === null ? [] : [...needsOf(one).hosts, ...needsOf(one).code])
  const [needs, known] = [used(config), used(shown)]
  for (const name of missingFor(config, io.env).packages) output.say(`Before "zonewright plan", run "npm install ${name}" ${BESIDE}.`)
  if (needs.every((one) => known.includes(one))) return firstPlan(io, output, config, resolve(io.cwd, CONFIG_FILE), options)
  output.say(`Next: zonewright plan, which uses ${needs.join(', ')}`)
  return EXIT.done
}

/** The variables and packages that plans with a config need and this machine lacks. */
function missingFor(config: Config, env: CliIo['env']) {
  const types = new Set([...config.providers.values()].map(({ type }) => type))
  return { variables: needsOf(config).required.filter((name) => !env[name]), packages: [...types].flatMap(missingPackages) }
}

/** Plans with the config at `file`, if its variables and packages are there; else names the variables that are missing. */
export async function firstPlan(io: CliIo, output: CliOutput, given: Config, config: string, options: CommonOptions): Promise<ExitStatus> {
  const { variables, packages } = missingFor(given, io.env)
  if (variables.length > 0) output.say(`Set ${variables.join(', ')}; then "zonewright plan" shows what differs at the providers.`)
  if (variables.length + packages.length > 0) return EXIT.done
  const { runPlan } = await import('../../run/run-plan.ts')
  const { color = true, quiet = false, verbose = false } = options
  return runPlan(readOnlySetup<PlanRunOptions & CommonOptions>(io, { color, quiet, verbose, config, format: 'text' }), [])
}

/** The commands after an import to a folder. The config is null if there is none yet. */
export function nextCommands(config: Config | null, folder: string, env: CliIo['env']): readonly string[] {
  const packages = config ? missingFor(config, env).packages.map((name) => `  npm install ${name}    ${BESIDE}`) : []
  const init = `  zonewright init    adds ${config === null ? 'a config, ' : ''}CI jobs and .gitignore`
  const plan = '  zonewright plan    shows what would change'
  const first = config === null || folder === '.' ? 'Next:' : `Next, in the folder ${folder}:`
  return [first, ...packages, ...(config === null ? [init, plan] : [plan, init])]
}

const BESIDE = 'beside Zonewright: a provider needs this package'

/** The config that a new file would have; null if it has errors. */
export const readNew = (io: CliIo, text: string) =>
  readRunConfig({ ...io, env: {} }, text, { file: CONFIG_FILE, folder: io.cwd, cwd: io.cwd }).config

/** Reads what the folder has. Null after errors, which it reports. */
export async function prepare(context: InitContext, source: Source | 'config' | 'definitions'): Promise<Prepared | null> {
  const { io, output, options, provider, seen } = context
  const withConfig = (found: string, text: string, changes = false): Prepared => {
    return { found, files: [{ path: CONFIG_FILE, text, changes }], config: text === '' ? null : readNew(io, text), ignored: [] }
  }
  if (source === 'definitions') return withConfig(source, configText(provider, definitionsGlob(seen)))
  if (source === 'config') {
    const checked = { offline: true, packages: false, programs: false }
    const { config, diagnostics } = await loadRunConfig(io, resolve(io.cwd, CONFIG_FILE), checked)
    output.diagnostics(diagnostics)
    if (config === null || hasErrors(diagnostics)) return null
    const before = existingText(io.cwd, CONFIG_FILE) ?? ''
    if (config.providers.size > 0 && options.to !== undefined) return refuseTo(output, CONFIG_FILE)
    const text = config.providers.size > 0 ? null : withProvider(before, provider.name, provider.entry)
    return text === null ? { ...withConfig(CONFIG_FILE, ''), config } : withConfig(CONFIG_FILE, text, true)
  }
  const run = () => endedBySignals(() => imported(context, source))
  if (source.kind !== 'dnscontrol') return run()
  if (options.to !== undefined) return refuseTo(output, source.path)
  await startProgramRunner()
  const text = (await previewDnscontrolConfig(resolve(io.cwd, source.path), importRequest(context, source))) ?? ''
  return { ...withConfig(`${source.path}, ${TITLES.dnscontrol}, which runs in a sandbox without a network`, text), run }
}

function refuseTo(output: CliOutput, path: string): null {
  output.error('usage', `${path} names its targets; --to is for zone files and definitions`)
  return null
}

function importRequest({ io, options: { lossy = false } }: InitContext, { kind, path }: Source, out?: string): ImportZonesRequest {
  const { cwd, env, secrets, variables } = io
  const config = { ...defaultConfig({ folder: cwd, cwd, secrets }), variables }
  return { format: kind, source: path, zones: [], cwd, env, config, lossy, overwrite: false, options: { out } }
}

const TITLES: Readonly<Record<Source['kind'], string>> = {
  octodns: 'a config of octoDNS',
  dnscontrol: 'a program of DNSControl',
  terraform: 'a state of Terraform or OpenTofu',
  zonefile: 'zone files',
}

async function imported(context: InitContext, source: Source): Promise<Prepared | null> {
  const { io, output, options, seen } = context
  const { kind, path } = source
  const run = async (out?: string) => (await importZones(importRequest(context, source, out))) as ImportZonesResult
  // Definitions that are here may have been changed since an import, or a killed run has left them.
  const isFirst = !hasDefinitions(seen)
  const placed = ({ folder, files }: ImportZonesResult, changes: boolean): InitFile[] =>
    files.map((file) => ({ path: relative(io.cwd, resolve(folder, file.path)).split(sep).join('/'), text: file.text, changes }))
  const out = kind === 'octodns' ? '.' : kind === 'zonefile' && /^(?:\.|zones(?:\/.*)?)$/.test(path) ? 'definitions' : 'zones'
  let result = await run(kind === 'dnscontrol' ? undefined : out)
  // octoDNS goes on reading its own files.
  const folders = { cwd: io.cwd, root: io.cwd }
  if (kind === 'octodns' && compareFiles(folders, placed(result, true)).changed.length > 0) result = await run('definitions')
  reportImport(output, result.diagnostics, options)
  if (hasErrors(result.diagnostics)) return null
  const all = placed(result, isFirst)
  const made = all.find((file) => file.path === CONFIG_FILE)?.text
  if (made !== undefined && options.to !== undefined) return refuseTo(output, path)
  const text = made ?? (kind === 'dnscontrol' ? '' : configFor(context, path, result, `${out}/*.yaml`))
  const records = result.zones.reduce((sum, zone) => sum + zone.records.length, 0)
  return {
    found: `${path === '.' ? `${TITLES[kind]} in this folder` : `${path}, ${TITLES[kind]}`}: ${counted(result.zones.length, 'zone')} with ${counted(records, 'record')}`,
    files: [...all.filter((file) => file.path !== CONFIG_FILE), ...(text === '' ? [] : [{ path: CONFIG_FILE, text }])],
    config: text === '' ? null : readNew(io, text),
    ignored: kind === 'terraform' ? [`/${path.replace(/[\\*?[\]! #]/g, '\\$&')}`, '*.tfstate', '*.tfstate.*'] : [],
    nextSteps: result.nextSteps,
  }
}

/** Zone files in one folder with usual names become the target, unless the command line names one: a server may read them. */
function configFor({ output, provider, options, seen }: InitContext, path: string, { zones }: ImportZonesResult, glob: string): string {
  const folder = seen.some((one) => one.path === path) ? dirname(path) : path
  const names = zones.map(({ name }) => name.slice(0, -1))
  const files = new Set(seen.map((one) => relative(folder, one.path)))
  const fileName = fileNameOf(names, files)
  if (options.to !== undefined) return configText(provider, glob)
  if (fileName === null) {
    const why = `The zone files in ${oneLine(folder)} are not named alike: ${missingNames(names, files)}.`
    output.note(
      `${why} So the config has a service on this machine instead; for these files, see docs/tasks/name-servers.md#existing-zone-files.`,
    )
    return configText(provider, glob)
  }
  output.note(`"zonewright apply" rewrites the files in ${oneLine(folder)}; a file with comments stays until the config has "adopt: true".`)
  const entry = `
    type: zonefile
    directory: ${JSON.stringify(folder)}
    file_name: '${fileName}'
    # For the name server, here BIND (docs/tasks/name-servers.md#a-folder-that-your-server-serves):
    # check: named-checkzone
    # reload: rndc reload {zone}
    # list: {format: bind, file: ${JSON.stringify(`${folder}/zones.conf`)}, reload: rndc reconfig}`
  return configText({ name: 'files', entry }, glob)
}

/** What an import leaves out, in full, and the number of other findings. */
function reportImport(output: CliOutput, diagnostics: readonly Diagnostic[], options: CommonOptions): void {
  const isShown = ({ severity, code }: Diagnostic): boolean =>
    options.verbose === true ||
    severity === 'error' ||
    /^(?:import-|type-foreign|zone-name|record-extra|setting-|record-duplicate)/.test(code)
  const shown = diagnostics.filter(isShown)
  output.diagnostics(shown, lossReportOptions(options))
  const others = diagnostics.length - shown.length
  if (others > 0) output.note(`${counted(others, 'finding')} in the zones: "zonewright validate" shows them.`)
}

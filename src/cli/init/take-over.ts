/** `zonewright init` in a folder with zones: imports them, writes a config and CI jobs, and makes a first plan. Before consent it reads files only. */
import { existsSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import type { AcceptedLosses } from '../../checks/accepted-losses.ts'
import { CONFIG_FILE, type Config } from '../../config/config.ts'
import { defaultConfig } from '../../config/read-config.ts'
import { previewDnscontrolConfig } from '../../convert/dnscontrol/convert-targets.ts'
import { type ImportZonesRequest, type ImportZonesResult, importZones } from '../../convert/import.ts'
import { escapeGlob } from '../../files/file-glob.ts'
import { startPrograms } from '../../load/program-loader.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadRunConfig, readRunConfig } from '../../run/load/run-config.ts'
import type { CommonOptions } from '../command.ts'
import { endedBySignals } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, lossReportOptions } from '../output.ts'
import {
  addFiles,
  compareFiles,
  consent,
  diffsOf,
  existingText,
  gitignore,
  type InitFile,
  namesOf,
  nothingMissing,
  nothingWritten,
  withProvider,
} from './add-files.ts'
import { type CiSite, filesForCi } from './ci-files.ts'
import { type ConfigNeeds, needsOf } from './ci-needs.ts'
import { definitionsGlob, fileNameOf, type SeenFile, type Source } from './find-sources.ts'
import { firstPlan } from './first-plan.ts'
import { configText, type FirstProvider } from './first-provider.ts'

export interface TakeOverOptions extends CommonOptions {
  readonly lossy?: AcceptedLosses
  readonly ci: CiSite
  /** For zones that name no provider. */
  readonly provider: FirstProvider
  /** Whether the user has named it. */
  readonly isNamed: boolean
}

/** What is about to be written, apart from CI jobs. */
interface Prepared {
  readonly found: string
  readonly files: readonly InitFile[]
  readonly config: Config | null
  readonly ignored?: readonly string[]
  readonly nextSteps?: readonly string[] | undefined
}

/** Takes over what was found, or completes a folder that has a config. Asks once. `steps` follow the list of files. */
export async function takeOver(
  io: CliIo,
  output: CliOutput,
  source: Source | 'config' | 'definitions',
  seen: readonly SeenFile[],
  options: TakeOverOptions,
  steps: string,
): Promise<ExitStatus> {
  const isProgram = typeof source === 'object' && source.kind === 'dnscontrol'
  const read = (): Promise<Prepared | null> => endedBySignals(() => prepare(io, output, source, seen, options))
  const preview = isProgram ? await previewProgram(io, source.path) : await read()
  if (preview === null) return nothingWritten(output)
  const listed = compareFiles(io.cwd, await allFiles(io, preview, options, null))
  if (listed.added.length + listed.changed.length === 0) return nothingMissing(output, listed.kept)
  const needs = preview.config === null ? null : needsOf(preview.config)
  output.print(describe(preview, listed, needs, io.env))
  const answer = options.yes
    ? 'yes'
    : await consent(io, output, isProgram ? `Run ${source.path}, and write these files?` : 'Write these files?')
  if (answer === null) output.error('not-confirmed', 'there is no terminal to ask on', '--yes answers in advance')
  if (answer !== 'yes') return answer === 'interrupted' ? EXIT.interrupted : nothingWritten(output)
  const prepared = isProgram ? await read() : preview
  if (prepared === null) return nothingWritten(output)
  const files = compareFiles(io.cwd, await allFiles(io, prepared, options, output))
  // Only what the question has shown.
  const changed = files.changed.filter(({ path }) => listed.changed.some((one) => one.path === path))
  if (!(await addFiles(io, output, { ...files, changed }))) return EXIT.failure
  for (const step of prepared.nextSteps ?? []) output.say(step)
  const status = await planShown(io, output, prepared.config, needs, options)
  output.print(steps)
  return status
}

/** Plans, unless the program has named hosts or code that the question did not show. */
async function planShown(
  io: CliIo,
  output: CliOutput,
  config: Config | null,
  shown: ConfigNeeds | null,
  options: CommonOptions,
): Promise<ExitStatus> {
  const needs = config && needsOf(config)
  const isShown =
    needs !== null && [...needs.hosts, ...needs.code].every((one) => [...(shown?.hosts ?? []), ...(shown?.code ?? [])].includes(one))
  if (config !== null && isShown) return firstPlan(io, output, { config, file: resolve(io.cwd, CONFIG_FILE) }, options)
  output.say(`Next: zonewright plan${needs === null ? '' : `, which contacts ${needs.hosts.join(', ')}`}`)
  return EXIT.done
}

async function allFiles(
  io: CliIo,
  { files, config, ignored = [] }: Prepared,
  { ci }: Pick<TakeOverOptions, 'ci'>,
  output: CliOutput | null,
): Promise<readonly InitFile[]> {
  const jobs = config === null ? [] : await filesForCi(io, ci, config, output)
  return [...files, ...jobs, gitignore(io.cwd, ['.zonewright/', ...ignored])]
}

const TOOLS: Readonly<Record<Exclude<Source['kind'], 'state'>, string>> = {
  octodns: 'a config of octoDNS',
  dnscontrol: 'a program of DNSControl',
  terraform: 'a state of Terraform or OpenTofu',
  zonefile: 'zone files',
}

function describe({ found }: Prepared, listed: ReturnType<typeof compareFiles>, needs: ConfigNeeds | null, env: CliIo['env']): string {
  const variables = needs?.variables.map((name) => (env[name] || !needs.required.includes(name) ? name : `${name} (not set)`)) ?? []
  const rows = [
    ['hosts', needs?.hosts ?? []],
    ['variables', variables],
    ['code', needs?.code ?? []],
  ] as const
  const used = rows.flatMap(([title, names]) => (names.length === 0 ? [] : [`  ${title.padEnd(11)}${names.join(', ')}\n`])).join('')
  const isReady = needs?.required.every((name) => env[name])
  const runs = used === '' ? '' : `${isReady ? 'The first plan follows, and uses' : 'Plans use'}:\n${used}`
  const names = listed.added.length === 0 ? '' : `To be written:\n${namesOf(listed)}`
  return `Found ${found}.\n${names}${diffsOf(listed)}${runs}`
}

/** What is known of a program that has not run. */
async function previewProgram(io: CliIo, path: string): Promise<Prepared> {
  await startPrograms(null)
  const text = await previewDnscontrolConfig(resolve(io.cwd, path), importRequest(io, 'dnscontrol', path, {}))
  const { config } = text === null ? { config: null } : readNew(io, text)
  return { found: `${path}, ${TOOLS.dnscontrol}, which runs in a sandbox without a network`, files: [{ path: CONFIG_FILE, text: text ?? '' }], config }
}

const readNew = (io: CliIo, text: string) => readRunConfig({ ...io, env: {} }, text, { file: CONFIG_FILE, folder: io.cwd, cwd: io.cwd })

function importRequest(
  io: CliIo,
  format: string,
  source: string,
  options: ImportZonesRequest['options'],
  lossy: AcceptedLosses = false,
): ImportZonesRequest {
  const config = { ...defaultConfig({ folder: io.cwd, cwd: io.cwd, secrets: io.secrets }), variables: io.variables }
  return { format, source, zones: [], cwd: io.cwd, env: io.env, config, lossy, overwrite: false, options }
}

/** Reads the zones; for a program, runs it. Null after errors, which it reports. */
async function prepare(
  io: CliIo,
  output: CliOutput,
  source: Source | 'config' | 'definitions',
  seen: readonly SeenFile[],
  options: TakeOverOptions,
): Promise<Prepared | null> {
  const { name, entry } = options.provider
  if (source === 'config') {
    const { config, diagnostics } = await loadRunConfig(io, resolve(io.cwd, CONFIG_FILE), {
      offline: true,
      packages: false,
      programs: false,
    })
    output.diagnostics(diagnostics)
    if (config === null || hasErrors(diagnostics)) return null
    const text = config.providers.size > 0 ? null : withProvider(existingText(io.cwd, CONFIG_FILE) ?? '', name, entry)
    if (text === null) return { found: CONFIG_FILE, files: [{ path: CONFIG_FILE, text: '' }], config }
    return {
      found: `${CONFIG_FILE}, without a provider`,
      files: [{ path: CONFIG_FILE, text, changes: true }],
      config: readNew(io, text).config,
    }
  }
  if (source === 'definitions') {
    const text = configText(options.provider, definitionsGlob(seen))
    return { found: 'definitions', files: [{ path: CONFIG_FILE, text }], config: readNew(io, text).config }
  }
  const { kind, path } = source
  const isIn = (folder: string): boolean => seen.some((one) => one.path.startsWith(`${folder}/`))
  const out = kind === 'octodns' ? '.' : isIn('zones') && kind === 'zonefile' ? 'definitions' : 'zones'
  const given = kind === 'dnscontrol' ? {} : { out }
  let result = await importZones(importRequest(io, kind, path, given, options.lossy))
  // octoDNS goes on reading its own files.
  if (kind === 'octodns' && result !== null && compareFiles(io.cwd, placed(io, result)).changed.length > 0)
    result = await importZones(importRequest(io, kind, path, { out: 'definitions' }, options.lossy))
  if (result === null) return null
  reportImport(output, result.diagnostics, options)
  if (hasErrors(result.diagnostics)) return null
  const imported = placed(io, result)
  const text =
    imported.find((file) => file.path === CONFIG_FILE)?.text ??
    (kind === 'dnscontrol' ? null : configFor(source, out, result, seen, options))
  const records = result.zones.reduce((sum, zone) => sum + zone.records.length, 0)
  return {
    found: `${path}, ${TOOLS[kind as keyof typeof TOOLS]}: ${counted(result.zones.length, 'zone')} with ${counted(records, 'record')}`,
    files: [...imported.filter((file) => file.path !== CONFIG_FILE), ...(text === null ? [] : [{ path: CONFIG_FILE, text }])],
    config: text === null ? null : readNew(io, text).config,
    ...(kind === 'terraform' && { ignored: [`/${path}`, '*.tfstate', '*.tfstate.*'] }),
    nextSteps: result.nextSteps,
  }
}

/** The files of an import, relative to the working directory. An existing one changes only if its difference was shown. */
const placed = (io: CliIo, { folder, files }: ImportZonesResult): InitFile[] =>
  files.map(({ path, text }) => ({ path: relative(io.cwd, resolve(folder, path)).replaceAll('\\', '/'), text, changes: true }))

/** Zone files in one folder with usual names become the target: a server may read them. */
function configFor(
  { path }: Source,
  out: string,
  { zones }: ImportZonesResult,
  seen: readonly SeenFile[],
  { provider, isNamed }: TakeOverOptions,
): string {
  const glob = `${escapeGlob(out)}/*.yaml`
  const folder = existsSync(path) && seen.some((one) => one.path === path) ? dirname(path) : path
  const names = new Set(seen.map((one) => relative(folder, one.path)))
  const fileName = fileNameOf(
    zones.map(({ name }) => name.slice(0, -1)),
    names,
  )
  return isNamed || fileName === null ? configText(provider, glob) : zoneFileConfig(folder, fileName, glob)
}

const zoneFileConfig = (
  folder: string,
  fileName: string,
  glob: string,
): string => `# An apply writes the zone files in ${folder} again, from the definitions.
providers:
  files: {type: zonefile, directory: ${JSON.stringify(folder)}, file_name: '${fileName}'}
zones:
  - {files: '${glob}', targets: [files]}
`

/** What an import leaves out, in full, and the number of other findings. */
function reportImport(output: CliOutput, diagnostics: readonly Diagnostic[], options: CommonOptions): void {
  const isAboutImport = ({ severity, code }: Diagnostic): boolean =>
    severity === 'error' || /^(?:import-|type-foreign|record-extra|setting-|record-duplicate)/.test(code)
  output.diagnostics(options.verbose ? diagnostics : diagnostics.filter(isAboutImport), lossReportOptions(options))
  const others = options.verbose ? 0 : diagnostics.filter((one) => !isAboutImport(one)).length
  if (others > 0) output.note(`${counted(others, 'finding')} in the zones: "zonewright validate" shows them.`)
}

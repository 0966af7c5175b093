/** `zonewright import`: options, questions and output; the conversion is in `convert/import.ts`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { hasErrors } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import type { AcceptedLosses } from '../../checks/accepted-losses.ts'
import { CONFIG_FILE, type Config } from '../../config/config.ts'
import { readConfig } from '../../config/read-config.ts'
import { IMPORT_FORMATS } from '../../convert/formats.ts'
import { type ImportZonesRequest, type ImportZonesResult, importZones } from '../../convert/import.ts'
import type { ImportOptions } from '../../convert/importer.ts'
import { createdZoneWarning, parseNameServer } from '../../convert/provider/copy-zones.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { displayPath } from '../../files/file-path.ts'
import { STARTER_TYPES } from '../../providers/registry.ts'
import { EXIT, type ExitStatus, worstOf } from '../../run/context/exit-status.ts'
import { reportThrottling } from '../../run/context/run-context.ts'
import { loadConfigOrDefault } from '../../run/load/run-config.ts'
import { lacking, neededForZones } from '../../stored/approvals/approvals-of-plan.ts'
import { readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import { type CommonOptions, positiveInteger, type SetAction, withChoices, withConfigOption, withConversionOptions } from '../command.ts'
import { deliverFiles } from '../deliver-files.ts'
import { firstPlan, nextCommands } from '../init/take-over.ts'
import { endedBySignals, listenForInterruption } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, canAsk, confirm, createOutput, lossReportOptions } from '../output.ts'

export interface ImportCommandOptions extends CommonOptions, ImportOptions {
  /** A provider, instead of the arguments format and source. */
  readonly from?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly lossy?: AcceptedLosses
  readonly parallelism?: number
  readonly yes?: boolean
}

export function configure(command: Command, setAction: SetAction): void {
  withConversionOptions(withConfigOption(command), 'leave out what definitions cannot express; each omission is a warning')
    .usage('[options] <format> <source> [zone...]\n       zonewright import [options] --from <provider> [zone...]')
    .addArgument(
      withChoices(
        command.createArgument('[args...]', `format (${IMPORT_FORMATS.join(', ')}), source, and zones (default: all)`),
        IMPORT_FORMATS,
      ),
    )
    .option('--from <provider>', 'import from this provider of the configuration: short for "import provider"')
    .option('-o, --out <dir>', 'the folder for the definitions (default: one is shown on standard output)')
    .option('--credentials <file>', 'dnscontrol: the types and keys of its providers (default: creds.json beside the source)')
    .option('--convert', 'dnscontrol: write YAML for a dnsconfig.js, which otherwise stays the definition')
    .option('--tsig <key>', 'axfr: [ALGORITHM:]NAME:SECRET, its secret as env:NAME or file:PATH (default algorithm: hmac-sha256)')
    .option('--timeout <seconds>', 'axfr: how long to wait for each message', positiveInteger)
    .option('--via-service <nameserver>', 'provider: create the zones there first, by transfer from this name server')
    .option('--clone <zone>', 'provider: create the zone there first, as a copy of this one')
    .option('-y, --yes', 'with --via-service and --clone: do not ask')
    .option('--parallelism <n>', 'provider: concurrent requests', positiveInteger)
    .addHelpText('after', HELP)
  setAction(command, importCommand)
}

const HELP = `
Examples:
  zonewright import zonefile /var/named -o zones
  zonewright import axfr 192.0.2.53 example.com -o zones
  zonewright import octodns config -o zones
  zonewright import dnscontrol dnsconfig.js
  zonewright import terraform show.json -o zones
  zonewright import octodns config -o zones --lossy=geo,URLFWD
  zonewright import --from cloud -o zones

If a zone has an error, nothing is written. Before anything is written, the new
definitions are parsed again and compared with their source, record by record.`

/** `zonewright import FORMAT SOURCE [ZONE…]`: writes definitions of existing zones. Writes nothing if one has an error. */
async function importCommand(io: CliIo, [args]: readonly [string[]], options: ImportCommandOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const request = await readRequest(io, output, args, options)
  if (request === null) return EXIT.failure
  if (options.viaService !== undefined || options.clone !== undefined) return importCopies(io, output, request, options)
  const result = await endedBySignals(() => importZones(request))
  return result === null ? EXIT.failure : finish(io, output, result, request.config, options)
}

/** Creates the zones at the provider, if the user agrees, and warns of every created zone that gets no definition. */
async function importCopies(io: CliIo, output: CliOutput, request: ImportZonesRequest, options: ImportCommandOptions): Promise<ExitStatus> {
  const needed = neededForZones(request.config, request.zones)
  if (needed > 0) {
    output.diagnostics([lacking(needed, 'write a definition of the zone, and save a plan of it with "zonewright plan --out plan.json"')])
    return EXIT.refused
  }
  const created: DomainName[] = []
  let declined: ExitStatus = EXIT.failure
  const confirmCopy = async (action: string): Promise<boolean> => {
    const status = await askForCopy(io, output, action, options)
    if (status !== null) declined = status
    return status === null
  }
  const message = `Stopping: waiting for the zone that ${request.source} is creating. Press Ctrl-C again to end at once; the zone may be created anyway.`
  const interruption = listenForInterruption(output.say, message)
  let result: ImportZonesResult | null
  try {
    result = await importZones({ ...request, confirmCopy, stop: interruption.signal, onZoneCreated: (zone) => void created.push(zone) })
  } finally {
    interruption.release()
  }
  if (result === null) return declined
  const status = await finish(io, output, result, request.config, options)
  if (status !== EXIT.done)
    output.diagnostics(
      created.map((zone) => createdZoneWarning(request.source, zone)),
      lossReportOptions(options),
    )
  return worstOf([status, interruption.status() ?? EXIT.done])
}

/** Null if the provider may create the zones, else the exit status. */
async function askForCopy(io: CliIo, output: CliOutput, action: string, { dryRun, yes }: ImportCommandOptions): Promise<ExitStatus | null> {
  if (dryRun === true) {
    output.say(`Not done because of --dry-run: ${action}.`)
    return EXIT.done
  }
  if (yes === true) return null
  if (!canAsk(io)) {
    output.error('not-confirmed', `nothing was created: there is no terminal to ask whether ${action}`, '--yes answers in advance')
    return EXIT.failure
  }
  const answer = await confirm(io, `${action}. Continue?`, new AbortController().signal)
  return answer === 'yes' ? null : answer === 'interrupted' ? EXIT.interrupted : EXIT.failure
}

async function finish(
  io: CliIo,
  output: CliOutput,
  { zones, keepsSource, folder, files, diagnostics, nextSteps = [] }: ImportZonesResult,
  config: Config,
  options: ImportCommandOptions,
): Promise<ExitStatus> {
  output.diagnostics(diagnostics, lossReportOptions(options))
  if (hasErrors(diagnostics)) {
    output.say('Nothing was written.')
    return EXIT.failure
  }
  const { force, dryRun } = options
  const out = options.out === undefined && !keepsSource ? undefined : folder
  const records = zones.reduce((sum, zone) => sum + zone.records.length, 0)
  const contents = `${counted(zones.length, 'zone')} with ${counted(records, 'record')}`
  const status = await deliverFiles(io, output, { command: 'import', files, contents, out, force, dryRun })
  if (status !== EXIT.done || (dryRun === true && !keepsSource)) return status
  output.note(`${contents}${keepsSource ? '; the program stays the definition.' : ', read back and compared.'}`)
  if (dryRun === true) return status
  for (const step of nextSteps) output.say(step)
  const text = files.find(({ path }) => path === CONFIG_FILE)?.text
  const file = resolve(folder, CONFIG_FILE)
  const made = text === undefined ? null : readConfig(text, { file, folder, cwd: io.cwd }).config
  const planned = keepsSource && made !== null ? await firstPlan(io, output, made, file, options) : status
  const known = made ?? (config.file === null ? null : config)
  for (const line of nextCommands(known, displayPath(made === null ? io.cwd : folder, io.cwd), io.env)) output.note(line)
  return planned
}

/** Makes the request from arguments and options. Reports an invalid one, and returns null. */
async function readRequest(
  io: CliIo,
  output: CliOutput,
  args: readonly string[],
  options: ImportCommandOptions,
): Promise<ImportZonesRequest | null> {
  const source = readSource(output, args, options)
  const viaService = source && readNameServer(io, output, source, options)
  if (source === null || viaService === null) return null
  const { config, diagnostics } = await loadConfigOrDefault(io, options.config)
  output.diagnostics(diagnostics)
  if (config === null || hasErrors(diagnostics)) return null
  return {
    ...source,
    cwd: io.cwd,
    env: io.env,
    config,
    lossy: options.lossy ?? false,
    overwrite: options.force === true,
    parallelism: options.parallelism,
    onThrottled: reportThrottling(output),
    options: { ...options, viaService },
  }
}

/** The format, the source and the zones to import. Reports invalid ones, and returns null. */
function readSource(output: CliOutput, args: readonly string[], options: ImportCommandOptions): ImportSource | null {
  const refuse = refuser(output)
  const formats = `formats are ${IMPORT_FORMATS.join(', ')}`
  const [format, source, ...names] = options.from === undefined ? args : ['provider', options.from, ...args]
  const live = STARTER_TYPES.includes(format ?? '') ? `for its live zones: zonewright init --from ${format}` : undefined
  if (format !== undefined && !IMPORT_FORMATS.includes(format)) {
    const bind = format === 'bind' ? `write zonewright import zonefile ${source ?? 'db.example.com'}` : undefined
    const hint = live ?? bind ?? didYouMean(format, IMPORT_FORMATS) ?? formats
    return refuse(`there is no import format ${JSON.stringify(format)}`, hint)
  }
  if (format === undefined || source === undefined)
    return refuse(
      'import needs a format and a source, or --from with the name of a provider',
      live ?? `such as: zonewright import zonefile db.example.com -o zones; ${formats}`,
    )
  const zones = readZoneNames(output, names)
  if (zones === null) return null
  if (format !== 'dnscontrol' && options.credentials !== undefined)
    return refuse(`--credentials is for imports from DNSControl, not for ${format}`)
  if (options.convert === true && (format !== 'dnscontrol' || !/\.js$/i.test(source)))
    return refuse('--convert is for imports of a dnsconfig.js: all others write definitions')
  if (format !== 'axfr' && (options.tsig !== undefined || options.timeout !== undefined))
    return refuse(`--tsig and --timeout are for imports from a name server (axfr), not for ${format}`)
  return { format, source, zones }
}

/** The name server of `--via-service`, if given. Reports an invalid `--via-service` or `--clone`, and returns null. */
function readNameServer(
  io: CliIo,
  output: CliOutput,
  { format, zones }: ImportSource,
  options: ImportCommandOptions,
): string | undefined | null {
  if (options.viaService === undefined && options.clone === undefined) return undefined
  const refuse = refuser(output)
  const [message, hint] = copyProblem(format, zones, options) ?? []
  if (message !== undefined) return refuse(message, hint)
  if (options.viaService === undefined) return undefined
  const server = parseNameServer(options.viaService)
  if (!server.ok) return refuse(`--via-service: ${server.message}`, 'such as 192.0.2.53 or ns1.example.net')
  const refused = refusedServer(readHostPolicy(io.env), '--via-service', parseServerAddress(server.value))
  if (refused === null) return server.value
  output.diagnostics([refused])
  return null
}

type ImportSource = Pick<ImportZonesRequest, 'format' | 'source' | 'zones'>

/** Creates a function that reports an invalid command line and returns null. */
const refuser =
  (output: CliOutput) =>
  (message: string, hint?: string): null => {
    output.error('usage', message, hint)
    return null
  }

/** The zone names without duplicates. Reports a text that is not a domain name, and returns null. */
function readZoneNames(output: CliOutput, texts: readonly string[]): DomainName[] | null {
  const names = texts.map((text) => parseAbsoluteName(text))
  for (const name of names) if (!name.ok) output.error('zone-name', name.message)
  return names.every((name) => name.ok) ? [...new Set(names.map((name) => name.value))] : null
}

/** Why a provider cannot create the zones, as a message and a hint; null if it can. */
function copyProblem(
  format: string,
  zones: readonly DomainName[],
  { viaService, clone, out }: ImportCommandOptions,
): readonly [message: string, hint?: string] | null {
  if (format !== 'provider') return ['--via-service and --clone are for imports from a provider', 'name it with --from']
  if (viaService !== undefined && clone !== undefined) return ['--via-service and --clone exclude each other']
  if (zones.length === 0) return ['the zones to create are not named']
  if (clone !== undefined && zones.length > 1) return ['--clone creates one zone', 'clone the zones one by one']
  if (zones.length > 1 && out === undefined) return ['standard output takes one definition', 'name a folder with -o']
  return null
}

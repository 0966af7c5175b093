/** `zonewright export`: options and output; the conversion is in `convert/export.ts`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { hasErrors } from '../../base/diagnostic.ts'
import { counted } from '../../base/english.ts'
import { didYouMean } from '../../base/nearest-word.ts'
import type { AcceptedLosses } from '../../checks/accepted-losses.ts'
import { exportZones } from '../../convert/export.ts'
import { EXPORT_FORMATS } from '../../convert/formats.ts'
import { type DomainName, parseAbsoluteName } from '../../dns/domain-name.ts'
import { dateSerial, type SerialRule, unixTimeSerial } from '../../dns/zone-file/choose-serial.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { loadConfigOrDefault } from '../../run/load/run-config.ts'
import {
  type CommonOptions,
  collect,
  SERIAL_METHODS,
  type SetAction,
  serial,
  withChoices,
  withConfigOption,
  withConversionOptions,
} from '../command.ts'
import { deliverFiles } from '../deliver-files.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput, lossReportOptions } from '../output.ts'

export interface ExportCommandOptions extends CommonOptions {
  /** The format, instead of the first argument. */
  readonly to?: string
  readonly out?: string
  readonly target?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly lossy?: AcceptedLosses
  readonly ns: readonly string[]
  readonly serial: ReturnType<typeof serial>
  readonly canonical?: boolean
}

export function configure(command: Command, setAction: SetAction): void {
  withConversionOptions(withConfigOption(command), 'leave out what the format cannot express; each omission is a warning')
    .usage('[options] <format> [zone...]')
    .addArgument(
      withChoices(command.createArgument('[args...]', `format (${EXPORT_FORMATS.join(', ')}), and zones (default: all)`), EXPORT_FORMATS),
    )
    .option('--to <format>', 'the format, instead of the first argument')
    .option('--target <name>', 'only the zones of this target')
    .option('-o, --out <path>', 'the file, or the folder of several (default: standard output)')
    .addOption(
      command
        .createOption('--ns <name>', 'zonefile: a name server for zones without NS records (repeatable)')
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(
      command
        .createOption('--serial <how>', `zonefile: the serial of a changed zone: ${SERIAL_METHODS.join(', ')} or a number`)
        .argParser(serial)
        .default('increment', 'increment'),
    )
    .option('--canonical', 'zonefile: one record per line, all names absolute')
    .addHelpText('after', HELP)
  setAction(command, exportCommand)
}

const HELP = `
Examples:
  zonewright export zonefile example.com --ns ns1.example.net.
  zonewright export octodns -o config
  zonewright export csv -o records.csv`

/** `zonewright export FORMAT [ZONE…]`: writes definitions in another format. Writes nothing if one has an error. */
async function exportCommand(io: CliIo, [args]: readonly [string[]], options: ExportCommandOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const [format, ...names] = options.to === undefined ? args : [options.to, ...args]
  if (format === undefined || !EXPORT_FORMATS.includes(format)) {
    const message = format === undefined ? 'export needs a format' : `there is no export format ${JSON.stringify(format)}`
    const known = format === 'bind' ? 'write zonewright export zonefile' : format && didYouMean(format, EXPORT_FORMATS)
    const hint = known || `formats are ${EXPORT_FORMATS.join(', ')}`
    output.error('usage', message, hint)
    return EXIT.failure
  }
  const nameservers = readServers(output, options.ns)
  const { config, diagnostics: configDiagnostics } = await loadConfigOrDefault(io, options.config)
  if (config === null || nameservers === null || hasErrors(configDiagnostics)) {
    output.diagnostics(configDiagnostics)
    return EXIT.failure
  }
  const { files, isSingleFile, zones, skippedFiles, diagnostics } = await exportZones({
    format,
    zones: names,
    target: options.target,
    config,
    lossy: options.lossy ?? false,
    folder: options.out === undefined ? null : resolve(io.cwd, options.out),
    options: {
      nameservers,
      serial: serialRule(options.serial, io.now()),
      force: options.force,
      style: options.canonical === true ? 'canonical' : 'pretty',
    },
  })
  output.diagnostics([...configDiagnostics, ...diagnostics], lossReportOptions(options))
  if (hasErrors(diagnostics)) {
    output.say('Nothing was exported.')
    return EXIT.failure
  }
  const { out, force, dryRun } = options
  const contents = counted(zones, 'zone')
  const status = await deliverFiles(io, output, { command: 'export', files, contents, out, isSingleFile, force, dryRun })
  if (status === EXIT.done && out !== undefined && dryRun !== true) output.note(`${contents} in ${counted(files.length, 'file')}.`)
  for (const file of skippedFiles) output.note(`${file} was not exported: it is disabled, or no rule matches its zone.`)
  return status
}

function serialRule(how: ExportCommandOptions['serial'], now: Date): SerialRule {
  if (typeof how === 'number') return how
  return { atLeast: how === 'date' ? dateSerial(now) : how === 'unixtime' ? unixTimeSerial(now) : null }
}

/** The names given with `--ns`. Reports a text that is not a domain name, and returns null. */
function readServers(output: CliOutput, texts: readonly string[]): DomainName[] | null {
  const names = texts.map((text) => parseAbsoluteName(text))
  for (const name of names) if (!name.ok) output.error('usage', `--ns: ${name.message}`)
  return names.every((name) => name.ok) ? names.map((name) => name.value) : null
}

import { resolve } from 'node:path'
import type { Exported, ExportOptions } from '../../convert/conversion.ts'
import { EXPORT_FORMATS, exporterOf } from '../../convert/exporters.ts'
import { withPlannedTtls } from '../../convert/planned-ttls.ts'
import { extrasAsUnsupported, unsupportedFeatureDiagnostics } from '../../convert/unsupported-feature-diagnostics.ts'
import { displayPath } from '../../definition/files/file-path.ts'
import { writeFiles } from '../../definition/files/write-files.ts'
import { loadDefinitions } from '../../definition/load/load-definitions.ts'
import { didYouMean } from '../../definition/parse/suggest.ts'
import { type Diagnostic, hasErrors } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { counted } from '../../report/english.ts'
import type { CommonOptions } from '../common-options.ts'
import { type Console, createConsole, sayingLosses } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { endedBySignals } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { reportWritten } from '../report-written.ts'
import { configOrDefault } from './validate.ts'

export interface ExportCommandOptions extends CommonOptions {
  /** The format, instead of the first argument. */
  readonly to?: string
  readonly out?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly lossy?: boolean
  readonly ns: readonly string[]
  readonly serial: number
  readonly canonical?: boolean
}

/**
 * `zonewright export FORMAT [ZONE…]`: definitions in another format. What that cannot hold is named, and keeps everything back unless
 * `--lossy` says that it may be left out.
 */
export async function exportZones(io: CliIo, [args]: readonly [string[]], options: ExportCommandOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const [format, ...zones] = options.to === undefined ? args : [options.to, ...args]
  const exporter = format === undefined ? null : await exporterOf(format)
  if (format === undefined || exporter === null) {
    const message = format === undefined ? 'export needs a format' : `there is no export format ${JSON.stringify(format)}`
    const hint = (format !== undefined && didYouMean(format, EXPORT_FORMATS)) || `formats are ${EXPORT_FORMATS.join(', ')}`
    console.error('usage', message, hint)
    return EXIT.failure
  }
  const nameservers = readServers(console, options.ns)
  const { config, diagnostics: inConfig } = await configOrDefault(io, options.config)
  if (config === null || nameservers === null || hasErrors(inConfig)) {
    console.diagnostics(inConfig)
    return EXIT.failure
  }
  const loaded = await loadDefinitions(config, { zones })
  // No provider takes part.
  const diagnostics: Diagnostic[] = [...inConfig, ...loaded.diagnostics.filter(({ code }) => code !== 'target-missing')]
  if (hasErrors(diagnostics)) {
    console.diagnostics(diagnostics)
    console.say('Nothing was exported.')
    return EXIT.failure
  }
  const settings: ExportOptions = { nameservers, serial: options.serial, style: options.canonical === true ? 'canonical' : 'pretty' }
  const exported = exporter(
    loaded.zones.map((zone) => withPlannedTtls(zone, config)),
    settings,
  )
  const lossy = options.lossy === true
  const found = [
    ...extrasAsUnsupported(diagnostics, lossy),
    ...exported.diagnostics,
    ...unsupportedFeatureDiagnostics(exported.dropped, 'export-lossy', format, lossy),
  ]
  console.diagnostics(found, sayingLosses(options))
  if (hasErrors(found)) {
    console.say('Nothing was exported.')
    return EXIT.failure
  }
  const status = await deliver(io, console, exported, loaded.zones.length, options)
  if (zones.length === 0)
    for (const file of loaded.leftAlone) console.note(`${file} was not exported: it is disabled, or no rule takes its zone.`)
  return status
}

function readServers(console: Console, texts: readonly string[]): DomainName[] | null {
  const names = texts.map((text) => parseDomainName(text.endsWith('.') ? text : `${text}.`))
  for (const name of names) if (!name.ok) console.error('usage', `--ns: ${name.message}`)
  return names.every((name) => name.ok) ? names.flatMap((name) => (name.ok ? [name.value] : [])) : null
}

/** On standard output, or in files. */
async function deliver(
  io: CliIo,
  console: Console,
  { files, isSingleFile }: Exported,
  zones: number,
  { out, force, dryRun }: ExportCommandOptions,
): Promise<ExitStatus> {
  if (out === undefined) {
    if (files.length > 1) {
      console.error('usage', `${counted(files.length, 'file')} cannot be shown as one`, 'name a folder for them with -o, or one zone')
      return EXIT.failure
    }
    if (dryRun !== true) console.print(files.map(({ text }) => text).join(''))
    return EXIT.done
  }
  const target = resolve(io.cwd, out)
  const folder = isSingleFile ? resolve(target, '..') : target
  const named = isSingleFile ? files.map(({ text }) => ({ path: target.slice(folder.length).replace(/^[/\\]/, ''), text })) : files
  const shown = (path: string): string => displayPath(resolve(folder, path), io.cwd)
  if (dryRun === true) {
    console.print(named.map(({ path }) => `${shown(path)}\n`).join(''))
    console.note(`${counted(zones, 'zone')} in ${counted(named.length, 'file')}; nothing was written.`)
    return EXIT.done
  }
  const outcome = await endedBySignals(() =>
    writeFiles(folder, named, { overwrite: force === true, command: 'export', now: io.now, secrets: io.secrets }),
  )
  if (!reportWritten(console, outcome, shown)) return EXIT.failure
  console.note(`${counted(zones, 'zone')} in ${counted(named.length, 'file')}.`)
  return EXIT.done
}

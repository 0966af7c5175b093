import { resolve } from 'node:path'
import { checkImport } from '../../convert/check-import.ts'
import type { Imported } from '../../convert/conversion.ts'
import { importFiles } from '../../convert/import-files.ts'
import type { Importer, ImportOptions, ImportRequest } from '../../convert/importer.ts'
import { IMPORT_FORMATS, importerOf } from '../../convert/importers.ts'
import { madeAlready } from '../../convert/provider/copy-at-provider.ts'
import { readNameServer } from '../../convert/transfer/parse-nameserver.ts'
import { unsupportedFeatureDiagnostics } from '../../convert/unsupported-feature-diagnostics.ts'
import { displayPath } from '../../definition/files/file-path.ts'
import { writeFiles } from '../../definition/files/write-files.ts'
import type { OutputFile } from '../../definition/imported-zone.ts'
import { didYouMean } from '../../definition/parse/suggest.ts'
import { type Diagnostic, hasErrors } from '../../dns/diagnostic.ts'
import { type DomainName, parseDomainName } from '../../dns/domain-name.ts'
import { parseServerAddress } from '../../dns/server-address.ts'
import { counted } from '../../report/english.ts'
import { readHostPolicy, refusedServer } from '../../transport/allowed-hosts.ts'
import { mayCopy } from '../before-copy.ts'
import type { CommonOptions } from '../common-options.ts'
import { type Console, createConsole, sayingLosses } from '../console.ts'
import { EXIT, type ExitStatus, worstOf } from '../exit-status.ts'
import { endedBySignals, listenForInterruption } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { reportThrottling } from '../report-throttling.ts'
import { reportWritten } from '../report-written.ts'
import { configOrDefault } from './validate.ts'

export interface ImportCommandOptions extends CommonOptions, ImportOptions {
  /** A provider, instead of format and source. */
  readonly from?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly lossy?: boolean
  readonly parallelism?: number
  readonly yes?: boolean
}

/**
 * `zonewright import FORMAT SOURCE [ZONE…]`: definitions of zones that are elsewhere. All of them are written or none: faults, what
 * definitions cannot hold, and files in the way keep everything back, and what would be written is loaded and compared first.
 */
export async function importZones(io: CliIo, [args]: readonly [string[]], options: ImportCommandOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const request = await readRequest(io, console, args, options)
  if (request === null) return EXIT.failure
  const importer = await importerOf(request.format)
  if (importer === null) {
    const message = `there is no import format ${JSON.stringify(request.format)}`
    console.error('usage', message, didYouMean(request.format, IMPORT_FORMATS) ?? `formats are ${IMPORT_FORMATS.join(', ')}`)
    return EXIT.failure
  }
  if (request.format !== 'axfr' && (options.tsig !== undefined || options.timeout !== undefined)) {
    console.error('usage', `--tsig and --timeout are of imports from a name server (axfr), not of ${request.format}`)
    return EXIT.failure
  }
  if (options.viaService !== undefined || options.clone !== undefined) {
    if (request.format !== 'provider') {
      console.error('usage', '--via-service and --clone are of imports from a provider', 'name it with --from')
      return EXIT.failure
    }
    const may = await mayCopy(io, console, { ...options, provider: request.source, zones: request.zones })
    if (may === 'yes') return importCopies(io, console, importer, request, options)
    return may === 'left' ? EXIT.done : may === 'interrupted' ? EXIT.interrupted : EXIT.failure
  }
  return finish(io, console, await importer(request), request, options)
}

/** The same where a provider makes zones: what it has made, and no definition was written of, is told. */
async function importCopies(
  io: CliIo,
  console: Console,
  importer: Importer,
  request: FormatRequest,
  options: ImportCommandOptions,
): Promise<ExitStatus> {
  const made: DomainName[] = []
  const message = `Stopping: what ${request.source} is making is waited for; Ctrl-C again ends at once, and it may be made all the same.`
  const interruption = listenForInterruption(console.say, message)
  let imported: Imported
  try {
    imported = await importer({ ...request, stop: interruption.signal, onMade: (zone) => void made.push(zone) })
  } finally {
    interruption.release()
  }
  const status = await finish(io, console, imported, request, options)
  if (status !== EXIT.done)
    console.diagnostics(
      made.map((zone) => madeAlready(request.source, zone)),
      sayingLosses(options),
    )
  return worstOf([status, interruption.status() ?? EXIT.done])
}

/** What was read as files, checked and written. */
async function finish(
  io: CliIo,
  console: Console,
  imported: Imported,
  request: FormatRequest,
  options: ImportCommandOptions,
): Promise<ExitStatus> {
  const diagnostics: Diagnostic[] = [...imported.diagnostics]
  diagnostics.push(...unsupportedFeatureDiagnostics(imported.dropped, 'import-lossy', request.format, options.lossy === true))
  if (imported.zones.length === 0 && !hasErrors(diagnostics))
    diagnostics.push({ severity: 'error', code: 'no-definitions', message: `${request.source} has no zones` })
  const { files, diagnostics: inFiles } = importFiles(imported)
  diagnostics.push(...inFiles)
  if (!hasErrors(diagnostics)) {
    const config = { ...request.config, ...imported.reading }
    const shownPath = (path: string): string => displayPath(resolve(io.cwd, options.out ?? '', path), io.cwd)
    diagnostics.push(...(await endedBySignals(() => checkImport(imported.zones, files, config, shownPath))))
  }
  console.diagnostics(diagnostics, sayingLosses(options))
  if (hasErrors(diagnostics)) {
    console.say('Nothing was written.')
    return EXIT.failure
  }
  return deliver(io, console, imported, files, options)
}

interface FormatRequest extends ImportRequest {
  readonly format: string
}

async function readRequest(
  io: CliIo,
  console: Console,
  args: readonly string[],
  options: ImportCommandOptions,
): Promise<FormatRequest | null> {
  const [format, source, ...zones] = options.from === undefined ? args : ['provider', options.from, ...args]
  if (format === undefined || source === undefined) {
    console.error(
      'usage',
      'import needs a format and a source, or --from with the name of a provider',
      'such as: import zonefile db.example.com -o zones',
    )
    return null
  }
  const names = new Set<DomainName>()
  let problems = 0
  for (const text of zones) {
    const name = parseDomainName(text.endsWith('.') ? text : `${text}.`)
    if (name.ok) names.add(name.value)
    else {
      console.error('zone-name', name.message)
      problems += 1
    }
  }
  if (problems > 0) return null
  const viaService = options.viaService === undefined ? null : readNameServer(options.viaService)
  const refused = viaService?.ok ? refusedServer(readHostPolicy(io.env), '--via-service', parseServerAddress(viaService.value)) : null
  if (refused !== null) {
    console.diagnostics([refused])
    return null
  }
  const { config, diagnostics } = await configOrDefault(io, options.config)
  console.diagnostics(diagnostics)
  if (config === null || hasErrors(diagnostics)) return null
  return {
    format,
    source,
    zones: [...names],
    cwd: io.cwd,
    env: io.env,
    config,
    parallelism: options.parallelism,
    onThrottled: reportThrottling(console),
    options: viaService?.ok ? { ...options, viaService: viaService.value } : options,
  }
}

/** Shows one file, or writes all of them. */
async function deliver(
  io: CliIo,
  console: Console,
  { zones }: Imported,
  files: readonly OutputFile[],
  { out, force, dryRun }: ImportCommandOptions,
): Promise<ExitStatus> {
  const records = zones.reduce((sum, zone) => sum + zone.records.length, 0)
  const size = `${counted(zones.length, 'zone')} with ${counted(records, 'record')}`
  if (out === undefined) {
    const [file] = files
    if (file === undefined || files.length > 1) {
      console.error('usage', `${counted(files.length, 'file')} cannot be shown as one`, 'name a folder for them with -o, or one zone')
      return EXIT.failure
    }
    if (dryRun !== true) console.print(file.text)
    console.note(`${size}, read back and compared.`)
    return EXIT.done
  }
  const folder = resolve(io.cwd, out)
  if (dryRun === true) {
    console.print(files.map(({ path }) => `${displayPath(resolve(folder, path), io.cwd)}\n`).join(''))
    console.note(`${size} in ${counted(files.length, 'file')}; nothing was written.`)
    return EXIT.done
  }
  const outcome = await endedBySignals(() =>
    writeFiles(folder, files, { overwrite: force === true, command: 'import', now: io.now, secrets: io.secrets }),
  )
  if (!reportWritten(console, outcome, (path) => displayPath(resolve(folder, path), io.cwd))) return EXIT.failure
  console.note(`${size}, read back and compared.`)
  return EXIT.done
}

/** `zonewright validate`: options and output; the checks are in `definition/`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../apply/exit-status.ts'
import { loadConfigOrDefault } from '../../apply/run-config.ts'
import type { Validation } from '../../definition/load/load-definitions.ts'
import { validateDefinitions } from '../../definition/load/load-definitions.ts'
import { hasErrors } from '../../dns/diagnostic.ts'
import { countDiagnostics } from '../../report/diagnostics-report.ts'
import type { ReportFormat } from '../../report/formats.ts'
import { validatedText } from '../../report/validation.ts'
import { type CommonOptions, type SetAction, withConfigOption, withFormatOption } from '../command.ts'
import type { CliIo } from '../io.ts'
import { createOutput } from '../output.ts'

export interface ValidateOptions extends CommonOptions {
  readonly format: ReportFormat<'validation'>
}

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command).argument('[path...]', 'files or folders (default: those in the configuration)')
  setAction(withFormatOption(command, 'validation'), validate)
}

/** `zonewright validate [path...]`: checks syntax, schema and DNS rules offline. The diagnostics are the report. */
async function validate(io: CliIo, [paths]: readonly [string[]], options: ValidateOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const { config, diagnostics } = await loadConfigOrDefault(io, options.config)
  const nothing: Validation = { diagnostics: [], zones: [], files: 0, records: 0 }
  const absolute = paths.length === 0 ? undefined : paths.map((path) => resolve(io.cwd, path))
  const found = config === null ? nothing : await validateDefinitions(config, { paths: absolute })
  const all = [...diagnostics, ...found.diagnostics]
  const figures = { files: found.files, zones: found.zones.length, records: found.records }
  const { format } = options
  if (format === 'text' || format === 'github') {
    output.printDiagnostics(all, format)
    const count = countDiagnostics(all)
    if (!options.quiet || count !== null) output.say(`${validatedText(figures)}: ${count ?? 'no problems'}.`)
  } else {
    const zones = found.zones.map(({ zone, ...loaded }) => ({ ...loaded, zone: zone.name }))
    output.validation({ figures, zones, diagnostics: all }, format)
  }
  return hasErrors(all) ? EXIT.failure : EXIT.done
}

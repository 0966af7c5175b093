/** `zonewright validate`: options and output; the checks are in `definition/`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../apply/exit-status.ts'
import { loadConfigOrDefault } from '../../apply/run-config.ts'
import type { Validation } from '../../definition/load/load-definitions.ts'
import { validateDefinitions } from '../../definition/load/load-definitions.ts'
import { hasErrors } from '../../dns/diagnostic.ts'
import { countDiagnostics, renderValidation } from '../../report/diagnostics-report.ts'
import { counted } from '../../report/english.ts'
import type { ReportFormat } from '../../report/formats.ts'
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
  if (options.format === 'json')
    output.print(
      renderValidation(
        all,
        figures,
        found.zones.map(({ zone, ...loaded }) => ({ ...loaded, zone: zone.name })),
      ),
    )
  else {
    output.printDiagnostics(all, options.format)
    const count = countDiagnostics(all)
    const size = `${counted(figures.zones, 'zone')}, ${counted(figures.records, 'record')} in ${counted(figures.files, 'file')}`
    if (!options.quiet || count !== null) output.say(`${size}: ${count ?? 'no problems'}.`)
  }
  return hasErrors(all) ? EXIT.failure : EXIT.done
}

/** `zonewright zones`: options and report; the list is made in `apply/list-zones.ts`. */
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../apply/exit-status.ts'
import { listZones } from '../../apply/list-zones.ts'
import { loadRunConfig } from '../../apply/run-config.ts'
import { unknownProvider } from '../../definition/config/read-config.ts'
import { hasErrors } from '../../dns/diagnostic.ts'
import type { ReportFormat } from '../../report/formats.ts'
import { renderZonesJson, renderZonesText } from '../../report/zone-list.ts'
import { type CommonOptions, type SetAction, withConfigOption, withFormatOption } from '../command.ts'
import { type CliIo, colorOf } from '../io.ts'
import { createOutput } from '../output.ts'

export interface ZonesOptions extends CommonOptions {
  readonly format: ReportFormat<'zones'>
  readonly target?: string
}

export function configure(command: Command, setAction: SetAction): void {
  withConfigOption(command).argument('[zone...]', 'zones (default: all)').option('--target <name>', 'only zones with this target')
  setAction(withFormatOption(command, 'zones'), zones)
}

/** `zonewright zones [zone...]`: lists zones. Contacts no server. The status is 1 if a definition has an error. */
async function zones(io: CliIo, [names]: readonly [string[]], options: ZonesOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const { config, diagnostics } = await loadRunConfig(io, options.config)
  output.diagnostics(diagnostics, { from: 'error' })
  if (config === null) return EXIT.failure
  const { target, format, quiet = false } = options
  if (target !== undefined && !config.providers.has(target)) {
    output.diagnostics([unknownProvider(target, config.providers.keys(), undefined)])
    return EXIT.failure
  }
  const list = await listZones(config, { zones: names, target })
  output.diagnostics(list.diagnostics, { from: 'error' })
  const text =
    format === 'json' ? renderZonesJson(list.zones) : renderZonesText(list.zones, { color: colorOf(io.stdout, io, options.color), quiet })
  output.report(text, format)
  return hasErrors(list.diagnostics) ? EXIT.failure : EXIT.done
}

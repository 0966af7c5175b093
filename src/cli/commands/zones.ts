/** `zonewright zones`: options and report; the list is made in `apply/list-zones.ts`. */
import type { Command } from 'commander'
import { EXIT, type ExitStatus } from '../../apply/exit-status.ts'
import { listZones } from '../../apply/list-zones.ts'
import { loadRunConfig } from '../../apply/run-config.ts'
import type { SelectionOptions } from '../../apply/run-context.ts'
import { unknownProvider } from '../../definition/config/read-config.ts'
import { hasErrors } from '../../dns/diagnostic.ts'
import type { ReportFormat } from '../../report/formats.ts'
import { renderZonesJson, renderZonesText } from '../../report/zone-list.ts'
import { type CommonOptions, type SetAction, withConfigOption, withFormatOption } from '../command.ts'
import { type CliIo, colorOf } from '../io.ts'
import { createOutput } from '../output.ts'
import { readSelection, withShards, type ZoneListOptions } from '../selection.ts'

export interface ZonesOptions extends CommonOptions, Omit<SelectionOptions, 'since'>, ZoneListOptions {
  readonly format: ReportFormat<'zones'>
  readonly target?: string
}

export function configure(command: Command, setAction: SetAction): void {
  withShards(withConfigOption(command))
    .argument('[zone...]', 'names, globs, or paths of definitions (default: all)')
    .option('--target <name>', 'only zones with this target')
  setAction(withFormatOption(command, 'zones'), zones)
}

/** `zonewright zones [zone...]`: lists zones. Contacts no server. The status is 1 if a definition has an error. */
async function zones(io: CliIo, [args]: readonly [string[]], options: ZonesOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const { config, diagnostics } = await loadRunConfig(io, options.config)
  output.diagnostics(diagnostics, { from: 'error' })
  if (config === null) return EXIT.failure
  const { target, format, quiet = false } = options
  if (target !== undefined && !config.providers.has(target)) {
    output.diagnostics([unknownProvider(target, config.providers.keys(), undefined)])
    return EXIT.failure
  }
  const selection = await readSelection(io, args, options, output)
  if (selection === null) return EXIT.failure
  const { since, shard } = options
  const list = await listZones(config, selection.zones, { target, since, shard, isEmptyList: selection.isEmptyList }, io)
  for (const note of list.notes) output.note(note)
  output.diagnostics(list.diagnostics.filter(({ severity, code }) => severity === 'error' || code === 'zone-removed'))
  const text =
    format === 'json' ? renderZonesJson(list.zones) : renderZonesText(list.zones, { color: colorOf(io.stdout, io, options.color), quiet })
  output.report(text, format)
  return hasErrors(list.diagnostics) ? EXIT.failure : EXIT.done
}

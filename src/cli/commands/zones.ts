/** `zonewright zones`: options and report; the list is made in `inspect/list-zones.ts`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { hasErrors } from '../../base/diagnostic.ts'
import { quoted } from '../../base/text.ts'
import { unknownProvider } from '../../config/config.ts'
import { displayPath } from '../../files/file-path.ts'
import { readText } from '../../files/read-text.ts'
import { listZones } from '../../inspect/list-zones.ts'
import type { ReportFormat } from '../../report/formats.ts'
import { codeOwners, renderZonesJson, renderZonesText, type ZoneView } from '../../report/zone-list.ts'
import { EXIT, type ExitStatus, worstOf } from '../../run/context/exit-status.ts'
import type { SelectionOptions } from '../../run/context/run-context.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { type CommonOptions, type SetAction, withConfigOption, withExamples, withFormatOption } from '../command.ts'
import { repositoryRoot } from '../init/repository.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput } from '../output.ts'
import { readSelection, withShards, type ZoneListOptions } from '../selection.ts'

export interface ZonesOptions extends CommonOptions, Omit<SelectionOptions, 'since'>, ZoneListOptions {
  readonly format: ReportFormat<'zones'>
  readonly target?: string
  readonly organization?: string
  readonly check?: string
}

export function configure(command: Command, setAction: SetAction): void {
  withShards(withConfigOption(command))
    .argument('[zone...]', 'names, globs, or paths of definitions (default: all)')
    .option('--target <name>', 'only zones with this target')
    .option('--organization <name>', 'with --format codeowners: whose teams the owners are')
    .option('--check <file>', 'with --format codeowners: exit with 2 unless the file contains the lines')
  withExamples(command, 'zones', "zones '*.com' --format json")
  setAction(withFormatOption(command, 'zones'), zones)
}

/** `zonewright zones [zone...]`: lists zones. Contacts no server. The status is 1 if a definition has an error. */
async function zones(io: CliIo, [args]: readonly [string[]], options: ZonesOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  const { config, diagnostics } = await loadRunConfig(io, options.config, { packages: false })
  output.diagnostics(diagnostics, { from: 'error' })
  if (config === null) return EXIT.failure
  const { target } = options
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
  const status = hasErrors(list.diagnostics) ? EXIT.failure : EXIT.done
  if (options.format === 'codeowners') return worstOf([status, await printCodeOwners(io, list.zones, options, output)])
  output.formatted({ text: (view) => renderZonesText(list.zones, view), json: () => renderZonesJson(list.zones) })
  return status
}

/** Prints the lines for a CODEOWNERS file, or checks that a file contains them. */
async function printCodeOwners(
  io: CliIo,
  zones: readonly ZoneView[],
  { organization, check }: ZonesOptions,
  output: CliOutput,
): Promise<ExitStatus> {
  const root = repositoryRoot(io.cwd)
  const fromRoot = (file: string): string => displayPath(resolve(io.cwd, file), root)
  const { text, invalid } = codeOwners(zones, { fromRoot, organization: organization ?? null })
  for (const owner of invalid)
    output.error(
      'usage',
      `the owner ${quoted(owner)} is neither @user, @organization/team nor a mail address`,
      'change it, or give --organization',
    )
  if (invalid.length > 0) return EXIT.failure
  if (check === undefined) {
    output.report(text, 'codeowners')
    return EXIT.done
  }
  const file = await readText(resolve(io.cwd, check), check, null)
  if (!file.ok) {
    output.error(file.problem.code, file.problem.message)
    return EXIT.failure
  }
  if (file.text.replaceAll('\r\n', '\n').includes(text)) return EXIT.done
  output.say(`${check} does not contain the owners of the zones: "zonewright zones --format codeowners" prints them.`)
  return EXIT.pending
}

/** `zonewright validate`: options and output; the checks are in `checks/`. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { hasErrors } from '../../base/diagnostic.ts'
import { applyToAllZones, applyToZones, testPolicies } from '../../checks/policies/apply-policies.ts'
import { loadPolicies } from '../../checks/policies/load-policies.ts'
import type { Config } from '../../config/config.ts'
import { fullDateOf } from '../../dns/ownership.ts'
import { knownCapabilities } from '../../inspect/list-providers.ts'
import { type Validation, validateDefinitions } from '../../load/load-definitions.ts'
import { namesZone } from '../../load/wanted-zones.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { checkedBy } from '../../run/load/check-plan.ts'
import { loadConfigOrDefault } from '../../run/load/run-config.ts'
import { selectZones } from '../../run/load/select-zones.ts'
import { type CommonOptions, type SetAction, withConfigOption, withFormatOption } from '../command.ts'
import { exitAsInit } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { type CliOutput, createOutput } from '../output.ts'
import { readSelection, type Selection, withZoneLists, type ZoneListOptions } from '../selection.ts'
import { tuneForShortRun } from '../short-run.ts'

export interface ValidateOptions extends CommonOptions, ZoneListOptions {
  /** The git revision that has the policies; the working tree if absent. */
  readonly policiesFrom?: string
  /** Whether warnings fail the check, too. */
  readonly strict?: boolean
}

export function configure(command: Command, setAction: SetAction): void {
  withZoneLists(withConfigOption(command)).argument(
    '[path...]',
    'files or folders; or names or globs of zones (default: all in the configuration)',
  )
  command.option('--policies-from <revision>', 'take the policies from this git revision')
  command.option('--strict', 'exit with 1 also if there are warnings')
  setAction(withFormatOption(command, 'validation'), validate)
}

/** `zonewright validate [path...]`: checks syntax, schema and DNS rules offline. The diagnostics are the report. */
async function validate(io: CliIo, [args]: readonly [string[]], options: ValidateOptions): Promise<ExitStatus> {
  const output = createOutput(io, options)
  exitAsInit()
  await tuneForShortRun()
  const { config, diagnostics } = await loadConfigOrDefault(io, options.config)
  const selection = await readSelection(io, args, options, output)
  if (selection === null) return EXIT.failure
  const found = config === null ? NOTHING : await validateSelection(io, config, selection, options, output)
  const all = [...diagnostics, ...found.diagnostics]
  const figures = { files: found.files, zones: found.zones.length, records: found.records }
  const zones = found.zones.map(({ zone, ...loaded }) => ({ ...loaded, zone: zone.name }))
  output.validation({ figures, zones, diagnostics: all })
  if (hasErrors(all)) return EXIT.failure
  if (options.strict !== true || all.every(({ severity }) => severity !== 'warning')) return EXIT.done
  output.say('--strict: mend or suppress the warnings.')
  return EXIT.failure
}

const NOTHING: Validation = { diagnostics: [], zones: [], files: 0, records: 0 }

/** Validates what is selected: files and folders also without a rule that matches them. */
async function validateSelection(
  io: CliIo,
  config: Config,
  { zones: args, isEmptyList }: Selection,
  { since, policiesFrom: revision }: ValidateOptions,
  { note }: CliOutput,
): Promise<Validation> {
  const now = io.now()
  const known = { today: fullDateOf(now), capabilities: knownCapabilities(config) }
  const policies = await loadPolicies(config, { now, revision, env: io.env })
  const ofPolicies = policies === null ? [] : [...policies.diagnostics, ...testPolicies(policies)]
  if (since === undefined && !isEmptyList && !args.some((argument) => namesZone(argument, io.cwd))) {
    const paths = args.length === 0 ? undefined : args.map((path) => resolve(io.cwd, path))
    const loaded = await validateDefinitions(config, { paths, ...known })
    const apply = paths === undefined ? applyToAllZones : applyToZones
    const checked = policies === null ? loaded : apply(loaded, policies, now)
    return { ...checked, diagnostics: [...ofPolicies, ...checked.diagnostics] }
  }
  const { zones, diagnostics, notes } = await selectZones(config, args, { since, isEmptyList, ...known }, io, checkedBy(policies, now))
  for (const text of notes) note(text)
  const records = zones.reduce((sum, { zone }) => sum + zone.records.length, 0)
  const files = new Set(zones.flatMap(({ files: own }) => own)).size
  return { zones, diagnostics: [...ofPolicies, ...diagnostics], files, records }
}

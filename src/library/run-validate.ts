/** `validate`: checks syntax, schema, DNS rules and policies. Contacts no server. */
import { resolve } from 'node:path'
import { hasErrors } from '../base/diagnostic.ts'
import { applyToAllZones, applyToZones, testPolicies } from '../checks/policies/apply-policies.ts'
import { loadPolicies } from '../checks/policies/load-policies.ts'
import type { Config } from '../config/config.ts'
import type { LoadedZone } from '../config/configured-zone.ts'
import { fullDateOf } from '../dns/ownership.ts'
import { knownCapabilities } from '../inspect/list-providers.ts'
import { type Validation as Validated, validateDefinitions } from '../load/load-definitions.ts'
import { namesZone } from '../load/wanted-zones.ts'
import type { Validation } from '../report/validation.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import type { RunOutput, RunSetup, WorkspaceOptions } from '../run/context/run-context.ts'
import { checkedBy } from '../run/load/check-plan.ts'
import { loadConfigOrDefault } from '../run/load/run-config.ts'
import { selectZones } from '../run/load/select-zones.ts'

export interface ValidateOptions extends WorkspaceOptions {
  /** Whether warnings fail the check, too. */
  readonly strict?: boolean | undefined
}

export interface ValidateOutput extends RunOutput {
  /** Reports the validation, and the zones that were loaded. */
  validation(validation: Validation, zones?: readonly LoadedZone[]): void
}

interface ValidateSetup extends RunSetup<ValidateOptions> {
  readonly output: ValidateOutput
}

const NOTHING: Validated = { diagnostics: [], zones: [], files: 0, records: 0 }

/** Validates the named zones, files and folders, or all definitions. */
export async function runValidate(setup: ValidateSetup, args: readonly string[]): Promise<ExitStatus> {
  const { environment, options, output } = setup
  const { config, diagnostics } = await loadConfigOrDefault(environment, options.config)
  const found = config === null ? NOTHING : await validateSelection(setup, config, args)
  const all = [...diagnostics, ...found.diagnostics]
  const figures = { files: found.files, zones: found.zones.length, records: found.records }
  const zones = found.zones.map(({ zone, owner, files, diagnostics: own }) => {
    const isOwn = (file: string): number => Number(file === zone.at.file)
    return { zone: zone.name, owner, diagnostics: own, files: [...files].sort((a, b) => isOwn(b) - isOwn(a)) }
  })
  output.validation({ figures, zones, diagnostics: all }, found.zones)
  if (hasErrors(all)) return EXIT.failure
  if (options.strict !== true || all.every(({ severity }) => severity !== 'warning')) return EXIT.done
  output.say('--strict: mend or suppress the warnings.')
  return EXIT.failure
}

/** Validates what is selected: files and folders also without a rule that matches them. */
async function validateSelection(
  { environment, options: { since, isEmptyList, policiesFrom: revision }, output }: ValidateSetup,
  config: Config,
  args: readonly string[],
): Promise<Validated> {
  const { cwd, env } = environment
  const now = environment.now()
  const known = { today: fullDateOf(now), capabilities: knownCapabilities(config) }
  const policies = await loadPolicies(config, { now, revision, env })
  const ofPolicies = policies === null ? [] : [...policies.diagnostics, ...testPolicies(policies)]
  if (since === undefined && !isEmptyList && !args.some((argument) => namesZone(argument, cwd))) {
    const paths = args.length === 0 ? undefined : args.map((path) => resolve(cwd, path))
    const loaded = await validateDefinitions(config, { paths, ...known })
    const apply = paths === undefined ? applyToAllZones : applyToZones
    const checked = policies === null ? loaded : apply(loaded, policies, now)
    return { ...checked, diagnostics: [...ofPolicies, ...checked.diagnostics] }
  }
  const selected = await selectZones(config, args, { since, isEmptyList, ...known }, environment, checkedBy(policies, now))
  for (const text of selected.notes) output.note(text)
  const { zones, diagnostics } = selected
  const records = zones.reduce((sum, { zone }) => sum + zone.records.length, 0)
  const files = new Set(zones.flatMap(({ files: own }) => own)).size
  return { zones, diagnostics: [...ofPolicies, ...diagnostics], files, records }
}

/** `plan --compare-targets`: what the targets of each zone support, before anything is written. Contacts no server and needs no secret. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { hasErrors } from '../base/diagnostic.ts'
import { misfitsOf } from '../plan/misfits.ts'
import { capabilitiesOf } from '../providers/registry.ts'
import type { ComparedTarget, TargetGroup } from '../report/target-comparison.ts'
import { EXIT, type ExitStatus } from '../run/context/exit-status.ts'
import type { RunOutput, RunSetup } from '../run/context/run-context.ts'
import { loadRunConfig } from '../run/load/run-config.ts'
import { selectZones } from '../run/load/select-zones.ts'
import { reportLoaded } from '../run/load/workspace.ts'

export interface CompareSetup extends RunSetup {
  /** The groups are null if nothing could be compared. */
  readonly output: RunOutput & { comparison(groups: readonly TargetGroup[] | null, diagnostics: readonly Diagnostic[]): void }
}

/** Compares the targets of the named zones, or of all that have more than one. */
export async function runCompareTargets(setup: CompareSetup, zones: readonly string[]): Promise<ExitStatus> {
  const { config, diagnostics: inConfig } = await loadRunConfig(setup.environment, setup.options.config)
  const diagnostics: Diagnostic[] = [...inConfig]
  const groups = new Map<string, { readonly targets: readonly ComparedTarget[]; readonly zones: TargetGroup['zones'][number][] }>()
  if (config !== null && !hasErrors(diagnostics)) {
    const loaded = await selectZones(config, zones, setup.options, setup.environment)
    for (const note of loaded.notes) setup.output.note(note)
    diagnostics.push(...loaded.diagnostics)
    for (const { zone, targets: names } of loaded.zones) {
      const targets = names.flatMap((name): ComparedTarget[] => {
        const entry = config.providers.get(name)
        const capabilities = capabilitiesOf(entry)
        return entry === undefined || capabilities === null ? [] : [{ name, type: entry.type, capabilities }]
      })
      if (zone.absent || targets.length < 2) continue
      const key = JSON.stringify(targets.map(({ name }) => name))
      const group = groups.get(key) ?? { targets, zones: [] }
      groups.set(key, group)
      group.zones.push({ zone: zone.name, misfits: targets.map(({ name, capabilities }) => misfitsOf(zone, name, capabilities)) })
    }
  }
  if (!reportLoaded(setup.output, { diagnostics })) {
    setup.output.comparison(null, diagnostics)
    return EXIT.failure
  }
  setup.output.comparison([...groups.values()], diagnostics)
  if (groups.size === 0) setup.output.say('No zone has more than one target: there is nothing to compare.')
  return EXIT.done
}

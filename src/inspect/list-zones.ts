/** The zones of a config with their files, targets and policies. Contacts no server. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { compareText } from '../base/text.ts'
import type { Config } from '../config/config.ts'
import type { ZoneView } from '../report/zone-list.ts'
import type { ProcessEnvironment, WorkspaceOptions } from '../run/context/run-context.ts'
import { removedZones } from '../run/load/removed-zones.ts'
import { selectZones } from '../run/load/select-zones.ts'

export interface ListedZones {
  readonly zones: readonly ZoneView[]
  readonly diagnostics: readonly Diagnostic[]
  /** Why fewer zones are listed. */
  readonly notes: readonly string[]
}

/** The selected zones, sorted by name and files. */
export async function listZones(
  config: Config,
  names: readonly string[],
  { target, ...options }: WorkspaceOptions,
  environment: Pick<ProcessEnvironment, 'env'>,
): Promise<ListedZones> {
  const selected = await selectZones(config, names, options, environment)
  const { zones, diagnostics, notes } = selected
  const views = zones
    .filter(({ targets }) => target === undefined || targets.includes(target))
    .map(({ zone, files, owner, targets, policy, valid }) => ({
      name: zone.name,
      absent: zone.absent,
      files,
      owner,
      targets,
      policy,
      records: zone.records.length,
      unmanaged: zone.unmanaged.length,
      valid,
    }))
  const removed = removedZones(config, selected, { ...options, target }).map(({ name, target: at, origin, hint }): Diagnostic => {
    return { severity: 'warning', code: 'zone-removed', message: `no definition describes ${name} at ${at}; ${origin}`, hint }
  })
  return {
    zones: views.sort((a, b) => compareText(a.name, b.name) || compareText(a.files.join(), b.files.join())),
    diagnostics: [...diagnostics, ...(options.since === undefined ? [] : removed)],
    notes,
  }
}

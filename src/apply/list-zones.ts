/** The zones of a config with their files, targets and policies. Contacts no server. */
import type { Config } from '../definition/config/config.ts'
import { loadDefinitions } from '../definition/load/load-definitions.ts'
import { compareText } from '../dns/compare-text.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import type { ZoneView } from '../report/zone-list.ts'

/** The named zones, or all, sorted by name and files. `target`: only those with this target. */
export async function listZones(
  config: Config,
  { zones: names, target }: { readonly zones: readonly string[]; readonly target?: string | undefined },
): Promise<{ readonly zones: readonly ZoneView[]; readonly diagnostics: readonly Diagnostic[] }> {
  const { zones, diagnostics } = await loadDefinitions(config, { zones: names })
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
  return { zones: views.sort((a, b) => compareText(a.name, b.name) || compareText(a.files.join(), b.files.join())), diagnostics }
}

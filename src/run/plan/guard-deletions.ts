/** Adds to a plan how often the names that it deletes are queried, and refuses to delete those in use. Reads nothing if nothing is deleted. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { parseUsageSource, type UsageConfig } from '../../config/usage-source.ts'
import type { Allowance } from '../../dns/zone.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import { type PlannedZone, type PlannedZones, withDiagnostics } from '../../plan/planned-zone.ts'
import { deletedRrsets, type Usage, withUsage } from '../../plan/usage.ts'
import type { RunContext } from '../context/run-context.ts'

/** The zones with the usage of what they delete. `allowanceOf` returns what is lifted for a zone. */
export const guardDeletions = <Zone extends PlannedZone, Planned extends PlannedZones<Zone>>(
  context: RunContext,
  planned: Planned & PlannedZones<Zone>,
  allowanceOf: (zone: Zone) => ReadonlySet<Allowance>,
  signal?: AbortSignal,
): Promise<Planned> =>
  guard(context, planned, signal, (zone, usage, inUse) => withUsage(zone.plan, zone.existing, usage, { inUse, allow: allowanceOf(zone) }))

/**
 * Checks the deletions of a saved plan again, with what was allowed when it was made. If no source can be read, what the plan says about its deletions
 * stays, unless its counts ended longer ago than names are in use.
 */
export const guardSavedDeletions = <Planned extends PlannedZones>(
  context: RunContext,
  planned: Planned,
  signal?: AbortSignal,
): Promise<Planned> =>
  guard(context, planned, signal, ({ plan, existing }, usage, inUse) => {
    const { usage: recorded, ...rest } = plan
    const allow = new Set((recorded?.deletions ?? []).flatMap(({ name, allowed }): Allowance[] => (allowed ? [`in-use:${name}`] : [])))
    const bare = { ...rest, refusals: plan.refusals.filter(({ name }) => name !== 'in-use') }
    const again = withUsage(bare, existing, usage, { inUse, allow })
    const isRefused = (state: string): boolean => again.usage?.deletions.some((one) => one.state === state && !one.allowed) ?? false
    const isRecent = recorded?.to != null && context.environment.now().getTime() - Date.parse(recorded.to) <= inUse * 1000
    return isRecent && isRefused('unknown') && !isRefused('in-use') ? plan : again
  })

async function guard<Zone extends PlannedZone, Planned extends PlannedZones<Zone>>(
  context: RunContext,
  planned: Planned & PlannedZones<Zone>,
  signal: AbortSignal | undefined,
  check: (zone: Zone, usage: Usage, inUse: number) => ZonePlan,
): Promise<Planned> {
  const settings = usageSettings(context)
  if (settings.sources.length === 0) return planned
  const deleting = planned.zones.filter(
    ({ plan, existing }) => existing !== null && deletedRrsets(plan.changes, existing.records).length > 0,
  )
  if (deleting.length === 0) return planned
  const { readUsage } = await import('./read-usage.ts')
  const usage = await readUsage(settings, new Set(deleting.map(({ plan }) => plan.zone)), context.environment, signal)
  const zones = planned.zones.map((zone) => ({ ...zone, plan: check(zone, usage, settings.inUse) }))
  return withDiagnostics({ ...planned, zones }, usage.problem === null ? [] : [incomplete(usage.problem)])
}

const incomplete = (problem: string): Diagnostic => ({
  severity: 'warning',
  code: 'usage-incomplete',
  message: `it is unknown whether names to delete are still queried: ${problem}`,
  hint: 'mend the source; --allow in-use deletes the names all the same',
})

/** The sources of `--usage`, otherwise those of the config. */
function usageSettings({ options, workspace, environment: { cwd } }: RunContext): UsageConfig {
  const { sources, inUse } = workspace.config?.usage ?? { sources: [], inUse: 0 }
  const given = options.usage ?? []
  if (given.length === 0) return { sources, inUse }
  return {
    inUse,
    sources: given.flatMap((text) => {
      const source = parseUsageSource(text, cwd, cwd)
      return source.ok ? [source.value] : []
    }),
  }
}

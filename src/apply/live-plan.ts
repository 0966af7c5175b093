/** Plans the zones of a run from what their targets and sources hold. */
import { expiryWarnings } from '../definition/rules/expiry.ts'
import { type FullDate, fullDateOf } from '../dns/ownership.ts'
import type { Plan, ZonePlan } from '../plan/plan.ts'
import { type Fences, planFence, storedTtlsOf } from './journal/store/fences.ts'
import { openStore } from './journal/store/open-store.ts'
import { type PlannedRun, type PlannedZone, planZones } from './plan-zones.ts'
import { type RunContext, withProgress } from './run-context.ts'
import { withoutSecrets } from './secrets-in-plan.ts'
import type { RunSources } from './sources/fill-job.ts'
import { createSourceReader, hasSources } from './sources/read-sources.ts'

/**
 * Reads the zones of a run from their targets and plans them, without secrets. The `fences` were read before. Unless `countsReads` is false, reads of the
 * sources of the zones count.
 */
export const makePlan = (context: RunContext, signal?: AbortSignal, fences?: Fences | null, countsReads = true): Promise<PlannedRun> =>
  withProgress(context.output, async (onProgress) => {
    const { providers, now, tool, secrets, nameRemoved } = context
    const jobs =
      fences === undefined
        ? context.jobs
        : context.jobs.map((job) => ({ ...job, storedTtls: storedTtlsOf(fences, { zone: job.desired.name, target: job.target }) }))
    const sources = openSources(context, countsReads, signal)
    const [read, removed = []] = await Promise.all([
      planZones(jobs, { providers, now: now(), tool, signal, onProgress, sources }),
      nameRemoved?.({ signal }),
    ])
    const planned = fences === undefined ? read : withFences(read, fences)
    const zones = withExpiryWarnings(planned.zones, fullDateOf(now()))
    const diagnostics = [...planned.plan.diagnostics, ...removed]
    await sources?.store?.then(
      (store) => store.close(),
      () => undefined,
    )
    const plan = { ...planned.plan, zones: zones.map((zone) => zone.plan), diagnostics }
    return withoutSecrets({ ...planned, zones, plan }, secrets)
  })

const withExpiryWarnings = (zones: readonly PlannedZone[], today: FullDate): PlannedZone[] =>
  zones.map((zone) => ({
    ...zone,
    plan: { ...zone.plan, diagnostics: [...zone.plan.diagnostics, ...expiryWarnings(zone.job.desired, today)] },
  }))

/** The plan with the fences of the zones that it changes; null for those that could not be read. */
export function withFences<Planned extends { readonly plan: Plan; readonly zones: readonly { readonly plan: ZonePlan }[] }>(
  planned: Planned,
  fences: Fences | null,
): Planned {
  const { plan, zones } = planned
  const fenced = zones.map((zone) =>
    zone.plan.changes.length === 0 ? zone : { ...zone, plan: { ...zone.plan, fence: fences && planFence(fences, zone.plan) } },
  )
  return { ...planned, plan: { ...plan, zones: fenced.map((zone) => zone.plan) }, zones: fenced }
}

/** The sources of the zones of a run; undefined if they have none. */
function openSources(context: RunContext, counts: boolean, signal: AbortSignal | undefined): RunSources | undefined {
  const { jobs, providers, isOffline = false, now } = context
  if (!jobs.some(({ desired }) => hasSources(desired))) return undefined
  const store = isOffline ? null : openStore(context)
  store?.catch(() => undefined)
  return { reader: createSourceReader(jobs, providers, signal), store, counts, now }
}

/** The plan with what the providers would do besides its changes, as diagnostics that belong to no zone. */
export async function withPreview(
  { providers, options, config }: Pick<RunContext, 'providers' | 'options' | 'config'>,
  planned: PlannedRun,
  signal?: AbortSignal,
): Promise<PlannedRun> {
  const call = { signal, mayRemoveZones: mayRemoveZones({ options, config }) }
  const found = await Promise.all([...providers.values()].map((provider) => provider.previewCompletion?.(call)))
  const diagnostics = [...planned.plan.diagnostics, ...found.flatMap((one) => one ?? [])]
  return { ...planned, plan: { ...planned.plan, diagnostics } }
}

/**
 * Whether a run may remove zones from lists. That deletes their copies, as a deletion of the zones does. No plan has it, so if changes need approvals, nobody can have
 * approved it.
 */
export const mayRemoveZones = ({ options, config }: Pick<RunContext, 'options' | 'config'>): boolean =>
  (options.allow?.includes('delete-zone') ?? false) && !config?.approvals

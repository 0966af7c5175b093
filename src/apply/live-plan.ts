/** Plans the zones of a run from what their targets and sources hold. */
import { expiryWarnings } from '../definition/rules/expiry.ts'
import { fullDateOf } from '../dns/ownership.ts'
import { type Fences, planFence, storedTtlsOf } from './journal/store/fences.ts'
import { openStore } from './journal/store/open-store.ts'
import { storeContext } from './journal/store/store-context.ts'
import { type PlannedJobs, planZones } from './plan-zones.ts'
import { hasChanges, type PlannedZone, withDiagnostics, withZoneDiagnostics } from './planned-zone.ts'
import { type RunContext, withProgress } from './run-context.ts'
import type { RunSources } from './sources/fill-job.ts'
import { createSourceReader, hasSources } from './sources/read-sources.ts'

/** Reads the zones of a run from their targets and plans them. The `fences` were read before. Unless `countsReads` is false, reads of the sources of the zones count. */
export const makePlan = (context: RunContext, signal?: AbortSignal, fences?: Fences | null, countsReads = true): Promise<PlannedJobs> =>
  withProgress(context.output, async (onProgress) => {
    const { now, tool } = context.environment
    const { providers, nameRemoved } = context.workspace
    const jobs =
      fences === undefined
        ? context.workspace.jobs
        : context.workspace.jobs.map((job) => ({
            ...job,
            storedTtls: storedTtlsOf(fences, { zone: job.desired.name, target: job.target }),
          }))
    const sources = openSources(context, countsReads, signal)
    const [read, removed = []] = await Promise.all([
      planZones(jobs, { providers, now: now(), tool, signal, onProgress, sources }),
      nameRemoved?.({ signal }),
    ])
    const today = fullDateOf(now())
    const zones = read.zones.map((zone) => {
      const fenced = fences === undefined ? zone : withFence(zone, fences)
      return withZoneDiagnostics(fenced, expiryWarnings(zone.job.desired, today))
    })
    await sources?.store?.then(
      (store) => store.close(),
      () => undefined,
    )
    return withDiagnostics({ ...read, zones }, removed)
  })

/** The zone with its fence if it has changes; with null if the fences could not be read. */
export const withFence = <Zone extends PlannedZone>(zone: Zone, fences: Fences | null): Zone =>
  hasChanges(zone) ? { ...zone, plan: { ...zone.plan, fence: fences && planFence(fences, zone.plan) } } : zone

/** The sources of the zones of a run; undefined if they have none. */
function openSources(context: RunContext, counts: boolean, signal: AbortSignal | undefined): RunSources | undefined {
  const { jobs, providers, isOffline = false } = context.workspace
  if (!jobs.some(({ desired }) => hasSources(desired))) return undefined
  const store = isOffline ? null : openStore(storeContext(context))
  store?.catch(() => undefined)
  return { reader: createSourceReader(jobs, providers, signal), store, counts, now: context.environment.now }
}

/** The plan with what the providers would do besides its changes, as diagnostics that belong to no zone. */
export async function withPreview(context: RunContext, planned: PlannedJobs, signal?: AbortSignal): Promise<PlannedJobs> {
  const call = { signal, mayRemoveZones: mayRemoveZones(context) }
  const found = await Promise.all([...context.workspace.providers.values()].map((provider) => provider.previewCompletion?.(call)))
  return withDiagnostics(
    planned,
    found.flatMap((one) => one ?? []),
  )
}

/**
 * Whether a run may remove zones from lists. That deletes their copies, as a deletion of the zones does. No plan has it, so if changes need approvals, nobody can have
 * approved it.
 */
export const mayRemoveZones = ({ options, workspace }: RunContext): boolean =>
  (options.allow?.includes('delete-zone') ?? false) && !workspace.config?.approvals

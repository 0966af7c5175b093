/** Reads zones from their targets and plans them. */
import { setImmediate } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { append, groupBy } from '../../base/group-by.ts'
import { compareText } from '../../base/text.ts'
import { expiryWarnings } from '../../checks/rules/expiry.ts'
import { fullDateOf } from '../../dns/ownership.ts'
import { lowestTtl } from '../../plan/changesets.ts'
import { makeZonePlan } from '../../plan/make-plan.ts'
import { type ApexNsTarget, apexNsOfTargets, withApexNs } from '../../plan/merge-apex-ns.ts'
import {
  hasChanges,
  type PlannedZone,
  type PlannedZones,
  withDiagnostics,
  withZoneDiagnostics,
  type ZoneJob,
} from '../../plan/planned-zone.ts'
import {
  diagnosticOf,
  type Provider,
  ProviderError,
  type RenderedComparison,
  type RenderedFile,
  type ZoneReference,
} from '../../providers/provider.ts'
import { type Fences, planFence, storedTtlsOf } from '../../stored/store/fences.ts'
import { openStore, storeContext } from '../../stored/store/open-store.ts'
import { type OnProgress, type RunContext, withProgress } from '../context/run-context.ts'
import { type FilledJob, fillJob, type SourceAccess } from '../read/fill-job.ts'
import { type OpenedZones, openZones, type ZoneReading } from '../read/open-zones.ts'
import { createSourceReader, hasSources } from '../read/read-sources.ts'
import { compareRendered, NOT_RENDERED } from '../read/rendered-state.ts'

/** Zones read concurrently. Each provider limits its requests itself; this limits the memory of unfinished reads. */
const ZONES_AT_ONCE = 16

interface PlanningOptions {
  readonly providers: ReadonlyMap<string, Provider>
  /** The time of the plan. */
  readonly now: Date
  /** Program and version, for the plan. */
  readonly tool: string
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: OnProgress | undefined
  /** The sources of the zones; absent if no zone has any. */
  readonly sources?: SourceAccess | undefined
}

/** A zone that was read and planned for a job. */
export interface PlannedJob extends ZoneReading, PlannedZone {
  readonly job: ZoneJob
  readonly existing: ZoneReading['existing']
  readonly rendered: RenderedComparison
  /** What its sources gave, if it has any. */
  readonly filled?: Omit<FilledJob, 'job'> | undefined
}

export interface PlannedJobs extends PlannedZones<PlannedJob> {
  readonly sources?: SourceAccess | undefined
}

/** Reads and plans the zone of every job. A zone that cannot be read is left out, with an error. */
export async function planZones(jobs: readonly ZoneJob[], options: PlanningOptions): Promise<PlannedJobs> {
  const diagnostics: Diagnostic[] = []
  const limit = pLimit(ZONES_AT_ONCE)
  let done = 0
  const perTarget = await Promise.all(
    [...groupBy(jobs, ({ target }) => target)].map(async ([target, targetJobs]) => {
      const provider = options.providers.get(target)
      if (!provider) throw new Error(`no provider ${target}`)
      const zones = await open(provider, targetJobs, options, diagnostics)
      if (zones === null) return []
      const reading: TargetReading = { provider, zones, failure: null }
      const planOne = async (job: ZoneJob): Promise<PlannedJob | null> => {
        const planned = await planZone(job, reading, options, diagnostics)
        done += 1
        options.onProgress?.({ phase: 'reading', done, total: jobs.length })
        return planned
      }
      // Without a look-up, the first read shows whether the target can be read at all.
      const [first, ...others] = zones.references === null ? targetJobs : [undefined, ...targetJobs]
      const begun = first === undefined ? [] : [await limit(() => planOne(first))]
      // What the look-up of the zones would have shown is one error, too.
      if (reading.failure !== null && reading.failure.code !== 'provider-timeout') return []
      return [...begun, ...(await Promise.all(others.map((job) => limit(() => planOne(job as ZoneJob)))))]
    }),
  )
  const read = perTarget.flat().filter((planned) => planned !== null)
  // A removed zone that does not exist needs no deletion.
  const zones = mergeTargets(read, options.providers).filter(({ job, plan }) => !job.isRemoved || plan.exists)
  zones.sort((a, b) => compareText(a.plan.zone, b.plan.zone) || compareText(a.plan.target, b.plan.target))
  return { created: options.now.toISOString(), tool: options.tool, zones, diagnostics, sources: options.sources }
}

/** Null after an error. */
async function open(
  provider: Provider,
  jobs: readonly ZoneJob[],
  { signal }: PlanningOptions,
  diagnostics: Diagnostic[],
): Promise<OpenedZones | null> {
  try {
    return await openZones(
      provider,
      jobs.map((job) => job.desired.name),
      { signal },
    )
  } catch (error) {
    diagnostics.push(diagnosticOf(error))
    return null
  }
}

/** One target while its zones are read. */
interface TargetReading {
  readonly provider: Provider
  readonly zones: OpenedZones
  /** The error after which no further zone is read, since each read would fail as well. */
  failure: Diagnostic | null
}

const UNRESPONSIVE: ReadonlySet<string> = new Set(['provider-timeout', 'provider-unreachable'])

/** Whether the error concerns all zones of a target. A name server may refuse single zones; a service refuses the token with status 401. */
const isOfTarget = (error: unknown): boolean => error instanceof ProviderError && (UNRESPONSIVE.has(error.code) || error.status === '401')

async function planZone(
  job: ZoneJob,
  reading: TargetReading,
  options: PlanningOptions,
  diagnostics: Diagnostic[],
): Promise<PlannedJob | null> {
  const { provider, zones, failure } = reading
  // Planning leaves no room for signals: they are noticed between zones.
  await setImmediate()
  if (failure !== null || options.signal?.aborted) {
    const ofTarget = failure !== null && UNRESPONSIVE.has(failure.code) ? 'the target does not respond' : 'the target refuses the token'
    const why = failure === null ? 'the run was stopped' : ofTarget
    const message = `${provider.name}: ${job.desired.name} was not read, since ${why}`
    diagnostics.push({ severity: 'error', code: failure?.code ?? 'provider-stopped', message, at: job.desired.at })
    return null
  }
  try {
    return await readAndPlan(job, provider, zones, options.signal, options.sources)
  } catch (error) {
    const problem = diagnosticOf(error)
    if (isOfTarget(error)) reading.failure = problem
    // Without a look-up, the first read fails in its place: that is not about the zone.
    diagnostics.push(reading.failure === problem && zones.references === null ? problem : { ...problem, at: job.desired.at })
    return null
  }
}

/** Reads the records and the rendered file of a zone concurrently, and plans the zone. */
export async function readAndPlan(
  job: ZoneJob,
  provider: Provider,
  zones: OpenedZones,
  signal: AbortSignal | undefined,
  sources?: SourceAccess,
): Promise<PlannedJob> {
  const { desired } = job
  // Records may be added after the read: those of other targets at the apex, of sources, and of a cutover, which reads with an empty definition.
  const mayGrow = desired.apexNs === 'all-targets' || desired.records.length === 0 || hasSources(desired)
  const lowest = mayGrow ? undefined : (lowestTtl(desired.records) ?? Number.POSITIVE_INFINITY)
  const known = zones.references?.get(desired.name)
  const [reading, file] = await Promise.all([
    zones.read(desired.name, { signal, lowestTtl: lowest }),
    known === undefined ? NO_FILE : readRendered(job, provider, known, signal),
  ])
  const { existing } = reading
  const compared = existing === null ? NOT_RENDERED : (existing.rendered ?? compareRendered(file.rendered, existing))
  // A target without apex NS records of its own adds none, also without a rendered file.
  const addsNone = existing !== null && !provider.capabilities.servesApexNs
  const rendered = { ...compared, providerApexNs: compared.providerApexNs ?? existing?.ownApexNs ?? (addsNone ? [] : null) }
  const { job: ready, ...filled } = sources === undefined ? { job } : await fillJob(job, existing, sources)
  const planned = planAgain({ job: ready, ...reading, rendered, ...('sourceState' in filled && { filled }) }, provider)
  return withZoneDiagnostics(planned, file.diagnostics)
}

/** Plans a zone for a job from what was read. */
export function planAgain(zone: Omit<PlannedJob, 'plan'>, provider: Provider): PlannedJob {
  const { job, reference, existing, readAt, rendered, filled } = zone
  const plan = makeZonePlan({
    desired: job.desired,
    existing,
    target: provider.name,
    capabilities: provider.capabilities,
    policy: job.policy,
    thresholds: job.thresholds,
    prefer: job.prefer,
    allow: job.allow,
    rendered: rendered.state,
    servedApexNs: rendered.providerApexNs,
    readOnly: existing?.readOnly,
    storedTtls: job.storedTtls,
  })
  const warnings = (existing?.warnings ?? []).map((warning) => ({ ...warning, at: job.desired.at }))
  const owner = job.owner === undefined ? {} : { owner: job.owner }
  const quarantine = filled === undefined || filled.quarantine.length === 0 ? {} : { quarantine: filled.quarantine }
  const ofPlan = plan.diagnostics.filter(({ code }) => code !== 'policy-kept' || !job.isPartial)
  const diagnostics = [...ofPlan, ...(filled?.diagnostics ?? []), ...warnings]
  return { job, reference, existing, readAt, rendered, plan: { ...plan, ...owner, ...quarantine, diagnostics }, filled }
}

interface RenderedReading {
  readonly rendered: RenderedFile | null
  readonly diagnostics: readonly Diagnostic[]
}

const NO_FILE: RenderedReading = { rendered: null, diagnostics: [] }

/** No change depends on the rendered file, so an error is only a warning. */
async function readRendered(
  job: ZoneJob,
  provider: Provider,
  reference: ZoneReference,
  signal: AbortSignal | undefined,
): Promise<RenderedReading> {
  try {
    return { rendered: (await provider.readRendered?.(reference, { signal })) ?? null, diagnostics: [] }
  } catch (error) {
    const { message, hint } = diagnosticOf(error)
    return { rendered: null, diagnostics: [{ severity: 'warning', code: 'rendered-unavailable', message, hint, at: job.desired.at }] }
  }
}

/** The planned zones, those with `apex_ns: all-targets` with the apex NS records of all targets that the run has read. */
export function mergeTargets(zones: readonly PlannedJob[], providers: ReadonlyMap<string, Provider>): readonly PlannedJob[] {
  const groups = new Map<string, PlannedJob[]>()
  for (const zone of zones) {
    const { desired } = zone.job
    if (desired.apexNs !== 'all-targets' || desired.absent || isSlave(zone)) continue
    // A zone may be defined more than once (split horizon): its definitions have nothing in common.
    const key = `${desired.name} ${desired.at.file} ${desired.at.line}`
    append(groups, key, zone)
  }
  if (groups.size === 0) return zones
  const merged = new Map([...groups.values()].flatMap((group) => mergeGroup(group, providers)))
  return zones.map((zone) => merged.get(zone) ?? zone)
}

const isSlave = ({ job, existing }: PlannedJob): boolean => (job.desired.settings.type ?? existing?.settings.type) === 'slave'

function mergeGroup(
  group: readonly PlannedJob[],
  providers: ReadonlyMap<string, Provider>,
): (readonly [before: PlannedJob, after: PlannedJob])[] {
  const sides = group.flatMap((zone) => {
    const provider = providers.get(zone.job.target)
    return provider === undefined ? [] : [{ zone, provider, own: targetOf(zone, provider) }]
  })
  const [first] = sides
  if (first === undefined) return []
  const names = apexNsOfTargets(
    first.zone.job.desired,
    sides.map(({ own }) => own),
  )
  return sides.map(({ zone, provider, own }) => {
    const { desired, diagnostics } = withApexNs(zone.job.desired, own, names)
    const again = planAgain({ ...zone, job: { ...zone.job, desired } }, provider)
    // A failure to read the rendered file is known only from the first plan.
    const ofReading = zone.plan.diagnostics.filter(({ code }) => code === 'rendered-unavailable')
    return [zone, withZoneDiagnostics(again, [...ofReading, ...diagnostics])] as const
  })
}

const targetOf = ({ job, existing, rendered }: PlannedJob, { capabilities }: Provider): ApexNsTarget => ({
  target: job.target,
  capabilities,
  existing,
  servedApexNs: rendered.providerApexNs,
})

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
      return withZoneDiagnostics(fenced, [
        ...expiryWarnings(zone.job.desired, today),
        ...causedWarnings(zone, context.workspace.diagnostics),
      ])
    })
    await sources?.store?.then(
      (store) => store.close(),
      () => undefined,
    )
    return withDiagnostics({ ...read, zones }, removed)
  })

/** The warnings about targets without records that the changes of a zone cause: they add the record that points there, or remove the target. */
function causedWarnings({ plan }: PlannedJob, diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const found = diagnostics.filter(({ code }) => code === 'target-nonexistent')
  if (found.length === 0) return []
  const changed = new Set(plan.changes.flatMap(({ name, type }) => [name, `${name} ${type}`]))
  return found.filter(({ message }) => {
    const [, record = '', target = ''] = /^(\S+ \S+) points to (\S+), /.exec(message) ?? []
    return changed.has(record) || changed.has(target)
  })
}

/** The zone with its fence if it has changes; with null if the fences could not be read. */
export const withFence = <Zone extends PlannedZone>(zone: Zone, fences: Fences | null): Zone =>
  hasChanges(zone) ? { ...zone, plan: { ...zone.plan, fence: fences && planFence(fences, zone.plan) } } : zone

/** The sources of the zones of a run; undefined if they have none. */
function openSources(context: RunContext, counts: boolean, signal: AbortSignal | undefined): SourceAccess | undefined {
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

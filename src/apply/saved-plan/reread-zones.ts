/** Reads zones again before a saved plan, or a plan that was reviewed for long, is applied. Compares them with the state that the plan was made from. */
import pLimit from 'p-limit'
import { type Diagnostic, isError } from '../../dns/diagnostic.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import type { ExistingZone } from '../../dns/zone.ts'
import type { ZonePlan } from '../../plan/plan.ts'
import type { Provider, ZoneReference, ZoneSnapshot } from '../../providers/provider.ts'
import { diagnosticOf } from '../../providers/provider.ts'
import type { ApplicableZone, ChangesToMake } from '../apply-zones.ts'
import { movingZones } from '../cutover/moving-zones.ts'
import { outdatedPlan } from '../journal/store/fences.ts'
import type { LockedRun } from '../locked-run.ts'
import type { PlannedZone, PlannedZones } from '../planned-zone.ts'
import { type ApplyContext, type OnProgress, type SupersededZones, withProgress } from '../run-context.ts'
import { isAsPlanned, type MovedState, movedState, obstructiveUnmanagedRecords } from './moved-state.ts'
import type { SavedPlan } from './saved-plan.ts'

/** Zones read concurrently. Each provider limits its requests itself. */
const ZONES_AT_ONCE = 16

/** Differences listed per zone. */
const SHOWN = 20

/** Milliseconds after which a zone is read again before it is changed. */
const LONG_PAUSE = 30_000

/**
 * Reads the zones of a saved plan. A zone that has changed since the plan was made gets an error in its plan, and so does one that another run has changed or a
 * cutover is moving, whatever it looks like.
 */
export async function rereadSavedPlan(context: ApplyContext, saved: SavedPlan, { fences }: LockedRun): Promise<ChangesToMake> {
  const isShared = context.workspace.config?.journalStore.isShared ?? false
  const made = saved.snapshot?.created ?? saved.created
  const plans = saved.zones.map(({ plan }) => plan)
  const outdated = new Map<ZonePlan, Diagnostic>(await movingZones(context.workspace.journal, plans))
  for (const plan of plans) {
    const problem = plan.changes.length === 0 ? null : outdatedPlan(fences, { isShared }, plan, made)
    if (problem !== null) outdated.set(plan, problem)
  }
  return { ...(await reread(context, saved, `the plan was made (${saved.created})`, outdated)), isSaved: true }
}

/** Reads the zones of a plan again that waited for consent for `pause` milliseconds. After a short pause, returns the plan itself. */
export const rereadAfterPause = async (context: ApplyContext, planned: ChangesToMake, pause: number): Promise<ChangesToMake> =>
  pause <= LONG_PAUSE ? planned : reread(context, planned, 'it was read for this plan')

async function reread<Planned extends PlannedZones>(
  context: ApplyContext,
  planned: Planned,
  since: string,
  outdated: ReadonlyMap<ZonePlan, Diagnostic> = new Map(),
): Promise<Planned & PlannedZones<ApplicableZone>> {
  const { output, environment, workspace } = context
  const superseded = await environment.superseded?.()
  return withProgress(output, async (onProgress) => {
    const read = await rereadZones(planned.zones, {
      providers: workspace.providers,
      since,
      superseded,
      outdated,
      signal: environment.interruption.signal,
      onProgress,
    })
    output.diagnostics(read.diagnostics, { also: 'with-zones' })
    return { ...planned, zones: read.zones }
  })
}

interface Reread {
  readonly providers: ReadonlyMap<string, Provider>
  /** When the plans were made, worded to follow "has changed since". */
  readonly since: string
  readonly superseded: SupersededZones | undefined
  /** The plans that another run has made useless, or a cutover for now. */
  readonly outdated: ReadonlyMap<ZonePlan, Diagnostic>
  readonly signal: AbortSignal
  readonly onProgress: OnProgress
}

interface RereadZones {
  /** In the order of the plans. The plan of a zone that has changed or could not be read has an error. */
  readonly zones: readonly ApplicableZone[]
  /** The findings of all zones. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the zones that the plans change. */
async function rereadZones(zones: readonly PlannedZone[], run: Reread): Promise<RereadZones> {
  const pending = zones.filter(({ plan }) => plan.changes.length > 0)
  const references = await findReferences(pending, run)
  const limit = pLimit(ZONES_AT_ONCE)
  let done = 0
  const found = new Set<Diagnostic>()
  const read = await Promise.all(
    zones.map((zone) =>
      zone.plan.changes.length === 0
        ? { plan: zone.plan, reference: null, existing: null }
        : limit(async () => {
            const { diagnostics, ...applicable } = await rereadZone(zone, references.get(zone.plan.target), run)
            done += 1
            run.onProgress({ phase: 'reading', done, total: pending.length })
            for (const diagnostic of diagnostics) found.add(diagnostic)
            return diagnostics.length === 0 ? applicable : { ...applicable, plan: refusedPlan(zone.plan, diagnostics) }
          }),
    ),
  )
  return { zones: read, diagnostics: [...found] }
}

const refusedPlan = (plan: ZonePlan, found: readonly Diagnostic[]): ZonePlan => ({
  ...plan,
  refused: found.filter(isError).every(({ code }) => code === 'plan-stale' || code === 'plan-outdated') ? 'moved' : 'unread',
  diagnostics: [...plan.diagnostics, ...found],
})

type References = ReadonlyMap<DomainName, ZoneReference> | Diagnostic

/** The zones of each target, or the error of the request. */
async function findReferences(zones: readonly PlannedZone[], { providers, signal }: Reread): Promise<ReadonlyMap<string, References>> {
  const targets = [...new Set(zones.map(({ plan }) => plan.target))]
  const entries = targets.map(async (target): Promise<readonly [string, References]> => {
    const names = zones.filter(({ plan }) => plan.target === target).map(({ plan }) => plan.zone)
    try {
      return [target, await providerOf(providers, target).findZones(names, { signal })]
    } catch (error) {
      return [target, diagnosticOf(error)]
    }
  })
  return new Map(await Promise.all(entries))
}

function providerOf(providers: Reread['providers'], target: string): Provider {
  const provider = providers.get(target)
  if (!provider) throw new Error(`no provider ${target}`)
  return provider
}

async function rereadZone(
  { plan, existing }: PlannedZone,
  references: References | undefined,
  run: Reread,
): Promise<ApplicableZone & { readonly diagnostics: readonly Diagnostic[] }> {
  const notRead = (problem: Diagnostic) => ({ plan, reference: null, existing: null, diagnostics: [problem] })
  if (run.superseded?.names.has(plan.zone)) return notRead(supersededDiagnostic(plan, run.superseded))
  if (references === undefined) throw new Error(`no zones of ${plan.target}`)
  if (!(references instanceof Map)) return notRead(references as Diagnostic)
  const reference = references.get(plan.zone) ?? null
  try {
    const provider = providerOf(run.providers, plan.target)
    const readAt = performance.now()
    const live = reference && (await provider.readZone(reference, { signal: run.signal }))
    const moved =
      movedState(existing, live, unmanagedTest(plan.unmanaged ?? [], plan.zone, { live: [existing, live] })) ??
      obstructiveUnmanagedRecords(plan, existing, live, provider.capabilities)
    const outdated = run.outdated.get(plan)
    if (moved === null && outdated !== undefined) return notRead(outdated)
    if (moved === null) return { plan: recounted(plan, live), reference, existing: live, readAt, diagnostics: [] }
    return {
      plan,
      reference,
      existing: live,
      diagnostics: [...staleDiagnostics(plan, existing, live, moved, run.since), ...noticeOf(outdated)],
    }
  } catch (error) {
    return notRead(diagnosticOf(error))
  }
}

/** Names the run that has changed the zone, beside what has changed. */
const noticeOf = (outdated: Diagnostic | undefined): Diagnostic[] =>
  outdated === undefined ? [] : [{ severity: 'notice', code: 'plan-stale', message: outdated.message }]

/** Updates the record counts of a plan whose zone has not changed: the number of unmanaged records may have. */
function recounted(plan: ZonePlan, live: ExistingZone | null): ZonePlan {
  const { records } = plan
  const more = live === null ? 0 : live.records.length - records.existing
  return more === 0 ? plan : { ...plan, records: { ...records, existing: records.existing + more, unmanaged: records.unmanaged + more } }
}

const supersededDiagnostic = ({ zone }: ZonePlan, { branch }: SupersededZones): Diagnostic => ({
  severity: 'error',
  code: 'plan-stale',
  message: `the definition of ${zone} has changed since the plan was made: a later commit on ${branch} describes the zone otherwise`,
  hint: 'the job of the later commit plans and applies it',
})

/** An error, and a notice for each of the first differences. */
function staleDiagnostics(
  plan: ZonePlan,
  before: ExistingZone | null,
  live: ZoneSnapshot | null,
  { summary, details }: MovedState,
  since: string,
): Diagnostic[] {
  const about = `${plan.zone} at ${plan.target}`
  const done = isAsPlanned(plan, before, live)
  return [
    {
      severity: 'error',
      code: 'plan-stale',
      message: `${about} has changed since ${since}: ${summary}${details.length > SHOWN ? `; the first ${SHOWN} differences are shown` : ''}`,
      hint: done ? 'the zone already is as planned: the plan has been applied' : 'plan again and review the changes',
    },
    ...details.slice(0, SHOWN).map((detail): Diagnostic => ({ severity: 'notice', code: 'plan-stale', message: `${about}: ${detail}` })),
  ]
}

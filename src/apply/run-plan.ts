/** `plan`: load, read, plan, report; and save the plan if a file is named. */
import { expiryWarnings } from '../definition/rules/expiry.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import { type FullDate, fullDateOf } from '../dns/ownership.ts'
import type { Plan, ZonePlan } from '../plan/plan.ts'
import { checkPlan } from './check-plan.ts'
import { EXIT, type ExitStatus, statusOfPlan, worstOf } from './exit-status.ts'
import { findUndescribed, noticesOfUndescribed, type UndescribedZones } from './held-zones.ts'
import { type Fences, planFence, readFences } from './journal/store/fences.ts'
import { type JournalStore, StoreError } from './journal/store/journal-store.ts'
import { openStore } from './journal/store/open-store.ts'
import { type PlannedRun, type PlannedZone, planZones } from './plan-zones.ts'
import {
  isGithubReport,
  isTextReport,
  type PlanOptions,
  type RunContext,
  type RunSetup,
  statusOfLeftOut,
  withLeftOut,
  withProgress,
} from './run-context.ts'
import { withoutSecrets } from './secrets-in-plan.ts'
import type { SnapshotSourceOptions, SnapshotWorkspace } from './snapshot/snapshot-source.ts'
import type { RunSources } from './sources/fill-job.ts'
import { createSourceReader, hasSources } from './sources/read-sources.ts'
import { guardDeletions } from './usage/guard-deletions.ts'
import { NOT_OPENED, openWorkspace, reportLoaded } from './workspace.ts'

export interface PlanRunOptions extends SnapshotSourceOptions {
  /** The git revision whose plan is subtracted. */
  readonly base?: string | undefined
  /** Whether pending changes have their own exit status. */
  readonly detailedExitcode?: boolean | undefined
  /** The file to save the plan to. */
  readonly out?: string | undefined
}

/** Shows what an apply would change. */
export async function runPlan(setup: RunSetup<PlanRunOptions>, zones: readonly string[]): Promise<ExitStatus> {
  const context = { ...setup, ...(await openForPlan(setup, zones)) }
  const { options, output } = context
  try {
    if (!reportLoaded(context)) {
      reportEmptyPlan(context, context.diagnostics)
      if (options.out !== undefined) output.say(`${options.out} was not written.`)
      return EXIT.failure
    }
    // A plan from a snapshot contacts nothing.
    const { fences, problems } = options.snapshot === undefined ? await fencesForPlan(context) : { fences: undefined, problems: [] }
    const [live, undescribed] = await Promise.all([makePlan(context, undefined, fences), findUndescribed(context)])
    const made = await withPreview(context, live)
    const warned = { ...made, plan: { ...made.plan, diagnostics: [...problems, ...made.plan.diagnostics] } }
    const effect = withUndescribed(context, await lessBase(context, context.mark(warned)), undescribed)
    // Its deletions are checked when it is applied, unless sources are given.
    const isGuarded = options.snapshot === undefined || (options.usage ?? []).length > 0
    const guarded = isGuarded ? await guardDeletions(context, effect, ({ job }) => job.allow) : effect
    const planned = await checkPlan(context, guarded)
    reportPlanDiagnostics(context, planned.plan)
    output.plan(withLeftOut(planned.plan, context), options.format)
    const isSaved = options.out === undefined || (await save(context, options.out, planned))
    const isPending = planned.plan.zones.some((zone) => zone.changes.length > 0)
    return worstOf([
      statusOfPlan(planned.plan),
      statusOfLeftOut(context),
      isSaved ? EXIT.done : EXIT.failure,
      options.detailedExitcode && isPending ? EXIT.pending : EXIT.done,
    ])
  } finally {
    await context.close()
  }
}

function withUndescribed(context: RunContext, planned: PlannedRun, found: readonly UndescribedZones[]): PlannedRun {
  const { diagnostics } = planned.plan
  return { ...planned, plan: { ...planned.plan, diagnostics: [...diagnostics, ...noticesOfUndescribed(found, context, diagnostics)] } }
}

/** With `--base`, only what the branch changes. */
async function lessBase(context: RunContext<PlanRunOptions>, planned: PlannedRun): Promise<PlannedRun> {
  const { base } = context.options
  if (base === undefined) return planned
  return withoutSecrets(await (await import('./branch-effect.ts')).effectOfBranch(context, planned, base), context.secrets)
}

/** The workspace of the plan, and what marks the plan if it is made from a snapshot. */
async function openForPlan(given: RunSetup<PlanRunOptions>, zones: readonly string[]): Promise<SnapshotWorkspace> {
  const setup = { ...given, options: { ...given.options, checksPolicies: true } }
  const { snapshot, verifyKey, maxAge } = setup.options
  if (snapshot !== undefined) return (await import('./snapshot/snapshot-source.ts')).openSnapshotWorkspace(setup, zones)
  const useless = verifyKey !== undefined ? '--verify-key' : maxAge !== undefined ? '--max-age' : null
  const mark: SnapshotWorkspace['mark'] = (planned) => planned
  if (useless !== null)
    return { ...NOT_OPENED, mark, diagnostics: [{ severity: 'error', code: 'usage', message: `${useless} needs --snapshot` }] }
  return { ...(await openWorkspace(setup, zones)), mark }
}

/**
 * Reads the zones of a run from their targets and plans them, without secrets. The `fences` were read before. Unless `countsReads` is false, reads of the
 * sources of the zones count.
 */
export const makePlan = (context: RunContext, signal?: AbortSignal, fences?: Fences | null, countsReads = true): Promise<PlannedRun> =>
  withProgress(context.output, async (onProgress) => {
    const { jobs, providers, now, tool, secrets, nameRemoved } = context
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

/** What the journal says about the zones, before they are read. Without a journal that can be read, a warning: the plan can be applied, but its age is judged by its time. */
async function fencesForPlan(
  context: RunContext<PlanRunOptions>,
): Promise<{ readonly fences: Fences | null; readonly problems: readonly Diagnostic[] }> {
  let store: JournalStore | null = null
  try {
    store = await openStore(context)
    return { fences: await readFences(store), problems: [] }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const message = `whether another run changes the zones before this plan is applied is judged by time only: ${error.message}`
    return { fences: null, problems: [{ severity: 'warning', code: 'journal-unreadable', message, hint: error.hint }] }
  } finally {
    await store?.close()
  }
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
  { providers, options }: Pick<RunContext, 'providers' | 'options'>,
  planned: PlannedRun,
  signal?: AbortSignal,
): Promise<PlannedRun> {
  const call = { signal, mayRemoveZones: mayRemoveZones(options) }
  const found = await Promise.all([...providers.values()].map((provider) => provider.previewCompletion?.(call)))
  const diagnostics = [...planned.plan.diagnostics, ...found.flatMap((one) => one ?? [])]
  return { ...planned, plan: { ...planned.plan, diagnostics } }
}

/** Removing a zone from a list deletes its copies, as a deletion of the zone does. */
export const mayRemoveZones = ({ allow }: PlanOptions): boolean => allow?.includes('delete-zone') ?? false

/** Warnings and notices shown for a plan without changes, so that it stays short. */
const SHOWN_WITHOUT_CHANGES = 4

/** Reports the diagnostics of a plan that its report does not show: all for a text report, otherwise those that belong to no zone. */
export function reportPlanDiagnostics(context: RunSetup, plan: Plan): void {
  if (isGithubReport(context)) return
  const inZones = isTextReport(context) ? plan.zones.flatMap((zone) => zone.diagnostics) : []
  const isUnchanged = plan.zones.every((zone) => zone.changes.length === 0)
  context.output.diagnostics([...plan.diagnostics, ...inZones], isUnchanged ? { atMost: SHOWN_WITHOUT_CHANGES } : {})
}

/** Prints the document of a run that could not plan. A text report has none. */
export function reportEmptyPlan(context: RunSetup, diagnostics: readonly Diagnostic[]): void {
  const { now, tool, output, options } = context
  if (!isTextReport(context)) output.plan({ created: now().toISOString(), tool, zones: [], diagnostics }, options.format)
}

/** Saves a plan without errors. A refused plan is saved, too: it can be reviewed but not applied. */
async function save(context: RunContext, file: string, planned: PlannedRun): Promise<boolean> {
  if (statusOfPlan(planned.plan) === EXIT.failure) {
    context.output.say(`${file} was not written: the plan has errors.`)
    return false
  }
  // In the file they are warnings: a plan with errors cannot be applied.
  const leftOut = (context.leftOut ?? []).map((diagnostic): Diagnostic => ({ ...diagnostic, severity: 'warning' }))
  const saved = { ...planned, plan: withLeftOut(planned.plan, { leftOut }) }
  return (await import('./saved-plan/save-plan.ts')).savePlan(context, file, saved)
}

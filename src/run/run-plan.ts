/** `plan`: load, read, plan, report; and save the plan if a file is named. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { hasChanges, type PlannedZones, planOf, withDiagnostics, withoutSecrets } from '../plan/planned-zone.ts'
import { type Fences, readFences } from '../stored/store/fences.ts'
import { fetchJournal } from '../stored/store/fetch-journal.ts'
import { type JournalStore, StoreError } from '../stored/store/journal-store.ts'
import { openStore, type StoreContext, storeContext } from '../stored/store/open-store.ts'
import { EXIT, type ExitStatus, statusOfPlan, worstOf } from './context/exit-status.ts'
import { type RunContext, type RunSetup, statusOfLeftOut, withLeftOut } from './context/run-context.ts'
import { checkPlan } from './load/check-plan.ts'
import { leaveOutMovingZones } from './load/cutover-state.ts'
import { findUndescribed, noticesOfUndescribed } from './load/removed-zones.ts'
import { NOT_OPENED, openWorkspace, reportLoaded } from './load/workspace.ts'
import { guardDeletions } from './plan/guard-deletions.ts'
import { makePlan, type PlannedJobs, withPreview } from './plan/plan-zones.ts'
import type { SnapshotSourceOptions, SnapshotWorkspace } from './plan/snapshot-source.ts'

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
  const { options, output, environment } = setup
  const workspace = await openForPlan(setup, zones)
  const opened = { ...setup, workspace }
  const fail = (): ExitStatus => {
    if (options.out !== undefined) output.say(`${options.out} was not written.`)
    return EXIT.failure
  }
  try {
    if (!reportLoaded(output, workspace)) {
      output.unplanned(workspace.diagnostics)
      return fail()
    }
    // A plan from a snapshot contacts nothing.
    const read = options.snapshot === undefined ? await readFencesForPlan(opened) : { fences: undefined, problems: [] }
    const context = await leaveOutMovingZones(opened, 'warning')
    if (context === null) return fail()
    const planned = withoutSecrets(await planRun(context, workspace.mark, read), environment.secrets)
    const plan = planOf(planned)
    output.planDiagnostics(plan)
    output.plan(planOf(withLeftOut(planned, context.workspace)))
    const isSaved = options.out === undefined || (await save(context, options.out, planned))
    const isPending = planned.zones.some(hasChanges)
    return worstOf([
      statusOfPlan(plan),
      statusOfLeftOut(context.workspace),
      isSaved ? EXIT.done : EXIT.failure,
      options.detailedExitcode && isPending ? EXIT.pending : EXIT.done,
    ])
  } finally {
    await workspace.close()
  }
}

/** Reads and plans the zones, and says what the guards of a plan find. */
async function planRun(
  context: RunContext<PlanRunOptions>,
  mark: SnapshotWorkspace['mark'],
  { fences, problems }: { readonly fences: Fences | null | undefined; readonly problems: readonly Diagnostic[] },
): Promise<PlannedJobs> {
  const { snapshot, usage = [] } = context.options
  const { signal } = context.environment
  const isLive = snapshot === undefined
  const [read, undescribed] = await Promise.all([makePlan(context, signal, fences), findUndescribed(context.workspace)])
  const made = await withPreview(context, read, signal)
  const marked = mark({ ...made, diagnostics: [...problems, ...made.diagnostics] })
  const { base } = context.options
  const less = base === undefined ? marked : await (await import('./plan/branch-effect.ts')).effectOfBranch(context, marked, base)
  const effect = withDiagnostics(less, noticesOfUndescribed(undescribed, context.workspace, less.diagnostics))
  // The deletions of a plan from a snapshot are checked when it is applied, unless sources are given.
  const isGuarded = isLive || usage.length > 0
  return checkPlan(context, isGuarded ? await guardDeletions(context, effect, ({ job }) => job.allow, signal) : effect)
}

/** The workspace of the plan, and what marks the plan if it is made from a snapshot. */
async function openForPlan(given: RunSetup<PlanRunOptions>, zones: readonly string[]): Promise<SnapshotWorkspace> {
  const setup = { ...given, options: { ...given.options, checksPolicies: true } }
  const { snapshot, verifyKey, maxAge } = setup.options
  if (snapshot !== undefined) return (await import('./plan/snapshot-source.ts')).openSnapshotWorkspace(setup, zones)
  const useless = verifyKey !== undefined ? '--verify-key' : maxAge !== undefined ? '--max-age' : null
  const mark: SnapshotWorkspace['mark'] = (planned) => planned
  if (useless !== null)
    return { ...NOT_OPENED, mark, diagnostics: [{ severity: 'error', code: 'usage', message: `${useless} needs --snapshot` }] }
  return { ...(await openWorkspace(setup, zones)), mark }
}

interface ReadFences {
  readonly fences: Fences | null
  readonly problems: readonly Diagnostic[]
}

/** What the journal says about the zones, before they are read. Fetches the cutovers that other machines have begun. */
export async function readFencesForPlan(context: RunContext): Promise<ReadFences> {
  const store = storeContext(context)
  const unread = await fetchJournal(store, { states: true, runs: false })
  const read = await readKnownFences(store)
  return unread === null || read.fences === null ? read : { ...read, problems: [{ ...unread, severity: 'warning' }] }
}

/** What the journal says about the zones. Without a journal that can be read, a warning: a plan can be applied, but its age is judged by its time. */
export async function readKnownFences(context: StoreContext): Promise<ReadFences> {
  let store: JournalStore | null = null
  try {
    store = await openStore(context)
    return { fences: await readFences(store), problems: [] }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const message = `what other runs change, and which TTLs the targets store, is unknown; the age of a plan is judged by its time: ${error.message}`
    return { fences: null, problems: [{ severity: 'warning', code: 'journal-unreadable', message, hint: error.hint }] }
  } finally {
    await store?.close()
  }
}

/** Saves the plan. A refused plan is saved, too: it can be reviewed but not applied. */
async function save(context: RunContext, file: string, planned: PlannedZones): Promise<boolean> {
  // In the file they are warnings: a plan with errors cannot be applied.
  const leftOut = (context.workspace.leftOut ?? []).map((diagnostic): Diagnostic => ({ ...diagnostic, severity: 'warning' }))
  return (await import('./saved/save-plan.ts')).savePlan(context, file, withLeftOut(planned, { leftOut }))
}

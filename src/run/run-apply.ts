/**
 * The flow of a run that changes zones. `apply` loads definitions or a saved plan, locks the zones, reads and plans, shows the plan, asks, applies, reads
 * back and reports. A rollback (`rollback/run-rollback.ts`) makes its plan from the journal and goes through the same `changeZones`.
 */
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts'
import { agreeing, counted, listed } from '../base/english.ts'
import { ownProcess } from '../files/process-identity.ts'
import { hasChanges, mayApply, type PlannedZone, type PlannedZones, planOf, withDiagnostics, withoutSecrets } from '../plan/planned-zone.ts'
import { notApproved } from '../stored/approvals/approvals-of-plan.ts'
import type { RunCommand } from '../stored/journal/journal-format.ts'
import { type RunRecord, readRuns } from '../stored/journal/read-journal.ts'
import type { ApplicableZone, ApplyZonesOptions, ChangesToMake } from './apply/apply-zones.ts'
import { type LockedRun, lockRun } from './apply/locked-run.ts'
import { EXIT, type ExitStatus, statusOfOutcomes, statusOfPlan, worstOf } from './context/exit-status.ts'
import {
  type ApplyContext,
  type ApplyOptions,
  type ApplySetup,
  closeRun,
  type Interruption,
  openRun,
  type RunContext,
  statusOfLeftOut,
  withLeftOut,
  withProgress,
} from './context/run-context.ts'
import { checkPlan } from './load/check-plan.ts'
import { leaveOutMovingZones } from './load/cutover-state.ts'
import { openWorkspace, reportLoaded } from './load/workspace.ts'
import { guardDeletions, guardSavedDeletions } from './plan/guard-deletions.ts'
import { makePlan, mayRemoveZones, withPreview } from './plan/plan-zones.ts'
import { namesPlan, openSavedPlan, type SavedWorkspace } from './saved/open-saved-plan.ts'
import { rereadAfterPause, rereadSavedPlan } from './saved/reread-zones.ts'

/** Applies the definitions of the named zones, or the saved plan that the only argument names. If one zone may not be applied, none is changed. */
export const runApply = (setup: ApplySetup, args: readonly string[]): Promise<ExitStatus> =>
  withLockedZones(setup, args, async (context, lockedRun) => changeZones(context, lockedRun, await changesOf(context, lockedRun)))

async function changesOf(context: ApplyContext<ApplyOptions, Loaded>, lockedRun: LockedRun): Promise<ChangesToMake> {
  const { signal } = context.environment.interruption
  const { saved } = context.workspace
  if (saved) return checkSavedPlan(context, await guardSavedDeletions(context, await rereadSavedPlan(context, saved, lockedRun), signal))
  const planned = await withPreview(context, await makePlan(context, signal, lockedRun.fences), signal)
  return checkPlan(context, await guardDeletions(context, planned, ({ job }) => job.allow, signal))
}

/** Loads what a run applies and locks its zones, then does the work. A run that cannot begin reports why. */
export async function withLockedZones<Setup extends ApplySetup>(
  setup: Setup,
  args: readonly string[],
  work: (context: Setup & ApplyContext<ApplyOptions, Loaded>, lockedRun: LockedRun) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const context = openRun(setup, await load(setup, args))
  const { jobs, saved, diagnostics } = context.workspace
  try {
    if (!reportLoaded(context.output, context.workspace, { inFull: saved !== undefined })) {
      context.output.unplanned(diagnostics)
      return EXIT.failure
    }
    const zones = saved?.zones.map(({ plan }) => plan) ?? jobs.map(({ desired, target }) => ({ zone: desired.name, target }))
    const lock = await lockRun(context, 'apply', zones)
    if (lock.lockedRun === null) {
      context.output.unplanned([...diagnostics, lock.diagnostic])
      return context.environment.interruption.status() ?? EXIT.failure
    }
    const { lockedRun } = lock
    return await lockedRun.finish(async () => {
      // A saved plan is checked when its zones are read again.
      const free = saved === undefined ? await leaveOutMovingZones(context, 'error') : context
      return free === null ? EXIT.failure : worstOf([await work(free, lockedRun), statusOfLeftOut(free.workspace)])
    })
  } finally {
    await closeRun(context)
  }
}

type Loaded = Omit<SavedWorkspace, 'saved'> & Partial<Pick<SavedWorkspace, 'saved'>>

async function load(setup: ApplySetup, args: readonly string[]): Promise<Loaded> {
  const { isPlanFile } = setup.options
  for (const argument of args) if (isPlanFile ?? (await namesPlan(setup.environment.cwd, argument))) return openSavedPlan(setup, args)
  const workspace = await openWorkspace({ ...setup, options: { ...setup.options, checksPolicies: true } }, args)
  return setup.options.partial ? { ...workspace, diagnostics: [...workspace.diagnostics, PARTIAL_WITHOUT_PLAN] } : workspace
}

/** Checks a saved plan again, by the policies of this run. Its other diagnostics were reported when it was made. */
async function checkSavedPlan(context: ApplyContext, planned: ChangesToMake): Promise<ChangesToMake> {
  const checked = await checkPlan(context, planned)
  const known = new Set(allDiagnostics(planned))
  const found = allDiagnostics(checked).filter((one) => !known.has(one))
  context.output.diagnostics(found, { also: 'with-zones' })
  return checked
}

const allDiagnostics = ({ diagnostics, zones }: PlannedZones): Diagnostic[] => [
  ...diagnostics,
  ...zones.flatMap(({ plan }) => plan.diagnostics),
]

/** Shows planned changes, asks, applies them, reads the zones back and reports the outcome. */
export async function changeZones(context: ApplyContext, lockedRun: LockedRun, given: ChangesToMake): Promise<ExitStatus> {
  const { options } = context
  const { now, secrets, interruption } = context.environment
  const planned = withoutSecrets(given, secrets)
  const plannedAt = now().getTime()
  if (interruption.signal.aborted) return endUnchanged(context, planned, interruption.status() ?? EXIT.failure, 'Nothing was applied.')
  showPlan(context, planned)

  const chosen = options.partial ? withoutRefusedZones(planned) : planned
  const refused = statusOfPlan(planOf(chosen))
  if (refused !== EXIT.done) return endUnchanged(context, planned, refused, refusalText(planned))
  if (!chosen.zones.some(hasChanges)) {
    const status = worstOf([await completeEarlierCalls(context, lockedRun), statusOfRefusedZones(planned, false)])
    return endUnchanged(context, planned, status, status === EXIT.done ? undefined : 'Nothing was applied.')
  }
  const unapproved = notApproved(context.workspace.config, chosen, planned.approvals ?? null, HOW_TO_SAVE[lockedRun.command])
  if (unapproved !== null) {
    context.output.diagnostics([unapproved], { also: 'before-zones' })
    return endUnchanged(context, withDiagnostics(planned, [unapproved]), EXIT.refused, 'Nothing was applied.')
  }
  const declined = options.yes ? null : await ask(context, chosen)
  if (declined !== null) return endUnchanged(context, planned, declined)

  const pause = options.yes ? 0 : now().getTime() - plannedAt
  const reread = await rereadAfterPause(context, planned, pause)
  const current = reread === planned ? planned : withoutSecrets(reread, secrets)
  if (current !== planned) reportExposedSecrets(context, current)
  const applicable = options.partial ? withoutRefusedZones(current) : current
  const stale = secrets.hasLeaked ? EXIT.failure : applicable.zones.some(hasChanges) ? statusOfPlan(planOf(applicable)) : EXIT.refused
  if (stale !== EXIT.done || interruption.signal.aborted) {
    const status = interruption.status() ?? (stale === EXIT.done ? EXIT.failure : stale)
    return endUnchanged(context, current, status, 'Nothing was applied.')
  }

  const outcomes = await applyWithProgress(context, applicable, (zones, hooks) => lockedRun.apply(current, zones, hooks), interruption)
  if (typeof outcomes === 'number') return endUnchanged(context, current, outcomes, 'Nothing was applied.')
  const found = outcomes.flatMap((outcome) => outcome.diagnostics)
  context.output.diagnostics(found, { also: 'before-zones' })
  context.output.outcome(planOf(withLeftOut(current, context.workspace)), outcomes)
  const failed = new Set(outcomes.flatMap(({ plan, diagnostics }) => (hasErrors(diagnostics) ? [plan.target] : [])))
  const leftOut = refusedZonesText(current)
  if (leftOut !== null) context.output.say(leftOut)
  const ofRefused = statusOfRefusedZones(current, true)
  return interruption.status() ?? worstOf([await completeEarlierCalls(context, lockedRun, failed), statusOfOutcomes(outcomes), ofRefused])
}

/** How to go on with changes that need approvals. */
const HOW_TO_SAVE: Readonly<Record<RunCommand, string>> = {
  apply: 'save the plan with "zonewright plan --out plan.json", then "zonewright approve plan.json --key FILE"',
  rollback: 'save the rollback with "--out plan.json", then "zonewright approve plan.json --key FILE"',
  copy: 'save the copy with "--out plan.json", then "zonewright approve plan.json --key FILE"',
  cutover: '"approvals.zones" in the config can let the zone change without approvals until it has moved',
}

/** Completes calls of earlier runs whose last step failed, except at targets that just failed. Returns a failure if it fails again. */
async function completeEarlierCalls(
  context: ApplyContext,
  { mayWrite }: Pick<LockedRun, 'mayWrite'>,
  except = new Set<string>(),
): Promise<ExitStatus> {
  const { output } = context
  const { interruption } = context.environment
  const lastRunFailed = failureFinder(context)
  let status: ExitStatus = EXIT.done
  for (const [name, provider] of context.workspace.providers) {
    if (except.has(name) || interruption.signal.aborted) continue
    const completed = await provider.completeCalls?.({
      stop: interruption.signal,
      signal: interruption.abort,
      mayWrite,
      mayRemoveZones: mayRemoveZones(context),
      hadFailure: (zone) => lastRunFailed(zone, name),
    })
    for (const text of completed?.done ?? []) output.note(text)
    output.diagnostics(completed?.problems ?? [])
    if (hasErrors(completed?.problems ?? [])) status = EXIT.failure
  }
  return status
}

/** Finds out whether the last run of this journal that changed a zone at a target was interrupted or failed. */
function failureFinder({ workspace }: ApplyContext): (zone: string, target: string) => boolean {
  let ended: readonly RunRecord[] | null = null
  return (zone, target) => {
    ended ??= readRuns(workspace.journal, ownProcess()).runs.filter(({ state }) => state !== 'running')
    const last = ended.find(({ begin }) => begin.zones.some((one) => one.zone === zone && one.target === target))
    return last !== undefined && last.status !== 0
  }
}

/** Ends a run that changed nothing. */
function endUnchanged(context: ApplyContext, planned: PlannedZones, status: ExitStatus, text?: string): ExitStatus {
  if (text !== undefined) context.output.say(text)
  context.output.unchanged(planOf(withLeftOut(planned, context.workspace)))
  return status
}

function showPlan(context: ApplyContext, planned: ChangesToMake): void {
  const plan = planOf(planned)
  if (planned.isSaved) reportExposedSecrets(context, planned)
  else context.output.planDiagnostics(plan)
  context.output.proposal(plan)
}

/** Reports secrets found after the other diagnostics of the plan were reported. */
function reportExposedSecrets({ output }: ApplyContext, { zones }: PlannedZones): void {
  const exposed = zones.flatMap(({ plan }) => plan.diagnostics.filter(({ code }) => code === 'secret-exposed'))
  output.diagnostics(exposed, { also: 'with-zones' })
}

function refusalText({ zones, isSaved = false }: ChangesToMake): string {
  const applicable = zones.filter((zone) => mayApply(zone.plan) && hasChanges(zone)).length
  if (applicable === 0 || isSaved) return 'Nothing was applied.'
  return `Nothing was applied. ${counted(applicable, 'zone')} ${agreeing(applicable, 'has', 'have')} no problem: name zones or targets (--target) to apply only these.`
}

/** Asks for consent. Null if it is given, otherwise the exit status. */
async function ask({ output, environment: { interruption } }: ApplyContext, { zones }: PlannedZones): Promise<ExitStatus | null> {
  const changed = zones.filter(hasChanges)
  const changes = changed.reduce((sum, { plan }) => sum + plan.changes.length, 0)
  const answer = await output.ask(`Apply ${counted(changes, 'change')} to ${counted(changed.length, 'zone')}?`, interruption.signal)
  if (answer === 'yes') return null
  if (answer === 'no-terminal') {
    output.error('not-confirmed', 'nothing was applied: there is no terminal to ask on', 'give --yes to apply without being asked')
    return EXIT.failure
  }
  output.say('Nothing was applied.')
  if (answer === 'no') return EXIT.failure
  // At the prompt, Ctrl-C is a key and not a signal.
  return interruption.status() ?? (interruption.signal.aborted ? EXIT.failure : EXIT.interrupted)
}

/** Applies the zones that have changes by `apply`, with a progress bar. */
export function applyWithProgress<Outcomes>(
  { output, workspace: { providers } }: RunContext,
  planned: PlannedZones<ApplicableZone>,
  apply: (zones: readonly ApplicableZone[], options: ApplyZonesOptions) => Promise<Outcomes>,
  interruption?: Interruption,
): Promise<Outcomes> {
  const pending = planned.zones.filter(hasChanges)
  const total = pending.reduce((sum, zone) => sum + zone.plan.changes.length, 0)
  let done = 0
  return withProgress(output, (onProgress) =>
    apply(pending, {
      providers,
      stop: interruption?.signal,
      abort: interruption?.abort,
      onOutcome: () => {
        done += 1
        onProgress({ phase: 'applying', done, total })
      },
    }),
  )
}

/** The error for `--partial` without a saved plan: a plan that is made and applied in one run has no zones to leave out. */
const PARTIAL_WITHOUT_PLAN: Diagnostic = {
  severity: 'error',
  code: 'usage',
  message: '--partial is for saved plans only',
  hint: 'save one with "zonewright plan --out plan.json"; without a plan file, name the zones to apply',
}

/** The changes without the zones that have changed or could not be read. */
const withoutRefusedZones = (planned: ChangesToMake): ChangesToMake => ({
  ...planned,
  zones: planned.zones.filter((zone) => !isRefused(zone)),
})

const isRefused = ({ plan }: PlannedZone): boolean => plan.refused !== undefined

/** The status for the zones that were left out. `applied`: whether the run changed any other. */
function statusOfRefusedZones(planned: PlannedZones, applied: boolean): ExitStatus {
  const status = statusOfPlan(planOf({ ...planned, zones: planned.zones.filter(isRefused), diagnostics: [] }))
  return status === EXIT.failure && applied ? EXIT.partial : status
}

/** Names the zones that were left out; null if none was. */
function refusedZonesText({ zones }: PlannedZones): string | null {
  const names = zones.filter(isRefused).map(({ plan }) => `${plan.zone} at ${plan.target}`)
  if (names.length === 0) return null
  return `Not applied: ${counted(names.length, 'zone')} that ${agreeing(names.length, 'has', 'have')} changed since the plan was made or could not be read: ${listed(names, MAX_NAMED)}. Plan ${agreeing(names.length, 'it', 'them')} again.`
}

const MAX_NAMED = 100

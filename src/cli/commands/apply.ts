import type { ApplicableZone, ApplyRun } from '../../apply/apply-plan.ts'
import type { RolledBackRun } from '../../apply/journal/journal-entry.ts'
import { mayApply } from '../../apply/plan-zones.ts'
import type { SavedPlan } from '../../apply/saved-plan/saved-plan.ts'
import { withoutSecrets } from '../../apply/secrets-in-plan.ts'
import { hasErrors } from '../../dns/diagnostic.ts'
import type { Plan, ZoneOutcome } from '../../plan/plan.ts'
import type { ProviderContext } from '../../providers/provider.ts'
import { counted } from '../../report/english.ts'
import { canAsk, confirm } from '../confirm.ts'
import { type Console, createConsole } from '../console.ts'
import { EXIT, type ExitStatus, worstOf } from '../exit-status.ts'
import { type Interruption, listenForInterruption } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { reportThrottling } from '../report-throttling.ts'
import { type ReadyRun, rereadAfterPause, rereadSavedPlan } from '../reread-plan.ts'
import { endRun, type GuardedRun, guardRun } from '../run-guard.ts'
import { openWorkspace, type Workspace } from '../workspace.ts'
import { checkWorkspace, emptyPlan, type PlanningOptions, reportPlanDiagnostics, runPlan, statusOfPlan } from './plan.ts'

export const STOPPING = 'Stopping: calls under way are finished. Once more to stop at once.'

export interface ApplyOptions extends PlanningOptions {
  readonly yes?: boolean
  /** Seconds. */
  readonly timeout?: number
  /** Seconds to wait for other runs that have a zone. */
  readonly wait?: number
}

/**
 * `zonewright apply [planfile | zone...]`: plans, asks, makes the changes, reads back; or makes exactly the changes of a saved plan. Where one zone is
 * refused, faulty or has moved, none is touched.
 */
export async function apply(io: CliIo, [args]: readonly [string[]], options: ApplyOptions): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const workspace = await openForApply(io, args, { ...options, onThrottled: reportThrottling(console) })
  const interruption = listenForInterruption(console.say, STOPPING, { seconds: options.timeout, hangUp: true })
  try {
    if (!checkWorkspace(workspace, console, { inFull: workspace.saved !== undefined })) {
      if (options.format !== 'text') console.plan(emptyPlan(io, workspace.diagnostics), options.format)
      return EXIT.failure
    }
    const zones = workspace.saved?.plan.zones ?? workspace.jobs.map(({ desired, target }) => ({ zone: desired.name, target }))
    const guard = { journal: workspace.journal, command: 'apply', zones, wait: options.wait, signal: interruption.signal } as const
    const guarded = await guardRun(io, console, guard)
    if (guarded.run === null) {
      const diagnostics = [...workspace.diagnostics, guarded.diagnostic]
      if (options.format !== 'text') console.plan(emptyPlan(io, diagnostics), options.format)
      return interruption.status() ?? EXIT.failure
    }
    const { run } = guarded
    return await endRun(run, () => planAndApply(io, workspace, console, interruption, run, options))
  } finally {
    interruption.release()
    await workspace.close()
  }
}

/** What is to be applied: definitions, or a saved plan, which is null where it cannot be. */
type ApplyWorkspace = Workspace & { readonly saved?: SavedPlan | null }

async function openForApply(
  io: CliIo,
  args: readonly string[],
  options: ApplyOptions & Pick<ProviderContext, 'onThrottled'>,
): Promise<ApplyWorkspace> {
  const { namesPlan, openSavedPlan } = await import('../open-saved-plan.ts')
  for (const argument of args) if (await namesPlan(io.cwd, argument)) return openSavedPlan(io, args, options)
  return openWorkspace(io, { ...options, zones: args })
}

async function planAndApply(
  io: CliIo,
  workspace: ApplyWorkspace,
  console: Console,
  interruption: Interruption,
  run: GuardedRun,
  options: ApplyOptions,
): Promise<ExitStatus> {
  const inText = options.format === 'text'
  const { saved } = workspace
  const ready = saved
    ? await rereadSavedPlan(saved, workspace, console, inText, interruption.signal)
    : await runPlan(workspace, io, console, interruption.signal)
  return makeChanges(io, ready, workspace, console, interruption, run, { ...options, isSaved: saved != null })
}

export interface ChangeOptions extends ApplyOptions {
  /** What a saved plan says of its definitions was said when it was made. */
  readonly isSaved: boolean
  readonly rollsBack?: RolledBackRun | undefined
}

/** Shows a plan that was read just now, asks, makes its changes, reads back and reports. */
export async function makeChanges(
  io: CliIo,
  given: ReadyRun,
  workspace: Workspace,
  console: Console,
  interruption: Interruption,
  run: GuardedRun,
  options: ChangeOptions,
): Promise<ExitStatus> {
  const inText = options.format === 'text'
  const ready = withoutSecrets(given, io.secrets)
  const readAt = io.now().getTime()
  if (interruption.signal.aborted) {
    console.say('Nothing was applied.')
    if (!inText) console.outcome(ready.plan, [], options.format)
    return interruption.status() ?? EXIT.failure
  }
  if (!options.isSaved) reportPlanDiagnostics(ready.plan, console, options.format)
  else if (inText) reportExposed(ready.plan, console)
  if (inText) console.plan(ready.plan, 'text')

  const status = await statusBeforeApply(io, ready.plan, console, interruption, options)
  if (status !== null) {
    if (!inText) console.outcome(ready.plan, [], options.format)
    return status
  }
  const pause = options.yes ? 0 : io.now().getTime() - readAt
  const reread = await rereadAfterPause(ready, pause, workspace, console, inText, interruption.signal)
  const current = reread === ready ? ready : withoutSecrets(reread, io.secrets)
  if (inText && current !== ready) reportExposed(current.plan, console)
  const late = io.secrets.hasLeaked ? EXIT.failure : statusOfPlan(current.plan)
  if (late !== EXIT.done || interruption.signal.aborted) {
    console.say('Nothing was applied.')
    if (!inText) console.outcome(current.plan, [], options.format)
    return interruption.status() ?? (late === EXIT.done ? EXIT.failure : late)
  }
  const outcomes = await runApply(workspace, current, console, interruption, (zones, hooks) =>
    run.apply(current.plan, zones, hooks, options.rollsBack),
  )
  if (outcomes === null) {
    if (!inText) console.outcome(current.plan, [], options.format)
    return EXIT.failure
  }
  console.diagnostics(outcomes.flatMap((outcome) => outcome.diagnostics))
  console.outcome(current.plan, outcomes, options.format, { planShown: inText })
  return interruption.status() ?? statusOfOutcomes(outcomes)
}

/** What was found only since the plan was read. */
const reportExposed = ({ zones }: Plan, console: Console): void =>
  console.diagnostics(zones.flatMap(({ diagnostics }) => diagnostics.filter(({ code }) => code === 'secret-exposed')))

/** The status of a run that ends without a change: nothing to do, not allowed to, or not confirmed. Null where it may go on. */
async function statusBeforeApply(
  io: CliIo,
  plan: Plan,
  console: Console,
  interruption: Interruption,
  options: ChangeOptions,
): Promise<ExitStatus | null> {
  const status = statusOfPlan(plan)
  if (status !== EXIT.done) {
    const fine = plan.zones.filter((zone) => mayApply(zone) && zone.changes.length > 0).length
    const others =
      fine === 0 || options.isSaved ? '' : ` Nothing stands against ${counted(fine, 'zone')}: name zones to go on with those alone.`
    console.say(`Nothing was applied.${others}`)
    return status
  }
  const changed = plan.zones.filter((zone) => zone.changes.length > 0)
  if (changed.length === 0) return EXIT.done
  return options.yes ? null : ask(io, console, changed, interruption)
}

async function ask(io: CliIo, console: Console, changed: Plan['zones'], interruption: Interruption): Promise<ExitStatus | null> {
  if (!canAsk(io)) {
    console.error('not-confirmed', 'nothing was applied: there is no terminal to ask at', 'give --yes to apply without being asked')
    return EXIT.failure
  }
  const calls = changed.reduce((sum, zone) => sum + zone.calls.total, 0)
  const answer = await confirm(io, `Make ${counted(calls, 'call')} in ${counted(changed.length, 'zone')}?`, interruption.signal)
  if (answer === 'yes') return null
  if (answer === 'interrupted') console.say('')
  console.say('Nothing was applied.')
  if (answer === 'no') return EXIT.failure
  // Ctrl-C at the prompt is a key and no signal.
  return interruption.status() ?? (interruption.signal.aborted ? EXIT.failure : EXIT.interrupted)
}

/** Makes the changes of all zones that have some, by `make`, with a progress bar. */
export async function runApply<Outcomes>(
  workspace: Pick<Workspace, 'providers'>,
  planned: ReadyRun,
  console: Console,
  interruption: Pick<Interruption, 'signal' | 'abort'> | undefined,
  make: (zones: readonly ApplicableZone[], run: ApplyRun) => Promise<Outcomes>,
): Promise<Outcomes> {
  const pending = planned.zones.filter((zone) => zone.plan.changes.length > 0)
  const total = pending.reduce((sum, zone) => sum + zone.plan.changes.length, 0)
  const bar = console.progress()
  let done = 0
  try {
    return await make(pending, {
      providers: workspace.providers,
      stop: interruption?.signal,
      abort: interruption?.abort,
      onOutcome: () => {
        done += 1
        bar.onProgress({ phase: 'applying', done, total })
      },
    })
  } finally {
    bar.clear()
  }
}

/** 0 where everything was applied and found so, 4 where part of it was applied, 1 where nothing was or a zone was found otherwise. */
export function statusOfOutcomes(outcomes: readonly ZoneOutcome[]): ExitStatus {
  const states = outcomes.flatMap((outcome) => outcome.outcomes.map(({ state }) => state))
  const applied = states.filter((state) => state === 'applied').length
  const unconfirmed = outcomes.some(
    (outcome) => isComplete(outcome) && (outcome.readBack === 'different' || hasErrors(outcome.diagnostics)),
  )
  if (applied === states.length) return unconfirmed ? EXIT.failure : EXIT.done
  const part = applied > 0 || states.includes('unknown') ? EXIT.partial : EXIT.failure
  return worstOf([part, unconfirmed ? EXIT.failure : EXIT.done])
}

const isComplete = ({ outcomes }: ZoneOutcome): boolean => outcomes.every(({ state }) => state === 'applied')

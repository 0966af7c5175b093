import { hasErrors } from '../../model/diagnostic.ts'
import type { Plan, ZoneOutcome } from '../../plan/plan.ts'
import { applyZones } from '../../sync/apply-plan.ts'
import type { PlannedRun } from '../../sync/plan-zones.ts'
import { canAsk, confirm } from '../confirm.ts'
import { type Console, createConsole } from '../console.ts'
import { EXIT, type ExitStatus } from '../exit-status.ts'
import { listenForInterruption } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { openWorkspace, type Workspace } from '../workspace.ts'
import { checkWorkspace, type PlanningOptions, reportPlanDiagnostics, runPlan, statusOfPlan } from './plan.ts'

/** `zonewright apply [zone...]`: plans, asks, makes the changes, reads back. Where one zone is refused or faulty, none is touched. */
export async function apply(
  io: CliIo,
  [zones]: readonly [string[]],
  options: PlanningOptions & { readonly yes?: boolean },
): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const workspace = await openWorkspace(io, { ...options, zones })
  const interruption = listenForInterruption(console.say)
  try {
    if (!checkWorkspace(workspace, console)) return EXIT.failure
    const planned = await runPlan(workspace, io, console, interruption.signal)
    const interrupted = interruption.status()
    if (interrupted !== null) return interrupted
    reportPlanDiagnostics(planned, console, options.format)
    const showPlan = options.format === 'text'
    if (showPlan) console.plan(planned.plan, 'text')
    const status = statusOfPlan(planned)
    const calls = planned.plan.zones.reduce((sum, zone) => sum + zone.calls.total, 0)
    if (status !== EXIT.done || calls === 0) {
      if (!showPlan) console.outcome(planned.plan, [], options.format)
      if (status !== EXIT.done) console.say('Nothing was applied. Name zones on the command line to go on with those that are fine.')
      return status
    }
    if (!options.yes && !(await ask(io, console, calls, planned.plan))) return EXIT.failure
    const outcomes = await runApply(workspace, planned, console, interruption.signal)
    console.diagnostics(outcomes.flatMap((outcome) => outcome.diagnostics))
    console.outcome(planned.plan, outcomes, options.format)
    return interruption.status() ?? statusOfOutcomes(outcomes)
  } finally {
    interruption.release()
    await workspace.close()
  }
}

async function ask(io: CliIo, console: Console, calls: number, { zones }: Plan): Promise<boolean> {
  if (!canAsk(io)) {
    console.diagnostics([
      {
        severity: 'error',
        code: 'not-confirmed',
        message: 'nobody can be asked here: give --yes to apply',
        hint: 'zonewright apply --yes',
      },
    ])
    return false
  }
  const changed = zones.filter((zone) => zone.changes.length > 0).length
  const agreed = await confirm(io, `Make ${calls} call${calls === 1 ? '' : 's'} in ${changed} zone${changed === 1 ? '' : 's'}?`)
  if (!agreed) console.say('Nothing was applied.')
  return agreed
}

export async function runApply(
  workspace: Workspace,
  planned: PlannedRun,
  console: Console,
  stop: AbortSignal | undefined,
): Promise<ZoneOutcome[]> {
  const pending = planned.zones.filter((zone) => zone.plan.changes.length > 0)
  const total = pending.reduce((sum, zone) => sum + zone.plan.changes.length, 0)
  const bar = console.progress()
  let done = 0
  try {
    return await applyZones(pending, {
      providers: workspace.providers,
      stop,
      onOutcome: () => {
        done += 1
        bar.onProgress({ phase: 'applying', done, total })
      },
    })
  } finally {
    bar.clear()
  }
}

/** 0 where everything was applied and found so; 4 where part of it was; 1 where nothing was. */
export function statusOfOutcomes(outcomes: readonly ZoneOutcome[]): ExitStatus {
  const states = outcomes.flatMap((outcome) => outcome.outcomes.map(({ state }) => state))
  const confirmed = outcomes.every((outcome) => outcome.readBack !== 'different' && !hasErrors(outcome.diagnostics))
  if (states.every((state) => state === 'applied')) return confirmed ? EXIT.done : EXIT.failure
  return states.some((state) => state === 'applied' || state === 'unknown') ? EXIT.partial : EXIT.failure
}

import { type PlannedRun, planZones } from '../../apply/plan-zones.ts'
import { withoutSecrets } from '../../apply/secrets-in-plan.ts'
import { type Diagnostic, hasErrors, isError } from '../../dns/diagnostic.ts'
import type { Preference } from '../../plan/break-cycles.ts'
import type { Plan } from '../../plan/plan.ts'
import { countDiagnostics } from '../../report/diagnostics-report.ts'
import type { ReportFormat } from '../../report/render-report.ts'
import type { CommonOptions } from '../common-options.ts'
import { type Console, createConsole } from '../console.ts'
import { EXIT, type ExitStatus, worstOf } from '../exit-status.ts'
import { TOOL } from '../identity.ts'
import { exitOnSignal } from '../interruption.ts'
import type { CliIo } from '../io.ts'
import { reportThrottling } from '../report-throttling.ts'
import { openWorkspace, type Workspace } from '../workspace.ts'

export interface PlanningOptions extends CommonOptions {
  readonly target?: string
  readonly allow: readonly string[]
  readonly parallelism?: number
  readonly prefer?: Preference
  readonly format: ReportFormat
}

/** `zonewright plan [zone...]`: shows what an apply would change. */
export async function plan(
  io: CliIo,
  [zones]: readonly [string[]],
  options: PlanningOptions & { readonly detailedExitcode?: boolean; readonly out?: string },
): Promise<ExitStatus> {
  const console = createConsole(io, options)
  const workspace = await openWorkspace(io, { ...options, zones, onThrottled: reportThrottling(console) })
  try {
    if (!checkWorkspace(workspace, console)) {
      if (options.format !== 'text') console.plan(emptyPlan(io, workspace.diagnostics), options.format)
      if (options.out !== undefined) console.say(`${options.out} was not written.`)
      return EXIT.failure
    }
    const planned = await runPlan(workspace, io, console)
    reportPlanDiagnostics(planned.plan, console, options.format)
    console.plan(planned.plan, options.format)
    const saved = options.out === undefined || (await save(io, options.out, planned, workspace, console))
    const pending = planned.plan.zones.some((zone) => zone.changes.length > 0)
    return worstOf([
      statusOfPlan(planned.plan),
      saved ? EXIT.done : EXIT.failure,
      options.detailedExitcode && pending ? EXIT.pending : EXIT.done,
    ])
  } finally {
    await workspace.close()
  }
}

/** Writes the plan file of a plan without errors. A refused plan is saved as such: it cannot be applied, but it can be looked at. */
async function save(io: CliIo, file: string, planned: PlannedRun, workspace: Workspace, console: Console): Promise<boolean> {
  if (statusOfPlan(planned.plan) === EXIT.failure) {
    console.say(`${file} was not written: the plan has errors.`)
    return false
  }
  return (await import('../save-plan.ts')).savePlan(io, file, planned, workspace, console)
}

/**
 * Says what is wrong with config and definitions, or with `inFull` (where no definitions are) everything that was found. With an error nothing may go on,
 * and no server has been asked.
 */
export function checkWorkspace({ diagnostics }: Workspace, console: Console, { inFull = false } = {}): boolean {
  console.diagnostics(diagnostics, inFull ? {} : { from: 'error' })
  const count = countDiagnostics(diagnostics)
  if (hasErrors(diagnostics)) {
    console.say(`${count}: no server was asked, nothing was changed.`)
    return false
  }
  if (count !== null && !inFull) console.note(`${count} about the definitions: "zonewright validate" shows them.`)
  return true
}

/** What a report is of where nothing could be planned. */
export const emptyPlan = (io: CliIo, diagnostics: readonly Diagnostic[]): Plan => ({
  created: io.now().toISOString(),
  tool: TOOL,
  zones: [],
  diagnostics,
})

/** Reads and plans. Without a `signal` to stop at, Ctrl-C ends the program: reading leaves nothing half-done. */
export async function runPlan(workspace: Workspace, io: CliIo, console: Console, signal?: AbortSignal): Promise<PlannedRun> {
  const bar = console.progress()
  const release = signal === undefined ? exitOnSignal(bar.clear) : () => undefined
  try {
    const planned = await planZones(workspace.jobs, {
      providers: workspace.providers,
      now: io.now(),
      tool: TOOL,
      signal,
      onProgress: bar.onProgress,
    })
    return withoutSecrets(planned, io.secrets)
  } finally {
    release()
    bar.clear()
  }
}

/** A text report leaves diagnostics to standard error; the other formats hold them. */
export function reportPlanDiagnostics(made: Plan, console: Console, format: ReportFormat): void {
  const inZones = format === 'text' ? made.zones.flatMap((zone) => zone.diagnostics) : []
  console.diagnostics([...made.diagnostics, ...inZones])
}

/** A zone that has moved since its plan was made is no failure but a refusal. */
export function statusOfPlan(made: Plan): ExitStatus {
  const errors = [...made.diagnostics, ...made.zones.flatMap((zone) => zone.diagnostics)].filter(isError)
  if (errors.some(({ code }) => code !== 'plan-stale')) return EXIT.failure
  const refused = made.zones.some((zone) => zone.refusals.some((refusal) => !refusal.allowed))
  return refused || errors.length > 0 ? EXIT.refused : EXIT.done
}

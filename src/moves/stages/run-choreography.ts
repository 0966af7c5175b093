/** `apply --choreograph`: applies each zone in stages (`stages.ts`). A run does what is due and says when the next stage may begin; a later run goes on. */
import { validate } from '../../../generated/stages-schema.js'
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts'
import { durationText, listed } from '../../base/english.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { relativeName } from '../../dns/domain-name.ts'
import { storedTtl } from '../../plan/fit-to-target.ts'
import { withoutSecrets } from '../../plan/planned-zone.ts'
import type { LockedRun } from '../../run/apply/locked-run.ts'
import { EXIT, type ExitStatus, worstOf } from '../../run/context/exit-status.ts'
import type { ApplyContext, ApplyOptions, ApplySetup } from '../../run/context/run-context.ts'
import { checkPlan } from '../../run/load/check-plan.ts'
import { guardDeletions } from '../../run/plan/guard-deletions.ts'
import { makePlan, type PlannedJob, type PlannedJobs, planAgain } from '../../run/plan/plan-zones.ts'
import { changeZones, withLockedZones } from '../../run/run-apply.ts'
import { notApproved } from '../../stored/approvals/approvals-of-plan.ts'
import { BrokenState, type StateFile, stateFile } from '../../stored/states/state-file.ts'
import { mirrorOf } from '../../stored/store/fetch-journal.ts'
import { storeContext } from '../../stored/store/open-store.ts'
import { changingJob, loweringJob, type NextStage, nextStage, type Stages, withOwnRrsets } from './stages.ts'
import { timeText, waitUntil } from './wait-until.ts'

export interface ChoreographyOptions extends ApplyOptions {
  /** The TTL in seconds during the change. */
  readonly lowTtl: number
  /** Whether to wait for the stages to come. */
  readonly stay?: boolean | undefined
}

interface StagedZone {
  readonly planned: PlannedJob
  readonly file: StateFile<Stages>
  readonly next: NextStage
  /** The TTL in seconds during the change: that of the options, or a longer one if the target stores none as low. */
  readonly lowTtl: number
}

/** RRsets that a message names. */
const MOST_NAMED = 5

/** Applies the definitions of the named zones in stages. With `stay`, waits for the stages to come and does them, too. */
export async function runChoreography(setup: ApplySetup<ChoreographyOptions>, args: readonly string[]): Promise<ExitStatus> {
  for (;;) {
    let readyAt: Date | null = null
    const status = await withLockedZones(setup, args, async (context, lockedRun) => {
      const message = usageProblem(context.workspace.saved !== undefined, context)
      if (message !== null) {
        const problem: Diagnostic = { severity: 'error', code: 'usage', message }
        context.output.diagnostics([problem])
        context.output.unplanned([problem])
        return EXIT.failure
      }
      const made = await checkPlan(context, await makePlan(context, context.environment.interruption.signal, lockedRun.fences))
      const planned = withoutSecrets(made, context.environment.secrets)
      const unapproved = notApproved(context.workspace.config, planned, null, AS_A_WHOLE)
      if (unapproved !== null) {
        context.output.diagnostics([unapproved])
        context.output.say('Nothing was applied.')
        context.output.unplanned([unapproved])
        return EXIT.refused
      }
      const done = await choreograph(context, lockedRun, planned)
      readyAt = done.readyAt
      return done.status
    })
    if (status !== EXIT.pending || setup.options.stay !== true || readyAt === null) return status
    const interrupted = await waitUntil(setup.environment, readyAt)
    if (interrupted !== null) return interrupted
  }
}

const AS_A_WHOLE =
  'stages cannot be approved: save a plan of the whole change with "zonewright plan --out plan.json", then "zonewright approve plan.json --key FILE"'

function usageProblem(isSaved: boolean, context: ApplyContext<ChoreographyOptions>): string | null {
  if (isSaved) return 'a saved plan is applied as it is: --choreograph plans each stage'
  if (context.options.stay === true && context.output.isDocument)
    return '--stay reports each stage when it is done: use it with --format text'
  return null
}

/** Does what is due for each zone. The status is `pending` while a zone waits. `readyAt`: when the next stage may begin; null if none is left. */
async function choreograph(
  context: ApplyContext<ChoreographyOptions>,
  lockedRun: LockedRun,
  given: PlannedJobs,
): Promise<{ readonly status: ExitStatus; readonly readyAt: Date | null }> {
  const { output } = context
  const { now, interruption } = context.environment
  const staged: StagedZone[] = []
  const problems: Diagnostic[] = []
  for (const planned of given.zones) {
    try {
      staged.push(await stageOf(context, planned))
    } catch (error) {
      if (!(error instanceof BrokenState)) throw error
      const hint = `remove the file to begin again: the TTLs are then lowered first, whatever they are`
      problems.push({ severity: 'error', code: 'journal-failed', message: error.message, hint })
    }
  }
  if (problems.length > 0) {
    output.diagnostics(problems)
    output.unplanned(problems)
    return { status: EXIT.failure, readyAt: null }
  }
  const waiting = staged.filter(({ next }) => next.step === 'wait')
  for (const zone of staged) output.say(stageText(zone, now()))
  const due = staged.filter(({ next }) => next.step !== 'wait')
  const isIdle = due.length === 0 && !hasErrors(given.diagnostics)
  if (isIdle) output.unplanned([])
  const made = { ...given, zones: due.map((zone) => plannedNow(context, zone)) }
  const guarded = await guardDeletions(context, made, ({ job }) => job.allow, interruption.signal)
  // Written first: if this run is cut off, the next one knows the former TTLs.
  for (const zone of due) if (zone.next.step === 'lower') await writeStage(zone, now(), 'lowering')
  const status = isIdle ? EXIT.done : await changeZones(context, lockedRun, guarded)
  if (status === EXIT.done) for (const zone of due) await writeStage(zone, now())
  const until = [
    ...waiting.flatMap(({ next }) => (next.step === 'wait' ? [next.until] : [])),
    ...(status === EXIT.done ? due : []).flatMap((zone) => {
      const after = stagesAfter(zone, now())
      return after === null ? [] : [new Date(after.readyAt)]
    }),
  ]
  if (until.length === 0) return { status, readyAt: null }
  const readyAt = new Date(Math.min(...until.map((time) => time.getTime())))
  if (status === EXIT.done) output.say(`Safe to go on after ${timeText(readyAt, now())}: run the same command again.`)
  return { status: worstOf([status, EXIT.pending]), readyAt }
}

async function stageOf(context: ApplyContext<ChoreographyOptions>, planned: PlannedJob): Promise<StagedZone> {
  const { options, workspace } = context
  const { plan, existing } = planned
  const file = stateFile<Stages>(workspace.journal, 'stages', [plan.zone, plan.target], validate, mirrorOf(storeContext(context)))
  const capabilities = workspace.providers.get(plan.target)?.capabilities
  if (capabilities === undefined) throw new Error(`no provider ${plan.target}`)
  const stored = planned.job.storedTtls?.get(options.lowTtl) ?? 0
  const lowTtl = Math.max(options.lowTtl, storedTtl(options.lowTtl, capabilities), stored)
  // A plan with an error is shown as it is.
  if (hasErrors(plan.diagnostics)) return { planned, file, lowTtl, next: { step: 'plain' } }
  const next = nextStage({
    state: await file.read(),
    existing: existing && withOwnRrsets(existing, planned.job, capabilities),
    changes: plan.changes,
    capabilities,
    lowTtl,
    now: context.environment.now(),
  })
  return { planned, file, lowTtl, next }
}

/** The plan of what is due. */
function plannedNow({ workspace: { providers } }: ApplyContext<ChoreographyOptions>, { planned, next, lowTtl }: StagedZone): PlannedJob {
  const provider = providers.get(planned.job.target)
  if (provider === undefined || planned.existing === null) return planned
  const again = (job: PlannedJob['job']): PlannedJob => planAgain({ ...planned, job }, provider)
  if (next.step === 'lower') return again(loweringJob(planned.job, planned.existing, next.rrsets, lowTtl))
  if (next.step === 'change') return again(changingJob(planned.job, planned.existing, next.rrsets, lowTtl))
  return planned
}

/** What later runs have to know after this step; null if it was the last. */
function stagesAfter({ planned: { plan }, next, lowTtl }: StagedZone, now: Date, lowered: Stages['stage'] = 'lowered'): Stages | null {
  const common = { format: 'zonewright-stages', version: 1, zone: plan.zone, target: plan.target, lowTtl } as const
  const after = (seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString()
  switch (next.step) {
    case 'lower':
      return {
        ...common,
        stage: lowered,
        rrsets: next.rrsets,
        readyAt: after(Math.max(...next.rrsets.map(({ formerTtl }) => formerTtl))),
      }
    case 'change':
      return { ...common, stage: 'changed', rrsets: next.rrsets, readyAt: after(lowTtl) }
    default:
      return null
  }
}

async function writeStage(zone: StagedZone, now: Date, lowered?: Stages['stage']): Promise<void> {
  const after = stagesAfter(zone, now, lowered)
  if (after === null) await zone.file.remove()
  else await zone.file.write(after)
}

function stageText({ planned, next, lowTtl }: StagedZone, now: Date): string {
  const zone = `${planned.plan.zone} at ${planned.plan.target}`
  const names = (rrsets: readonly { readonly name: string; readonly type: string }[]): string =>
    listed(
      rrsets.map(({ name, type }) => `${relativeName(name as DomainName, planned.plan.zone) || '@'} ${type}`),
      MOST_NAMED,
    )
  switch (next.step) {
    case 'lower':
      return `${zone}: step 1 of 3, lower the TTL of ${names(next.rrsets)} to ${durationText(lowTtl)}.`
    case 'change':
      return `${zone}: step 2 of 3, change the records with a TTL of ${durationText(lowTtl)}.`
    case 'restore':
      return `${zone}: step 3 of 3, set the TTLs of the definition.`
    case 'wait':
      return `${zone}: step ${next.stage === 'changed' ? '2' : '1'} of 3 is done. Safe to go on after ${timeText(next.until, now)}.`
    case 'plain':
      return planned.plan.changes.length === 0
        ? `${zone}: nothing to do.`
        : `${zone}: no cache keeps an old answer for more than ${durationText(lowTtl)}, so there is one step.`
  }
}

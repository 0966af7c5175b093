/** `zonewright ci plan`: checks and plans a pull request, and writes its comment, the job's summary and annotations. */
import { rmSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type Diagnostic, isError } from '../../base/diagnostic.ts'
import { agreeing, counted, listed } from '../../base/english.ts'
import type { CiJob } from '../../ci/job.ts'
import type { Config } from '../../config/config.ts'
import type { Plan } from '../../plan/plan.ts'
import { codeCell } from '../../report/markdown-block.ts'
import { annotation } from '../../report/workflow-command.ts'
import { EXIT, type ExitStatus, worstOf } from '../../run/context/exit-status.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { neededForZones } from '../../stored/approvals/approvals-of-plan.ts'
import { beginsLikeDocument } from '../../stored/plans/saved-plan.ts'
import type { CliIo } from '../io.ts'
import { addSummary, type CiContext, type CiOptions, configOf, formatOf, inCiJob, setOutputs, withSite } from './ci-setup.ts'
import { type PlanComment, planSummary, writePlanComment } from './plan-comment.ts'
import { planOf, runCommand, type Step } from './run-command.ts'
import { withConfigOf } from './trusted-config.ts'

export interface PlanJobOptions extends CiOptions {
  readonly config?: string
  readonly since?: string
  readonly out?: string
  /** The name of the artifact without the commit. */
  readonly artifact: string
  readonly comment: boolean
  /** Whether the branch could not be merged with its base: the comment says so, and nothing is planned. */
  readonly unmerged?: boolean
}

/** Files and people named in a note. */
const MAX_NAMED = 3

export const planJob = (io: CliIo, [zones]: readonly [string[]], options: PlanJobOptions): Promise<ExitStatus> =>
  inCiJob(io, options, async (context) => {
    const { job, output } = context
    const { pullRequest } = job
    // Another branch may not be protected: its config could name any provider, and lift any limit, for a plan that is signed.
    if (!job.isForDefaultBranch || (pullRequest === null && !job.isGroup && !(job.isManual && job.isOnDefaultBranch))) {
      output.error(
        'ci-job',
        'this job is neither for a pull request to the default branch nor started by hand for that branch',
        'run it for the events pull_request, pull_request_target and merge_group, or merge_request_event',
      )
      return EXIT.failure
    }
    // By hand, the branch is planned as it is.
    if (options.unmerged === true || (pullRequest === null && !job.isGroup)) return planAndComment(context, zones, options)
    return withConfigOf(
      io,
      options.config,
      baseOf(options, job.branch),
      (baseConfig) => planAndComment({ ...context, io: { ...io, baseConfig } }, zones, options),
      { isAlone: true },
    )
  })

async function planAndComment(context: CiContext, zones: readonly string[], options: PlanJobOptions): Promise<ExitStatus> {
  const { job, output } = context
  const { pullRequest } = job
  const head = pullRequest?.head ?? job.commit
  const steps = options.unmerged === true ? null : await runSteps(context, zones, options)
  const comment: PlanComment = {
    marker: options.marker,
    plan: steps && withWarnings(steps),
    notes: steps === null ? [conflictNote(job.branch)] : await notesOfPlan(context, steps, options),
    head,
    job,
  }
  addSummary(context, planSummary(comment))
  setOutputs(context, { artifact: `${options.artifact}-${head}` })
  const commented =
    options.comment && pullRequest !== null && !job.isGroup
      ? await withSite(context, undefined, async (open) => {
          output.say(await writePlanComment(open, pullRequest.number, comment))
          return EXIT.done
        })
      : EXIT.done
  return steps === null ? EXIT.failure : worstOf([steps.validated.status, steps.formatted.status, steps.planned.status, commented])
}

const conflictNote = (branch: string): string =>
  `**The branch conflicts with ${codeCell(branch)},** so nothing is planned. Merge ${codeCell(branch)} into it, or rebase it.`

async function notesOfPlan({ io, job }: CiContext, steps: Steps, options: PlanJobOptions): Promise<string[]> {
  const { config } = await loadRunConfig(io, options.config, { offline: true })
  return [...notesOf(steps), ...configNotes(config, job.branch), ...approvalNotes(config, steps, options, job)]
}

/** The tip of the branch that a pull request is merged into, as a revision. */
const baseOf = ({ since: base }: PlanJobOptions, branch: string): string =>
  `${(base ?? `refs/remotes/origin/${branch}`).replace(/\.\.$/, '')}..`

interface Steps {
  readonly validated: Step
  readonly formatted: Step
  readonly planned: Step
}

/** Runs the three checks, and prints annotations at GitHub or text elsewhere. An annotation of an earlier step is not repeated. */
async function runSteps(context: CiContext, zones: readonly string[], options: PlanJobOptions): Promise<Steps> {
  const { io, job, output } = context
  const { since, out } = options
  const common = [...configOf(options), ...(since === undefined ? [] : ['--since', since])]
  const format = formatOf(context)
  const shown = new Set<string>()
  const show = (text: string): void => {
    const lines = text.split('\n').filter((line) => !shown.has(line))
    for (const line of lines) if (line.startsWith('::') && !/^::(?:end)?group/.test(line)) shown.add(line)
    output.report(lines.join('\n'), format)
  }
  // Those of the base branch itself: the pull request cannot weaken them.
  const policies = ['--policies-from', baseOf(options, job.branch)]
  const validated = await runCommand(io, 'validate', [...common, ...policies, '--format', format])
  show(validated.stdout)
  const formatted = await runCommand(io, 'fmt', [...configOf(options), '--since', since ?? `refs/remotes/origin/${job.branch}`, '--check'])
  show(
    format === 'github'
      ? filesOf(formatted)
          .map((file) => `${unformatted(file)}\n`)
          .join('')
      : formatted.stdout,
  )
  const saved = out === undefined ? [] : ['--out', out]
  // Of an earlier step: a plan with errors is not saved, and that file would be taken for it.
  if (out !== undefined && (await beginsLikeDocument(resolve(io.cwd, out), 'plan'))) rmSync(resolve(io.cwd, out))
  const planned = await runCommand(io, 'plan', [...common, ...policies, ...saved, '--format', format, ...zones])
  show(planned.stdout)
  return { validated, formatted, planned }
}

/** The plan, with the warnings and notices of `validate` about records that it changes, or that refer to them. */
function withWarnings({ validated, planned }: Steps): Plan | null {
  const plan = planOf(planned)
  const validation = validated.run?.validation ?? null
  if (plan === null || validation === null) return plan
  const changes = plan.zones.flatMap((zone) => zone.changes.flatMap((one) => (one.subject === 'record' ? one : [])))
  const changed = new Set<string>(changes.flatMap(({ existing, desired }) => [existing?.name ?? '', desired?.name ?? '']))
  const changedZones = new Set(plan.zones.flatMap(({ zone, changes: some }) => (some.length === 0 ? [] : zone)))
  const files = new Set(validation.zones.flatMap((one) => (changedZones.has(one.zone) ? one.files : [])))
  const isAboutChange = ({ message, at, cause }: Diagnostic): boolean =>
    // A finding about a whole file names no record.
    cause?.subject === 'file'
      ? at !== undefined && files.has(at.file)
      : message.split(/[\s,:;]+/).some((word) => word !== '' && changed.has(word))
  const findings = validation.diagnostics.filter((one) => !isError(one) && isAboutChange(one))
  return { ...plan, diagnostics: [...plan.diagnostics, ...findings] }
}

/** The files that `fmt --check` lists. */
const filesOf = ({ stdout }: Step): string[] => stdout.split('\n').filter((line) => line !== '')

/** The keys of the config for which the base branch has other values. */
function configNotes(config: Config | null, branch: string): string[] {
  const keys = config?.base?.limitedKeys ?? []
  if (keys.length === 0) return []
  const without = keys.includes('providers') ? ' Zones at a new provider are not planned before.' : ''
  return [
    `**${listed(keys.map(codeCell))} of the config ${agreeing(keys.length, 'takes', 'take')} effect after the merge.** Until then, the values of ${codeCell(branch)} count.${without}`,
  ]
}

/** How many people must approve the saved plan, and how, if the config requires it. */
function approvalNotes(config: Config | null, { planned }: Steps, { out }: PlanJobOptions, { pullRequest }: CiJob): string[] {
  const plan = planOf(planned)
  if (plan === null || out === undefined || planned.status !== EXIT.done) return []
  const changed = plan.zones.filter(({ changes }) => changes.length > 0)
  const needed = neededForZones(
    config,
    changed.map(({ zone }) => zone),
  )
  if (needed === 0) return []
  const names = (config?.approvals?.keys ?? []).map(({ name }) => name)
  const people = listed(names.map(codeCell), MAX_NAMED)
  const where = pullRequest === null ? 'a comment on the pull request of this commit' : 'a comment here'
  return [
    `**Needs ${counted(needed, 'approval')}** before it is applied. ${people} can approve: download the plan that this job has kept, run ${codeCell(`zonewright approve ${basename(out)} --key FILE`)}, and paste the file that it writes into ${where}. Another commit needs other approvals.`,
  ]
}

const unformatted = (file: string): string =>
  annotation({ severity: 'error', title: 'fmt', message: 'not in the canonical layout: run "zonewright fmt"', file, line: 1 })

function notesOf({ validated, formatted, planned }: Steps): string[] {
  const files = filesOf(formatted)
  return [
    ...(validated.status === EXIT.failure ? ['**The definitions are not valid.** The annotations of the job show where.'] : []),
    ...(planned.status === EXIT.refused ? ['**Refused:** a safety limit is exceeded, so this plan will not be applied.'] : []),
    ...(planned.status === EXIT.failure ? ['**The plan has errors,** so it will not be applied.'] : []),
    ...(files.length > 0
      ? [`**Not in the canonical layout:** ${listed(files.map(codeCell), MAX_NAMED)}. Run <code>zonewright fmt</code>.`]
      : []),
  ]
}

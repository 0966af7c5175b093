/**
 * `zonewright ci comment`: comments on a pull request from a fork. It runs in a job of the base branch that starts after the job of the fork has ended. The plan
 * file of that job is hostile text: nothing of it is believed except as text to show. The pull request comes from the event and the site.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { EXIT, type ExitStatus } from '../../apply/exit-status.ts'
import { readReport } from '../../apply/saved-plan/read-report.ts'
import type { Plan } from '../../plan/plan.ts'
import type { CliIo } from '../io.ts'
import { type CiContext, type CiOptions, inCiJob, withSite } from './ci-setup.ts'
import { planMarkdown, writePlanComment } from './plan-comment.ts'

export interface CommentJobOptions extends CiOptions {
  readonly plan: string
}

export const commentJob = (io: CliIo, _args: readonly [], options: CommentJobOptions): Promise<ExitStatus> =>
  inCiJob(io, options, async (context) => {
    const { job, output } = context
    const { ended } = job
    if (job.site !== 'github' || ended === null) {
      output.error('ci-job', 'this job did not start after a run of another workflow', 'run it for the event workflow_run of GitHub')
      return EXIT.failure
    }
    return withSite(context, undefined, async (open) => {
      if (open.kind !== 'github') return EXIT.failure
      const found = await open.site.findOpen(ended.owner, ended.branch, ended.head)
      const [pullRequest] = found.filter(({ base, isFork }) => isFork && base === job.branch)
      if (pullRequest === undefined) {
        output.say(`No comment: no open pull request from a fork to ${job.branch} has the commit ${ended.head.slice(0, 12)}.`)
        return EXIT.done
      }
      const { plan, problem } = await readHostilePlan(context, options.plan)
      const notes = [
        ...(ended.conclusion === 'success' ? [] : ['**The job of the fork has failed.** Its log says why.']),
        problem ?? FROM_FORK,
      ]
      const comment = { marker: options.marker, plan, notes, head: ended.head, job: { ...job, url: ended.url } }
      output.say(await writePlanComment(open, pullRequest.number, comment))
      return EXIT.done
    })
  })

const FROM_FORK =
  'A job of the fork made this plan, without credentials and from a snapshot of the zones. It is shown as that job wrote it, and it is never applied: a merge plans again.'

interface HostilePlan {
  readonly plan: Plan | null
  /** Markdown; null if there is a plan. */
  readonly problem: string | null
}

/** Reads the plan file of an untrusted job. Messages repeat nothing of it. */
async function readHostilePlan({ io, output }: CiContext, file: string): Promise<HostilePlan> {
  if (!existsSync(resolve(io.cwd, file))) return { plan: null, problem: '**The job of the fork kept no plan.**' }
  const { report, diagnostics } = await readReport(resolve(io.cwd, file), 'the plan of the fork', null)
  if (report?.kind === 'plan' && canBeShown(report.plan)) return { plan: report.plan, problem: null }
  output.say(`The file of the fork is refused: ${diagnostics.map(({ code }) => code).join(', ') || 'it cannot be shown'}.`)
  return { plan: null, problem: '**The file that the job of the fork kept is not a plan** of this version of the program.' }
}

/** Whether a report of the plan can be made. The schema allows some values that no plan has. */
function canBeShown(plan: Plan): boolean {
  try {
    return planMarkdown(plan) !== ''
  } catch {
    return false
  }
}

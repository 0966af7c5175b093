/** The comment with the plan of a pull request, and the summary of the job with the same plan in full. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CiJob } from '../../ci/job.ts'
import { keepPost, linkTo, markerOf, postText } from '../../ci/keep-post.ts'
import type { OpenSite } from '../../ci/open-site.ts'
import type { PullRequest } from '../../ci/site.ts'
import type { Plan } from '../../plan/plan.ts'
import { renderPlan } from '../../report/render-report.ts'
import type { ReportOptions } from '../../report/report.ts'
import { EXIT, type ExitStatus } from '../../run/context/exit-status.ts'
import { readReport } from '../../stored/plans/read-report.ts'
import type { CliIo } from '../io.ts'
import { type CiContext, type CiOptions, inCiJob, keepOptionsOf, withSite } from './ci-setup.ts'

/** Maximum characters of a job summary. GitHub takes 1,048,576 octets; a character may have several. */
const MAX_SUMMARY = 500_000

/** A plan as Markdown for a post. */
export const planMarkdown = (plan: Plan, limits: Pick<ReportOptions, 'maxLength'> = {}): string =>
  renderPlan(plan, 'markdown', { color: false, width: null, verbose: false, ...limits })

export interface PlanComment {
  readonly marker: string
  /** Null if the job has no plan to show. */
  readonly plan: Plan | null
  /** Markdown about the job's other steps. */
  readonly notes: readonly string[]
  readonly head: string
  /** The run that made the plan. */
  readonly job: Pick<CiJob, 'url' | 'manualUrl'>
}

const textOf = ({ marker, plan, notes, head, job }: PlanComment, maxText: number): string =>
  postText(
    {
      marker: markerOf(marker),
      title: 'DNS plan',
      notes,
      report: (maxLength) => (plan === null ? '' : planMarkdown(plan, { maxLength })),
      footer: [
        `Commit ${head.slice(0, 12)}. The ${linkTo('job', job.url)} has the whole plan in its summary and its artifact. ${linkTo('A run by hand', job.manualUrl)} applies what the merge job leaves.`,
      ],
    },
    maxText,
  )

export const planSummary = (comment: PlanComment): string => textOf(comment, MAX_SUMMARY)

/**
 * Writes the comment on a pull request, or updates it. Returns a line that says what was done. A job for a commit that is no longer the last one of the pull
 * request leaves the comment to the job for the last one.
 */
export async function writePlanComment(open: OpenSite, number: number, comment: PlanComment): Promise<string> {
  const { site } = open
  const { pullRequest: noun, sign } = site.words
  const name = `${noun} ${sign}${number}`
  const found = await site.findPullRequest(number)
  const problem = superseded(found, comment.head)
  if (problem !== null) return `No comment: ${name} ${problem}.`
  const kept = await keepPost(site.comments(number), markerOf(comment.marker), textOf(comment, site.maxText), await keepOptionsOf(open))
  return `The comment on ${name} is ${kept.done}.`
}

function superseded(found: PullRequest | null, head: string): string | null {
  if (found === null) return 'does not exist'
  return found.head === head ? null : `has a newer commit than ${head.slice(0, 12)}`
}

// `zonewright ci comment`: comments on a pull request from a fork. It runs in a job of the base branch that starts after the job of the fork has ended. The plan
// file of that job is hostile text: nothing of it is believed except as text to show. The pull request comes from the event and the site.

interface CommentJobOptions extends CiOptions {
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

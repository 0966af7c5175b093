/** The comment with the plan of a pull request, and the summary of the job with the same plan in full. */
import type { CiJob } from '../../ci/job.ts'
import { keepPost, markerOf } from '../../ci/keep-post.ts'
import type { OpenSite } from '../../ci/open-site.ts'
import { linkTo, postText } from '../../ci/post-text.ts'
import type { PullRequest } from '../../ci/site.ts'
import type { Plan } from '../../plan/plan.ts'
import { renderPlan } from '../../report/render-report.ts'
import type { ReportOptions } from '../../report/report.ts'
import { keepOptionsOf } from './ci-setup.ts'

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
        `Commit ${head.slice(0, 12)}. The ${linkTo('job', job.url)} has the whole plan in its summary and its artifact. ${linkTo('A run by hand', job.manualUrl)} applies what the job of the merge leaves.`,
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

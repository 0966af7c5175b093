/** `zonewright ci drift`: compares the live zones with the definitions on schedule, and keeps one issue that is open while they differ. */
import { EXIT, type ExitStatus, worstOf } from '../../apply/exit-status.ts'
import { findOurs, keepPost, markerOf } from '../../ci/keep-post.ts'
import type { OpenSite } from '../../ci/open-site.ts'
import { linkTo, postText } from '../../ci/post-text.ts'
import type { Plan } from '../../plan/plan.ts'
import { agreeing, counted } from '../../report/english.ts'
import { fencedBlock } from '../../report/markdown-block.ts'
import { isVerified, type Verification } from '../../report/verification.ts'
import type { CliIo } from '../io.ts'
import { addSummary, type CiContext, type CiOptions, configOf, inCiJob, keepOptionsOf, withSite } from './ci-setup.ts'
import { planMarkdown } from './plan-comment.ts'
import { planOf } from './plan-job.ts'
import { runCommand, type Step } from './run-command.ts'

export interface DriftJobOptions extends CiOptions {
  readonly config?: string
  /** The title of the issue. */
  readonly title: string
  /** Whether to keep an issue. */
  readonly issue: boolean
}

/** Maximum characters of the result of `verify` in an issue. */
const MAX_VERIFICATION = 15_000

export const driftJob = (io: CliIo, [zones]: readonly [string[]], options: DriftJobOptions): Promise<ExitStatus> =>
  inCiJob(io, options, async (context) => {
    const config = configOf(options)
    const verified = await runCommand(io, 'verify', [...config, '--no-color', '--', ...zones])
    context.output.report(verified.stdout, 'text')
    // Without a result, the issue stays as it is.
    if (verified.status !== EXIT.done && verified.status !== EXIT.pending) return verified.status
    const isDrift = verified.status === EXIT.pending
    const planned = isDrift ? await runCommand(io, 'plan', [...config, '--format', 'text', '--', ...zones]) : null
    if (planned !== null) context.output.report(planned.stdout, 'text')
    const drift: Drift = { verified, plan: planned && planOf(planned), url: context.job.url, options }
    addSummary(context, driftText(drift, 500_000))
    if (!options.issue) return verified.status
    const kept = await withSite(context, undefined, (open) =>
      isDrift ? reportDrift(context, open, drift) : endDrift(context, open, drift),
    )
    return worstOf([verified.status, kept])
  })

interface Drift {
  readonly verified: Step
  /** Null if there is no drift, or if planning failed. */
  readonly plan: Plan | null
  readonly url: string
  readonly options: DriftJobOptions
}

function driftText({ verified, plan, url, options }: Drift, maxText: number): string {
  const lines = verified.stdout.split('\n').filter((line) => line.trim() !== '')
  return postText(
    {
      marker: markerOf(options.marker),
      title: options.title,
      notes: [summaryOf(verified), fencedBlock('text', firstLines(lines, Math.min(MAX_VERIFICATION, maxText / 3)))],
      report: (maxLength) => (plan === null ? '' : planMarkdown(plan, { maxLength })),
      footer: [`Found by this ${linkTo('job', url)}. It updates this issue, and closes it when the zones are as defined.`],
    },
    maxText,
  )
}

function summaryOf({ report }: Step): string {
  const zones = report?.kind === 'verification' ? (report.verification as Verification).zones : []
  const different = zones.filter((zone) => !isVerified(zone)).length
  if (different === 0) return 'All zones are as defined.'
  return `**${counted(different, 'zone')} of ${zones.length} ${agreeing(different, 'differs', 'differ')} from the definitions.** An apply makes the changes below; or change the definitions.`
}

/** As many lines as have at most so many characters together. */
function firstLines(lines: readonly string[], characters: number): string[] {
  let left = characters
  const shown = lines.slice(
    0,
    lines.findIndex((line) => {
      left -= line.length + 1
      return left < 0
    }) >>> 0,
  )
  return shown.length < lines.length ? [...shown, `… ${lines.length - shown.length} more lines in the log of the job`] : shown
}

async function reportDrift({ output }: CiContext, open: OpenSite, drift: Drift): Promise<ExitStatus> {
  const { site } = open
  const text = driftText(drift, site.maxText)
  const kept = await keepPost(site.issues(drift.options.title), markerOf(drift.options.marker), text, await keepOptionsOf(open))
  output.say(`Issue #${kept.post.id} is ${kept.done}.`)
  return EXIT.done
}

/** Closes the issues about drift, if there are any. */
async function endDrift({ output }: CiContext, open: OpenSite, drift: Drift): Promise<ExitStatus> {
  const { site, usualAuthor } = open
  const issues = site.issues(drift.options.title)
  const ours = findOurs(await issues.list(), markerOf(drift.options.marker), (await site.findAuthor()) ?? usualAuthor)
  for (const issue of ours) {
    await issues.close(issue, driftText(drift, site.maxText))
    output.say(`Issue #${issue.id} is closed: the zones are as defined.`)
  }
  return EXIT.done
}

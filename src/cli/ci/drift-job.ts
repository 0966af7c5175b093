/** `zonewright ci drift`: compares the live zones with the definitions on schedule, and keeps one issue that is open while they differ. */
import { agreeing, counted, listed } from '../../base/english.ts'
import { findOurs, keepPost, linkTo, markerOf, postText } from '../../ci/keep-post.ts'
import type { OpenSite } from '../../ci/open-site.ts'
import type { Post } from '../../ci/site.ts'
import type { Plan } from '../../plan/plan.ts'
import { codeCell } from '../../report/markdown-block.ts'
import { renderVerification } from '../../report/render-report.ts'
import { zoneTitle } from '../../report/summary.ts'
import { isVerified } from '../../report/verification.ts'
import { EXIT, type ExitStatus, worstOf } from '../../run/context/exit-status.ts'
import type { CliIo } from '../io.ts'
import { addSummary, type CiContext, type CiOptions, configOf, formatOf, inCiJob, keepOptionsOf, withSite } from './ci-setup.ts'
import { planMarkdown } from './plan-comment.ts'
import { planOf, runCommand, type Step } from './run-command.ts'

export interface DriftJobOptions extends CiOptions {
  readonly config?: string
  /** The title of the issue. */
  readonly title: string
  /** Whether to keep an issue. */
  readonly issue: boolean
}

export const driftJob = (io: CliIo, [zones]: readonly [string[]], options: DriftJobOptions): Promise<ExitStatus> =>
  inCiJob(io, options, async (context) => {
    const config = configOf(options)
    const format = formatOf(context)
    const verified = await runCommand(io, 'verify', [...config, '--no-color', '--format', format, '--', ...zones])
    context.output.report(verified.stdout, format)
    const isDrift = verified.status === EXIT.pending
    const differs = verified.run?.verification?.zones.some((zone) => !isVerified(zone))
    // Zones that cannot be read do not hide the changes of others.
    const planned = differs ? await runCommand(io, 'plan', [...config, '--keep-going', '--format', 'text', '--', ...zones]) : null
    if (planned !== null) context.output.report(planned.stdout, 'text')
    const drift: Drift = { verified, plan: planned && planOf(planned), url: context.job.url, options }
    addSummary(context, driftText(drift, 500_000))
    // Without a result, the issue stays as it is.
    if (!options.issue || (verified.status !== EXIT.done && !isDrift)) return verified.status
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

/** `former` is the text of the open issue. */
function driftText({ verified: { run, status }, plan, url, options }: Drift, maxText: number, former = ''): string {
  const verification = run?.verification ?? { zones: [], diagnostics: [] }
  const { zones } = verification
  const different = zones.filter((zone) => !isVerified(zone)).length
  const repaired = zones.filter((zone) => isVerified(zone) && former.includes(`| ${codeCell(zoneTitle(zone))} |`)).map(zoneTitle)
  const isCompared = status !== EXIT.failure
  return postText(
    {
      marker: markerOf(options.marker),
      title: options.title,
      notes: [
        ...(isCompared ? [] : ['**Not everything could be compared.** The log of the job says why.']),
        ...(different > 0
          ? [
              `**${counted(different, 'zone')} of ${zones.length} ${agreeing(different, 'differs', 'differ')} from the definitions.** An apply makes the changes below; or change the definitions.`,
            ]
          : isCompared
            ? ['All zones are as defined.']
            : []),
        ...(repaired.length > 0 ? [`Repaired since the last run: ${listed(repaired.map(codeCell), MAX_NAMED)}.`] : []),
      ],
      report: (maxLength) => {
        const compared = renderVerification(verification, 'markdown', { ...RENDERING, maxLength: maxLength / 3 })
        const left = maxLength - compared.length
        if (plan !== null) return compared + planMarkdown(plan, { maxLength: left })
        const differed = `\n<details><summary>What differed before</summary>\n\n${former.replace(/^.*\n.*\n/, '')}\n</details>\n`
        return former !== '' && different === 0 && differed.length <= left ? compared + differed : compared
      },
      footer: [`Found by this ${linkTo('job', url)}. It updates this issue, and closes it when the zones are as defined.`],
    },
    maxText,
  )
}

const RENDERING = { color: false, width: null, verbose: false }

/** Zones named in a line. */
const MAX_NAMED = 20

/** The issues about drift that are open, the oldest first. */
async function openIssues({ site, usualAuthor }: OpenSite, { marker, title }: DriftJobOptions): Promise<Post[]> {
  return findOurs(await site.issues(title).list(), markerOf(marker), (await site.findAuthor()) ?? usualAuthor)
}

async function reportDrift({ output }: CiContext, open: OpenSite, drift: Drift): Promise<ExitStatus> {
  const { site } = open
  const [former] = await openIssues(open, drift.options)
  const text = driftText(drift, site.maxText, former?.text)
  const kept = await keepPost(site.issues(drift.options.title), markerOf(drift.options.marker), text, await keepOptionsOf(open))
  output.say(`Issue #${kept.post.id} is ${kept.done}.`)
  return EXIT.done
}

/** Closes the issues about drift, if there are any. */
async function endDrift({ output }: CiContext, open: OpenSite, drift: Drift): Promise<ExitStatus> {
  const { site } = open
  for (const issue of await openIssues(open, drift.options)) {
    await site.issues(drift.options.title).close(issue, driftText(drift, site.maxText, issue.text))
    output.say(`Issue #${issue.id} is closed: the zones are as defined.`)
  }
  return EXIT.done
}

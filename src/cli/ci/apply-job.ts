/**
 * `zonewright ci apply`: after a merge, applies the plan that was reviewed, in the zones that have not changed since. If something is left, it shows a new plan
 * and applies nothing of it, unless `--unreviewed apply` says otherwise.
 */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { counted, listed } from '../../base/english.ts'
import { linkTo } from '../../ci/keep-post.ts'
import { GITHUB_TOKEN } from '../../ci/open-site.ts'
import { findReviewedPlans } from '../../ci/reviewed-plan.ts'
import { SiteError } from '../../ci/site-client.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { fetchBranch } from '../../git/revision.ts'
import type { Plan, ZoneOutcome } from '../../plan/plan.ts'
import { codeCell } from '../../report/markdown-block.ts'
import { renderOutcome, renderPlan } from '../../report/render-report.ts'
import { EXIT, type ExitStatus, worstOf } from '../../run/context/exit-status.ts'
import type { SupersededZones } from '../../run/context/run-context.ts'
import { loadRunConfig } from '../../run/load/run-config.ts'
import { selectZones } from '../../run/load/select-zones.ts'
import type { CommonOptions } from '../command.ts'
import type { CliIo } from '../io.ts'
import { addSummary, type CiContext, configOf, formatOf, inCiJob, withSite } from './ci-setup.ts'
import { planOf, runCommand, type Step } from './run-command.ts'
import { commentsWithApprovals, withConfigOf, withTrustedConfig } from './trusted-config.ts'

export interface ApplyJobOptions extends CommonOptions {
  readonly config?: string
  /** The reviewed plan, or a folder of several, which an earlier step or job has kept. At GitLab, the command finds that of a merge request if absent. */
  readonly plan?: string
  /** At GitLab: the job that made the plan, and the path of the plan among its artifacts. */
  readonly from?: string
  readonly artifact: string
  /** Limits a new plan to the zones that have changed since this revision. */
  readonly since?: string
  readonly unreviewed: 'plan' | 'apply'
  /** Seconds to wait for other runs that have locked a zone. */
  readonly wait: number
  /** The config that approvals and policies come from; that of the commit before the push if absent. */
  readonly trustedConfig?: string | undefined
  /** Whether to make a shallow clone complete first. */
  readonly fetchHistory?: boolean
}

/** Zones named in a message. */
const MAX_NAMED = 20

const RENDERING = { color: false, width: null, verbose: false, maxLength: 250_000 }

export const applyJob = (io: CliIo, _args: readonly [], options: ApplyJobOptions): Promise<ExitStatus> =>
  inCiJob(io, options, async (context) => {
    if (!context.job.isOnDefaultBranch) {
      context.output.error('ci-job', 'this job is not for the default branch', 'run it for a push to that branch, or by hand')
      return EXIT.failure
    }
    if (options.fetchHistory === true) await fetchJobBranch(context, true)
    return withTrustedConfig(context, options, (trusted) =>
      withReviewedPlans(context, options, async (files) => {
        const own = { ...options, trustedConfig: trusted.file }
        if (!trusted.isKnown) return applyRest(context, { ...own, unreviewed: 'plan' })
        for (const file of files) {
          const { status, isUnusable } = await applyReviewed(context, file, own)
          if (isUnusable) return worstOf([status, await applyRest(context, { ...own, unreviewed: 'plan' })])
          // If something failed or is unknown, a new plan could not say which.
          if (status !== EXIT.done && status !== EXIT.refused) return status
        }
        return applyRest(context, own)
      }),
    )
  })

/** Calls `work` with the paths of the reviewed plans, in the order of their merges. */
async function withReviewedPlans(
  context: CiContext,
  { plan, from, artifact }: ApplyJobOptions,
  work: (files: readonly string[]) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const { io, job, output } = context
  if (job.site === 'github' || plan !== undefined) {
    const files = plan === undefined ? [] : plansAt(resolve(io.cwd, plan))
    if (files.length === 0) output.say('There is no reviewed plan.')
    return work(files)
  }
  return withSite(context, from, async (open) => {
    if (open.kind !== 'gitlab') return EXIT.failure
    const { found, reasons } = await findReviewedPlans(open, job, artifact)
    for (const reason of reasons) output.say(`There is no reviewed plan: ${reason}.`)
    // Outside the checkout, which could have a file or link of that name.
    const folder = mkdtempSync(join(tmpdir(), 'zonewright-plan-'))
    try {
      for (const { id } of found) writeFileSync(join(folder, `${id}.json`), await open.site.readArtifact(id, artifact), { mode: 0o600 })
      return await work(found.map(({ id }) => join(folder, `${id}.json`)))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
}

/** A file, or the files of a folder in the order of the numbers that they begin with. */
function plansAt(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found === undefined ? [] : [path]
  const names = readdirSync(path).filter((name) => /^[0-9]+\.json$/.test(name))
  return names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).map((name) => join(path, name))
}

/** Applies the plan in a file. A file is unusable if it is no plan, or one of another key, version or address: no zone of it was looked at. */
async function applyReviewed(
  context: CiContext,
  file: string,
  options: ApplyJobOptions,
): Promise<{ readonly status: ExitStatus; readonly isUnusable: boolean }> {
  const io: CliIo = {
    ...context.io,
    superseded: () => zonesOfLaterCommits(context, options.config),
    approvals: await commentsWithApprovals(context, options, options.trustedConfig),
  }
  const step = await runCommand(io, 'apply', [file, '--partial', ...configOf(options), ...applyArguments(context, options)])
  show(context, step)
  const { plan = null, outcomes = null } = step.run ?? {}
  if (plan === null || plan.zones.length === 0) return { status: step.status, isUnusable: step.status === EXIT.failure }
  if (plan.diagnostics.some(({ code }) => code === 'not-approved')) context.output.say(APPROVE)
  const isApplied = outcomes?.some(({ outcomes }) => outcomes.some(({ state }) => state !== 'skipped')) ?? false
  const heading = isApplied ? 'Applied the reviewed plan' : 'Applied nothing of the reviewed plan'
  const again = plan.zones.every(({ refused }) => refused === 'moved') ? APPLIED_BEFORE : ''
  addSummary(context, `## ${heading}\n\n${again}${markdownOf(plan, outcomes)}`)
  return { status: step.status, isUnusable: false }
}

const APPLIED_BEFORE =
  'All its zones have changed since the plan was made. **If this job runs again, an earlier run has applied the plan:** what follows below says whether anything is left.\n\n'

const APPROVE =
  'Approve the plan that was reviewed ("zonewright approve"), paste the signatures into comments on its pull request, and run this job again: docs/tasks/approvals.md.'

/**
 * Compares what the push has changed with the live zones, after everything was applied, and plans what is left. Nothing left is success: somebody else made the
 * changes, or there were none. If later commits describe the zones otherwise, that is a plan of the branch's last commit, since one of this commit would undo them.
 */
async function applyRest(context: CiContext, options: ApplyJobOptions): Promise<ExitStatus> {
  const { io, output, job } = context
  const { branch, manualUrl } = job
  const { since, names } = await changesOfPush(context, options)
  const changed = [...configOf(options), ...(since === undefined ? [] : ['--since', since])]
  const laterZones = async (): Promise<readonly DomainName[]> =>
    [...(await zonesOfLaterCommits(context, options.config)).names].filter((name) => names === null || names.has(name)).sort()
  let later = await laterZones()
  if (options.unreviewed === 'apply' && later.length === 0) {
    const step = await runCommand(io, 'apply', [...changed, ...applyArguments(context, options)])
    show(context, step)
    const applied = planOf(step)
    if (applied !== null) addSummary(context, `## Planned again and applied\n\n${markdownOf(applied, step.run?.outcomes ?? null)}`)
    if (step.status !== EXIT.done) return step.status
    later = await laterZones()
  }
  const format = ['--format', formatOf(context)]
  if (later.length > 0)
    output.say(
      `This job applies nothing of a new plan: later commits on ${branch} describe ${listed(later, MAX_NAMED)} otherwise. The plan is that of the last one.`,
    )
  const step =
    later.length === 0
      ? await runCommand(io, 'plan', [...changed, ...format])
      : await withConfigOf(io, options.config, `refs/remotes/origin/${branch}..`, (config) =>
          runCommand(io, 'plan', ['--config', config, ...format]),
        )
  show(context, step)
  const { status } = step
  const plan = planOf(step)
  if (plan === null) return worstOf([status, EXIT.failure])
  const pending = plan.zones.filter(({ changes }) => changes.length > 0).length
  const isLeft = pending > 0
  const heading = isLeft ? 'review this plan' : 'nothing is left'
  const how = isLeft ? `To apply it, ${linkTo('start a run by hand', manualUrl)} for ${codeCell(branch)}.\n\n` : ''
  addSummary(context, `## Planned again: ${heading}\n\n${how}${markdownOf(plan, null)}`)
  if (!isLeft) return status
  output.say(`Applied nothing of the new plan, which nobody has reviewed: ${counted(pending, 'zone')} would change.`)
  output.say(`To apply it, start a run by hand for ${branch}: ${manualUrl}`)
  return worstOf([status, EXIT.refused])
}

/**
 * The revision before the push and the zones that differ from it; both absent for all zones: the push created the branch, or a forced push removed that revision.
 * Throws `SiteError` if the revision that the user named cannot be read.
 */
async function changesOfPush(
  context: CiContext,
  { config, since }: ApplyJobOptions,
): Promise<{ readonly since: string | undefined; readonly names: ReadonlySet<DomainName> | null }> {
  const { before } = context.job
  const revision = since ?? (before === null ? undefined : `${before}..`)
  const names = revision === undefined ? null : await changedSince(context, config, revision)
  // Otherwise a misspelt revision would apply all zones.
  if (names === null && since !== undefined) throw new SiteError(`cannot compare with ${since}`, { status: null })
  return { since: names === null ? undefined : revision, names }
}

const applyArguments = (context: CiContext, { trustedConfig, wait }: ApplyJobOptions): string[] => [
  ...['--yes', '--wait', String(wait), '--format', formatOf(context)],
  ...(trustedConfig === undefined ? [] : ['--trusted-config', trustedConfig]),
]

const show = (context: CiContext, { stdout }: Step): void => context.output.report(stdout, formatOf(context))

const markdownOf = (plan: Plan, outcomes: readonly ZoneOutcome[] | null): string =>
  outcomes === null ? renderPlan(plan, 'markdown', RENDERING) : renderOutcome(plan, outcomes, 'markdown', RENDERING)

/** Fetches the job's branch, and compares the checkout with its last commit. Throws `SiteError`. */
export async function zonesOfLaterCommits(context: CiContext, config: string | undefined): Promise<SupersededZones> {
  const { branch } = context.job
  await fetchJobBranch(context)
  const names = await changedSince(context, config, `refs/remotes/origin/${branch}..`)
  if (names === null) throw new SiteError(`cannot compare with the last commit of ${branch}`, { status: null })
  return { names, branch }
}

/** Fetches the job's branch, `isWhole` with the history that a shallow clone lacks. Throws `SiteError`. */
async function fetchJobBranch(context: CiContext, isWhole = false): Promise<void> {
  const { branch } = context.job
  const problem = await fetchBranch(context.io.cwd, branch, withToken(context), isWhole)
  if (problem !== null) throw new SiteError(`cannot fetch the last commit of ${branch}: ${problem}`, { status: null })
}

/** The environment with the token of a job at GitHub in the form in which actions/checkout gives it to git. GitLab's runner leaves its own in the remote. */
function withToken({ io: { env }, job }: CiContext): CiContext['io']['env'] {
  const token = env[GITHUB_TOKEN] ?? ''
  if (job.site !== 'github' || token === '') return env
  const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0)
  // The empty value removes the header that the checkout may have left.
  const settings = ['', header].flatMap((value, index) => [
    [`GIT_CONFIG_KEY_${count + index}`, `http.${env['GITHUB_SERVER_URL']}/.extraheader`],
    [`GIT_CONFIG_VALUE_${count + index}`, value],
  ])
  return { ...env, ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(count + 2) }
}

/** The zones whose definitions differ from those of a revision; null, with a message, if it cannot be read. */
async function changedSince({ io, output }: CiContext, config: string | undefined, since: string): Promise<ReadonlySet<DomainName> | null> {
  const loaded = await loadRunConfig(io, config)
  // The command that applies reports what is wrong with the config.
  if (loaded.config === null) return new Set()
  const { zones, former, diagnostics } = await selectZones(loaded.config, [], { since }, io)
  const unreadable = diagnostics.find(({ code }) => code === 'revision-unreadable')
  if (unreadable !== undefined) {
    output.say(`Cannot compare with ${since}: ${unreadable.message}.`)
    return null
  }
  return new Set([...zones.map(({ zone }) => zone.name), ...former.map(({ name }) => name)])
}

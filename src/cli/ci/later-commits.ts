/**
 * The zones that a job of a push changes, and those that later commits of the branch describe otherwise. A job may run long after its merge: it waited for a
 * consent, or somebody started it again. If the merge was reverted meanwhile, the zones may be as they were when its plan was made, and the plan would undo
 * the revert.
 */
import { loadRunConfig } from '../../apply/run-config.ts'
import type { SupersededZones } from '../../apply/run-context.ts'
import { selectZones } from '../../apply/select-zones.ts'
import { GITHUB_TOKEN } from '../../ci/open-site.ts'
import { SiteError } from '../../ci/site-client.ts'
import { fetchBranch } from '../../definition/files/revision.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import type { CiContext } from './ci-setup.ts'

/** Fetches the job's branch, and compares the checkout with its last commit. Throws `SiteError`. */
export async function zonesOfLaterCommits(context: CiContext, config: string | undefined): Promise<SupersededZones> {
  const { branch } = context.job
  const problem = await fetchBranch(context.io.cwd, branch, withToken(context))
  const names = problem === null ? await changedSince(context, config, `refs/remotes/origin/${branch}..`) : null
  if (names === null) throw new SiteError(`cannot compare with the last commit of ${branch}${problem && `: ${problem}`}`, { status: null })
  return { names, branch }
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
export async function changedSince(
  { io, output }: CiContext,
  config: string | undefined,
  since: string,
): Promise<ReadonlySet<DomainName> | null> {
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

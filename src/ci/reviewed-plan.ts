/** The plans that were reviewed: those of the last commits of the pull requests whose merge this job is for, or of a run by hand that of its first job. */
import type { CiJob } from './job.ts'
import type { OpenSite } from './open-site.ts'
import { type ArtifactSearch, noArtifact, type PullRequest, type Site } from './site.ts'

/** The pull requests that the push of this job has merged, the oldest first. A merge queue merges several in one push. */
export async function findMerged(site: Site, { commit, branch, before }: CiJob): Promise<readonly PullRequest[]> {
  const commits = before === null ? [commit] : await site.commitsOfPush(before, commit)
  const merged = await Promise.all(commits.map((one) => site.findMerged(one, branch)))
  return merged.filter((one) => one !== null).reverse()
}

/** Asks the site for the merged pull requests, since a merge, squash or rebase gives the commit another hash, and then for the plans of their last commits. */
export async function findReviewedPlans(open: OpenSite, job: CiJob, artifact: string): Promise<ArtifactSearch> {
  const { site } = open
  const { commit, branch } = job
  const { pullRequest, sign } = site.words
  if (job.isManual && open.kind === 'github') return open.site.findArtifactOfRun(job.run, `${artifact}-${commit}`, commit)
  const merged = await findMerged(site, job)
  if (merged.length === 0) return noArtifact(`no single ${pullRequest} put ${commit.slice(0, 12)} on ${branch}`)
  const searches = merged.map((one) =>
    one.isFork
      ? noArtifact(`${pullRequest} ${sign}${one.number} came from a fork, whose plans are not applied`)
      : site.findReviewedPlan(one, artifact),
  )
  const all = await Promise.all(searches)
  return { found: all.flatMap(({ found }) => found), reasons: all.flatMap(({ reasons }) => reasons) }
}

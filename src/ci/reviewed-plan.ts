/** The plan that was reviewed: that of the last commit of the pull request whose merge this job is for, or of a run by hand that of its first job. */
import type { CiJob } from './job.ts'
import type { OpenSite } from './open-site.ts'
import { type ArtifactSearch, noArtifact, type PullRequest } from './site.ts'

export interface ReviewedPlan {
  readonly search: ArtifactSearch
  /** The merged pull request; null if the commit has none. */
  readonly merged: PullRequest | null
}

/** Asks the site for the merged pull request, since a merge, squash or rebase gives the commit another hash, and then for the plan of its last commit. */
export async function findReviewedPlan(open: OpenSite, { commit, branch, isManual, run }: CiJob, artifact: string): Promise<ReviewedPlan> {
  const { site } = open
  if (isManual && open.kind === 'github')
    return { search: await open.site.findArtifactOfRun(run, `${artifact}-${commit}`, commit), merged: null }
  const merged = await site.findMerged(commit, branch)
  const { pullRequest, sign } = site.words
  if (merged === null) return { search: noArtifact(`no single ${pullRequest} put ${commit.slice(0, 12)} on ${branch}`), merged }
  if (merged.isFork)
    return { search: noArtifact(`${pullRequest} ${sign}${merged.number} came from a fork, whose plans are not applied`), merged }
  return { search: await site.findReviewedPlan(merged, artifact), merged }
}

/** The CI jobs that `zonewright init` writes: pull requests are planned, merges applied, and the live zones compared with the definitions on schedule. */
import type { CiNeeds, CiSettings } from './ci-needs.ts'
import { githubChecks, githubJobs } from './github-workflows.ts'
import { gitlabPipeline } from './gitlab-pipeline.ts'
import type { Release } from './release.ts'

/** The sites whose CI has a template. */
export const CI_SITES = ['github', 'gitlab'] as const
export type CiSite = (typeof CI_SITES)[number]

interface CiFile {
  /** Relative to the folder of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

export const ciFiles = (site: CiSite, release: Release, hosts: readonly string[], needs: CiNeeds): readonly CiFile[] => {
  const settings: CiSettings = { ...needs, release, hosts }
  if (site === 'gitlab') return [{ path: '.gitlab-ci.yml', text: gitlabPipeline(settings) }]
  return [
    { path: '.github/workflows/dns.yml', text: githubJobs(settings) },
    { path: '.github/workflows/dns-check.yml', text: githubChecks(settings) },
  ]
}

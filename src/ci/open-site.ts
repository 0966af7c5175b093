/** Connects to the site that the job's variables name. */
import { failure, ok, type Result } from '../base/result.ts'
import type { LoadedSecrets } from '../base/secret-guard.ts'
import type { RetryPolicy } from '../transport/retry.ts'
import { createGithub, GITHUB_HEADERS, type GithubSite } from './github.ts'
import { createGitlab, type GitlabSite } from './gitlab.ts'
import type { CiJob } from './job.ts'
import { createSiteClient } from './site-client.ts'

/** The user name of the token that GitHub gives to jobs, and the token that GitLab needs: its job token may not comment. */
export const GITHUB_TOKEN = 'GITHUB_TOKEN'
export const GITLAB_TOKEN = 'ZONEWRIGHT_GITLAB_TOKEN'
const GITHUB_BOT = 'github-actions[bot]'

export interface SiteSettings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly secrets: LoadedSecrets
  /** The path of the workflow, or the name of the job, that makes reviewed plans; that of this run, or `dns:plan`, if absent. */
  readonly source?: string | undefined
  readonly retry?: RetryPolicy | undefined
}

export type OpenSite = {
  /** The author of comments if the site does not reveal the user of the token. */
  readonly usualAuthor: string
} & ({ readonly kind: 'github'; readonly site: GithubSite } | { readonly kind: 'gitlab'; readonly site: GitlabSite })

export function openSite({ site }: CiJob, { env, secrets, source, retry }: SiteSettings): Result<OpenSite> {
  const variable = site === 'github' ? GITHUB_TOKEN : GITLAB_TOKEN
  const token = env[variable] ?? ''
  if (token === '') return failure(`the variable ${variable} is not set`)
  const isGithub = site === 'github'
  const urlVariable = isGithub ? 'GITHUB_API_URL' : 'CI_API_V4_URL'
  const client = createSiteClient({
    urlVariable,
    url: env[urlVariable] ?? '',
    headers: isGithub ? GITHUB_HEADERS(token) : { 'private-token': token },
    token,
    env,
    secrets,
    ...(retry && { retry }),
  })
  if (!client.ok) return client
  if (isGithub) {
    const repository = env['GITHUB_REPOSITORY'] ?? ''
    if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) return failure('the variable GITHUB_REPOSITORY does not name a repository')
    const workflow = source ?? workflowOf(env, repository)
    return ok({ kind: 'github', site: createGithub(client.value, { repository, workflow }), usualAuthor: GITHUB_BOT })
  }
  const project = env['CI_PROJECT_ID'] ?? ''
  if (!/^[0-9]{1,15}$/.test(project)) return failure('the variable CI_PROJECT_ID is not the number of a project')
  return ok({ kind: 'gitlab', site: createGitlab(client.value, { project, job: source ?? 'dns:plan' }), usualAuthor: '' })
}

/** The path of the workflow that runs, from `owner/name/.github/workflows/dns.yml@refs/heads/main`. */
const workflowOf = (env: SiteSettings['env'], repository: string): string =>
  (env['GITHUB_WORKFLOW_REF'] ?? '').replace(/@.*$/, '').replace(`${repository}/`, '')

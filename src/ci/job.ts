/** The job that runs: what GitHub Actions and GitLab CI say of it in their variables and in the file of the event. */
import { failure, ok, type Result } from '../base/result.ts'
import type { PageLink } from '../report/report.ts'
import { fieldOf, SiteError, valueAt } from './site-client.ts'

export interface CiJob {
  readonly site: 'github' | 'gitlab'
  /** The commit that the job runs for. */
  readonly commit: string
  /** The branch that the job runs for; of a job for a pull request or a group, the branch that it is merged into. */
  readonly branch: string
  /** The commit of the branch before a push; null if the push created the branch, and for other events. */
  readonly before: string | null
  /** Whether the job runs for the default branch itself, and not for a pull request or a tag. */
  readonly isOnDefaultBranch: boolean
  /** Whether `branch` is the default branch. */
  readonly isForDefaultBranch: boolean
  /** Whether the job is for a merge group or a merge train: pull requests that are merged together if it succeeds. */
  readonly isGroup: boolean
  /** Whether somebody started the job by hand. */
  readonly isManual: boolean
  /** The number of the run at GitHub, or of the pipeline at GitLab. */
  readonly run: number
  /** The page of the repository. */
  readonly project: string
  /** The page of the run. */
  readonly url: string
  /** The page where somebody can start a run for the branch by hand. */
  readonly manualUrl: string
  /** The pull request that the event is about; null for other events. */
  readonly pullRequest: { readonly number: number; readonly head: string } | null
  /** The run that has ended, for a job that starts after it; null for other events. Its repository may be a fork. */
  readonly ended: EndedRun | null
}

export interface EndedRun {
  readonly id: number
  readonly url: string
  readonly head: string
  /** The owner of the repository and the branch of the commit. */
  readonly owner: string
  readonly branch: string
  readonly conclusion: string
}

type Environment = Readonly<Record<string, string | undefined>>

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
const NO_COMMIT = /^0+$/

/** Reads the job from the environment. `readEvent` returns the text of the event's file at GitHub. */
export function readJob(env: Environment, readEvent: (path: string) => Result<string>): Result<CiJob> {
  try {
    if (env['GITLAB_CI'] === 'true') return ok(gitlabJob(env))
    if (env['GITHUB_ACTIONS'] !== 'true') return failure('this is neither a job of GitHub Actions nor one of GitLab CI')
    const text = readEvent(required(env, 'GITHUB_EVENT_PATH'))
    return text.ok ? ok(githubJob(env, parsed(text.value))) : failure(`the file in GITHUB_EVENT_PATH ${text.message}`)
  } catch (error) {
    if (error instanceof SiteError) return failure(error.message)
    throw error
  }
}

function githubJob(env: Environment, event: unknown): CiJob {
  const project = `${required(env, 'GITHUB_SERVER_URL')}/${required(env, 'GITHUB_REPOSITORY')}`
  const actions = `${project}/actions`
  const run = positive(Number(required(env, 'GITHUB_RUN_ID')))
  const name = env['GITHUB_EVENT_NAME']
  const isPullRequest = name === 'pull_request' || name === 'pull_request_target'
  // The workflow should not have started this job. It may have checked out what the fork wants.
  if (name === 'pull_request_target' && valueAt(event, 'pull_request', 'head', 'repo', 'full_name') !== env['GITHUB_REPOSITORY'])
    throw new SiteError('the job has the secrets of the repository, and the pull request is from a fork', { status: null })
  const branch = isPullRequest
    ? fieldOf(event, 'string', 'pull_request', 'base', 'ref')
    : String(valueAt(event, 'merge_group', 'base_ref') ?? required(env, 'GITHUB_REF_NAME')).replace(/^refs\/heads\//, '')
  const defaultBranch = valueAt(event, 'repository', 'default_branch')
  return {
    site: 'github',
    commit: commitOf(required(env, 'GITHUB_SHA'), 'GITHUB_SHA'),
    branch,
    before: name === 'push' ? commitBefore(valueAt(event, 'before')) : null,
    isOnDefaultBranch: !isPullRequest && env['GITHUB_REF'] === `refs/heads/${defaultBranch}`,
    isForDefaultBranch: branch === defaultBranch,
    isGroup: name === 'merge_group',
    isManual: name === 'workflow_dispatch',
    run,
    project,
    url: `${actions}/runs/${run}`,
    manualUrl: `${actions}/workflows/${(env['GITHUB_WORKFLOW_REF'] ?? '').replace(/@.*$/, '').replace(/^.*\//, '')}`,
    pullRequest: isPullRequest
      ? {
          number: positive(fieldOf(event, 'number', 'pull_request', 'number')),
          head: commitOf(fieldOf(event, 'string', 'pull_request', 'head', 'sha'), 'the head of the event'),
        }
      : null,
    ended: name === 'workflow_run' ? endedRun(valueAt(event, 'workflow_run')) : null,
  }
}

const endedRun = (run: unknown): EndedRun => ({
  id: positive(fieldOf(run, 'number', 'id')),
  url: fieldOf(run, 'string', 'html_url'),
  head: commitOf(fieldOf(run, 'string', 'head_sha'), 'the head of the event'),
  owner: fieldOf(run, 'string', 'head_repository', 'owner', 'login'),
  branch: fieldOf(run, 'string', 'head_branch'),
  conclusion: String(valueAt(run, 'conclusion') ?? 'none'),
})

function gitlabJob(env: Environment): CiJob {
  const iid = env['CI_MERGE_REQUEST_IID'] ?? ''
  const commit = commitOf(required(env, 'CI_COMMIT_SHA'), 'CI_COMMIT_SHA')
  // Only a pipeline for the merged result has the commit of the branch in a variable of its own.
  const head = env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'] || commit
  const project = `${required(env, 'CI_PROJECT_URL')}/-`
  const branch = iid === '' ? required(env, 'CI_COMMIT_BRANCH') : required(env, 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME')
  return {
    site: 'gitlab',
    commit,
    branch,
    before: env['CI_PIPELINE_SOURCE'] === 'push' ? commitBefore(env['CI_COMMIT_BEFORE_SHA']) : null,
    isOnDefaultBranch: iid === '' && branch === env['CI_DEFAULT_BRANCH'],
    isForDefaultBranch: branch === env['CI_DEFAULT_BRANCH'],
    isGroup: env['CI_MERGE_REQUEST_EVENT_TYPE'] === 'merge_train',
    isManual: env['CI_PIPELINE_SOURCE'] === 'web',
    run: positive(Number(required(env, 'CI_PIPELINE_ID'))),
    project,
    url: required(env, 'CI_JOB_URL'),
    manualUrl: `${project}/pipelines/new?ref=${encodeURIComponent(branch)}`,
    pullRequest: iid === '' ? null : { number: positive(Number(iid)), head: commitOf(head, 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA') },
    ended: null,
  }
}

/** The pages of the commit and the pull request that a job is for. */
export function pagesOf({ site, project, commit, pullRequest }: CiJob): PageLink[] {
  const { head, number } = pullRequest ?? { head: commit, number: null }
  const request =
    site === 'github' ? [`pull request #${number}`, `pull/${number}`] : [`merge request !${number}`, `merge_requests/${number}`]
  const pages = [[`commit ${head.slice(0, 12)}`, `commit/${head}`], ...(number === null ? [] : [request])]
  return pages.map(([text = '', path]) => ({ text, url: `${project}/${path}` })).filter(({ url }) => /^https?:\/\//.test(url))
}

export function required(env: Environment, name: string): string {
  const value = env[name] ?? ''
  if (value === '') throw new SiteError(`the variable ${name} is not set`, { status: null })
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SiteError('the file in GITHUB_EVENT_PATH is not JSON', { status: null })
  }
}

function commitOf(text: string, what: string): string {
  if (!COMMIT.test(text)) throw new SiteError(`${what} is not a commit`, { status: null })
  return text
}

const commitBefore = (value: unknown): string | null =>
  typeof value === 'string' && COMMIT.test(value) && !NO_COMMIT.test(value) ? value : null

function positive(number: number): number {
  if (!Number.isSafeInteger(number) || number < 1)
    throw new SiteError('the number in the event is not a positive whole number', { status: null })
  return number
}

/** A scripted GitHub: the operations of its REST API (version 2022-11-28) that `zonewright ci` uses. */
import { execFileSync } from 'node:child_process'
import type { ScriptedRequest, ScriptedService } from '../scripted-server.ts'
import type { Caller, CodeSite, Route, StoredPost, StoredPull } from './code-site.ts'
import { answer, createCodeSite, pageOf, postRoutes, serviceOf, timeOf } from './code-site.ts'

export interface StoredRun {
  readonly id: number
  /** The run-name; undefined if GitHub makes one. */
  readonly title?: string
  /** The identifier of an object that was made when the last attempt began; that of the run if absent. */
  readonly startedAt?: number
  readonly event: string
  readonly path: string
  readonly headSha: string
  readonly headBranch: string
  readonly headRepository: string
  conclusion: string | null
}

export type StoredArtifact = {
  readonly id: number
  readonly name: string
  readonly run: number
  readonly size: number
  /** The path of its only file. */
  readonly file: string
  expired: boolean
}

export interface ScriptedGithub extends CodeSite {
  readonly service: ScriptedService
  /** By token. */
  readonly callers: Record<string, Caller>
  readonly repository: string
  readonly runs: StoredRun[]
  readonly artifacts: StoredArtifact[]
}

const NOT_FOUND = answer(404, { message: 'Not Found', documentation_url: 'https://docs.github.com/rest', status: '404' })
export const FORBIDDEN = answer(403, {
  message: 'Resource not accessible by integration',
  documentation_url: 'https://docs.github.com/rest/issues/comments#create-an-issue-comment',
  status: '403',
})

/** The permissions of which a call needs one: docs.github.com/en/rest/authentication/permissions-required-for-github-apps. The repository is private. */
const NEEDED: readonly (readonly [path: RegExp, ...permissions: string[]])[] = [
  [/^\/issues$/, 'issues'],
  [/^\/issues\//, 'issues', 'pull-requests'],
  [/^\/(?:pulls|commits)\b/, 'pull-requests'],
  [/^\/actions\//, 'actions'],
  [/^\/compare\//, 'contents'],
]

const TOO_LONG = answer(422, {
  message: 'Validation Failed',
  errors: [{ resource: 'IssueComment', code: 'unprocessable', field: 'data', message: 'Body is too long (maximum is 65536 characters)' }],
  status: '422',
})

export function createScriptedGithub(repository: string, callers: Record<string, Caller>): ScriptedGithub {
  const site = createCodeSite()
  const runs: StoredRun[] = []
  const artifacts: StoredArtifact[] = []
  const callerOf = (authorization: string | undefined): Caller | undefined => callers[(authorization ?? '').replace(/^Bearer /, '')]
  const user = (login: string): object => ({ login, id: login.length * 7919, type: login.endsWith('[bot]') ? 'Bot' : 'User' })
  const comment = ({ id, number, author, body }: StoredPost): object => ({
    url: `https://api.github.com/repos/${repository}/issues/comments/${id}`,
    html_url: `https://github.com/${repository}/pull/${number}#issuecomment-${id}`,
    id,
    user: user(author),
    created_at: '2026-01-02T03:04:05Z',
    updated_at: '2026-01-02T03:04:05Z',
    author_association: 'NONE',
    body,
    performed_via_github_app: null,
  })
  const issue = ({ id, number, author, title, body, state }: StoredPost) => ({ id, number, title, user: user(author), state, body })
  const repo = (name: string): object => ({ id: name.length, full_name: name, owner: { login: name.split('/')[0] } })
  const pull = (one: StoredPull): object => ({
    id: one.number * 1000,
    number: one.number,
    state: one.state === 'open' ? 'open' : 'closed',
    created_at: timeOf(one.number),
    merged_at: one.state === 'merged' ? '2026-01-02T03:04:05Z' : null,
    merge_commit_sha: one.mergeCommit,
    head: {
      label: `${one.headOwner}:${one.headBranch}`,
      ref: one.headBranch,
      sha: one.head,
      repo: repo(`${one.headOwner}/${repository.split('/')[1]}`),
    },
    base: { label: `x:${one.base}`, ref: one.base, sha: '0'.repeat(40), repo: repo(repository) },
  })
  const run = ({ id, title = 'A change', startedAt = id, event, conclusion, path, headSha, headBranch, headRepository }: StoredRun) => ({
    id,
    name: 'DNS',
    display_title: title,
    event,
    status: conclusion === null ? 'in_progress' : 'completed',
    conclusion,
    path,
    created_at: timeOf(id),
    run_started_at: timeOf(startedAt),
    head_sha: headSha,
    head_branch: headBranch,
    repository: repo(repository),
    head_repository: repo(headRepository),
    // GitHub lists only open ones.
    pull_requests: [],
  })
  const artifact = (one: StoredArtifact): object => {
    const run = runs.find(({ id }) => id === one.run)
    return {
      id: one.id,
      name: one.name,
      size_in_bytes: one.size,
      expired: one.expired,
      created_at: timeOf(one.id),
      digest: `sha256:${'0'.repeat(64)}`,
      workflow_run: { id: one.run, repository_id: 1, head_repository_id: 1, head_branch: run?.headBranch, head_sha: run?.headSha },
    }
  }
  const withName = (name: string | null): object[] =>
    artifacts
      .filter((one) => name === null || one.name === name)
      .reverse()
      .map(artifact)
  const listed = (page: readonly unknown[]): object => ({ total_count: page.length, artifacts: page })
  const base = `/repos/${repository}`
  const path = (text: string): RegExp => new RegExp(`^${base}${text}$`)
  const routes: readonly Route[] = [
    [
      'GET',
      /^\/user$/,
      ({ headers }) => {
        const caller = callerOf(headers['authorization']) as Caller
        return caller.isApp ? FORBIDDEN : answer(200, user(caller.login))
      },
    ],
    ...postRoutes(site, {
      paths: {
        comments: path('/issues/([0-9]+)/comments'),
        comment: path('/issues/comments/([0-9]+)'),
        issues: path('/issues'),
        issue: path('/issues/([0-9]+)'),
        pull: path('/pulls/([0-9]+)'),
      },
      shapes: { comment, issue, pull },
      beforeIssues: () =>
        site.pulls
          .filter(({ state }) => state === 'open')
          .map((one) => ({ ...pull(one), user: user('a'), pull_request: { url: 'https://api.github.com/x' } })),
      change: 'PATCH',
      issueText: 'body',
      closing: ['state', 'closed'],
      maxText: 65_536,
      tooLong: TOO_LONG,
      missing: NOT_FOUND,
      userOf: ({ headers }) => callerOf(headers['authorization'])?.login ?? '',
    }),
    [
      'GET',
      path('/pulls'),
      (request) =>
        pageOf(
          request,
          site.pulls
            .filter((one) => one.state === request.query.get('state') && `${one.headOwner}:${one.headBranch}` === request.query.get('head'))
            .map(pull),
        ),
    ],
    // Of a commit that is not on the default branch, only open pull requests.
    [
      'GET',
      path('/commits/([0-9a-f]+)/pulls'),
      (request, sha) =>
        pageOf(request, site.pulls.filter((one) => one.mergeCommit === sha || (one.head === sha && one.state === 'open')).map(pull)),
    ],
    ['GET', path('/actions/artifacts'), (request) => pageOf(request, withName(request.query.get('name')), listed)],
    [
      'GET',
      path('/actions/artifacts/([0-9]+)/zip'),
      (_, id) => {
        const found = artifacts.find((one) => one.id === Number(id))
        return found === undefined
          ? NOT_FOUND
          : { status: 200, headers: { 'content-type': 'application/zip' }, body: '', octets: zipOf(found.file) }
      },
    ],
    [
      'GET',
      path('/actions/runs/([0-9]+)/artifacts'),
      (request, run) =>
        pageOf(request, artifacts.filter((one) => one.run === Number(run) && one.name === request.query.get('name')).map(artifact), listed),
    ],
    [
      'GET',
      path('/actions/runs/([0-9]+)'),
      (_, id) => {
        const found = runs.find((one) => one.id === Number(id))
        return found === undefined ? NOT_FOUND : answer(200, run(found))
      },
    ],
    [
      'GET',
      path('/actions/workflows/([a-z.-]+)/runs'),
      (request, file) => {
        const [event, created = ''] = ['event', 'created'].map((name) => request.query.get(name) ?? undefined)
        const found = runs.filter(
          (one) => one.path.endsWith(`/${file}`) && one.event === (event ?? one.event) && timeOf(one.id) >= created.replace(/^>=/, ''),
        )
        // The newest first, and at most 1,000.
        const all = found.reverse().slice(0, 1000).map(run)
        return pageOf(request, all, (page) => ({ total_count: found.length, workflow_runs: page }))
      },
    ],
    [
      'GET',
      path('/compare/(.+)\\.\\.\\.([0-9a-f]+)'),
      (_, base, sha) => {
        const line = [...site.branches.values()].find((one) => one.includes(base ?? '')) ?? []
        const [from, to] = [line.lastIndexOf(base ?? ''), line.lastIndexOf(sha ?? '')]
        const pushed = line.slice(from + 1, to + 1).map((one, index) => ({ sha: one, parents: [{ sha: line[from + index] }] }))
        if (pushed.length > 0) return answer(200, { status: 'ahead', ahead_by: pushed.length, behind_by: 0, commits: pushed })
        const commits = site.branches.get(base ?? '')
        if (commits === undefined) return NOT_FOUND
        if (commits.at(-1) === sha) return answer(200, { status: 'identical', ahead_by: 0, behind_by: 0 })
        return answer(200, { status: commits.includes(sha ?? '') ? 'behind' : 'diverged', ahead_by: 0, behind_by: 1 })
      },
    ],
  ]
  const check = ({ method, path, headers }: ScriptedRequest) => {
    const caller = callerOf(headers['authorization'])
    if (caller === undefined) return answer(401, { message: 'Bad credentials', status: '401' })
    const { permissions } = caller
    const [, ...needed] = NEEDED.find(([pattern]) => pattern.test(path.slice(base.length))) ?? []
    const levels = method === 'GET' ? ['read', 'write'] : ['write']
    const isGranted = permissions === undefined || needed.length === 0 || needed.some((one) => levels.includes(permissions[one] ?? 'none'))
    return isGranted ? null : FORBIDDEN
  }
  return Object.assign(site, { service: serviceOf(site, routes, check, NOT_FOUND), callers, repository, runs, artifacts })
}

/** A zip archive with one file, made by the program `zip`. */
const zipOf = (file: string): Buffer => execFileSync('zip', ['-qj', '-', file])

/** A scripted GitLab: the operations of its REST API (version 4) that `zonewright ci` uses. */
import type { ScriptedService } from '../scripted-server.ts'
import type { CodeSite, Route, StoredPost, StoredPull } from './code-site.ts'
import { answer, createCodeSite, pageOf, postRoutes, serviceOf, timeOf } from './code-site.ts'

/** `ref`: what comes after the number of the merge request in its ref; `head` if absent. */
export type StoredPipeline = { id: number; number: number; sha: string; source: string; project: number; ref?: 'head' | 'merge' | 'train' }

/** `status`: `success` if absent. */
export type StoredJob = { id: number; pipeline: number; name: string; status?: string; files: Readonly<Record<string, string>> }

export interface ScriptedGitlab extends CodeSite {
  readonly service: ScriptedService
  readonly pipelines: StoredPipeline[]
  readonly jobs: StoredJob[]
  /** The parents of commits. */
  readonly parents: Map<string, readonly string[]>
}

const NOT_FOUND = answer(404, { message: '404 Not found' })
const TOO_LONG = answer(400, { message: { note: ['is too long (maximum is 1000000 characters)'] } })

/** `users` has the user name of each token. */
export function createScriptedGitlab(project: number, users: Readonly<Record<string, string>>): ScriptedGitlab {
  const site = createCodeSite()
  const pipelines: StoredPipeline[] = []
  const jobs: StoredJob[] = []
  const parents = new Map<string, readonly string[]>()
  const author = (username: string): object => ({ id: username.length, username, name: username, state: 'active' })
  const note = ({ id, author: name, body }: StoredPost): object => {
    return { id, type: null, body, author: author(name), system: name === 'system', noteable_type: 'MergeRequest' }
  }
  const issue = (one: StoredPost): object => ({
    id: one.id * 10,
    iid: one.number,
    title: one.title,
    description: one.body,
    state: one.state === 'open' ? 'opened' : 'closed',
    author: author(one.author),
  })
  const mergeRequest = (one: StoredPull): object => ({
    id: one.number * 1000,
    iid: one.number,
    project_id: project,
    state: one.state === 'open' ? 'opened' : one.state,
    created_at: timeOf(one.number),
    target_branch: one.base,
    source_branch: one.headBranch,
    source_project_id: one.headOwner === 'team' ? project : 99,
    target_project_id: project,
    sha: one.head,
    merge_commit_sha: one.mergeCommit,
    squash_commit_sha: one.squashCommit ?? null,
  })
  const userOf = (token: string | undefined): string => users[token ?? ''] ?? ''
  const base = `/api/v4/projects/${project}`
  const path = (text: string): RegExp => new RegExp(`^${base}${text}$`)
  const routes: readonly Route[] = [
    ['GET', /^\/api\/v4\/user$/, ({ headers }) => answer(200, author(userOf(headers['private-token'])))],
    ...postRoutes(site, {
      paths: {
        comments: path('/merge_requests/([0-9]+)/notes'),
        comment: path('/merge_requests/[0-9]+/notes/([0-9]+)'),
        issues: path('/issues'),
        issue: path('/issues/([0-9]+)'),
        pull: path('/merge_requests/([0-9]+)'),
      },
      shapes: { comment: note, issue, pull: mergeRequest },
      beforeIssues: () => [],
      change: 'PUT',
      issueText: 'description',
      closing: ['state_event', 'close'],
      maxText: 1_000_000,
      tooLong: TOO_LONG,
      missing: NOT_FOUND,
      userOf: ({ headers }) => userOf(headers['private-token']),
    }),
    [
      'GET',
      path('/repository/commits/([0-9a-f]+)/merge_requests'),
      (request, sha) =>
        pageOf(request, site.pulls.filter((one) => [one.mergeCommit, one.squashCommit, one.head].includes(sha ?? '')).map(mergeRequest)),
    ],
    [
      'GET',
      path('/repository/commits/([0-9a-f]+)'),
      (_, sha) => {
        const found = parents.get(sha ?? '')
        return found ? answer(200, { id: sha, parent_ids: found }) : NOT_FOUND
      },
    ],
    [
      'GET',
      path('/merge_requests/([0-9]+)/pipelines'),
      (request, number) =>
        pageOf(
          request,
          pipelines
            .filter((one) => one.number === Number(number))
            .map(({ id, sha, source, project: of, ref = 'head' }) => {
              return { id, sha, ref: `refs/merge-requests/${number}/${ref}`, status: 'success', source, project_id: of }
            }),
        ),
    ],
    [
      'GET',
      path('/pipelines/([0-9]+)/jobs'),
      (request, id) =>
        pageOf(
          request,
          jobs
            .filter(({ pipeline, status = 'success' }) => pipeline === Number(id) && status === (request.query.get('scope[]') ?? status))
            .map((one) => ({
              id: one.id,
              name: one.name,
              status: one.status ?? 'success',
              artifacts_file: { filename: 'artifacts.zip', size: 100 },
            })),
        ),
    ],
    [
      'GET',
      path('/jobs/([0-9]+)/artifacts/(.+)'),
      (_, id, file) => {
        const text = jobs.find((one) => one.id === Number(id))?.files[file ?? '']
        return text === undefined ? NOT_FOUND : { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: text }
      },
    ],
  ]
  const check = ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }) =>
    users[headers['private-token'] ?? ''] === undefined ? answer(401, { message: '401 Unauthorized' }) : null
  return Object.assign(site, { service: serviceOf(site, routes, check, NOT_FOUND), pipelines, jobs, parents })
}

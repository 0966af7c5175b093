/** What the scripted GitHub and GitLab share: posts, pull requests, pages and faults. Shapes follow the public references of both APIs. */
import type { ScriptedRequest, ScriptedResponse, ScriptedService } from '../scripted-server.ts'

export interface StoredPost {
  readonly id: number
  /** Of the pull request, or of the issue itself. */
  readonly number: number
  readonly author: string
  title: string
  body: string
  state: 'open' | 'closed'
}

export interface StoredPull {
  readonly number: number
  head: string
  readonly headOwner: string
  readonly headBranch: string
  readonly base: string
  state: 'open' | 'merged' | 'closed'
  /** The commit that the merge put on the base branch. */
  mergeCommit: string | null
  /** Of the last commit of a squash, at GitLab. */
  squashCommit?: string | null
}

/** A user by a token. A token of an app does not reveal its user at GitHub. Without `permissions`, it may do everything. */
export type Caller = { readonly login: string; readonly isApp: boolean; readonly permissions?: Readonly<Record<string, string>> }

export interface CodeSite {
  readonly comments: StoredPost[]
  readonly issues: StoredPost[]
  readonly pulls: StoredPull[]
  /** The commits of each branch, the newest last. */
  readonly branches: Map<string, string[]>
  /** Answers instead of the site, if it returns a response. */
  fault: (request: ScriptedRequest) => ScriptedResponse | null
  nextId(): number
}

export function createCodeSite(): CodeSite {
  let last = 1000
  return {
    comments: [],
    issues: [],
    pulls: [],
    branches: new Map(),
    fault: () => null,
    nextId: () => {
      last += 1
      return last
    },
  }
}

/** A time that grows with the identifiers. */
export const timeOf = (id: number): string => new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString().replace('.000', '')

export const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ScriptedResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: body === undefined ? '' : JSON.stringify(body),
})

/** One page of a list, with the Link header that both sites send. `wrap` makes the body of the page. */
export function pageOf(
  { path, query, headers }: ScriptedRequest,
  all: readonly unknown[],
  wrap: (page: readonly unknown[]) => unknown = (page) => page,
): ScriptedResponse {
  const size = Math.min(100, Number(query.get('per_page') ?? 30))
  const page = Number(query.get('page') ?? 1)
  const url = (number: number): string => {
    const next = new URLSearchParams(query)
    next.set('page', String(number))
    return `http://${headers['host']}${path}?${next}`
  }
  const last = Math.max(1, Math.ceil(all.length / size))
  const links = [
    ...(page > 1 ? [`<${url(page - 1)}>; rel="prev"`] : []),
    ...(page < last ? [`<${url(page + 1)}>; rel="next"`, `<${url(last)}>; rel="last"`] : []),
  ]
  return answer(200, wrap(all.slice((page - 1) * size, page * size)), links.length > 0 ? { link: links.join(', ') } : {})
}

export type Route = readonly [method: string, pattern: RegExp, handle: (request: ScriptedRequest, ...parts: string[]) => ScriptedResponse]

/** A service with these routes. `check` refuses a request before its route is asked. */
export const serviceOf =
  (
    site: CodeSite,
    routes: readonly Route[],
    check: (request: ScriptedRequest) => ScriptedResponse | null,
    missing: ScriptedResponse,
  ): ScriptedService =>
  (request) => {
    const refused = site.fault(request) ?? check(request)
    if (refused !== null) return refused
    for (const [method, pattern, handle] of routes) {
      const match = method === request.method ? pattern.exec(request.path) : null
      if (match !== null) return handle(request, ...match.slice(1).map(decodeURIComponent))
    }
    return missing
  }

const bodyOf = ({ body }: ScriptedRequest): Record<string, string> => JSON.parse(body || '{}')

/** The names, shapes and limits of posts and pull requests at a site. */
export interface Dialect {
  /** With the number of the pull request or of the post as the group. */
  readonly paths: Readonly<Record<'comments' | 'comment' | 'issues' | 'issue' | 'pull', RegExp>>
  readonly shapes: {
    readonly comment: (post: StoredPost) => object
    readonly issue: (post: StoredPost) => object
    readonly pull: (pull: StoredPull) => object
  }
  /** What the list of issues begins with. */
  readonly beforeIssues: () => readonly object[]
  readonly change: 'PATCH' | 'PUT'
  /** The field of a request with the text of an issue. */
  readonly issueText: 'body' | 'description'
  /** The field, and its value, that closes an issue. */
  readonly closing: readonly [field: string, value: string]
  readonly maxText: number
  readonly tooLong: ScriptedResponse
  readonly missing: ScriptedResponse
  readonly userOf: (request: ScriptedRequest) => string
}

/** The routes for comments, for issues, and for one pull request. */
export function postRoutes(site: CodeSite, dialect: Dialect): readonly Route[] {
  const { paths, shapes, missing } = dialect
  const add = (request: ScriptedRequest, list: StoredPost[], number: number | null, textField: string): ScriptedResponse => {
    const { title = '', [textField]: body = '' } = bodyOf(request)
    if (body.length > dialect.maxText) return dialect.tooLong
    const id = site.nextId()
    const post: StoredPost = { id, number: number ?? id, title, state: 'open', body, author: dialect.userOf(request) }
    list.push(post)
    return answer(201, (number === null ? shapes.issue : shapes.comment)(post))
  }
  const change = (request: ScriptedRequest, post: StoredPost | undefined, textField: string, shape: Dialect['shapes']['issue']) => {
    if (post === undefined) return missing
    const { [textField]: body = post.body, [dialect.closing[0]]: state } = bodyOf(request)
    if (body.length > dialect.maxText) return dialect.tooLong
    Object.assign(post, { body, state: state === dialect.closing[1] ? 'closed' : post.state })
    return answer(200, shape(post))
  }
  const commentAt = (id: string | undefined): StoredPost | undefined => site.comments.find((one) => one.id === Number(id))
  const issueAt = (of: string | undefined) => site.issues.find(({ number }) => number === Number(of))
  const isOpen = ({ state }: StoredPost): boolean => state === 'open'
  return [
    ['GET', paths.comments, (asked, of) => pageOf(asked, site.comments.filter(({ number }) => number === Number(of)).map(shapes.comment))],
    ['POST', paths.comments, (request, of) => add(request, site.comments, Number(of), 'body')],
    [dialect.change, paths.comment, (request, id) => change(request, commentAt(id), 'body', shapes.comment)],
    [
      'DELETE',
      paths.comment,
      (_, id) => {
        const post = commentAt(id)
        if (post === undefined) return missing
        site.comments.splice(site.comments.indexOf(post), 1)
        return answer(204, undefined)
      },
    ],
    ['GET', paths.issues, (request) => pageOf(request, [...dialect.beforeIssues(), ...site.issues.filter(isOpen).map(shapes.issue)])],
    ['POST', paths.issues, (request) => add(request, site.issues, null, dialect.issueText)],
    [dialect.change, paths.issue, (request, of) => change(request, issueAt(of), dialect.issueText, shapes.issue)],
    [
      'GET',
      paths.pull,
      (_, of) => {
        const found = site.pulls.find(({ number }) => number === Number(of))
        return found ? answer(200, shapes.pull(found)) : missing
      },
    ],
  ]
}

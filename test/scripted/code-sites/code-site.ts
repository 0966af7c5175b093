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

/** A user by a token. A token of an app does not reveal its user at GitHub. */
export interface Caller {
  readonly login: string
  readonly isApp: boolean
}

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

export const bodyOf = ({ body }: ScriptedRequest): Record<string, string> => JSON.parse(body || '{}')

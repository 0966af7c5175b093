/** Comments, issues, pull requests and artifacts at GitHub, through its REST API (docs.github.com/en/rest, version 2022-11-28). */
import { type ArtifactSearch, noArtifact, oneArtifact, type Post, type PullRequest, type Site } from './site.ts'
import { fieldOf, type SiteClient, valueAt } from './site-client.ts'

export const GITHUB_HEADERS = (token: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${token}`,
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
})

export interface GithubPlace {
  /** `owner/name`. */
  readonly repository: string
  /** The path of the workflow whose artifacts are trusted, such as `.github/workflows/dns.yml`. */
  readonly workflow: string
}

/** A run of a workflow. */
interface WorkflowRun {
  readonly id: number
  /** The `run-name` of the workflow. If it has none, GitHub derives a title from the event, such as the title of the pull request. */
  readonly title: string
  /** The start of the last attempt (ISO 8601, UTC). */
  readonly startedAt: string
  readonly event: string
  readonly path: string
  readonly headSha: string
  readonly headBranch: string
  readonly conclusion: string
  readonly isOwn: boolean
}

/**
 * The `run-name` of the workflow that plans pull requests. After a merge, nothing else links a run for `pull_request_target` to its pull request: GitHub
 * lists no pull request in the field `pull_requests`, and gives the commit of the base branch as the commit of the run.
 */
export const planRunName = (number: number | string, head: string): string => `DNS plan of pull request ${number} at ${head}`
const PLAN_RUN = /^DNS plan of pull request [0-9]+ at [0-9a-f]+$/

export interface GithubSite extends Site {
  /** Finds the artifact of a run. The run must be for the commit `head`, and the artifact must have at most `maxOctets` octets. */
  findArtifactOfRun(run: number, name: string, head: string, maxOctets?: number): Promise<ArtifactSearch>
  /** Finds the newest artifact of the workflow on the branch. Its run must have been started by a push, by the schedule or by hand. */
  findArtifactOfBranch(branch: string, name: string): Promise<ArtifactSearch>
  /** Finds the open pull requests from a branch of the owner's repository, if the last commit of the branch is `head`. */
  findOpen(owner: string, branch: string, head: string): Promise<readonly PullRequest[]>
}

/** Maximum octets of an artifact from a fork, ten times the plan of 400 zones. */
export const MAX_FORK_ARTIFACT = 32 * 1024 * 1024

/** GitHub's maximum number of characters in a comment or issue. */
const MAX_TEXT = 65_536

export function createGithub(client: SiteClient, { repository, workflow }: GithubPlace): GithubSite {
  const repo = `/repos/${repository.split('/').map(encodeURIComponent).join('/')}`
  const comment = (id: number): string => `${repo}/issues/comments/${id}`
  const asPullRequest = (body: unknown): PullRequest => ({
    number: fieldOf(body, 'number', 'number'),
    head: fieldOf(body, 'string', 'head', 'sha'),
    base: fieldOf(body, 'string', 'base', 'ref'),
    createdAt: fieldOf(body, 'string', 'created_at'),
    isOpen: fieldOf(body, 'string', 'state') === 'open',
    // The repository of the branch may have been deleted. It is missing then.
    isFork: valueAt(body, 'head', 'repo', 'full_name') !== repository,
  })
  const isHere = (body: unknown): boolean => valueAt(body, 'base', 'repo', 'full_name') === repository
  const asRun = (body: unknown): WorkflowRun => ({
    id: fieldOf(body, 'number', 'id'),
    title: String(valueAt(body, 'display_title') ?? ''),
    startedAt: fieldOf(body, 'string', 'run_started_at'),
    event: fieldOf(body, 'string', 'event'),
    // Sometimes `@` and the branch follow the path.
    path: fieldOf(body, 'string', 'path').replace(/@.*$/, ''),
    headSha: fieldOf(body, 'string', 'head_sha'),
    headBranch: String(valueAt(body, 'head_branch') ?? ''),
    conclusion: String(valueAt(body, 'conclusion') ?? 'none'),
    isOwn: valueAt(body, 'repository', 'full_name') === repository,
  })
  const readRun = async (id: number): Promise<WorkflowRun> =>
    asRun((await client.send({ method: 'GET', path: `${repo}/actions/runs/${id}`, what: `read the run ${id}` })).body)
  const artifactsNamed = async (of: string, name: string): Promise<unknown[]> => {
    const path = `${repo}/actions${of}/artifacts?name=${encodeURIComponent(name)}&per_page=100`
    const listed = await client.list(path, `look for the artifact ${name}`, (body) => valueAt(body, 'artifacts'))
    return listed.filter((one) => valueAt(one, 'name') === name)
  }
  /** Finds the newest artifact with the name whose run has no problem. If there is none, the reason is the problem of the newest run. */
  const findArtifact = async (name: string, problemOf: (run: WorkflowRun) => string | null): Promise<ArtifactSearch> => {
    const named = (await artifactsNamed('', name)).sort((a, b) => fieldOf(b, 'number', 'id') - fieldOf(a, 'number', 'id'))
    let reason: string | null = null
    for (const one of named.slice(0, MAX_RUNS)) {
      const id = fieldOf(one, 'number', 'id')
      const run = fieldOf(one, 'number', 'workflow_run', 'id')
      const problem = valueAt(one, 'expired') === true ? 'has expired' : problemOf(await readRun(run))
      if (problem === null) return oneArtifact(run, id)
      reason ??= `the artifact ${name} of run ${run} ${problem}`
    }
    return noArtifact(reason ?? `there is no artifact ${name}`)
  }
  /** Finds the artifact with the name in a run, which must have exactly one. */
  const artifactOf = async (run: number, name: string, problemOf: (artifact: unknown) => string | null): Promise<ArtifactSearch> => {
    const named = await artifactsNamed(`/runs/${run}`, name)
    const [artifact] = named
    if (artifact === undefined || named.length > 1) return noArtifact(`run ${run} has ${named.length} artifacts ${name}`)
    const problem = valueAt(artifact, 'expired') === true ? 'has expired' : problemOf(artifact)
    if (problem !== null) return noArtifact(`the artifact ${name} of run ${run} ${problem}`)
    return oneArtifact(run, fieldOf(artifact, 'number', 'id'))
  }
  /** The problem of a run that this workflow of this repository did not make; null if it did. */
  const originProblem = ({ isOwn, path }: WorkflowRun): string | null => {
    if (!isOwn) return 'belongs to a run in another repository'
    return path === workflow ? null : `was made by the workflow ${path}, not by ${workflow}`
  }
  /** Whether a commit is on a branch. */
  const isOnBranch = async (commit: string, branch: string): Promise<boolean> => {
    const path = `${repo}/compare/${encodeURIComponent(branch)}...${encodeURIComponent(commit)}?per_page=1`
    const { status, body } = await client.send({ method: 'GET', path, what: `compare ${commit} with ${branch}`, expected: [404] })
    return status !== 404 && /^(?:identical|behind)$/.test(fieldOf(body, 'string', 'status'))
  }
  const problemOfLast = async (last: WorkflowRun, earlier: WorkflowRun | undefined, base: string): Promise<string | null> => {
    if (!PLAN_RUN.test(last.title))
      return `does not say which pull request it is for: set the run-name of ${workflow} as docs/tasks/ci.md shows`
    if (last.startedAt === earlier?.startedAt) return `began in the same second as run ${earlier.id}`
    if (last.conclusion !== 'success') return `ended with ${last.conclusion}`
    // For such a run, GitHub has given both the last commit of the pull request and the last commit of the base branch; its documentation mentions neither.
    const isShown = last.title.endsWith(last.headSha) || (await isOnBranch(last.headSha, base))
    return isShown ? null : `used a workflow that is not on ${base}`
  }
  return {
    words: { site: 'GitHub', pullRequest: 'pull request', sign: '#' },
    maxText: MAX_TEXT,
    close: () => client.close(),
    async findAuthor() {
      const { status, body } = await client.send({ method: 'GET', path: '/user', what: 'read the user of the token', expected: [403, 404] })
      return status < 300 ? fieldOf(body, 'string', 'login') : null
    },
    comments: (number) => ({
      noun: 'comment',
      list: async () => (await client.list(`${repo}/issues/${number}/comments?per_page=100`, 'read the comments')).map(asPost),
      create: async (text) =>
        asPost(
          (await client.send({ method: 'POST', path: `${repo}/issues/${number}/comments`, body: { body: text }, what: 'comment' })).body,
        ),
      update: (post, text) => patch(client, comment(post.id), { body: text }, 'change the comment'),
      remove: async ({ id }) => {
        await client.send({ method: 'DELETE', path: comment(id), what: 'delete a second comment', expected: [404] })
      },
    }),
    issues: (title) => {
      const issue = (id: number): string => `${repo}/issues/${id}`
      const close = async (post: Post, text: string, reason = 'completed'): Promise<void> => {
        await patch(client, issue(post.id), { body: text, state: 'closed', state_reason: reason }, 'close the issue')
      }
      return {
        noun: 'issue',
        list: async () => {
          const all = await client.list(`${repo}/issues?state=open&sort=created&direction=asc&per_page=100`, 'read the issues')
          return all.filter((one) => valueAt(one, 'pull_request') === undefined).map(asIssue)
        },
        create: async (text) =>
          asIssue((await client.send({ method: 'POST', path: `${repo}/issues`, body: { title, body: text }, what: 'open an issue' })).body),
        update: (post, text) => patch(client, issue(post.id), { body: text }, 'change the issue'),
        remove: (post) => close(post, post.text, 'not_planned'),
        close,
      }
    },
    async findPullRequest(number) {
      const path = `${repo}/pulls/${number}`
      const { status, body } = await client.send({ method: 'GET', path, what: `read pull request #${number}`, expected: [404] })
      return status === 404 ? null : asPullRequest(body)
    },
    async findMerged(commit, branch) {
      const all = await client.listUntilFound(
        `${repo}/commits/${encodeURIComponent(commit)}/pulls?per_page=100`,
        'find the merged pull request',
      )
      const merged = all.filter(
        (one) =>
          isHere(one) &&
          typeof valueAt(one, 'merged_at') === 'string' &&
          valueAt(one, 'base', 'ref') === branch &&
          valueAt(one, 'merge_commit_sha') === commit,
      )
      return merged.length === 1 ? asPullRequest(merged[0]) : null
    },
    async commitsOfPush(before, commit) {
      const path = `${repo}/compare/${encodeURIComponent(before)}...${encodeURIComponent(commit)}?per_page=100`
      // A forced push may have removed the commit `before`.
      const all = await client.list(path, 'list the commits of the push', (body) => valueAt(body, 'commits') ?? [], [404])
      const parents = new Map(all.map((one) => [valueAt(one, 'sha'), valueAt(one, 'parents', '0', 'sha')]))
      const found = [commit]
      for (let at = parents.get(commit); typeof at === 'string' && parents.has(at); at = parents.get(at)) found.push(at)
      return found.slice(0, MAX_COMMITS)
    },
    async findReviewedPlan({ number, head, base, createdAt }, name) {
      const file = encodeURIComponent(workflow.replace(/^.*\//, ''))
      const created = encodeURIComponent(`>=${createdAt}`)
      // For any other event, GitHub may take the workflow from the branch of the pull request.
      const path = `${repo}/actions/workflows/${file}/runs?event=pull_request_target&created=${created}&per_page=100`
      let total = 0
      const listed = await client.list(path, `read the runs of ${workflow}`, (body) => {
        total = fieldOf(body, 'number', 'total_count')
        return valueAt(body, 'workflow_runs')
      })
      if (listed.length < total) return noArtifact(`GitHub lists only ${listed.length} of ${total} runs of ${workflow}`)
      // A run without the title of a plan may be for this pull request, too.
      const runs = listed.map(asRun).filter(({ title }) => title === planRunName(number, head) || !PLAN_RUN.test(title))
      const [last, earlier] = runs.sort((a, b) => b.startedAt.localeCompare(a.startedAt))
      if (last === undefined) return noArtifact(`no run of ${workflow} for pull_request_target planned ${head}`)
      const problem = originProblem(last) ?? (await problemOfLast(last, earlier, base))
      if (problem !== null) return noArtifact(`the last run for ${head}, ${last.id}, ${problem}`)
      return artifactOf(last.id, `${name}-${head}`, (artifact) =>
        fieldOf(artifact, 'string', 'created_at') < last.startedAt ? 'was made before the last attempt of the run' : null,
      )
    },
    findArtifactOfBranch: (branch, name) =>
      findArtifact(name, (run) => {
        const problem = originProblem(run)
        if (problem !== null) return problem
        if (!/^(?:push|schedule|workflow_dispatch)$/.test(run.event)) return `was made for the event ${run.event}`
        return run.headBranch === branch ? null : `was made on the branch ${run.headBranch}, not on ${branch}`
      }),
    findArtifactOfRun: (run, name, head, maxOctets = Number.POSITIVE_INFINITY) =>
      artifactOf(run, name, (artifact) => {
        if (valueAt(artifact, 'workflow_run', 'head_sha') !== head) return 'belongs to another commit'
        const size = fieldOf(artifact, 'number', 'size_in_bytes')
        return size > maxOctets ? `has ${size} octets, more than ${maxOctets}` : null
      }),
    async findOpen(owner, branch, head) {
      const path = `${repo}/pulls?state=open&head=${encodeURIComponent(`${owner}:${branch}`)}&per_page=100`
      const all = await client.list(path, 'find the pull request')
      return all
        .filter(isHere)
        .map(asPullRequest)
        .filter((one) => one.isOpen && one.head === head)
    },
  }
}

/** Maximum runs to read in search of an artifact. */
const MAX_RUNS = 20
/** Maximum commits of a push to read: a group of a merge queue has at most 100. */
const MAX_COMMITS = 100

const asPost = (body: unknown): Post => ({
  id: fieldOf(body, 'number', 'id'),
  // The account of the author may have been deleted. It is missing then.
  author: String(valueAt(body, 'user', 'login') ?? ''),
  text: String(valueAt(body, 'body') ?? ''),
})

/** An issue as a post. The API addresses an issue by its number, not by its id. */
const asIssue = (body: unknown): Post => ({ ...asPost(body), id: fieldOf(body, 'number', 'number') })

async function patch(client: SiteClient, path: string, body: unknown, what: string): Promise<boolean> {
  const { status } = await client.send({ method: 'PATCH', path, body, what, expected: [404, 410] })
  return status < 300
}

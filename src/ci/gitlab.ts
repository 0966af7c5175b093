/** GitLab: notes, issues, merge requests and artifacts by its REST API (docs.gitlab.com/api, version 4). */
import { noArtifact, oneArtifact, type Post, type PullRequest, type Site } from './site.ts'
import { fieldOf, type SiteClient, SiteError, valueAt } from './site-client.ts'

export interface GitlabPlace {
  /** The number of the project. */
  readonly project: string
  /** The name of the job whose artifacts are trusted. */
  readonly job: string
}

export interface GitlabSite extends Site {
  /** The text of a file among the artifacts of a job. */
  readArtifact(job: number, path: string): Promise<string>
}

const MAX_TEXT = 1_000_000

export function createGitlab(client: SiteClient, { project: id, job: jobName }: GitlabPlace): GitlabSite {
  const project = `/projects/${encodeURIComponent(id)}`
  const asPullRequest = (body: unknown): PullRequest => ({
    number: fieldOf(body, 'number', 'iid'),
    head: fieldOf(body, 'string', 'sha'),
    base: fieldOf(body, 'string', 'target_branch'),
    createdAt: fieldOf(body, 'string', 'created_at'),
    isOpen: fieldOf(body, 'string', 'state') === 'opened',
    isFork: valueAt(body, 'source_project_id') !== valueAt(body, 'target_project_id'),
  })
  /** Whether a pipeline ran for the last commit of a merge request: on it, or on its merge with the target branch. */
  const isForHead = async (pipeline: unknown, head: string): Promise<boolean> => {
    const sha = fieldOf(pipeline, 'string', 'sha')
    if (sha === head) return true
    const path = `${project}/repository/commits/${encodeURIComponent(sha)}`
    const { status, body } = await client.send({ method: 'GET', path, what: `read the commit ${sha}`, expected: [404] })
    const parents = valueAt(body, 'parent_ids')
    return status !== 404 && Array.isArray(parents) && parents.includes(head)
  }
  return {
    words: { site: 'GitLab', pullRequest: 'merge request', sign: '!' },
    maxText: MAX_TEXT,
    close: () => client.close(),
    async findAuthor() {
      const { body } = await client.send({ method: 'GET', path: '/user', what: 'read the user of the token' })
      return fieldOf(body, 'string', 'username')
    },
    comments: (number) => {
      const notes = `${project}/merge_requests/${number}/notes`
      return {
        noun: 'comment',
        list: async () => {
          // Pages of few entries, since a note may have 1,000,000 characters.
          const all = await client.list(`${notes}?sort=asc&order_by=created_at&per_page=20`, 'read the comments')
          return all.filter((note) => valueAt(note, 'system') !== true).map((note) => asPost(note, 'id', 'body'))
        },
        create: async (text) =>
          asPost((await client.send({ method: 'POST', path: notes, body: { body: text }, what: 'comment' })).body, 'id', 'body'),
        update: (post, text) => put(client, `${notes}/${post.id}`, { body: text }, 'change the comment'),
        remove: async (post) => {
          await client.send({ method: 'DELETE', path: `${notes}/${post.id}`, what: 'delete a second comment', expected: [404] })
        },
      }
    },
    issues: (title) => {
      const issues = `${project}/issues`
      const close = async (post: Post, text: string): Promise<void> => {
        await put(client, `${issues}/${post.id}`, { description: text, state_event: 'close' }, 'close the issue')
      }
      return {
        noun: 'issue',
        list: async () => {
          const path = `${issues}?state=opened&scope=all&sort=asc&order_by=created_at&per_page=20`
          return (await client.list(path, 'read the issues')).map((issue) => asPost(issue, 'iid', 'description'))
        },
        create: async (text) => {
          const { body } = await client.send({ method: 'POST', path: issues, body: { title, description: text }, what: 'open an issue' })
          return asPost(body, 'iid', 'description')
        },
        update: (post, text) => put(client, `${issues}/${post.id}`, { description: text }, 'change the issue'),
        remove: (post) => close(post, post.text),
        close,
      }
    },
    async findPullRequest(number) {
      const path = `${project}/merge_requests/${number}`
      const { status, body } = await client.send({ method: 'GET', path, what: `read merge request !${number}`, expected: [404] })
      return status === 404 ? null : asPullRequest(body)
    },
    async findMerged(commit, branch) {
      const path = `${project}/repository/commits/${encodeURIComponent(commit)}/merge_requests?per_page=20`
      const all = await client.listUntilFound(path, 'find the merged merge request')
      const merged = all.filter(
        (one) =>
          valueAt(one, 'state') === 'merged' &&
          valueAt(one, 'target_branch') === branch &&
          ['merge_commit_sha', 'squash_commit_sha', 'sha'].some((key) => valueAt(one, key) === commit),
      )
      return merged.length === 1 ? asPullRequest(merged[0]) : null
    },
    // GitLab pushes each merge request on its own, those of a merge train too.
    commitsOfPush: async (_before, commit) => [commit],
    async findReviewedPlan({ number, head }, name) {
      const pipelines = await client.list(`${project}/merge_requests/${number}/pipelines?per_page=100`, 'read the pipelines')
      // Those of a merge train come after the review, and plan the merge requests before them too.
      const own = pipelines.filter(
        (one) =>
          valueAt(one, 'source') === 'merge_request_event' &&
          String(valueAt(one, 'project_id')) === id &&
          !String(valueAt(one, 'ref')).endsWith('/train'),
      )
      const [last] = own.sort((a, b) => fieldOf(b, 'number', 'id') - fieldOf(a, 'number', 'id'))
      if (last === undefined) return noArtifact(`no pipeline of !${number} in this project ran for ${head}`)
      const run = fieldOf(last, 'number', 'id')
      if (!(await isForHead(last, head))) return noArtifact(`the last pipeline of !${number}, ${run}, did not run for ${head}`)
      // Without jobs that ran again: of those, only the last is listed.
      const jobs = await client.list(`${project}/pipelines/${run}/jobs?scope[]=success&per_page=100`, `read the jobs of pipeline ${run}`)
      const made = jobs.filter((job) => valueAt(job, 'name') === jobName && typeof valueAt(job, 'artifacts_file', 'filename') === 'string')
      const [newest] = made.sort((a, b) => fieldOf(b, 'number', 'id') - fieldOf(a, 'number', 'id'))
      if (newest === undefined)
        return noArtifact(`no job ${jobName} of pipeline ${run}, the last of !${number}, has succeeded and kept ${name}`)
      return oneArtifact(run, fieldOf(newest, 'number', 'id'))
    },
    async readArtifact(job, path) {
      const file = path.split('/').map(encodeURIComponent).join('/')
      const what = `read ${path} of job ${job}`
      const { status, text } = await client.send({ method: 'GET', path: `${project}/jobs/${job}/artifacts/${file}`, what })
      if (status !== 200) throw new SiteError(`cannot ${what}: the answer has status ${status}`, { status })
      return text
    },
  }
}

const asPost = (body: unknown, id: 'id' | 'iid', text: 'body' | 'description'): Post => ({
  id: fieldOf(body, 'number', id),
  author: String(valueAt(body, 'author', 'username') ?? ''),
  text: String(valueAt(body, text) ?? ''),
})

async function put(client: SiteClient, path: string, body: unknown, what: string): Promise<boolean> {
  const { status } = await client.send({ method: 'PUT', path, body, what, expected: [404] })
  return status < 300
}

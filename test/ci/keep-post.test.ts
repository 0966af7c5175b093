import { describe, expect, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import type { CiJob } from '../../src/ci/job.ts'
import { keepPost, markerOf } from '../../src/ci/keep-post.ts'
import { type OpenSite, openSite } from '../../src/ci/open-site.ts'
import { DEFAULT_RETRY } from '../../src/transport/retry.ts'
import { answer, type CodeSite } from '../scripted/code-sites/code-site.ts'
import { createScriptedGithub, FORBIDDEN } from '../scripted/code-sites/github.ts'
import { createScriptedGitlab } from '../scripted/code-sites/gitlab.ts'
import { type ScriptedServer, startScriptedServer } from '../scripted/scripted-server.ts'

const TOKEN = 'ghs_0123456789abcdef0123'
const USER_TOKEN = 'ghp_0123456789abcdef0123'
const OTHER_APP = 'ghs_app0123456789abcdef'
const MARKER = markerOf('plan')
const RETRY = { ...DEFAULT_RETRY, firstDelay: 1, maxDelay: 2, maxRetryAfter: 2500 }
const URL = 'https://x.example/1'
const JOB: CiJob = {
  site: 'github',
  commit: 'a'.repeat(40),
  branch: 'main',
  before: null,
  isOnDefaultBranch: true,
  isForDefaultBranch: true,
  isGroup: false,
  isManual: false,
  run: 1,
  project: 'https://github.example/team/dns',
  manualUrl: '',
  url: URL,
  pullRequest: null,
  ended: null,
}

/** `login` is the user of the token. */
type Scene = { state: CodeSite; server: ScriptedServer; login: string; open(token?: string): OpenSite }

const opened = (result: ReturnType<typeof openSite>): OpenSite => {
  if (!result.ok) throw new Error(result.message)
  return result.value
}

async function github(): Promise<Scene> {
  const state = createScriptedGithub('team/dns', {
    [TOKEN]: { login: 'github-actions[bot]', isApp: true },
    [USER_TOKEN]: { login: 'dns-robot', isApp: false },
    [OTHER_APP]: { login: 'team-dns[bot]', isApp: true },
  })
  const server = await startScriptedServer(state.service)
  const env = { GITHUB_API_URL: server.origin, GITHUB_REPOSITORY: 'team/dns' }
  const open: Scene['open'] = (token = TOKEN) =>
    opened(openSite(JOB, { env: { ...env, GITHUB_TOKEN: token }, secrets: noSecrets(), retry: RETRY }))
  return { state, server, login: 'github-actions[bot]', open }
}

async function gitlab(): Promise<Scene> {
  const state = createScriptedGitlab(42, { [TOKEN]: 'project_42_bot_1' })
  const server = await startScriptedServer(state.service)
  const env = { ZONEWRIGHT_GITLAB_TOKEN: TOKEN, CI_API_V4_URL: `${server.origin}/api/v4`, CI_PROJECT_ID: '42' }
  const open = () => opened(openSite({ ...JOB, site: 'gitlab' }, { env, secrets: noSecrets(), retry: RETRY }))
  return { state, server, login: 'project_42_bot_1', open }
}

async function keep(open: OpenSite, text: string, what: 'comments' | 'issues' = 'comments') {
  const { site, usualAuthor } = open
  const posts = what === 'comments' ? site.comments(7) : site.issues('Drift')
  const options = { author: await site.findAuthor(), usualAuthor, wait: async () => undefined }
  return keepPost(posts, MARKER, `${MARKER}\n${text}`, options).finally(() => site.close())
}

const bodies = ({ state }: Scene): string[] => state.comments.map(({ body }) => body.replace(`${MARKER}\n`, ''))

describe.each([
  ['GitHub', github],
  ['GitLab', gitlab],
] as const)('the comment at %s', (_, start) => {
  test('is created, updated in place, and left alone if it is the same', async () => {
    const scene = await start()
    expect((await keep(scene.open(), 'one')).done).toBe('created')
    expect((await keep(scene.open(), 'two')).done).toBe('updated')
    const before = scene.server.requests.length
    expect((await keep(scene.open(), 'two')).done).toBe('unchanged')
    expect(bodies(scene)).toEqual(['two'])
    expect(scene.server.requests.slice(before).map(({ method }) => method)).toEqual(['GET', 'GET'])
  })

  test('is found on the last of several pages', async () => {
    const scene = await start()
    for (let index = 0; index < 250; index += 1)
      scene.state.comments.push({ id: index + 1, number: 7, author: 'someone', title: '', body: 'looks good', state: 'open' })
    await keep(scene.open(), 'one')
    await keep(scene.open(), 'two')
    expect(bodies(scene).filter((body) => body !== 'looks good')).toEqual(['two'])
  })

  test('of another user with the same marker stays as it is', async () => {
    const scene = await start()
    scene.state.comments.push({ id: 1, number: 7, author: 'mallory', title: '', body: `${MARKER}\nfake`, state: 'open' })
    await keep(scene.open(), 'one')
    await keep(scene.open(), 'two')
    expect(bodies(scene)).toEqual(['fake', 'two'])
  })

  test('of ours that quotes the marker later in its text is another comment', async () => {
    const scene = await start()
    scene.state.comments.push({ id: 1, number: 7, author: scene.login, title: '', body: `hello\n${MARKER}`, state: 'open' })
    await keep(scene.open(), 'one')
    expect(scene.state.comments).toHaveLength(2)
  })

  test('is one, also with several jobs at once', async () => {
    const scene = await start()
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([1, 2, 3, 4].map((job) => keep(scene.open(), `round ${round} job ${job}`)))
      expect(scene.state.comments).toHaveLength(1)
      expect(bodies(scene)[0]).toMatch(new RegExp(`^round ${round} job [1-4]$`))
      if (round % 2 === 0) scene.state.comments.length = 0
    }
  })

  test.each([1, 2, 3])('is one after %i lost answers', async (count) => {
    const scene = await start()
    scene.server.loseAnswers(count)
    expect((await keep(scene.open(), 'one')).done).toBe('created')
    scene.server.loseAnswers(count)
    expect((await keep(scene.open(), 'two')).done).toBe('updated')
    expect(bodies(scene)).toEqual(['two'])
  })

  test('is one if the site fails after it has created it', async () => {
    const scene = await start()
    const { service: _, ...rest } = scene.state as CodeSite & { service: unknown }
    let failed = 0
    scene.state.fault = (request) => {
      if (request.method !== 'POST' || failed > 0) return null
      failed += 1
      rest.comments.push({ id: 5, number: 7, author: scene.login, title: '', body: JSON.parse(request.body).body, state: 'open' })
      return answer(502, { message: 'Server Error' })
    }
    expect((await keep(scene.open(), 'one')).done).toBe('created')
    expect(bodies(scene)).toEqual(['one'])
  })

  test('is not created again if the list does not show it yet', async () => {
    const scene = await start()
    scene.state.fault = ({ method, path }) => (method === 'GET' && /comments|notes/.test(path) ? answer(200, []) : null)
    expect((await keep(scene.open(), 'one')).done).toBe('created')
    expect(bodies(scene)).toEqual(['one'])
  })

  test('is written after pauses that the site asks for', async () => {
    const scene = await start()
    const soon = String(Math.floor(Date.now() / 1000) + 1)
    const refusals = [
      answer(429, { message: 'Retry later' }, { 'retry-after': '0' }),
      answer(403, { message: 'You have exceeded a secondary rate limit.' }, { 'retry-after': '1' }),
      answer(403, { message: 'API rate limit exceeded' }, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon }),
      answer(503, { message: 'Unavailable' }, { 'retry-after': '0' }),
    ]
    scene.state.fault = ({ method }) => (method === 'POST' ? (refusals.shift() ?? null) : null)
    expect((await keep(scene.open(), 'one')).done).toBe('created')
    expect(bodies(scene)).toEqual(['one'])
    expect(refusals).toEqual([])
  })

  test('reads, updates and deletions are repeated after errors of the server', async () => {
    const scene = await start()
    scene.state.comments.push(
      { id: 1, number: 7, author: scene.login, title: '', body: `${MARKER}\nold`, state: 'open' },
      { id: 2, number: 7, author: scene.login, title: '', body: `${MARKER}\nyounger`, state: 'open' },
    )
    let requests = 0
    scene.state.fault = () => {
      requests += 1
      return requests % 3 === 0 ? null : answer(500, { message: 'Server Error' })
    }
    expect((await keep(scene.open(), 'one')).done).toBe('updated')
    expect(bodies(scene)).toEqual(['one'])
  })

  test('is created again if somebody deletes it at that moment', async () => {
    const scene = await start()
    await keep(scene.open(), 'one')
    scene.state.fault = ({ method }) => {
      if (method === 'PATCH' || method === 'PUT') scene.state.comments.length = 0
      return null
    }
    expect((await keep(scene.open(), 'two')).done).toBe('created')
    expect(bodies(scene)).toEqual(['two'])
  })

  test.each([
    [401, { message: 'Bad credentials' }, /answers 401: Bad credentials/],
    [403, { message: 'Resource not accessible by integration' }, /answers 403: Resource not accessible/],
    [404, { message: 'Not Found' }, /answers 404/],
    [422, { message: 'Validation Failed' }, /answers 422: Validation Failed/],
    [410, '<html>\u001b[31mgone</html>', /answers 410$/],
  ])('the status %i is an error, and nothing is repeated', async (status, body, message) => {
    const scene = await start()
    scene.state.fault = ({ method }) => (method === 'POST' ? answer(status, body) : null)
    await expect(keep(scene.open(), 'one')).rejects.toThrow(message)
    expect(scene.server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  test('a limit that asks for more time than a job has is an error', async () => {
    const scene = await start()
    scene.state.fault = ({ method }) => (method === 'POST' ? answer(429, {}, { 'retry-after': '3600' }) : null)
    await expect(keep(scene.open(), 'one')).rejects.toThrow(/answers 429/)
  })

  test.each<[string, string]>([
    ['of another host', '<http://127.0.0.2:1/evil>; rel="next"'],
    ['that never ends', ''],
  ])('a list with a next page %s ends or fails, and the token goes nowhere else', async (_name, link) => {
    const scene = await start()
    scene.state.fault = (request) => {
      if (request.method !== 'GET' || !/comments|notes/.test(request.path)) return null
      return answer(200, [], { link: link || `<${scene.server.origin}${request.path}?page=1>; rel="next"` })
    }
    const kept = keep(scene.open(), 'one')
    if (link === '') await expect(kept).rejects.toThrow(/more than 200 pages/)
    else await kept.catch(() => undefined)
    expect(scene.server.requests.filter(({ path }) => path.includes('evil'))).toEqual([])
  })

  test('an issue is opened once and updated', async () => {
    const scene = await start()
    scene.server.loseAnswers(1)
    await keep(scene.open(), 'one', 'issues')
    await keep(scene.open(), 'two', 'issues')
    expect(scene.state.issues.map(({ body, title, state }) => [body, title, state])).toEqual([[`${MARKER}\ntwo`, 'Drift', 'open']])
  })
})

test('a list with a next page outside the API ends there', async () => {
  const scene = await gitlab()
  scene.state.fault = ({ method, path }) =>
    method === 'GET' && path.includes('notes') ? answer(200, [], { link: '</api/evil>; rel="next"' }) : null
  await keep(scene.open(), 'one')
  expect(scene.server.requests.filter(({ path }) => path.includes('evil'))).toEqual([])
})

describe('the author at GitHub', () => {
  test('is the user of a personal token', async () => {
    const scene = await github()
    await keep(scene.open(USER_TOKEN), 'one')
    await keep(scene.open(USER_TOKEN), 'two')
    expect(scene.state.comments.map(({ author }) => author)).toEqual(['dns-robot'])
  })

  test('of another app is known after the comment is created, and there is still one comment', async () => {
    const scene = await github()
    await keep(scene.open(OTHER_APP), 'one')
    await keep(scene.open(OTHER_APP), 'two')
    scene.server.loseAnswers(1)
    await keep(scene.open(OTHER_APP), 'three')
    expect(scene.state.comments.map(({ author }) => author)).toEqual(['team-dns[bot]'])
    expect(bodies(scene)).toEqual(['three'])
  })

  test('a token without the permission is reported', async () => {
    const scene = await github()
    scene.state.fault = ({ method }) => (method === 'POST' ? FORBIDDEN : null)
    await expect(keep(scene.open(), 'one')).rejects.toThrow('cannot comment: ')
  })
})

test.each(['', '-x', 'a b', 'a-->', 'x'.repeat(101), 'a--b'])('refuses the marker %j', (name) => expect(() => markerOf(name)).toThrow())

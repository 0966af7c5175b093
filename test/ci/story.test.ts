/** The whole path of a change: pull request, comment, merge, applied plan, a merge whose zone has moved, drift, issue. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { ciFiles } from '../../src/cli/ci-files.ts'
import { cloudNeeds } from '../../src/cli/ci-needs.ts'
import { NO_RELEASE } from '../../src/cli/release.ts'
import { openScene, type Scene } from '../cli/scene.ts'
import { createScriptedGithub, type ScriptedGithub } from '../scripted/code-sites/github.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import { afterThisFile } from '../support/after-file.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git, type JobRun, type RunnerScene, runWorkflowJob, type WorkflowEvent } from '../support/workflow-runner.ts'

const READ = 'reads-0123456789abcdef'
const WRITE = 'writes-0123456789abcdef'
const BOT = 'ghs_0123456789abcdef0123'
const KEY = '0f'.repeat(32)

const SEED = `accounts:
  - users:
      - username: owner
        email: owner@example.com
        tokens:
          - {token: ${READ}, label: reads, scopes: 'domains:read_only'}
          - {token: ${WRITE}, label: writes, scopes: 'domains:read_write'}
`

const zone = (domain: string, address: string, more = ''): string => `domain: ${domain}
soa_email: hostmaster@${domain}
records:
  '': {type: A, value: ${address}}
  www: {type: CNAME, value: '@'}
${more}`

interface Repository extends RunnerScene {
  readonly scene: Scene
  readonly clone: string
  readonly github: ScriptedGithub
  readonly files: readonly { readonly path: string; readonly text: string }[]
  /** Commits files on a branch that begins at main, and returns the commit. */
  commit(branch: string, files: Readonly<Record<string, string>>): string
  /** Opens a pull request for the branch. */
  open(branch: string, owner?: string): number
  job(file: string, name: string, event: WorkflowEvent): Promise<JobRun>
  plan(number: number): Promise<JobRun>
  /** Squashes the branch onto main, and runs the job of the push. */
  merge(number: number): Promise<JobRun>
  drift(): Promise<JobRun>
}

async function openRepository(): Promise<Repository> {
  const scene = await openScene({ seed: SEED }, { expect, onTestFinished: (stop) => afterThisFile(async () => void (await stop({} as never))) })
  const github = createScriptedGithub('team/dns', { [BOT]: { login: 'github-actions[bot]', isApp: true } })
  const { origin } = await startScriptedServer(github.service)
  const bare = temporaryDirectory()
  git(bare, 'init', '--bare', '.')
  const clone = temporaryDirectory()
  git(clone, 'clone', '-q', bare, '.')
  git(clone, 'checkout', '-q', '-b', 'main')
  const { proxy, service } = scene
  const hosts = [new URL(proxy.origin).host, `${service.dnsAddress?.host}:${service.dnsAddress?.port}`]
  const files = ciFiles('github', NO_RELEASE, hosts, cloudNeeds('ZONEWRIGHT_TOKEN'))
  const write = (some: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(some)) {
      mkdirSync(join(clone, path, '..'), { recursive: true })
      writeFileSync(join(clone, path), text)
    }
    git(clone, 'add', '-A')
    git(clone, 'commit', '-q', '-m', 'change')
  }
  write({
    'zonewright.yaml': scene.files()['zonewright.yaml'] as string,
    'zones/example.com.yaml': zone('example.com', '192.0.2.1'),
    'zones/example.net.yaml': zone('example.net', '192.0.2.2'),
    'zones/example.org.yaml': zone('example.org', '192.0.2.3'),
  })
  git(clone, 'push', '-q', 'origin', 'main')
  const main = (): string => git(clone, 'rev-parse', 'main')
  github.branches.set('main', [main()])
  const runner: RunnerScene = {
    bare,
    github,
    origin,
    token: BOT,
    env: {},
    secrets: {
      'dns-read': { ZONEWRIGHT_READ_TOKEN: READ, ZONEWRIGHT_PLAN_KEY: KEY },
      dns: { ZONEWRIGHT_TOKEN: WRITE, ZONEWRIGHT_PLAN_KEY: KEY },
    },
    stored: new Map(),
  }
  const pullOf = (number: number) => {
    const found = github.pulls.find((one) => one.number === number)
    if (found === undefined) throw new Error(`no pull request ${number}`)
    return found
  }
  const job: Repository['job'] = async (file, name, event) => {
    const workflow = files.find(({ path }) => path.endsWith(file))
    if (workflow === undefined) throw new Error(`no workflow ${file}`)
    await scene.service.flush()
    return runWorkflowJob(runner, { ...workflow, job: name }, event)
  }
  return {
    ...runner,
    scene,
    clone,
    github,
    files,
    job,
    commit(branch, changed) {
      const exists = git(clone, 'branch', '--list', branch) !== ''
      git(clone, 'checkout', '-q', ...(exists ? [branch] : ['-b', branch, 'main']))
      write(changed)
      git(clone, 'push', '-q', 'origin', branch)
      const sha = git(clone, 'rev-parse', 'HEAD')
      git(clone, 'checkout', '-q', 'main')
      for (const pull of github.pulls) if (pull.headBranch === branch && pull.state === 'open') pull.head = sha
      return sha
    },
    open(branch, owner = 'team') {
      const number = github.nextId()
      const head = git(clone, 'rev-parse', branch)
      github.pulls.push({ number, head, headOwner: owner, headBranch: branch, base: 'main', state: 'open', mergeCommit: null })
      return number
    },
    plan(number) {
      const { head, headBranch, base } = pullOf(number)
      const payload = {
        number,
        pull_request: { number, head: { sha: head, ref: headBranch, repo: { full_name: github.repository } }, base: { ref: base } },
      }
      return job('dns.yml', 'plan', {
        name: 'pull_request_target',
        payload,
        sha: main(),
        headSha: main(),
        refName: 'main',
        baseRef: 'main',
      })
    },
    merge(number) {
      const pull = pullOf(number)
      const before = main()
      git(clone, 'merge', '-q', '--squash', pull.headBranch)
      git(clone, 'commit', '-q', '-m', `squashed ${number}`)
      git(clone, 'push', '-q', 'origin', 'main')
      const after = main()
      github.branches.get('main')?.push(after)
      Object.assign(pull, { state: 'merged', mergeCommit: after })
      return job('dns.yml', 'apply', { name: 'push', payload: { before, after }, sha: after, headSha: after, refName: 'main' })
    },
    drift: () => job('dns.yml', 'drift', { name: 'schedule', payload: {}, sha: main(), headSha: main(), refName: 'main' }),
  }
}

const commentsOn = ({ github }: Repository, number: number): string[] =>
  github.comments.filter((one) => one.number === number).map(({ body }) => body)

describeWithTools(['git', 'bash'], 'from pull request to merge', () => {
  let repository: Repository
  let first: number

  const elsewhere = (text: string) => repository.scene.runWith({ ZONEWRIGHT_TOKEN: WRITE }, ...text.split(' '))

  beforeAll(async () => {
    repository = await openRepository()
    repository.scene.write({
      'zones/example.com.yaml': zone('example.com', '192.0.2.1'),
      'zones/example.net.yaml': zone('example.net', '192.0.2.2'),
      'zones/example.org.yaml': zone('example.org', '192.0.2.3'),
    })
    expect((await elsewhere('apply --yes')).status).toBe(0)
  })

  test('a pull request gets a comment with its plan, and an artifact', async () => {
    repository.commit('one', { 'zones/example.com.yaml': zone('example.com', '192.0.2.71') })
    first = repository.open('one')
    const planned = await repository.plan(first)
    expect(planned).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.71') })
    expect(commentsOn(repository, first)).toEqual([expect.stringMatching(/^<!-- zonewright:plan -->\n## DNS plan\n[\s\S]*192\.0\.2\.71/)])
    expect(repository.github.artifacts.map(({ name }) => name)).toEqual([`zonewright-plan-${git(repository.clone, 'rev-parse', 'one')}`])
    expect(repository.scene.proxy.requests.filter(({ headers }) => headers.authorization === `Bearer ${READ}`).length).toBeGreaterThan(0)
  })

  test('a second push updates the comment', async () => {
    repository.commit('one', { 'zones/example.com.yaml': zone('example.com', '192.0.2.72') })
    expect((await repository.plan(first)).status).toBe(0)
    const comments = commentsOn(repository, first)
    expect(comments).toEqual([expect.stringContaining('192.0.2.72')])
    expect(comments[0]).not.toContain('192.0.2.71')
  })

  test('a file in another layout and a definition with an error fail the job; the comment and annotations say so', async () => {
    repository.commit('bad', {
      'zones/example.org.yaml': zone('example.org', '192.0.2.999'),
      'zones/example.net.yaml': zone('example.net', '  192.0.2.2'),
    })
    const number = repository.open('bad')
    const planned = await repository.plan(number)
    expect(planned.status).toBe(1)
    expect(planned.output.match(/^::error file=zones\/example\.org\.yaml,line=4.*192\.0\.2\.999/gm)).toHaveLength(1)
    expect(planned.output).toMatch(/^::error file=zones\/example\.net\.yaml,line=1,title=fmt::/m)
    expect(commentsOn(repository, number)).toEqual([
      expect.stringMatching(/not valid[\s\S]*<code>zones\/example\.net\.yaml<\/code>[\s\S]*192\.0\.2\.999/),
    ])
  })

  test('the squash merge applies exactly the reviewed plan', async () => {
    const before = repository.scene.proxy.mutations().length
    const applied = await repository.merge(first)
    expect(applied).toMatchObject({ status: 0, summary: expect.stringContaining('Applied the reviewed plan') })
    const mutations = repository.scene.proxy.mutations().slice(before)
    expect(mutations).toHaveLength(1)
    expect(new Set(mutations.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${WRITE}`]))
    expect((await repository.drift()).status).toBe(0)
    expect(repository.github.issues).toEqual([])
  })

  test('after a merge of two zones of which one has moved, the other is applied, and a new plan is shown', async () => {
    repository.commit('two', {
      'zones/example.net.yaml': zone('example.net', '192.0.2.82'),
      'zones/example.org.yaml': zone('example.org', '192.0.2.83'),
    })
    const number = repository.open('two')
    expect((await repository.plan(number)).status).toBe(0)
    repository.scene.write({
      'zones/example.com.yaml': zone('example.com', '192.0.2.72'),
      'zones/example.net.yaml': zone('example.net', '192.0.2.66'),
    })
    expect((await elsewhere('apply example.net --yes')).status).toBe(0)
    const before = repository.scene.proxy.mutations().length
    const merged = await repository.merge(number)
    expect(merged.status).toBe(3)
    expect(repository.scene.proxy.mutations().slice(before)).toHaveLength(1)
    expect(merged.summary).toMatch(
      /Applied the reviewed plan[\s\S]*example\.net[\s\S]*Planned again[\s\S]*192\.0\.2\.66[\s\S]*192\.0\.2\.82/,
    )
    expect(merged.output).toContain('nobody has reviewed')
  })

  test('drift opens one issue, updates it, and closes it when the zones are as defined', async () => {
    for (let day = 0; day < 3; day += 1) expect((await repository.drift()).status).toBe(2)
    expect(repository.github.issues.map(({ state }) => state)).toEqual(['open'])
    expect(repository.github.issues[0]?.body).toMatch(/^<!-- zonewright:drift -->[\s\S]*1 zone of 3 differs[\s\S]*192\.0\.2\.66/)
    repository.scene.write({ 'zones/example.net.yaml': zone('example.net', '192.0.2.82') })
    expect((await elsewhere('apply example.net --yes')).status).toBe(0)
    expect((await repository.drift()).status).toBe(0)
    expect(repository.github.issues.map(({ state }) => state)).toEqual(['closed'])
    expect((await repository.drift()).status).toBe(0)
    expect(repository.github.issues).toHaveLength(1)
  })
})

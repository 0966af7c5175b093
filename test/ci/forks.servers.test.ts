/** Comments on pull requests from forks, made by a trusted job from the plan file of an untrusted one. With our interpreter of workflows and with act. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { checksumOf } from '../../src/stored/plans/plan-json.ts'
import { describeWithTools, LONG_SERVERS } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git, type JobRun } from '../support/workflow-runner.ts'
import { ACT_TOOLS, openActRepository } from './act-repository.ts'
import { commentsOn, openRepository, type Repository, zone } from './repository.ts'

const story = (open: () => Promise<Repository>) => (): void => {
  let repository: Repository
  /** The text of a plan that the job of the fork kept. */
  let plan: string
  let number: number
  let head: string

  beforeAll(async () => {
    repository = await open()
    await repository.applyMain()
    const { scene } = repository
    scene.write({ 'zones/example.com.yaml': zone('example.com', '192.0.2.9') })
    expect((await scene.runWith({ ZONEWRIGHT_TOKEN: 'reads-0123456789abcdef' }, 'plan', '--out', 'fork.json')).status).toBe(0)
    plan = scene.files()['fork.json'] as string
    head = repository.commit('fork', { 'zones/example.com.yaml': zone('example.com', '192.0.2.9') })
  })

  beforeEach(() => {
    for (const pull of repository.github.pulls) pull.state = 'closed'
    number = repository.open('fork', 'mallory')
    repository.github.artifacts.length = 0
  })

  /** Keeps a file as the artifact of a run for the fork, and runs the job that follows it. */
  async function follow(text: string | null, { conclusion = 'success', commit = head, owner = 'mallory', size = 0 } = {}): Promise<JobRun> {
    const { github } = repository
    const id = github.nextId()
    const path = '.github/workflows/dns-check.yml'
    const headRepository = `${owner}/dns`
    github.runs.push({ id, event: 'pull_request', path, headSha: head, headBranch: 'fork', headRepository, conclusion })
    if (text !== null) {
      const file = join(temporaryDirectory(), 'plan.json')
      if (text.startsWith('->')) symlinkSync(text.slice(2), file)
      else writeFileSync(file, text)
      const artifact = github.nextId()
      repository.stored.set(artifact, file)
      github.artifacts.push({ id: artifact, name: 'zonewright-fork-plan', run: id, size: size || text.length, file, expired: false })
    }
    const run = {
      id,
      html_url: `https://github.example/team/dns/actions/runs/${id}`,
      event: 'pull_request',
      head_sha: commit,
      head_branch: 'fork',
      head_repository: { full_name: `${owner}/dns`, owner: { login: owner } },
      conclusion,
      pull_requests: [],
    }
    const main = git(repository.clone, 'rev-parse', 'main')
    const refName = 'main'
    return repository.job('dns.yml', 'comment', { name: 'workflow_run', payload: { workflow_run: run }, sha: main, headSha: main, refName })
  }

  /** The plan with changed values and a valid checksum. */
  const changed = (change: (plan: Record<string, never>) => void): string => {
    const { checksum: _, ...document } = JSON.parse(plan)
    change(document)
    return JSON.stringify({ ...document, checksum: checksumOf(document) })
  }

  test('gets a comment with the plan of its job, without a request to the provider', async () => {
    const before = repository.scene.proxy.requests.length
    expect((await follow(plan)).status).toBe(0)
    expect((await follow(plan)).status).toBe(0)
    expect(commentsOn(repository, number)).toEqual([expect.stringMatching(/^<!-- zonewright:plan -->[\s\S]*A job of the fork[\s\S]*2\.9/)])
    expect(repository.scene.proxy.requests).toHaveLength(before)
  })

  test('is planned without credentials against the snapshot of the base branch, even if the drift job is late, and gets a comment', async () => {
    expect((await repository.check(number, 'offline-plan')).output).toContain('there is no artifact zonewright-snapshot')
    expect((await repository.drift()).status).toBe(0)
    const [snapshot] = repository.github.artifacts
    const file = repository.stored.get(snapshot?.id ?? 0) as string
    const { checksum: _, ...document } = JSON.parse(readFileSync(file, 'utf8'))
    const yesterday = { ...document, created: new Date(Date.now() - 30 * 3_600_000).toISOString() }
    writeFileSync(file, JSON.stringify({ ...yesterday, checksum: checksumOf(yesterday) }))
    const before = repository.scene.proxy.requests.length
    expect(await repository.check(number, 'offline-plan')).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.9') })
    const [kept] = repository.github.artifacts.filter(({ name }) => name === 'zonewright-fork-plan')
    const text = readFileSync(repository.stored.get(kept?.id ?? 0) as string, 'utf8')
    repository.github.artifacts.length = 0
    await follow(text)
    expect(repository.scene.proxy.requests).toHaveLength(before)
    expect(commentsOn(repository, number)).toEqual([expect.stringMatching(/snapshot[\s\S]*192\.0\.2\.9/)])
  })

  test.each<[string, () => string | null]>([
    ['no file', () => null],
    ['an empty file', () => ''],
    ['text', () => 'secrets: please'],
    ['deep JSON', () => `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a plan of another version', () => changed((one) => Object.assign(one, { version: 99 }))],
    ['a plan with a further key', () => changed((one) => Object.assign(one, { script: '<script>' }))],
    ['a plan of other changes', () => changed((one) => Object.assign(one, { zones: [{ zone: 'x.', changes: [{ subject: 'x' }] }] }))],
    ['a plan with a wrong checksum', () => plan.replace('192.0.2.9', '192.0.2.8')],
    ['a link to a file of the runner', () => '->/proc/self/environ'],
    ['octets that are not UTF-8', () => plan.replace('192.0.2.9', '\ud800')],
  ])('that kept %s gets a comment that says so and repeats nothing', async (_, text) => {
    const ran = await follow(text(), { conclusion: 'failure' })
    expect(ran.status).toBe(0)
    const [comment, ...more] = commentsOn(repository, number)
    expect(more).toEqual([])
    expect(comment).toMatch(/The job of the fork kept no plan|is not a plan/)
    expect(comment).toContain('The job of the fork has failed.')
    expect(comment?.length).toBeLessThan(1200)
    expect(ran.output + comment).not.toMatch(/script|please|PATH=/)
  })

  test('cannot write markup, mention users, forge a marker or a command by its plan', async () => {
    const hostile = '</code></details>\n```\n<script>alert(1)</script> @team #1 ::error::x <!-- zonewright:plan --> \u202e\u001b[31m'
    const text = changed((one) => {
      Object.assign(one, {
        tool: hostile,
        diagnostics: [{ severity: 'warning', code: 'ttl-rounded', message: hostile, hint: hostile, file: null, line: null, column: null }],
      })
    })
    const ran = await follow(text)
    const [comment = ''] = commentsOn(repository, number)
    expect(comment).toContain('alert(1)')
    expect(comment.replace(/^(`{3,})\w*\n[\s\S]*?\n\1$/gm, '')).not.toMatch(/<script>|@team|\p{Cf}|(?!\n)\p{Cc}/u)
    expect(comment.match(/^<!-- zonewright/gm)).toHaveLength(1)
    expect(ran.output).not.toMatch(/^::error::x/m)
  })

  test('that has a newer commit gets no comment for the older one', async () => {
    for (const pull of repository.github.pulls) pull.head = 'd'.repeat(40)
    const ran = await follow(plan)
    for (const pull of repository.github.pulls) pull.head = head
    expect(ran).toMatchObject({ status: 0, output: expect.stringContaining('no open pull request from a fork') })
    expect(commentsOn(repository, number)).toEqual([])
  })

  test('whose artifact is of another commit gets no plan', async () => {
    const other = 'e'.repeat(40)
    for (const pull of repository.github.pulls) pull.head = other
    await follow(plan, { commit: other })
    for (const pull of repository.github.pulls) pull.head = head
    expect(commentsOn(repository, number)).toEqual([expect.stringContaining('kept no plan')])
  })

  test('whose artifact is large gets no plan', async () => {
    expect(await follow(plan, { size: 2 ** 25 + 1 })).toMatchObject({ output: expect.stringContaining('has 33554433 octets, more than') })
    expect(commentsOn(repository, number)).toEqual([expect.stringContaining('kept no plan')])
  })

  test('of the repository itself is not the business of this job', async () =>
    expect((await follow(plan, { owner: 'team' })).status).toBeNull())

  test('gets no secret and no plan of the job for own branches', async () => {
    const payload = { number, pull_request: { number, head: { sha: head, repo: { full_name: 'mallory/dns' } }, base: { ref: 'main' } } }
    const main = git(repository.clone, 'rev-parse', 'main')
    const event = { name: 'pull_request_target', payload, sha: main, headSha: main, refName: 'main', baseRef: 'main' }
    expect((await repository.job('dns.yml', 'plan', event)).status).toBeNull()
  })

  test('is merged: nothing of its plan is applied, and a new plan is shown', async () => {
    await follow(plan)
    const before = repository.scene.proxy.mutations().length
    const merged = await repository.merge(number)
    expect(merged).toMatchObject({ status: 3, output: expect.stringContaining('a fork'), summary: expect.stringContaining('192.0.2.9') })
    expect(repository.scene.proxy.mutations()).toHaveLength(before)
  })
}

describeWithTools(['git', 'bash'], 'a pull request from a fork', story(openRepository))
describeWithTools(ACT_TOOLS, 'a pull request from a fork, with act', story(openActRepository), LONG_SERVERS)

/** The CI workflows of `init`: their structure. `test/ci` runs their jobs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ciFiles } from '../../src/cli/init/ci-files.ts'
import { ADD_TO_GITHUB_PATH, cloudNeeds, INSTALL_SCRIPT } from '../../src/cli/init/ci-needs.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { parseWorkflow } from '../support/workflow-runner.ts'
import { filesBelow } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const RELEASE = { tarball: 'https://releases.example.com/zonewright-1.2.3.tgz', checksum: 'ab'.repeat(32) }

const [generated, checks] = ciFiles('github', RELEASE, ['dns.example.net'], cloudNeeds('ZONEWRIGHT_TOKEN')).map(({ text }) => text) as [
  string,
  string,
]

/** The step that installs the program. */
const INSTALL = 'sh -c "$INSTALL_ZONEWRIGHT"'
const secretsOf = (value: unknown): string[] => [...new Set(JSON.stringify(value).match(/(?<=secrets\.)[A-Z_]+/g))]

describe.each([
  ['with the secrets', generated],
  ['without secrets', checks],
])('the workflow %s', (_, text) => {
  const parsed = parseWorkflow(text)
  const jobs = Object.entries(parsed.jobs)

  test('sets the allowed hosts for all jobs, and no secret', () => {
    expect(parsed.env['ZONEWRIGHT_ALLOWED_HOSTS']).toMatch(/^dns\.example\.net\b/)
    expect(secretsOf({ ...parsed, jobs: {} })).toEqual([])
  })

  test.each(jobs)('%s: no file of the repository selects the program', (_name, { steps }) => {
    const install = steps.findIndex(({ run }) => run === INSTALL)
    expect(parsed.env['INSTALL_ZONEWRIGHT']).toBe(INSTALL_SCRIPT + ADD_TO_GITHUB_PATH)
    expect(parsed.env['ZONEWRIGHT_TARBALL']).toMatch(/^https:\/\/releases\.example\.com\/.*\.tgz$/)
    expect(parsed.env['ZONEWRIGHT_CHECKSUM']).toMatch(/^[0-9a-f]{64}$/)
    const files = steps.findIndex(({ uses }) => /^actions\/(?:checkout|download-artifact)@/.test(uses ?? ''))
    expect(install).toBeGreaterThanOrEqual(0)
    expect(files).toBeGreaterThan(install)
    for (const { run = '' } of steps.slice(files)) expect(run).not.toMatch(/\b(?:npx|npm|node|node_modules)\b/)
  })

  test.each(jobs)('%s: a checkout keeps no credentials, and no script contains an expression', (_name, { steps }) => {
    for (const { uses = '', with: settings, run = '' } of steps) {
      if (uses.startsWith('actions/checkout@')) expect(settings).toMatchObject({ 'persist-credentials': false })
      expect(run).not.toContain('${{')
    }
  })
})

describe('the workflows of init', () => {
  const { jobs, on, permissions } = parseWorkflow(generated)
  const { plan, apply, drift, comment } = jobs

  test('pin each action by its commit', () => {
    const used = [generated, checks].flatMap((text) => [...text.matchAll(/uses: (.*)/g)].map(([, uses]) => uses))
    expect(used.length).toBeGreaterThan(5)
    for (const uses of used) expect(uses).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40} # v[0-9.]+$/)
  })

  test('have the jobs with secrets only for events whose workflow is that of the base branch, and by hand', () => {
    expect(Object.keys(on)).toEqual(['pull_request_target', 'push', 'schedule', 'workflow_dispatch', 'workflow_run'])
    expect(on['push']).toEqual({ branches: ['main'] })
    expect(on['pull_request_target']).toEqual({ branches: ['main'] })
    expect(parseWorkflow(checks).on).toEqual({ pull_request: { branches: ['main'] }, merge_group: { branches: ['main'] } })
    expect(secretsOf(parseWorkflow(checks))).toEqual([])
    expect((on['workflow_run'] as { workflows: string[] }).workflows).toEqual([parseWorkflow(checks).name])
  })

  test('give each job the least permissions', () => {
    expect(permissions).toEqual({})
    expect(Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, job.permissions]))).toEqual({
      plan: { contents: 'read', 'pull-requests': 'write' },
      'plan-main': { contents: 'read' },
      apply: { contents: 'read', actions: 'read', 'pull-requests': 'read' },
      drift: { contents: 'read', issues: 'write' },
      comment: { actions: 'read', 'pull-requests': 'write' },
    })
    expect(parseWorkflow(checks).permissions).toEqual({ contents: 'read' })
  })

  test('give only apply the token that writes; each job with a secret has an environment', () => {
    expect(secretsOf(apply)).toEqual(['ZONEWRIGHT_TOKEN', 'ZONEWRIGHT_PLAN_KEY'])
    expect(secretsOf(plan)).toEqual(['ZONEWRIGHT_READ_TOKEN', 'ZONEWRIGHT_PLAN_KEY'])
    expect(secretsOf(drift)).toEqual(['ZONEWRIGHT_READ_TOKEN'])
    expect([plan, apply, drift].map((job) => job?.environment)).toEqual(['dns-read', 'dns', 'dns-read'])
  })

  test('check out nothing of a fork, and give its job no secret', () => {
    expect(plan?.if).toContain('github.event.pull_request.head.repo.full_name == github.repository')
    expect(secretsOf(comment)).toEqual([])
    expect(comment?.environment).toBeUndefined()
    expect(comment?.steps.map(({ uses = '' }) => uses).filter((uses) => uses.includes('checkout'))).toEqual([])
  })

  test('name the scopes of plan, verify and apply', () => {
    expect(generated).toMatch(/^# {3}plan +domains:read_only .*\n# {3}verify +domains:read_only .*\n# {3}apply +domains:read_write /m)
  })
})

test('init sets the hosts of its config', async () => {
  const folder = temporaryDirectory()
  expectEnd(await cli(['init'], { cwd: folder }), 0)
  const { env } = parseWorkflow(readFileSync(join(folder, '.github/workflows/dns.yml'), 'utf8'))
  expect(env['ZONEWRIGHT_ALLOWED_HOSTS']).toBe('127.0.0.1:8080, 127.0.0.1:5353, api.github.com')
  expect((await cli(['validate'], { cwd: folder, env })).status).toBe(0)
  for (const less of ['127.0.0.1:8080', '127.0.0.1:5353'])
    expect((await cli(['validate'], { cwd: folder, env: { ZONEWRIGHT_ALLOWED_HOSTS: less } })).status).toBe(1)
})

test('init --from sets the host of the provider', async () => {
  const scene = await openServiceScene()
  await scene.run('apply', '--yes')
  const folder = temporaryDirectory()
  const { host, origin } = new URL(scene.proxy.origin)
  expectEnd(await cli(['init', '--from', `${origin}/v4`], { cwd: folder, env: { ZONEWRIGHT_TOKEN: scene.service.token ?? '' } }), 0)
  const { env } = parseWorkflow(filesBelow(folder)['.github/workflows/dns.yml'] as string)
  expect(env['ZONEWRIGHT_ALLOWED_HOSTS']).toBe(`${host}, api.github.com`)
})

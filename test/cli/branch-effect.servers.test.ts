/** `plan --base`: what a branch changes, without what the base would change as well. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RecordChange } from '../../src/plan/plan.ts'
import { CLOUD } from '../../src/providers/cloud/cloud-config.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { GIT_ENVIRONMENT, gitRepository } from '../support/git-repository.ts'
import { planSchemaErrors } from '../support/plan-schema.ts'
import { describeWithTools } from '../support/skip.ts'
import { openScene, TOKEN, ZONE, zoneFiles, zoneOf } from './scene.ts'

/** Changes as text, by zone. */
const changesOf = ({ stdout }: { readonly stdout: string }): Record<string, string[]> =>
  Object.fromEntries(
    JSON.parse(stdout).zones.map(({ zone, changes }: { zone: string; changes: RecordChange[] }) => [
      zone,
      changes.map(({ action, name, existing, desired }) => `${action} ${name} ${existing?.data ?? ''}>${desired?.data ?? ''}`).sort(),
    ]),
  )

/** A checkout of a branch that begins at a main branch, which was applied except for one change, and a snapshot of its zones, which drifted since. */
async function repository() {
  const scene = openScene({ files: zoneFiles(['example.com', 'b.example']) })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  for (const name of ['example.com', 'b.example']) scene.memory.add(name, 'drift A 192.0.2.99')
  expect((await scene.run('snapshot', '--out', 'snap.json')).status).toBe(0)
  const { 'snap.json': snapshot = '', 'zonewright.yaml': config = '', ...zones } = scene.files()
  const repo = gitRepository({
    'zonewright.yaml': config,
    'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.20'),
    'zones/b.example.yaml': zones['zones/b.example.yaml'] ?? '',
  })
  writeFileSync(join(repo.folder, '.git/snap.json'), snapshot)
  repo.git('checkout', '-qb', 'topic')
  const plan = (...args: string[]): Promise<CliResult> => cli(['plan', ...args], { cwd: repo.folder, env: { ...GIT_ENVIRONMENT } })
  const live = (...args: string[]): Promise<CliResult> => {
    const providerTypes = new Map([['cloud', scene.memory.as(CLOUD)]])
    return cli(['plan', ...args], { cwd: repo.folder, env: { ...GIT_ENVIRONMENT, ZONEWRIGHT_TOKEN: TOKEN }, providerTypes })
  }
  return { repo, plan, live, read: (path: string) => readFileSync(join(repo.folder, path), 'utf8') }
}

const OFFLINE = ['--snapshot', '.git/snap.json']

describeWithTools(['git'], 'plan --base', () => {
  test('shows the effect of the branch alone', async () => {
    const { repo, plan, live, read } = await repository()
    repo.commit({
      // The branch changes a record that main has changed too, adds one, and takes over a record that drifted.
      'zones/example.com.yaml': `${read('zones/example.com.yaml').replace('192.0.2.20', '192.0.2.30')}  new: {type: A, value: 192.0.2.40}\n  drift: {type: A, value: 192.0.2.99}\n`,
      'zones/c.example.yaml': zoneOf('c.example'),
    })
    const whole = await plan(...OFFLINE, '--format', 'json')
    const changes = changesOf(whole)
    expect(changes['example.com.']).toEqual(['create new.example.com. >192.0.2.40', 'update mail.example.com. 192.0.2.2>192.0.2.30'])
    expect(changes['b.example.']).toEqual(['delete drift.b.example. 192.0.2.99>'])

    const effect = await plan(...OFFLINE, '--base', 'main', '--format', 'json')
    const document = JSON.parse(effect.stdout)
    expect(planSchemaErrors(document)).toEqual([])
    expect(effect.status).toBe(0)
    const expected = {
      'b.example.': [],
      'c.example.': expect.arrayContaining(['create mail.c.example. >192.0.2.2']),
      'example.com.': [
        'create drift.example.com. >192.0.2.99',
        'create new.example.com. >192.0.2.40',
        'update mail.example.com. 192.0.2.20>192.0.2.30',
      ],
    }
    expect(changesOf(effect)).toEqual(expected)
    // Of main: the deletion of the drift in both zones, and the change that was not applied.
    expect(document.base).toEqual({ revision: 'main', commit: repo.git('rev-parse', 'main').trim(), leftOut: 3 })
    expect(document.summary).toMatchObject({ delete: 0, update: 1 })
    expect(changesOf(await live('--base', 'main', '--format', 'json'))).toEqual(expected)
    const text = await plan(...OFFLINE, '--base', 'main')
    expect(text.stderr).toMatch(/^notice\[branch-effect\] .*: 3 changes that the definitions of main \([0-9a-f]{12}\) make without it/m)
    expect((await plan(...OFFLINE, '--base', 'main', '--format', 'markdown')).stdout).toContain('3 changes that the definitions of main')
  })

  test('a definition that the branch deletes is named', async () => {
    const { repo, plan, live } = await repository()
    repo.commit({ 'zones/b.example.yaml': null })
    const offline = await plan(...OFFLINE)
    expect(offline.stderr).toContain('warning[zone-removed] b.example. still exists at cloud, but its definition is gone; the snapshot')
    expect((await plan(...OFFLINE, '--base', 'main')).stderr.match(/warning\[zone-removed\]/g)).toHaveLength(1)
    expect((await live('--base', 'main')).stderr).toContain('warning[zone-removed] b.example. may still exist at cloud, but its definition')
    expect((await plan(...OFFLINE, 'example.com')).stderr).not.toContain('zone-removed')
  })

  test('a branch that changes nothing has no effect, whatever the base would change', async () => {
    const { plan } = await repository()
    const { stdout, status } = await plan(...OFFLINE, '--base', 'main', '--detailed-exitcode')
    expect(stdout).toBe('No changes. 2 zones match.\n')
    expect(status).toBe(0)
  })

  test('the effect of another config', async () => {
    const { repo, plan, read } = await repository()
    repo.git('checkout', '-q', 'main')
    repo.commit({ 'zones/b.example.yaml': read('zones/b.example.yaml').replace(/soa_email.*\n/, '') })
    repo.git('checkout', '-qb', 'mail')
    repo.commit({ 'zonewright.yaml': `${read('zonewright.yaml')}defaults: {soa_email: other@example.com}\n` })
    const document = JSON.parse((await plan(...OFFLINE, '--base', 'main', '--format', 'json')).stdout)
    expect(document.zones).toMatchObject([{ changes: [{ fields: ['soa_email'] }] }, { changes: [] }])
  })

  test('is saved as a report, which cannot be applied', async () => {
    const { repo, plan, read } = await repository()
    repo.commit({ 'zones/b.example.yaml': read('zones/b.example.yaml').replace('192.0.2.2', '192.0.2.3') })
    const saved = await plan(...OFFLINE, '--base', 'main', '--out', '.git/effect.json')
    expect(saved.stderr).toContain('Saved the report of the plan to .git/effect.json. It cannot be applied, since it leaves out changes.')
    expect(JSON.parse(read('.git/effect.json')).base.leftOut).toBe(3)
    const applied = await cli(['apply', '--yes', '.git/effect.json'], { cwd: repo.folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
    expect(applied).toMatchObject({ status: 1, stderr: expect.stringContaining('is only a report of a plan and cannot be applied') })
    const again = await cli(['report', '.git/effect.json', '--format', 'json'], { cwd: repo.folder })
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(read('.git/effect.json')))
    writeFileSync(join(repo.folder, 'mine.txt'), 'x')
    expectEnd(await plan(...OFFLINE, '--base', 'main', '--out', 'mine.txt'), 1, { err: 'file-exists' })
  })

  test.each([
    ['nowhere', 'the repository has no revision "nowhere"'],
    ['--output=x', '"--output=x" is not a revision'],
  ])('an unusable revision: %s', async (revision, message) => {
    const { repo, plan } = await repository()
    repo.commit({})
    expectEnd(await plan(...OFFLINE, `--base=${revision}`), 1, { err: `error[revision-unreadable] ${message}` })
  })

  test('a base with errors is no reason to show less', async () => {
    const { repo, plan, read } = await repository()
    const correct = read('zones/b.example.yaml')
    repo.git('checkout', '-q', 'main')
    repo.commit({ 'zones/b.example.yaml': correct.replace('192.0.2.2', '192.0.2.300') })
    repo.git('checkout', '-qb', 'fix')
    repo.commit({ 'zones/b.example.yaml': correct })
    const { stderr, stdout, status } = await plan(...OFFLINE, '--base', 'main', '--format', 'json')
    expect(stderr).toContain('warning[branch-effect] the plan of the revision is incomplete')
    expect(changesOf({ stdout })).toEqual({ 'b.example.': ['delete drift.b.example. 192.0.2.99>'], 'example.com.': [] })
    expect(status).toBe(0)
    repo.git('checkout', '-q', 'main')
    repo.commit({ 'zonewright.yaml': 'providers: [\n' })
    repo.git('checkout', '-qb', 'fix-config')
    repo.commit({ 'zonewright.yaml': repo.git('show', 'topic:zonewright.yaml'), 'zones/b.example.yaml': correct })
    expect((await plan(...OFFLINE, '--base', 'main')).stderr).toContain('it has no config that can be read')
  })
})

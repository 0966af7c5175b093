/** A pull request cannot approve itself: the keys are those of the base branch, and approvals are comments with signatures. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parseOpenSshKey, signText } from '../../src/stored/approvals/openssh.ts'
import { describeWithTools, LONG_SERVERS } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { git, type JobRun } from '../support/workflow-runner.ts'
import { commentsOn, openRepository, type Repository, zone } from './repository.ts'

describeWithTools(['git', 'bash', 'curl', 'unzip', 'zip', 'ssh-keygen'], 'approvals in CI', () => {
  let repository: Repository
  const keys = temporaryDirectory()

  const listOf = (...names: string[]): string =>
    names.map((name) => `    ${name}: '${readFileSync(join(keys, `${name}.pub`), 'utf8').trim()}'\n`).join('')

  beforeAll(async () => {
    for (const name of ['alice', 'bob', 'mallory']) await runTool('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(keys, name)])
    repository = await openRepository()
    await repository.applyMain()
    await repository.push({ 'zonewright.yaml': `${configOf()}approvals:\n  needed: 2\n  keys:\n${listOf('alice', 'bob')}` })
  })

  const configOf = (): string => readFileSync(join(repository.clone, 'zonewright.yaml'), 'utf8')

  /** Comments with the approval of the plan of a pull request, as anybody can. */
  function comment(number: number, branch: string, ...names: string[]): void {
    const artifact = repository.github.artifacts.find(({ name }) => name.endsWith(git(repository.clone, 'rev-parse', branch)))
    const plan = readFileSync(repository.stored.get(artifact?.id as number) as string, 'utf8')
    for (const name of names) {
      const key = parseOpenSshKey(readFileSync(join(keys, name), 'utf8'))
      if (!key.ok || key.value.privateKey === null) throw new Error('no key')
      const body = `Fine with me.\r\n\`\`\`\r\n${signText(plan, key.value.privateKey, key.value.publicKey.octets)}\`\`\`\r\n`
      repository.github.comments.push({ id: repository.github.nextId(), number, author: 'mallory', title: '', body, state: 'open' })
    }
  }

  async function merge(branch: string, address: string, names: string[], change = (config: string): string => config): Promise<JobRun> {
    repository.commit(branch, (folder) => {
      writeFileSync(join(folder, 'zones/example.com.yaml'), zone('example.com', address))
      writeFileSync(join(folder, 'zonewright.yaml'), change(readFileSync(join(folder, 'zonewright.yaml'), 'utf8')))
    })
    const number = repository.open(branch)
    expect((await repository.plan(number)).status).toBe(0)
    expect(commentsOn(repository, number)).toEqual([
      expect.stringMatching(/\*\*Needs 2 approvals\*\* .*<code>alice<\/code> and <code>bob<\/code> can approve: .*zonewright approve/),
    ])
    comment(number, branch, ...names)
    return repository.merge(number)
  }

  const mutations = (): number => repository.scene.proxy.mutations().length

  test('a plan with the signatures of two people in comments is applied', async () => {
    const before = mutations()
    expect(await merge('two', '192.0.2.71', ['alice', 'bob'])).toMatchObject({ status: 0, summary: expect.stringContaining('Applied') })
    expect(mutations()).toBe(before + 1)
  })

  type Change = (config: string) => string
  async function expectRefused(name: string, names: string[], change: Change): Promise<void> {
    const base = configOf()
    const before = mutations()
    const merged = await merge(name.replaceAll(' ', '-'), `192.0.2.${80 + names.length}`, names, change)
    expect(merged.output).toMatch(/needs 2 approvals and has (?:none|1, of alice)/)
    expect(merged.output).toContain('paste the signatures into comments on its pull request, and run this job again')
    expect(merged.status).toBe(3)
    expect(mutations()).toBe(before)
    await repository.push({ 'zonewright.yaml': base })
  }

  const ITSELF = 'a pull request that %s does not approve itself'
  test.each<[string, string[], Change]>([['lowers the number', ['alice'], (config) => config.replace('needed: 2', 'needed: 1')]])(
    ITSELF,
    expectRefused,
  )
  test.each<[string, string[], Change]>([
    ['adds a key', ['alice', 'mallory'], (config) => `${config}${listOf('mallory')}`],
    ['removes the key of the config', [], (config) => config.replace(/approvals:[\s\S]*/, '')],
  ])(ITSELF, LONG_SERVERS, expectRefused)

  test('a run by hand has no comment, and says where the signatures go', async () => {
    const sha = git(repository.clone, 'rev-parse', 'main')
    const event = { name: 'workflow_dispatch', payload: {}, sha, headSha: sha, refName: 'main' }
    const summary = expect.stringContaining('into a comment on the pull request of this commit.')
    expect(await repository.job('dns.yml', 'plan-main', event)).toMatchObject({ status: 0, summary })
  })

  test.each([
    ['approvals', `approvals: {needed: 1, keys: {alice: '$KEY'}}\n`, ''],
    ['policies', 'policies: [rules.yaml]\n', 'policies: []\n'],
  ])('in a shallow checkout of a merge that deletes %s, nothing is applied', async (name, lines, changed) => {
    const config = configOf().replace(/(?:approvals|policies):[\s\S]*/, '')
    const rule =
      '- {name: no, each: record_set, require: {properties: {ttl: {minimum: 60}}}, message: no, tests: [{given: {ttl: 1}, expect: fail}]}\n'
    const base = `${config}${lines.replace('$KEY', readFileSync(join(keys, 'alice.pub'), 'utf8').trim())}`
    await repository.push({ 'zonewright.yaml': base, 'rules.yaml': rule })
    repository.commit(`no-${name}`, {
      'zonewright.yaml': config + changed,
      'zones/example.com.yaml': zone('example.com', `192.0.2.${90 + name.length}`),
    })
    const number = repository.open(`no-${name}`)
    expect((await repository.plan(number)).status).toBe(0)
    repository.on.workflow = (text) => text.replaceAll('fetch-depth: 0', 'fetch-depth: 1')
    const before = mutations()
    const merged = await repository.merge(number)
    repository.on.workflow = (text) => text
    expect([merged.status, merged.output]).toEqual([
      3,
      expect.stringMatching(/Nothing is applied, since the config before the push.*fetch-depth: 0/),
    ])
    expect(mutations()).toBe(before)
  })
})

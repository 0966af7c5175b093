/** Definitions that are programs in the jobs of a repository. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { describeWithTools } from '../support/skip.ts'
import type { JobRun } from '../support/workflow-runner.ts'
import { commentsOn, openRepository, type Repository } from './repository.ts'

const ALICE = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKdpcBdmDbKpNcXcRhbGWLVLv2ZqSvVTqKWmuGL5hIPV'

const FILES = {
  'zones/hosts.ts': `import { A, load, zone } from 'zonewright/definition'
zone('example.edu', { soa_email: 'hostmaster@example.edu' }, [
  load('../data/hosts.csv').map((host) => A(host.name, host.ip, { ttl: Number(host.ttl), owner: host.team })),
])
`,
  'data/hosts.csv': 'name,ip,ttl,team\nwww,192.0.2.21,300,team-web\n',
  'dnsconfig.js': `const hosts = require('./data/hosts.json')
D('example.info', NewRegistrar('none'), DnsProvider(NewDnsProvider('cloud')), hosts.map((host) => A(host.name, host.ip)))
`,
  'data/hosts.json': '[{"name": "www", "ip": "192.0.2.31"}]',
}
const POLICY = `- name: ttl
  each: record_set
  require: {properties: {ttl: {minimum: 300}}}
  message: a TTL is at least 5 minutes
  tests: [{given: {ttl: 300}, expect: pass}, {given: {ttl: 60}, expect: fail}]
`

describeWithTools(['git', 'bash', 'curl', 'unzip', 'zip'], 'a pull request that changes only what a program reads', () => {
  let repository: Repository
  let branches = 0

  beforeAll(async () => {
    repository = await openRepository("zones: [{files: ['zones/*.{yaml,ts}', '*.js']}]\ndefaults: {soa_email: hostmaster@example.com}\n")
    repository.scene.write(FILES)
    await repository.applyMain()
    await repository.push({ ...FILES, 'policies/rules.yaml': POLICY })
  })

  async function planned(files: Readonly<Record<string, string>>): Promise<{ number: number; run: JobRun }> {
    branches += 1
    repository.commit(`data-${branches}`, files)
    const number = repository.open(`data-${branches}`)
    return { number, run: await repository.plan(number) }
  }
  const mutations = (): number => repository.scene.proxy.mutations().length

  test.each([
    ['data/hosts.csv', 'example.edu', '192.0.2.22', FILES['data/hosts.csv'].replace('.21', '.22')],
    ['data/hosts.json', 'example.info', '192.0.2.32', FILES['data/hosts.json'].replace('.31', '.32')],
  ])('%s: the zones of the program are planned, and applied after the merge', async (file, zone, address, text) => {
    const { number, run } = await planned({ [file]: text })
    expect(run).toMatchObject({ status: 0, summary: expect.stringContaining(address) })
    const [comment] = commentsOn(repository, number)
    expect(comment).toContain(zone)
    if (file.endsWith('.csv')) expect(comment).toContain('team-web')
    for (const other of ['example.com', 'example.net', 'example.org', zone === 'example.edu' ? 'example.info' : 'example.edu'])
      expect(comment).not.toContain(other)
    expect((await repository.check(number)).status).toBe(0)
    const before = mutations()
    expect(await repository.merge(number)).toMatchObject({ status: 0, summary: expect.stringContaining('Applied') })
    expect(mutations()).toBe(before + 1)
  })

  test.each([
    ['data/hosts.csv', 'name,ip,ttl,team\nwww,192.0.2.256,300,team-web\n', 'zones/hosts.ts:3:43: error[value-invalid] www.example.edu. A'],
    [
      'data/hosts.csv',
      'name,ip,ttl,team\nwww,192.0.2.21,60,team-web\n',
      'zones/hosts.ts:3:43: error[policy-ttl] www.example.edu. A: a TTL',
    ],
    ['data/hosts.csv', 'name,ip,ttl,team\nwww,192.0.2.21\n', 'zones/hosts.ts:3:3: error[program-failed]'],
    ['data/hosts.json', '[{"name": "www", "ip": "192.0.2.256"}]', 'dnsconfig.js:2:99: error[schema-value] A www of example.info'],
  ])('%s: the comment names the place in the program: %s', async (file, text, place) => {
    const { number, run } = await planned({ [file]: text })
    expect(run.status).toBe(1)
    expect(commentsOn(repository, number)).toEqual([expect.stringContaining(place)])
  })

  test('with approvals in the config, none is applied without them', async () => {
    const config = readFileSync(join(repository.clone, 'zonewright.yaml'), 'utf8')
    await repository.push({ 'zonewright.yaml': `${config}approvals: {needed: 1, keys: {alice: '${ALICE}'}}\n` })
    const { number } = await planned({ 'data/hosts.csv': FILES['data/hosts.csv'].replace('.21', '.23') })
    expect(commentsOn(repository, number)).toEqual([expect.stringMatching(/\*\*Needs 1 approval\*\*/)])
    const before = mutations()
    expect(await repository.merge(number)).toMatchObject({ status: 3, output: expect.stringContaining('needs 1 approval and has none') })
    expect(mutations()).toBe(before)
  })
})

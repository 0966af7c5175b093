/** All that was merged is applied, or a job is red: changes of the config, and merges while another job runs. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { acquireLease } from '../../src/stored/store/acquire-lease.ts'
import { folderStore } from '../../src/stored/store/folder-store.ts'
import { ownHolder } from '../../src/stored/store/leases.ts'
import { describeWithTools, LONG_SERVERS } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import type { JobRun } from '../support/workflow-runner.ts'
import { commentsOn, openRepository, type Repository, zone } from './repository.ts'

describeWithTools(['git', 'bash', 'curl', 'unzip', 'zip'], 'all that was merged', () => {
  let repository: Repository
  let branches = 0

  beforeAll(async () => {
    repository = await openRepository()
    await repository.applyMain()
  })

  afterEach(async () => {
    Object.assign(repository.on, { request: () => undefined })
    repository.github.fault = () => null
    expect((await repository.byHand()).status).toBe(0)
    expect((await repository.drift()).status).toBe(0)
  })

  const mutations = (): number => repository.scene.proxy.mutations().length

  /** Opens and plans a pull request that gives zones these addresses. */
  function planned(addresses: Readonly<Record<string, string>>): Promise<number> {
    const files = Object.entries(addresses).map(([name, address]) => [`zones/example.${name}.yaml`, zone(`example.${name}`, address)])
    return plannedFiles(Object.fromEntries(files))
  }

  async function plannedFiles(files: Readonly<Record<string, string>>): Promise<number> {
    branches += 1
    repository.commit(`branch-${branches}`, files)
    const number = repository.open(`branch-${branches}`)
    expect(await repository.plan(number)).toMatchObject({ status: 0 })
    return number
  }

  const configWith = (lines: string): string => `${repository.scene.config()}\n${lines}`

  /** Does something once, when the first change of a zone is sent. */
  function atFirstChange(work: () => Promise<unknown>): void {
    let isDone = false
    repository.on.request = async ({ method }) => {
      if (method === 'GET' || isDone) return
      isDone = true
      await work()
    }
  }

  test('and reverted while it is applied is shown as pending by the job that ends last', async () => {
    const bad = await planned({ com: '192.0.2.66', net: '192.0.2.66', org: '192.0.2.66' })
    let reverted: JobRun | undefined
    atFirstChange(async () => {
      reverted = await repository.merge(await planned({ com: '192.0.2.1', net: '192.0.2.2', org: '192.0.2.3' }))
    })
    const ran = await repository.merge(bad)
    expect(reverted).toMatchObject({ status: 0 })
    expect(ran).toMatchObject({ status: 3, summary: expect.stringMatching(/Applied the reviewed.*## Planned again.*2\.66.*2\.1\b/s) })
  })

  test('with a new rule, its first zone and new defaults is what the comment has shown', async () => {
    const config = configWith('defaults: {default_ttl: 2h}\nzones: [{files: zones/*}, {files: more/*, unmanaged: [{type: TXT}]}]\n')
    const number = await plannedFiles({ 'zonewright.yaml': config, 'more/example.edu.yaml': zone('example.edu', '192.0.2.4') })
    const comments = commentsOn(repository, number)
    expect(comments).toEqual([expect.stringMatching(/^(?!.*after the merge).*4 zones.*example\.edu.*7200/s)])
    expect(await repository.merge(number)).toMatchObject({
      status: 0,
      summary: expect.stringMatching(/7200.*Planned again: nothing is left/s),
    })
  })

  test('with keys that take effect after the merge is red, and shows what they change', async () => {
    const config = configWith('defaults: {default_ttl: 2h}\nzones: [{files: zones/*}, {files: more/*}]\n')
    const more = zone('example.edu', '192.0.2.4', '  zz: {type: TXT, value: ours}\n')
    const number = await plannedFiles({ 'zonewright.yaml': config, 'more/example.edu.yaml': more })
    expect(commentsOn(repository, number)).toEqual([expect.stringContaining('**<code>unmanaged</code> of the config takes effect after')])
    expect(await repository.merge(number)).toMatchObject({ status: 3, summary: expect.stringMatching(/Planned again: review.*ours/s) })
  })

  test('without a rule that keeps a zone does not plan to delete that zone before the merge', async () => {
    const common = 'delete_removed: true\ndefaults: {default_ttl: 2h}\nzones: [{files: zones/*}'
    await repository.push({ 'zonewright.yaml': configWith(`${common}, {files: more/*, delete_removed: false}]\n`) })
    repository.commit('unruled', (folder) => {
      rmSync(join(folder, 'more'), { recursive: true })
      writeFileSync(join(folder, 'zonewright.yaml'), configWith(`${common}]\n`))
    })
    const number = repository.open('unruled')
    expect((await repository.plan(number)).status).toBe(0)
    expect(commentsOn(repository, number)).toEqual([expect.stringContaining('<code>delete&#95;removed</code> of the config')])
  })

  test('from a pull request that was closed and opened again is what its last run has planned', LONG_SERVERS, async () => {
    const number = await planned({ com: '192.0.2.56', net: '192.0.2.56' })
    const [pull] = repository.github.pulls.filter((one) => one.number === number)
    Object.assign(pull ?? {}, { state: 'closed' })
    expect((await repository.merge(await planned({ net: '192.0.2.57' }))).status).toBe(0)
    Object.assign(pull ?? {}, { state: 'open' })
    repository.commit(`branch-${branches - 1}`, { 'zones/example.net.yaml': zone('example.net', '192.0.2.57') })
    expect((await repository.plan(number)).status).toBe(0)
    const before = mutations()
    expect((await repository.merge(number)).status).toBe(0)
    expect(mutations()).toBe(before + 1)
  })

  test('before a newer merge that was pushed when its job had started is left to the newer one', LONG_SERVERS, async () => {
    const older = await planned({ com: '192.0.2.52' })
    const newer = await planned({ com: '192.0.2.53' })
    repository.github.fault = ({ path }) => {
      if (path.endsWith('/zip')) repository.pushMerge(newer)
      if (path.endsWith('/zip')) repository.github.fault = () => null
      return null
    }
    const before = mutations()
    expect(await repository.merge(older)).toMatchObject({ status: 3, output: expect.stringContaining('later commit on main') })
    expect(mutations()).toBe(before)
  })

  test.each<[string, 0 | 3, RegExp]>([
    ['', 0, /^[^`]*###[^`]*```text\nwarning\[zone-removed\] example\.org\..*192\.0\.2\.58/s],
    [
      'delete_removed: true\n',
      3,
      /^[^`]*\*\*Refused[^`]*1 zone is deleted[^`]*```text\nDeletes zones with all records: example\.org\..*192\.0\.2\.58/s,
    ],
  ])('without a zone file is planned with that deletion at the top of the comment, with the setting %j', async (lines, status, shown) => {
    await repository.push({ 'zonewright.yaml': configWith(lines) })
    repository.commit(`removed-${status}`, (folder) => {
      rmSync(join(folder, 'zones/example.org.yaml'))
      writeFileSync(join(folder, 'zones/example.com.yaml'), zone('example.com', '192.0.2.58'))
    })
    const number = repository.open(`removed-${status}`)
    expect((await repository.plan(number)).status).toBe(status)
    expect(commentsOn(repository, number)).toEqual([expect.stringMatching(shown)])
  })

  test('waits for the run that has locked its zones', async () => {
    const journal = temporaryDirectory()
    repository = await openRepository(`journal: {url: 'file://${journal}'}\n`)
    Object.assign(repository.env, { ZONEWRIGHT_ALLOWED_PATHS: journal })
    await repository.applyMain()
    const [first, second] = [await planned({ com: '192.0.2.54', net: '192.0.2.54' }), await planned({ net: '192.0.2.55' })]
    let waiting: Promise<JobRun> | undefined
    atFirstChange(async () => {
      waiting = repository.merge(second)
      await expect.poll(() => readdirSync(join(journal, 'leases'))).toHaveLength(2)
    })
    expect((await repository.merge(first)).status).toBe(3)
    expect(await waiting).toMatchObject({ status: 3, output: expect.not.stringContaining('zone-locked') })
    expect((await repository.byHand()).status).toBe(0)

    // Of two that wait, the older leaves the zone to the newer, though its turn comes first.
    const [older, newer] = [await planned({ net: '192.0.2.56' }), await planned({ net: '192.0.2.57' })]
    const name = 'example.net.' as DomainName
    const held = await acquireLease({
      store: folderStore(journal, false),
      zones: [{ zone: name, target: 'cloud' }],
      holder: ownHolder({}),
      command: 'apply',
      run: '20260101T000000Z-0000',
      seconds: 60,
      wait: 0,
    })
    if (held.state !== 'acquired') throw new Error('locked')
    const jobs = []
    const before = mutations()
    for (const number of [older, newer]) {
      jobs.push(repository.merge(number))
      await expect.poll(() => readdirSync(join(journal, 'leases'))).toHaveLength(jobs.length + 1)
    }
    await held.heartbeat.end()
    expect(await Promise.all(jobs)).toEqual([
      expect.objectContaining({ output: expect.stringContaining('a later commit on main describes the zone otherwise') }),
      expect.objectContaining({ status: 0, output: expect.stringContaining('192.0.2.57') }),
    ])
    expect(mutations()).toBe(before + 1)
  })
})

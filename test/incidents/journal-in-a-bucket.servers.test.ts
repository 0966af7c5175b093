/** CI applies, and a laptop shows and takes back what CI did: two folders, one journal in a bucket of moto, and a real service. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { cutoverFile } from '../../src/run/load/cutover-state.ts'
import type { StateMirror } from '../../src/stored/states/state-file.ts'
import { bucketStore } from '../../src/stored/store/bucket-store.ts'
import { stateName } from '../../src/stored/store/fetch-journal.ts'
import { type Lease, leaseName, listLeases, ownHolder } from '../../src/stored/store/leases.ts'
import { TOKEN, ZONE } from '../cli/scene.ts'
import { openServiceScene, type ServiceScene } from '../cli/service-scene.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { MOTO, type Moto, type StoreProxy, startMoto, startStoreProxy } from '../support/moto.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG' }
const ENV = { ...KEYS, ZONEWRIGHT_TOKEN: TOKEN }

describeWithTools([MOTO], 'a journal in a bucket', () => {
  let moto: Moto
  let proxy: StoreProxy
  let buckets = 0
  beforeAll(async () => {
    moto = await startMoto()
    proxy = await startStoreProxy(moto.origin)
  })
  afterAll(async () => {
    await proxy?.close()
    moto?.stop()
  })

  const open = async (script?: Parameters<typeof openServiceScene>[0]): Promise<{ scene: ServiceScene; bucket: string }> => {
    buckets += 1
    const bucket = `journal-${buckets}`
    await fetch(`${moto.origin}/${bucket}`, { method: 'PUT' })
    const config = `journal: {url: "s3://${bucket}/dns", endpoint: "${proxy.origin}", lease: 60s}`
    const scene = await openServiceScene({ ...script, config })
    proxy.isDown = () => false
    proxy.requests.length = 0
    return { scene, bucket }
  }
  const storeOf = (bucket: string) =>
    bucketStore(
      { name: bucket, prefix: 'dns', region: null, endpoint: new URL(proxy.origin), profile: null, at: { file: '', line: 1, column: 1 } },
      { env: KEYS, secrets: noSecrets() },
    )
  /** The same config and definitions in another folder, as on another machine. */
  const elsewhere = (scene: ServiceScene) => {
    const folder = temporaryDirectory()
    const files = scene.files()
    mkdirSync(join(folder, 'zones'))
    for (const path of ['zonewright.yaml', 'zones/example.com.yaml']) writeFileSync(join(folder, path), files[path] as string)
    return { folder, run: (...args: string[]) => cli(args, { cwd: folder, env: ENV }) }
  }
  const requests = (bucket: string): string[] =>
    proxy.requests.map((one) =>
      one
        .replace(`/${bucket}`, '')
        .replace(/\d{8}T\d{6}Z-[0-9a-f]{4}/, 'RUN')
        .replace(/\?(?:.*prefix=([^&]*).*|x-id=.*)/, (_, prefix: string | undefined) => (prefix ? ` ${decodeURIComponent(prefix)}` : '')),
    )

  test('has what CI applied, and another machine shows it and takes it back', async () => {
    const { scene, bucket } = await open()
    const applied = expectEnd(await scene.runWith(KEYS, 'apply', '--yes'), 0)
    // The requests of an apply with one zone. The calls are made one after the other; each is sent when its line is stored.
    const counted = requests(bucket)
    // The lease is written again twice, to see that the service does not ignore conditions.
    const lease = 'PUT /dns/leases/RUN'
    const first = ['GET / dns/leases/', 'GET / dns/runs/', 'GET / dns/state/', 'GET /dns/fences', lease, lease, lease]
    expect(counted.slice(0, 7).sort()).toEqual(first.sort())
    expect(counted.slice(7, 9)).toEqual(['PUT /dns/fences', 'PUT /dns/runs/RUN/plans-1'])
    const lines = counted.slice(9, -1)
    expect(new Set(lines)).toEqual(new Set(['PUT /dns/runs/RUN/journal-1']))
    expect(lines.length).toBeLessThanOrEqual(scene.proxy.mutations().length + 1)
    expect(counted.at(-1)).toBe('DELETE /dns/leases/RUN')

    const laptop = elsewhere(scene)
    const history = await laptop.run('history', '--format', 'json')
    const [run] = JSON.parse(history.stdout).runs
    expect(run).toMatchObject({ command: 'apply', state: 'applied', applied: { total: 4 } })
    expect((await laptop.run('history', run.run)).stdout).toContain('www')
    // doctor reads the journal, and writes nothing there.
    proxy.requests.length = 0
    expect((await laptop.run('doctor')).stdout).toMatch(/journal[\s\S]*http:\/\/\S+\/dns can be read; runs have changed 1 zone/)
    expect(proxy.requests.filter((one) => !one.startsWith('GET '))).toEqual([])
    // A run that has ended is fetched once.
    proxy.requests.length = 0
    await laptop.run('history')
    expect(requests(bucket)).toEqual(['GET / dns/runs/'])
    expect(readdirSync(join(laptop.folder, '.zonewright/runs', run.run)).sort()).toEqual(['journal.jsonl', 'plans'])

    const back = expectEnd(await laptop.run('rollback', '--last', '--yes', '--allow', 'deletes', '--allow', 'delete-zone'), 0)
    const [latest] = JSON.parse((await scene.runWith(KEYS, 'history', '--format', 'json')).stdout).runs
    expect(latest).toMatchObject({ command: 'rollback', rollsBack: run.run })
    // The older run is removed for all machines.
    expect((await laptop.run('history', '--prune', '1')).stdout).toBe('Removed 1 run.\n')
    expect(JSON.parse((await elsewhere(scene).run('history', '--format', 'json')).stdout).runs).toHaveLength(1)
    // A cutover that another machine has begun holds the zone.
    const store = storeOf(bucket)
    const mirror: StateMirror = async (folder, file, text) => void (await store.write(stateName(folder, file), text ?? '', 'any'))
    await cutoverFile(temporaryDirectory(), 'example.com.', mirror).write({
      format: 'zonewright-cutover',
      version: 1,
      zone: 'example.com.',
      from: 'cloud',
      to: 'other',
      started: '2026-11-21T06:30:00.000Z',
      step: 'copy',
      lowTtl: 300,
      formerTtl: 86_400,
      formerZoneTtl: null,
      lowered: false,
      notBefore: null,
      apexNs: [],
      nameservers: [],
      parentTtl: 86_400,
    })
    await store.close()
    for (const args of [
      ['plan', 'example.com'],
      ['apply', '--yes'],
    ])
      expectEnd(await laptop.run(...args), 1, { err: 'a cutover is moving example.com. from cloud to other' })
    for (const { stdout, stderr } of [applied, history, back]) expect(stdout + stderr).not.toContain(KEYS.AWS_SECRET_ACCESS_KEY)
  })

  test('takes as many requests for a large zone as for a small one', async () => {
    const { scene, bucket } = await open()
    const made: string[][] = []
    for (const records of [1, 60]) {
      const zone = ZONE + Array.from({ length: records }, (_, index) => `  h${index}: {type: A, value: 192.0.2.7}\n`).join('')
      scene.write({ 'zones/example.com.yaml': zone })
      expect((await scene.runWith(KEYS, 'apply', '--yes')).status).toBe(0)
      const counting = async (...args: string[]): Promise<void> => {
        proxy.requests.length = 0
        expectEnd(await scene.runWith(KEYS, ...args), 0)
        // Each once: lines that are stored together, and renewals of the lease, depend on time.
        made.push([...new Set(requests(bucket))].sort())
        expect(proxy.requests.length).toBeLessThanOrEqual(15)
      }
      await counting('plan', 'example.com')
      await counting('apply', '--yes')
      scene.write({ 'zones/example.com.yaml': zone.replace('192.0.2.2', `192.0.2.${100 + records}`) })
      await counting('apply', '--yes')
    }
    const [plan, unchanged, changed] = made
    expect(plan).toEqual(['GET / dns/state/', 'GET /dns/fences'])
    expect(made.slice(3)).toEqual([plan, unchanged, changed])
  })

  test('that is lost in the middle of an apply: no call is sent without its line', async () => {
    let calls = 0
    const { scene } = await open({
      provider: 'parallelism: 1',
      script: ({ method }) => {
        if (method !== 'GET') calls += 1
        if (calls === 2 && method !== 'GET') proxy.isDown = (request) => request.includes('/runs/')
        return null
      },
    })
    expectEnd(await scene.runWith(KEYS, 'apply', '--yes'), 1, { err: 'error[journal-failed] the journal in http' })
    expect(calls).toBe(2)
    proxy.isDown = () => false
    // The store has the lines of both calls, so another machine knows what may have been done.
    const laptop = elsewhere(scene)
    const [run] = JSON.parse((await laptop.run('history', '--format', 'json')).stdout).runs
    expect(run.applied.total + run.unknown).toBe(2)
    expectEnd(await laptop.run('apply', '--yes'), 0)
  })

  test('that cannot be reached: nothing is applied, and a plan warns', async () => {
    const { scene } = await open()
    proxy.isDown = () => true
    expectEnd(await scene.runWith(KEYS, 'plan'), 0, { err: 'warning[journal-unreadable]' })
    expectEnd(await scene.runWith(KEYS, 'apply', '--yes'), 1, { err: 'error[journal-failed] the journal in http' })
    expect(scene.proxy.mutations()).toEqual([])
    // The state of changes in stages is written before they begin.
    proxy.isDown = () => false
    expect((await scene.runWith(KEYS, 'apply', '--yes')).status).toBe(0)
    const sent = scene.proxy.mutations().length
    scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.3') })
    proxy.isDown = (request) => request.includes('/state/')
    expectEnd(await scene.runWith(KEYS, 'apply', '--choreograph', '--yes'), 1, { err: 'error[journal-failed] the journal in http' })
    expect(scene.proxy.mutations()).toHaveLength(sent)
    proxy.isDown = () => false
    const denied = await scene.runWith({ ...KEYS, ZONEWRIGHT_ALLOWED_HOSTS: new URL(scene.proxy.origin).host }, 'plan')
    expect([denied.status, denied.stderr]).toEqual([1, expect.stringContaining('error[host-not-allowed]')])
  })

  test('keeps zones for a run of another machine until its lease ends; unlock shows it and breaks it', async () => {
    const { scene, bucket } = await open()
    const store = storeOf(bucket)
    const lease = (run: string, seconds: number): Lease => ({
      run,
      command: 'apply',
      holder: { ...ownHolder({}), host: 'runner-7', boot: 'another', job: 'https://ci.example/jobs/7' },
      since: new Date(Date.now() - 90_000).toISOString(),
      zones: [{ zone: 'example.com.', target: 'cloud' }],
      seconds,
      renewals: 0,
    })
    const run = '20261121T063000Z-4f2a'
    await store.write(leaseName(run), JSON.stringify(lease(run, 600)), null)
    expectEnd(await scene.runWith(KEYS, 'apply', '--yes'), 1, {
      err: /is locked by apply, run 20261121T063000Z-4f2a, process \d+ on runner-7, https:\/\/ci\.example\/jobs\/7, since .*it ends in \d+ min/,
    })
    proxy.requests.length = 0
    const waiting = scene.runWith(KEYS, 'apply', '--yes', '--wait', '60')
    // It has written its own lease and looked twice, so it waits; then the other lease ends.
    const looks = (): number => requests(bucket).filter((one) => one === 'GET / dns/leases/').length
    await vi.waitUntil(() => looks() >= 3, { timeout: 40_000 })
    await store.write(leaseName(run), JSON.stringify(lease(run, 1)), 'any')
    const waited = await waiting
    expect(waited.status, waited.stderr).toBe(0)
    expect(waited.stdout + waited.stderr).toContain('Waiting: example.com. at cloud is locked by apply')

    const other = '20261121T063000Z-4f2b'
    await store.write(leaseName(other), JSON.stringify(lease(other, 600)), null)
    const asked = expectEnd(await scene.runWith(KEYS, 'unlock', 'example.com'), 1, { err: 'error[not-confirmed] no lease was broken' })
    expect(asked.stdout + asked.stderr).toMatch(
      /apply, run 20261121T063000Z-4f2b, process \d+ on runner-7, https:\/\/ci\.example\/jobs\/7, since \S+ \S+ \(\d+ min( \d+ s)? ago\)\n {2}zones: example\.com\. at cloud\n {2}last renewed \d+ s ago; the run may still be alive\n {2}it has no journal yet/,
    )
    // A lease of another machine is broken when it would have ended.
    await store.write(leaseName(other), JSON.stringify(lease(other, 4)), 'any')
    const written = performance.now()
    const broken = await scene.runWith(KEYS, 'unlock', '--run', other, '--yes')
    expect([broken.status, broken.stdout + broken.stderr]).toEqual([0, expect.stringContaining(`The lease of run ${other} is broken.`)])
    expect(performance.now() - written).toBeGreaterThan(3000)
    expect((await listLeases(store)).leases).toEqual([])
    const none = await scene.runWith(KEYS, 'unlock', 'example.com')
    expect([none.status, none.stdout + none.stderr]).toEqual([0, expect.stringContaining('No run has a lease on these zones.')])
    await store.close()
  })
})

/** Runs that end before their work does: by their time or by a signal, as real processes on real sockets. What they say they did is what was done. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FaultProxy } from '../support/fault-proxy.ts'
import { openProcessScene, type ProcessScene } from './process-scene.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

let service: ServiceProcess
let scene: ProcessScene
let proxy: FaultProxy

beforeAll(async () => {
  service = await startServiceProcess()
  scene = await openProcessScene(service)
  proxy = scene.proxy
})

afterAll(async () => {
  await proxy?.close()
  await service?.stop()
})

const define = (zone: string): void =>
  scene.define(
    zone,
    Array.from({ length: 400 }, (_, index) => `h${index}: {type: A, value: 192.0.2.1}`),
  )

interface Document {
  readonly zones: readonly {
    readonly changes: readonly {
      readonly subject: string
      readonly name: string
      readonly outcome: { readonly state: string; readonly because?: string }
    }[]
  }[]
}

const apply = (zone: string, ...more: string[]) => scene.start('apply', '--yes', '--format', 'json', ...more, zone)

/** Records that the report says were applied are those that the service holds; gives why the others were not. */
async function holdAgainstService(zone: string, report: string): Promise<string[]> {
  const changes = (JSON.parse(report) as Document).zones.flatMap((one) => one.changes).filter(({ subject }) => subject === 'record')
  const held = (await service.held(zone)) ?? []
  const applied = changes.filter(({ outcome }) => outcome.state === 'applied').map(({ name }) => name)
  expect(applied.sort()).toEqual(held.map(({ name }) => `${name}.${zone}.`).sort())
  expect(applied.length).toBeGreaterThan(0)
  expect(applied.length).toBeLessThan(400)
  return [...new Set(changes.flatMap(({ outcome }) => outcome.because ?? []))]
}

const slowly = (): void => proxy.use(({ method }) => ({ kind: 'delay', before: method === 'POST' ? 400 : 0, after: 0 }))

test('a time for the whole run: what is on the wire ends, the rest is skipped, exit 4', async () => {
  slowly()
  define('time.example')
  const run = await apply('time.example', '--timeout', '5')
  expect((await run.ended).status).toBe(4)
  expect(run.stderr()).toContain('The 5 s of --timeout are over: stopping after the calls in flight.')
  expect(await holdAgainstService('time.example', run.stdout())).toEqual(['the time of the run, 5 s, is over'])
})

test('a time that is over before the first call: nothing was applied, exit 1', async () => {
  define('early.example')
  proxy.use(() => ({ kind: 'delay', before: 3000, after: 0 }))
  const run = await apply('early.example', '--timeout', '1')
  expect((await run.ended).status).toBe(1)
  expect(run.stderr()).toContain('Nothing was applied.')
  expect(await service.held('early.example')).toBeNull()
})

test('a server that falls silent does not keep a run past its time and ten seconds', async () => {
  define('silent.example')
  let calls = 0
  proxy.use(({ method }) => {
    if (method === 'POST') calls += 1
    return calls > 20 ? { kind: 'silence', when: 'before' } : { kind: 'none' }
  })
  const begin = performance.now()
  const run = await apply('silent.example', '--timeout', '5')
  expect((await run.ended).status).toBe(4)
  expect(performance.now() - begin).toBeLessThan(45_000)
  const states = (JSON.parse(run.stdout()) as Document).zones.flatMap(({ changes }) => changes.map(({ outcome }) => outcome.state))
  expect(new Set(states)).toEqual(new Set(['applied', 'unknown', 'skipped']))
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s in the middle: the report is true, exit %i', async (signal, status) => {
  const zone = `${signal.toLowerCase()}.example`
  slowly()
  define(zone)
  const run = await apply(zone)
  const start = proxy.count()
  while (proxy.count() - start < 60) await new Promise((resolve) => setTimeout(resolve, 5))
  run.kill(signal)
  expect((await run.ended).status).toBe(status)
  expect(await holdAgainstService(zone, run.stdout())).toEqual(['the run was interrupted'])
})

/** Runs that a timeout or a signal ends early, as real processes with real sockets. Their reports are true. */
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

/** They wait for seconds to pass. */
const LONG = { tags: ['long'] }

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

/** Expects that the service has exactly the applied records of the report; returns the reasons of the skipped ones. */
async function compareWithService(zone: string, report: string): Promise<string[]> {
  const changes = (JSON.parse(report) as Document).zones.flatMap((one) => one.changes).filter(({ subject }) => subject === 'record')
  const held = (await service.records(zone)) ?? []
  const applied = changes.filter(({ outcome }) => outcome.state === 'applied').map(({ name }) => name)
  expect(applied.sort()).toEqual(held.map(({ name }) => `${name}.${zone}.`).sort())
  expect(applied.length).toBeGreaterThan(0)
  expect(applied.length).toBeLessThan(400)
  return [...new Set(changes.flatMap(({ outcome }) => outcome.because ?? []))]
}

const slowly = (): void => proxy.use(({ method }) => ({ kind: 'delay', before: method === 'POST' ? 400 : 0, after: 0 }))

test('a timeout: finishes the calls in progress, skips the rest, exits with 4', LONG, async () => {
  slowly()
  define('time.example')
  const run = await apply('time.example', '--timeout', '5')
  expect((await run.ended).status).toBe(4)
  expect(run.stderr()).toContain('The 5 s of --timeout are over: stopping after the calls in flight.')
  expect(await compareWithService('time.example', run.stdout())).toEqual(['the time of the run, 5 s, is over'])
})

test('a timeout before the first call: applies nothing, exits with 1', LONG, async () => {
  define('early.example')
  proxy.use(() => ({ kind: 'delay', before: 3000, after: 0 }))
  const run = await apply('early.example', '--timeout', '1')
  expect((await run.ended).status).toBe(1)
  expect(run.stderr()).toContain('Nothing was applied.')
  expect(await service.records('early.example')).toBeNull()
})

test('a silent server does not extend a run much beyond its timeout', LONG, async () => {
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

async function interrupt(signal: 'SIGINT' | 'SIGTERM', status: number): Promise<void> {
  const zone = `${signal.toLowerCase()}.example`
  slowly()
  define(zone)
  const run = await apply(zone)
  const start = proxy.count()
  await expect.poll(() => proxy.count() - start).toBeGreaterThanOrEqual(60)
  run.kill(signal)
  expect((await run.ended).status).toBe(status)
  expect(await compareWithService(zone, run.stdout())).toEqual(['the run was interrupted'])
}

test('SIGINT during an apply: the report is true, exit 130', { tags: ['long'] }, () => interrupt('SIGINT', 130))

test('SIGTERM during an apply: the report is true, exit 143', LONG, () => interrupt('SIGTERM', 143))

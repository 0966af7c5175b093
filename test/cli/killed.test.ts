/** An apply killed at any point: run again, it leaves no duplicate and no missing record; rolled back without --allow, the zone is as before. */
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Client, connect } from '../service/harness.ts'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { expectEnd } from '../support/cli.ts'
import { leasesIn } from '../support/leases.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { TOKEN } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const definition = (lines: readonly string[], settings = ''): string =>
  `domain: example.com\nsoa_email: hostmaster@example.com\n${settings}records:${lines.length === 0 ? ' {}' : ''}\n${lines.map((line) => `  ${line}\n`).join('')}`

/** Hosts with one address each. */
const hosts = (prefix: string, count: number, address: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}: {type: A, value: ${address}}`)

const ALLOW_ALL = ['deletes', 'updates', 'empty-zone'].flatMap((name) => ['--allow', name])
type LiveScene = ServiceScene & { readonly client: Client }

/** A service that delays each change by a random time. */
async function openSlowScene(random: Random, text: string): Promise<LiveScene> {
  const scene = await openServiceScene({
    files: { 'zones/example.com.yaml': text },
    script: async ({ method }) => {
      if (method !== 'GET') await wait(random.below(8))
      return null
    },
  })
  const { client, close } = connect(scene.service.baseUrl, TOKEN)
  onTestFinished(close)
  return { ...scene, client }
}

/** Settings and records at the service; null without a zone. */
async function held({ client }: LiveScene): Promise<string[] | null> {
  const { data } = await client.ok('GET', '/domains')
  if (data.length === 0) return null
  const [zone] = data
  const records = await client.ok('GET', `/domains/${zone.id}/records?page_size=500`)
  const lines = records.data.map(({ name, type, target }: Record<string, string>) => `${name} ${type} ${target}`)
  return [JSON.stringify([zone.tags, zone.ttl_sec]), ...lines.sort()]
}

/** Kills an apply after `calls` sent calls, while some are in progress. */
async function applyAndKill(scene: ServiceScene, calls: number): Promise<void> {
  const start = scene.proxy.mutations().length
  const run = await startProgram(['apply', '--yes', ...ALLOW_ALL], { cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  let isOver = false
  void run.ended.then(() => {
    isOver = true
  })
  while (!isOver && scene.proxy.mutations().length - start < calls) await wait(1)
  run.kill('SIGKILL')
  expect((await run.ended).signal, run.stderr()).toBe('SIGKILL')
  await scene.proxy.idle()
}

beforeAll(async () => void (await builtProgram()))

/** Applies, is killed once or twice at random points, and completes. */
async function killAndComplete(records: number, kills: number, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const scene = await openSlowScene(random, definition(hosts('h', records, '192.0.2.1')))
  if (kills > 1) {
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    scene.write({ 'zones/example.com.yaml': definition(hosts('h', records, '192.0.2.2')) })
  }
  for (let kill = 0; kill < kills; kill += 1) {
    await applyAndKill(scene, 1 + random.below(Math.floor(records / kills) - 10))
    const { runs, plan } = JSON.parse((await scene.run('history', '--last', '--format', 'json')).stdout)
    const [{ applied, skipped, ...last }] = runs
    expect(last).toMatchObject({ state: 'interrupted', status: null, unknown: expect.any(Number) })
    expect(applied.total + last.unknown + skipped).toBe(plan.zones[0].changes.length)
    // The lease of a dead process, which keeps nobody waiting.
    expect(await leasesIn(scene.folder)).toHaveLength(1)
  }
  expectEnd(await scene.run('apply', '--yes', ...ALLOW_ALL), 0)
  expect(await leasesIn(scene.folder)).toEqual([])
  const expected = Array.from({ length: records }, (_, index) => `h${index} A 192.0.2.${kills}`)
  expect((await held(scene))?.slice(1)).toEqual(expected.sort())
  expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
}

describe('run again', () => {
  test('a few creations', () => killAndComplete(40, 1, 9))
  test.each([1, 2])('updates killed twice, seed %i', { tags: ['long'] }, (seed) => killAndComplete(300, 2, seed))
})

const BASE = hosts('base', 12, '192.0.2.1')

/** Kills an apply `times` times, each time followed by a rollback. */
async function killAndRollBack(before: string, after: string, times: number, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const scene = await openSlowScene(random, before)
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const expected = await held(scene)
  for (let round = 0; round < times; round += 1) {
    scene.write({ 'zones/example.com.yaml': after })
    await applyAndKill(scene, 1 + random.below(22))
    expect(await held(scene)).not.toEqual(expected)
    const { status, stdout, stderr } = await scene.run('rollback', '--last', '--yes')
    expect([round, status], stdout + stderr).toEqual([round, 0])
    expect(stdout).not.toContain('REFUSED')
    expect(await held(scene)).toEqual(expected)
  }
}

describe('rolled back', () => {
  /** Zones before and after a run with at least 30 calls. */
  const MIXED = [
    definition([...hosts('a', 12, '192.0.2.1'), ...hosts('b', 12, '192.0.2.1')]),
    definition([...hosts('b', 12, '192.0.2.2'), ...hosts('c', 12, '192.0.2.3')], 'tags: [changed]\nttl_sec: 3600\n'),
  ] as const

  test('settings, additions, updates and deletions', () => killAndRollBack(...MIXED, 1, 6))

  test.each<readonly [string, before: string, after: string]>([
    ['replaces all records by more records', definition(BASE), definition(hosts('other', 40, '192.0.2.3'))],
    ['settings, additions, updates and deletions, often', ...MIXED],
  ])('%s', { tags: ['long'] }, (name, before, after) => killAndRollBack(before, after, 6, name.length))
})

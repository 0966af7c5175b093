/** An apply killed at any point, then rolled back without --allow: the zone is as before. */
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { TOKEN } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const definition = (lines: readonly string[], settings = ''): string =>
  `domain: example.com\nsoa_email: hostmaster@example.com\n${settings}records:\n${lines.map((line) => `  ${line}\n`).join('')}`

/** Hosts with one address each. */
const hosts = (prefix: string, count: number, address: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}: {type: A, value: ${address}}`)

const BASE = hosts('base', 12, '192.0.2.1')
const MANY = hosts('h', 30, '192.0.2.1')

/** The zones before and after a run with at least 30 calls. */
const RUNS: readonly (readonly [name: string, before: string, after: string])[] = [
  ['additions', definition(BASE), definition([...BASE, ...MANY])],
  ['updates', definition(MANY), definition(hosts('h', 30, '192.0.2.2'))],
  ['deletions', definition([...BASE, ...MANY]), definition(BASE)],
  ['replaces all records by more records', definition(BASE), definition(hosts('other', 40, '192.0.2.3'))],
  [
    'settings, additions, updates and deletions',
    definition([...hosts('a', 12, '192.0.2.1'), ...hosts('b', 12, '192.0.2.1')]),
    definition([...hosts('b', 12, '192.0.2.2'), ...hosts('c', 12, '192.0.2.3')], 'tags: [changed]\nttl_sec: 3600\n'),
  ],
]

const ROUNDS = 6

const ALLOW_ALL = ['deletes', 'updates', 'empty-zone'].flatMap((name) => ['--allow', name])

async function get(scene: ServiceScene, path: string): Promise<Record<string, unknown>[]> {
  const answer = await fetch(scene.service.baseUrl + path, { headers: { authorization: `Bearer ${TOKEN}` } })
  return ((await answer.json()) as { data: Record<string, unknown>[] }).data
}

/** Settings and records at the service; null without a zone. */
async function held(scene: ServiceScene): Promise<string[] | null> {
  const [zone] = await get(scene, '/domains')
  if (zone === undefined) return null
  const records = await get(scene, `/domains/${zone['id']}/records?page_size=500`)
  return [JSON.stringify([zone['tags'], zone['ttl_sec']]), ...records.map(({ name, type, target }) => `${name} ${type} ${target}`).sort()]
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

/** A service that delays each change by a random time. */
const openSlowScene = (random: Random, files: Readonly<Record<string, string>>): Promise<ServiceScene> =>
  openServiceScene({
    files,
    script: async ({ method }) => {
      if (method !== 'GET') await wait(random.below(8))
      return null
    },
  })

beforeAll(async () => void (await builtProgram()))

test.each(RUNS)('%s', { timeout: 180_000 }, async (name, before, after) => {
  const random = seededRandom(name.length)
  const scene = await openSlowScene(random, { 'zones/example.com.yaml': before })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const expected = await held(scene)
  for (let round = 0; round < ROUNDS; round += 1) {
    scene.write({ 'zones/example.com.yaml': after })
    await applyAndKill(scene, 1 + random.below(22))
    expect(await held(scene)).not.toEqual(expected)
    const { status, stdout, stderr } = await scene.run('rollback', '--last', '--yes')
    expect([round, status], stdout + stderr).toEqual([round, 0])
    expect(stdout).not.toContain('REFUSED')
    expect(await held(scene)).toEqual(expected)
  }
})

test('records of other clients stay', async () => {
  const random = seededRandom(1)
  const scene = await openSlowScene(random, { 'zones/example.com.yaml': definition(BASE) })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const expected = (await held(scene)) ?? []
  scene.write({ 'zones/example.com.yaml': definition([...BASE, ...MANY]) })
  await applyAndKill(scene, 15)
  const [zone] = await get(scene, '/domains')
  const added = await fetch(`${scene.service.baseUrl}/domains/${zone?.['id']}/records`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'A', name: 'theirs', target: '192.0.2.77' }),
  })
  expect(added.ok).toBe(true)
  const { status, stderr } = await scene.run('rollback', '--last', '--yes', '--overwrite')
  expect(status).toBe(0)
  expect(stderr).toContain('notice[rollback-kept]')
  expect(await held(scene)).toEqual([...expected, 'theirs A 192.0.2.77'])
})

test.each([
  ['empty-zone', true],
  ['delete-zone', false],
])('refuses a rollback that empties or deletes the zone: %s', async (allow, isThere) => {
  const random = seededRandom(2)
  const scene = await openSlowScene(random, { 'zones/example.com.yaml': definition([]).replace(/records:\n$/, 'records: {}\n') })
  if (isThere) expect((await scene.run('apply', '--yes')).status).toBe(0)
  const before = await held(scene)
  expect(before === null).toBe(!isThere)
  scene.write({ 'zones/example.com.yaml': definition(MANY) })
  await applyAndKill(scene, 5 + random.below(15))
  const left = await held(scene)
  const refused = await scene.run('rollback', '--last', '--yes')
  expect([refused.status, refused.stdout]).toEqual([3, expect.stringContaining(`--allow ${allow}`)])
  expect(await held(scene)).toEqual(left)
  expect((await scene.run('rollback', '--last', '--yes', '--allow', allow)).status).toBe(0)
  expect(await held(scene)).toEqual(before)
})

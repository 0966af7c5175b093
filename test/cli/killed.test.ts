/** An apply killed at any point, then run again: no duplicate, no missing record, and an empty plan. */
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { builtProgram, startProgram } from '../support/built-program.ts'
import type { Script } from './recording-proxy.ts'
import { TOKEN } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

const RECORDS = 300

const definition = (address: string): string => `domain: example.com
soa_email: hostmaster@example.com
records:
${Array.from({ length: RECORDS }, (_, index) => `  h${index}: {type: A, value: ${address}}\n`).join('')}`

/** Seeded random numbers from 0 to 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Names and data of all records at the service. */
async function held({ service }: ServiceScene): Promise<string[]> {
  const get = async <T>(path: string): Promise<readonly T[]> => {
    const answer = await fetch(service.baseUrl + path, { headers: { authorization: `Bearer ${TOKEN}` } })
    return ((await answer.json()) as { data: readonly T[] }).data
  }
  const domains = await get<{ id: number }>('/domains')
  expect(domains).toHaveLength(1)
  const records = await get<{ name: string; type: string; target: string }>(`/domains/${domains[0]?.id}/records?page_size=500`)
  return records.map(({ name, type, target }) => `${name} ${type} ${target}`).sort()
}

const expected = (address: string): string[] => Array.from({ length: RECORDS }, (_, index) => `h${index} A ${address}`).sort()

/** Kills the program after `calls` sent calls, while some are in progress. */
async function applyAndKill(scene: ServiceScene, calls: number, ...args: string[]): Promise<void> {
  const start = scene.proxy.mutations().length
  const run = await startProgram(['apply', '--yes', ...args], { cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  while (scene.proxy.mutations().length - start < calls) await wait(1)
  run.kill('SIGKILL')
  expect((await run.ended).signal).toBe('SIGKILL')
}

beforeAll(async () => void (await builtProgram()))

test.each([1, 2, 3, 4, 5])('creations, seed %i', async (seed) => {
  const random = seeded(seed)
  const delays: Script = async ({ method }) => {
    if (method !== 'GET') await wait(random() * 6)
    return null
  }
  const scene = await openServiceScene({ files: { 'zones/example.com.yaml': definition('192.0.2.1') }, script: delays })
  await applyAndKill(scene, 1 + Math.floor(random() * (RECORDS - 10)))
  await scene.proxy.idle()
  const again = await scene.run('apply', '--yes')
  expect(again.status).toBe(0)
  expect(await held(scene)).toEqual(expected('192.0.2.1'))
  expect(await scene.run('plan', '--detailed-exitcode')).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
})

test.each([1, 2])('updates killed twice, seed %i', async (seed) => {
  const random = seeded(100 + seed)
  const scene = await openServiceScene({ files: { 'zones/example.com.yaml': definition('192.0.2.1') } })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': definition('192.0.2.2') })
  await applyAndKill(scene, 1 + Math.floor(random() * 100), '--allow', 'updates')
  await scene.proxy.idle()
  await applyAndKill(scene, 1 + Math.floor(random() * 100), '--allow', 'updates')
  await scene.proxy.idle()
  expect((await scene.run('apply', '--yes', '--allow', 'updates')).status).toBe(0)
  expect(await held(scene)).toEqual(expected('192.0.2.2'))
  expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)
})

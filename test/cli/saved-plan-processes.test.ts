/** A plan made by one process and applied by another, on machines that share the service, the config and the plan file. */
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { TOKEN, ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

const KEY = 'zw-test-key-93d1c6'

/** A live zone whose definition has changed. */
async function changedScene(): Promise<ServiceScene> {
  const scene = await openServiceScene()
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.7') })
  return scene
}

/** Another machine with the config and the plan. */
function machineLike({ folder }: ServiceScene): string {
  const copy = temporaryDirectory()
  for (const file of ['zonewright.yaml', 'plan.json']) copyFileSync(join(folder, file), join(copy, file))
  return copy
}

async function inProcess(cwd: string, ...args: string[]) {
  const run = await startProgram(args, { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN, ZONEWRIGHT_PLAN_KEY: KEY } })
  const { status } = await run.ended
  expect(run.stdout() + run.stderr()).not.toContain(TOKEN)
  expect(run.stdout() + run.stderr()).not.toContain(KEY)
  return { status, stdout: run.stdout(), stderr: run.stderr() }
}

test('planned in one job, applied in another', async () => {
  const scene = await changedScene()
  const planned = await inProcess(scene.folder, 'plan', '--out', 'plan.json', '--detailed-exitcode')
  expect(planned).toMatchObject({ status: 2, stderr: expect.stringContaining('Saved the plan to plan.json (signed)') })
  const text = readFileSync(join(scene.folder, 'plan.json'), 'utf8')
  expect(text).not.toContain(TOKEN)
  expect(text).not.toContain(KEY)

  const there = machineLike(scene)
  const before = scene.proxy.mutations().length
  const applied = await inProcess(there, 'apply', 'plan.json', '--yes')
  expect(applied).toMatchObject({ status: 0, stdout: expect.stringContaining('Applied: 0 created, 1 updated, 0 deleted') })
  expect(scene.proxy.mutations().slice(before)).toMatchObject([{ method: 'PUT', body: expect.stringContaining('192.0.2.7') }])
  expect(existsSync(join(there, 'zones'))).toBe(false)
  expect((await inProcess(there, 'apply', 'plan.json', '--yes')).status).toBe(3)
  expect((await inProcess(scene.folder, 'plan', '--detailed-exitcode')).status).toBe(0)
})

test('two jobs that apply the same plan at the same time: one of them makes its changes, or both the same ones', {
  tags: ['long'],
}, async () => {
  const scene = await changedScene()
  expect((await inProcess(scene.folder, 'plan', '--out', 'plan.json')).status).toBe(0)
  const machines = [machineLike(scene), machineLike(scene)]
  const runs = await Promise.all(machines.map((folder) => inProcess(folder, 'apply', 'plan.json', '--yes')))
  const statuses = runs.map(({ status }) => status)
  expect(statuses).toContain(0)
  expect([0, 3]).toContain(statuses.find((status) => status !== 0) ?? 0)
  expect((await inProcess(scene.folder, 'plan', '--detailed-exitcode')).status).toBe(0)
})

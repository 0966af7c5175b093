/**
 * A plan that is older than what has landed must not land. Two large outages came from an automation whose slow, older run overwrote what a newer one had done.
 * The first test has real processes, a journal that they share, and a real service.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openScene, TOKEN, ZONE } from '../cli/scene.ts'
import { openServiceScene } from '../cli/service-scene.ts'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const OLDER = `${ZONE}${Array.from({ length: 12 }, (_, index) => `  old${index}: {type: A, value: 192.0.2.7}\n`).join('')}`
const YOUNGER = `${ZONE}  new: {type: A, value: 192.0.2.8}\n`
const EVERYTHING = ['--allow', 'deletes', '--allow', 'updates']
const LONG = { tags: ['long'] }

test('an apply that stops for longer than its lease sends nothing more after a younger one has landed', LONG, async () => {
  const shared = temporaryDirectory()
  await builtProgram()
  let older: Awaited<ReturnType<typeof startProgram>> | null = null
  let stopped: () => void = () => undefined
  const atFirstCall = new Promise<void>((resolve) => {
    stopped = resolve
  })
  const scene = await openServiceScene({
    files: { 'zones/example.com.yaml': ZONE },
    provider: 'parallelism: 1, timeout: 2',
    config: `journal: {url: "file://${shared}", lease: 4s}`,
    script: ({ method, body }) => {
      // The first call is on its way, and the others are not sent yet.
      if (method === 'POST' && older !== null && body.includes('old')) {
        older.kill('SIGSTOP')
        stopped()
      }
      return null
    },
  })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': OLDER })
  older = await startProgram(['apply', '--yes'], { cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  onTestFinished(() => older?.kill('SIGKILL'))
  await atFirstCall

  // Another checkout, as on another machine.
  const other = temporaryDirectory()
  scene.write({ 'zones/example.com.yaml': YOUNGER })
  writeFileSync(join(other, 'example.com.yaml'), YOUNGER)
  const run = (...args: string[]) => cli(args, { cwd: other, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  const config = scene.config().replace('timeout: 2', 'timeout: 30')
  writeFileSync(join(other, 'zonewright.yaml'), `${config}\nzones: [{files: '*.yaml'}]\n`)
  expect((await run('apply', '--yes', ...EVERYTHING)).stderr).toContain('error[zone-locked] example.com. at cloud is locked by apply')
  expectEnd(await run('apply', '--yes', '--wait', '60', ...EVERYTHING), 0)
  const landed = scene.proxy.mutations().length

  older.kill('SIGCONT')
  const { status } = await older.ended
  expect(older.stderr() + older.stdout()).toMatch(/error\[lease-lost\] run \S+ has lost its lease/)
  expect([1, 4]).toContain(status)
  // It sent nothing more, and the zone is as the younger one made it.
  expect(scene.proxy.mutations()).toHaveLength(landed)
  expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
})

test('a saved plan is refused after another run has landed, even if the zone looks the same again', async () => {
  const scene = openScene()
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  const change = (address: string) => scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', address) })
  scene.write({ 'zones/example.com.yaml': YOUNGER })
  expect((await scene.run('plan', '--out', 'old.json')).status).toBe(0)
  const { fence } = JSON.parse(scene.files()['old.json'] as string).zones[0]
  expect(fence).toEqual({ store: expect.stringMatching(/^[0-9a-f]{16}$/), number: 1 })
  for (const address of ['192.0.2.99', '192.0.2.2']) {
    change(address)
    expect((await scene.run('apply', '--yes', ...EVERYTHING)).status).toBe(0)
  }
  const sent = scene.memory.writes().length
  expectEnd(await scene.run('apply', 'old.json', '--yes'), 3, {
    err: /^error\[plan-outdated\] example\.com\. at cloud: run \S+ has changed the zone since this plan was made \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\) \(plan again and review the changes\)$/m,
  })
  expect(scene.memory.writes()).toHaveLength(sent)
  // A plan that is made now lands.
  scene.write({ 'zones/example.com.yaml': YOUNGER })
  expect((await scene.run('plan', '--out', 'new.json')).status).toBe(0)
  expect((await scene.run('apply', 'new.json', '--yes')).status).toBe(0)
})

test('a saved plan of which nothing could be applied can be applied again', async () => {
  const scene = openScene()
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  scene.write({ 'zones/example.com.yaml': YOUNGER })
  expect((await scene.run('plan', '--out', 'plan.json')).status).toBe(0)
  scene.memory.use(({ kind }) => (kind === 'write' ? { kind: 'refused', code: 'provider-rejected', message: '400 no' } : null))
  expect((await scene.run('apply', 'plan.json', '--yes')).status).toBe(1)
  scene.memory.use(undefined)
  // Nor does a journal that cannot be begun use up the plan.
  const [runs, aside] = [join(scene.folder, '.zonewright/runs'), join(scene.folder, '.zonewright/aside')]
  renameSync(runs, aside)
  writeFileSync(runs, '')
  expectEnd(await scene.run('apply', 'plan.json', '--yes'), 1, { err: 'error[journal-failed]' })
  rmSync(runs)
  renameSync(aside, runs)
  expect(await scene.run('apply', 'plan.json', '--yes')).toMatchObject({ status: 0 })
})

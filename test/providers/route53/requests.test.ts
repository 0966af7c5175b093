/** How many requests runs at Route 53 make, and which they make again. */
import { expect, test } from 'vitest'
import { plainSet } from '../../scripted/route53/service.ts'
import { APPLY, changesIn, PLAN, startRoute53Scene, succeeded } from './scene.ts'

const hosts = (count: number, value: string): string =>
  Array.from({ length: count }, (_, host) => `  h${host}: {type: A, value: ${value}}\n`).join('')

test('1,000 new records are one batch, 1,000 changed ones two', async () => {
  const scene = await startRoute53Scene({ definition: hosts(1000, '192.0.2.1') })
  succeeded(await scene.run(APPLY))
  expect(changesIn(scene.server)).toBe(1)
  scene.define(hosts(1000, '192.0.2.2'))
  succeeded(await scene.run(APPLY))
  expect(changesIn(scene.server)).toBe(3)
  succeeded(await scene.run(PLAN))
})

test('a batch keeps to 32,000 characters', async () => {
  const text = 'x'.repeat(200)
  const definition = Array.from({ length: 400 }, (_, host) => `  t${host}: {type: TXT, value: ${text}}\n`).join('')
  const scene = await startRoute53Scene({ definition })
  succeeded(await scene.run(APPLY))
  expect(scene.held()).toHaveLength(400)
  expect(changesIn(scene.server)).toBe(3)
})

test('throttling and prior requests are waited out', async () => {
  const scene = await startRoute53Scene({ definition: hosts(3, '192.0.2.1'), requestsPerPause: 2, busyChanges: 2 })
  succeeded(await scene.run(APPLY))
  expect(scene.held()).toHaveLength(3)
})

test('a lost answer is looked up, and the batch is sent once', async () => {
  const scene = await startRoute53Scene({ definition: hosts(3, '192.0.2.1') })
  scene.server.loseAnswers(1)
  succeeded(await scene.run(APPLY))
  expect(scene.held()).toHaveLength(3)
  expect(changesIn(scene.server)).toBe(1)
})

test('a lost answer to the creation of a zone makes no second zone', async () => {
  const scene = await startRoute53Scene({ zones: [], definition: hosts(3, '192.0.2.1') })
  scene.server.loseAnswers(1)
  succeeded(await scene.run(APPLY))
  expect(scene.route53.zones()).toHaveLength(1)
})

test('with wait, a call ends when all name servers have it', async () => {
  const scene = await startRoute53Scene({ definition: hosts(1, '192.0.2.1'), settings: ', wait: true', pendingReads: 1 })
  succeeded(await scene.run(APPLY))
  expect(scene.server.requests.filter(({ path }) => path.includes('/change/'))).toHaveLength(2)
  const denied = await startRoute53Scene({ definition: hosts(1, '192.0.2.1'), settings: ', wait: true', denied: ['GetChange'] })
  const applied = await denied.run(APPLY)
  expect(applied.stdout + applied.stderr).toContain('it is not known whether all name servers of Route 53 have them')
  expect(denied.held()).toHaveLength(1)
})

test('10,000 records are read in 34 pages', { timeout: 60_000 }, async () => {
  const sets = Array.from({ length: 10_000 }, (_, host) => plainSet(`h${host}.example.com.`, 'A', 3600, '192.0.2.1'))
  const scene = await startRoute53Scene({ sets, definition: hosts(10_000, '192.0.2.1') })
  const begin = performance.now()
  succeeded(await scene.run(PLAN))
  process.stderr.write(`route53: plan of 10,000 records in ${Math.round(performance.now() - begin)} ms\n`)
  expect(scene.server.requests).toHaveLength(35)
})

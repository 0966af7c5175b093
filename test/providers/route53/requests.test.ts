/** How many requests runs at Route 53 make, and which they make again. */
import { expect, test } from 'vitest'
import { APPLY, PLAN } from '../scripted-scene.ts'
import { changesIn, startRoute53Scene, succeeded } from './scene.ts'

const hosts = (count: number, value: string): string =>
  Array.from({ length: count }, (_, host) => `  h${host}: {type: A, value: ${value}}\n`).join('')

test('1,000 new records are one batch, 1,000 changed ones two', { tags: ['long'] }, async () => {
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

test('throttling and prior requests are waited out', { tags: ['long'] }, async () => {
  const scene = await startRoute53Scene({ definition: hosts(3, '192.0.2.1'), requestsPerPause: 2, busyChanges: 2 })
  succeeded(await scene.run(APPLY))
  expect(scene.held()).toHaveLength(3)
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

test('many zones are listed, 100 with a request; few are looked up one by one', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `z${index}.example`)
  const zones = names.map((name, index) => ({ id: `Z${String(index).padStart(12, '0')}`, name: `${name}.`, sets: [] }))
  const scene = await startRoute53Scene({ zones })
  for (const name of names) scene.define('  www: {type: A, value: 192.0.2.1}\n', '', name)
  const count = async (...args: string[]) => {
    const { requests } = await scene.requestsOf([...PLAN, ...args])
    const lookUps = requests.filter((one) => one.includes('hostedzonesbyname')).length
    return { lookUps, reads: requests.length - lookUps }
  }
  expect(await count()).toEqual({ lookUps: 3, reads: 250 })
  expect(await count('z7.example')).toEqual({ lookUps: 1, reads: 1 })
})

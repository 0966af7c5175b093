/** A long run detects changes by other clients before it overwrites them. */
import { expect, onTestFinished, test } from 'vitest'
import type { ZonePlan } from '../../src/plan/plan.ts'
import { applyZones } from '../../src/run/apply/apply-zones.ts'
import { json, type SeenRequest, scriptedServer } from '../providers/cloud/scripted-server.ts'
import { ORIGIN, zoneChange } from '../support/plan.ts'
import { existing } from '../support/records.ts'
import { applyScripted, performRequest, providerAt, reportOf, type Script, type Store } from './apply-scene.ts'

/** Another client changes the zone before the first read of the run. */
const changedByAnotherClient = (change: (store: Store) => void): Script['handler'] => {
  let there = false
  return ({ method }, _, store) => {
    if (method === 'GET' && !there) {
      there = true
      change(store)
    }
    return undefined
  }
}
const target =
  (id: number, text: string) =>
  (store: Store): void =>
    void store.set(id, { ...store.get(id), target: text })

const reads = (requests: readonly SeenRequest[]): number => requests.filter(({ method }) => method === 'GET').length

test('does not update or delete records that another client changed; applies the other changes', async () => {
  const result = await applyScripted({
    before: 'a A 192.0.2.1\nb A 192.0.2.2\nc A 192.0.2.3',
    desired: 'a 300 A 192.0.2.1\nc A 192.0.2.33',
    handler: changedByAnotherClient((store) => {
      target(1, '198.51.100.1')(store)
      target(2, '198.51.100.2')(store)
    }),
    run: { freshFor: 0 },
  })
  const why = (data: string): string => `failed: not sent: another client changed the record to ${data} after it was read for the plan`
  expect(result.outcomes.sort()).toEqual([
    `delete b.example.com. A: ${why('198.51.100.2')}`,
    `update a.example.com. A: ${why('198.51.100.1')}`,
    'update c.example.com. A: applied',
  ])
  expect(result.calls).toEqual(['PUT 3c'])
  expect(result.diagnostics).toEqual([
    'warning[apply-drift] example.com. at cloud: another client changed a.example.com. A from 192.0.2.1 to 198.51.100.1 meanwhile',
    'warning[apply-drift] example.com. at cloud: another client changed b.example.com. A from 192.0.2.2 to 198.51.100.2 meanwhile',
  ])
})

test('an update that another client already made is applied', async () => {
  const { outcomes } = await applyScripted({
    before: 'a A 192.0.2.1',
    desired: 'a A 192.0.2.2',
    handler: changedByAnotherClient(target(1, '192.0.2.2')),
    run: { freshFor: 0 },
  })
  expect(outcomes).toEqual(['update a.example.com. A: applied'])
})

test('one read serves all calls while it is fresh; a short run needs none', async () => {
  const many = (ttl: string): string => Array.from({ length: 40 }, (_, index) => `h${index} ${ttl} A 192.0.2.1`).join('\n')
  const scene = { before: many('300'), desired: many('3600'), handler: () => undefined, parallelism: 4 }
  expect(reads((await applyScripted(scene)).requests)).toBe(1)
  // A read stays fresh for ten times its duration.
  const often = await applyScripted({
    ...scene,
    handler: ({ method }, response, store) => {
      if (method !== 'GET') return undefined
      setTimeout(() => performRequest({ method } as SeenRequest, response, store), 50)
      return true
    },
    run: { freshFor: 0 },
  })
  expect(reads(often.requests)).toBeLessThan(5)
  expect(often.outcomes.every((outcome) => outcome.endsWith(': applied'))).toBe(true)
})

test('sends no call that could overwrite a change if the zone cannot be read', async () => {
  let gone = 0
  const { outcomes, calls } = await applyScripted({
    before: 'a A 192.0.2.1',
    desired: 'a A 192.0.2.2\nb A 192.0.2.3',
    handler: ({ method }, response) => {
      if (method !== 'GET' || gone > 0) return undefined
      gone += 1
      json(response, 403, { errors: [{ reason: 'no' }] })
      return true
    },
    run: { freshFor: 0 },
  })
  const why = 'not sent: the zone could not be read again before it: cloud: reading the records of example.com.: 403 no'
  expect({ outcomes: outcomes.sort(), calls, gone }).toEqual({
    outcomes: ['create b.example.com. A: applied', `update a.example.com. A: failed: ${why}`],
    calls: ['POST b'],
    gone: 1,
  })
})

test.each([
  ['unchanged', [], ['delete example.com.: applied']],
  [
    'with a new record of another client',
    [{ id: 9, type: 'A', name: 'new', target: '192.0.2.9', ttl_sec: 0 }],
    ['delete example.com.: failed: not sent: another client created new.example.com. A 192.0.2.9 after the zone was read for the plan'],
  ],
])('deletes a zone only if it is unchanged since the plan: %s', async (_, more, outcomes) => {
  const kept = { id: 1, type: 'A', name: 'a', target: '192.0.2.1', ttl_sec: 0 }
  const server = await scriptedServer(({ method }, response) =>
    json(response, 200, method === 'DELETE' ? {} : { data: [kept, ...more], page: 1, pages: 1, results: 1 + more.length }),
  )
  onTestFinished(() => server.close())
  const settings = { type: 'master', soa_email: 'hostmaster@example.com' } as const
  const reference = { name: ORIGIN, id: 7, settings }
  const deletion = zoneChange({ action: 'delete', id: 7, existing: settings })
  const plan = { zone: ORIGIN, target: 'cloud', changes: [deletion] } as unknown as ZonePlan
  const one = { plan, reference, existing: { ...reference, records: existing(ORIGIN, 'a A 192.0.2.1') } }
  const providers = new Map([['cloud', providerAt(server.baseUrl)]])
  const [outcome] = await applyZones([one], { providers, recoveryPause: 5, freshFor: 0 })
  expect(reportOf(outcome as never, server.seen).outcomes).toEqual(outcomes)
  expect(server.seen.filter(({ method }) => method === 'DELETE')).toHaveLength(more.length === 0 ? 1 : 0)
})

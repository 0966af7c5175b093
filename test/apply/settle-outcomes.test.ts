import { describe, expect, test } from 'vitest'
import { resolveUnknownOutcomes } from '../../src/apply/resolve-unknown-outcomes.ts'
import type { Change, Outcome } from '../../src/plan/plan.ts'
import { ORIGIN } from '../support/plan.ts'
import { existing, records } from '../support/records.ts'

const record = (text: string) => {
  const [{ name, type, ttl, data }] = records(ORIGIN, text) as [ReturnType<typeof records>[number]]
  return { name, type, ttl, data }
}
const base = { subject: 'record', fields: [], after: [] } as const
const create = (text: string): Change => ({ ...base, action: 'create', id: null, ...ownerOf(text), existing: null, desired: record(text) })
const update = (id: number, from: string, to: string): Change => ({
  ...base,
  action: 'update',
  id,
  ...ownerOf(to),
  existing: record(from),
  desired: record(to),
})
const remove = (id: number, text: string): Change => ({
  ...base,
  action: 'delete',
  id,
  ...ownerOf(text),
  existing: record(text),
  desired: null,
})
const ownerOf = (text: string) => {
  const { name, type } = record(text)
  return { name, type }
}
const zone = (action: 'create' | 'update' | 'delete'): Change => ({
  subject: 'domain',
  action,
  name: ORIGIN,
  type: null,
  id: 1,
  existing: {},
  desired: {},
  fields: [],
  after: [],
})

const UNKNOWN: Outcome = { state: 'unknown', error: 'no answer' }
const A = 'www A 192.0.2.1'
const B = 'www A 192.0.2.2'
const C = 'www A 192.0.2.3'
const NOT = { state: 'failed', error: 'no answer; it was not applied' }
const YET = { state: 'unknown', error: 'no answer; when the zone was read again it had not been applied, but it still may be' }

/** `live` null: the zone is not there. */
const cases: readonly [name: string, change: Change, before: string, live: string | null, closed: unknown, open: unknown][] = [
  ['a creation that is there', create(A), '', A, { state: 'applied', id: 1 }, { state: 'applied', id: 1 }],
  ['a creation that is not', create(A), '', '', NOT, YET],
  ['a creation like a record that was there before', create(A), A, A, NOT, YET],
  ['a creation that is there with another TTL', create('www 300 A 192.0.2.1'), '', 'www 3600 A 192.0.2.1', NOT, YET],
  ['a creation in a zone that is gone', create(A), '', null, NOT, YET],
  ['an update that is there', update(1, A, B), A, B, { state: 'applied', id: 1 }, { state: 'applied', id: 1 }],
  ['an update that is not', update(1, A, B), A, A, NOT, YET],
  [
    'an update of a record that is gone',
    update(1, A, B),
    A,
    '',
    { state: 'failed', error: 'no answer; another client deleted the record' },
    { state: 'failed', error: 'no answer; another client deleted the record' },
  ],
  [
    'an update of a record that is something else again',
    update(1, A, B),
    A,
    C,
    { state: 'unknown', error: 'no answer; another client changed the record' },
    { state: 'unknown', error: 'no answer; another client changed the record' },
  ],
  ['a deletion that was done', remove(1, A), A, '', { state: 'applied', id: 1 }, { state: 'applied', id: 1 }],
  ['a deletion that was not', remove(1, A), A, A, NOT, YET],
  ['a zone that was created', zone('create'), '', '', { state: 'applied' }, { state: 'applied' }],
  ['a zone that was not', zone('create'), '', null, NOT, YET],
  ['a zone that was deleted', zone('delete'), '', null, { state: 'applied' }, { state: 'applied' }],
  ['a zone that was not deleted', zone('delete'), '', '', NOT, YET],
  ['settings, of which the records say nothing', zone('update'), '', '', UNKNOWN, UNKNOWN],
]

describe.each(cases)('%s', (_, change, before, live, closed, open) => {
  test.each([
    ['the server is done with', false, closed],
    ['the server may be at', true, open],
  ])('that %s', (_name, mayCompleteLater, expected) => {
    const reading = {
      before: existing(ORIGIN, before),
      live: live === null ? null : existing(ORIGIN, live),
      mayCompleteLater: () => mayCompleteLater,
    }
    expect(resolveUnknownOutcomes([change], [UNKNOWN], reading)).toEqual([expected])
  })
})

test('one record settles one creation, and none that another call is known to have made', () => {
  const reading = { before: [], live: existing(ORIGIN, `${A}\n${A}\n${A}`), mayCompleteLater: () => false }
  const changes = [create(A), create(A), create(A), create(A)]
  expect(resolveUnknownOutcomes(changes, [UNKNOWN, { state: 'applied', id: 1 }, UNKNOWN, UNKNOWN], reading)).toEqual([
    { state: 'applied', id: 2 },
    { state: 'applied', id: 1 },
    { state: 'applied', id: 3 },
    NOT,
  ])
})

test('what is not in doubt stays as it is', () => {
  const outcomes: Outcome[] = [
    { state: 'applied', id: 1 },
    { state: 'failed', error: 'no' },
    { state: 'skipped', because: 'why' },
  ]
  expect(
    resolveUnknownOutcomes([create(A), create(B), create(C)], outcomes, { before: [], live: [], mayCompleteLater: () => false }),
  ).toEqual(outcomes)
})

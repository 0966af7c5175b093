import { describe, expect, test } from 'vitest'
import type { Change, Outcome } from '../../../src/plan/plan.ts'
import { resolveUnknownOutcomes } from '../../../src/run/apply/judge-call.ts'
import { ORIGIN } from '../../support/plan.ts'
import { callOf } from '../../support/provider-calls.ts'
import { existing, records } from '../../support/records.ts'

const record = (text: string) => {
  const [{ name, type, ttl, data }] = records(ORIGIN, text) as [ReturnType<typeof records>[number]]
  return { name, type, ttl, data }
}
const base = { subject: 'record', fields: [], call: 0, after: [] } as const
const create = (text: string): Change => ({ ...base, action: 'create', id: null, ...ownerOf(text), existing: null, desired: record(text) })
const update = (id: number, from: string, to: string): Change => {
  return { ...base, action: 'update', id, ...ownerOf(to), existing: record(from), desired: record(to) }
}
const remove = (id: number, text: string): Change => {
  return { ...base, action: 'delete', id, ...ownerOf(text), existing: record(text), desired: null }
}
const ownerOf = (text: string) => {
  const { name, type } = record(text)
  return { name, type }
}
const zone = (action: 'create' | 'update' | 'delete'): Change => {
  return { subject: 'domain', action, name: ORIGIN, type: null, id: 1, existing: {}, desired: {}, fields: [], call: 0, after: [] }
}

const UNKNOWN: Outcome = { state: 'unknown', error: 'no answer' }
const A = 'www A 192.0.2.1'
const B = 'www A 192.0.2.2'
const C = 'www A 192.0.2.3'
const NOT = { state: 'failed', error: 'no answer; it was not applied' }
const YET = { state: 'unknown', error: 'no answer; when the zone was read again it had not been applied, but it still may be' }

/** `live` is null if the zone does not exist. */
const cases: readonly [name: string, change: Change, before: string, live: string | null, closed: unknown, open: unknown][] = [
  ['a creation that is live', create(A), '', A, { state: 'applied', id: 1 }, { state: 'applied', id: 1 }],
  ['a creation that is not live', create(A), '', '', NOT, YET],
  ['a creation equal to a record that existed before', create(A), A, A, NOT, YET],
  ['a creation that is live with another TTL', create('www 300 A 192.0.2.1'), '', 'www 3600 A 192.0.2.1', NOT, YET],
  ['a creation in a missing zone', create(A), '', null, NOT, YET],
  ['an update that is live', update(1, A, B), A, B, { state: 'applied', id: 1 }, { state: 'applied', id: 1 }],
  ['an update that is not live', update(1, A, B), A, A, NOT, YET],
  [
    'an update of a missing record',
    update(1, A, B),
    A,
    '',
    { state: 'failed', error: 'no answer; another client deleted the record' },
    { state: 'failed', error: 'no answer; another client deleted the record' },
  ],
  [
    'an update of a record that another client changed',
    update(1, A, B),
    A,
    C,
    { state: 'unknown', error: 'no answer; another client changed the record' },
    { state: 'unknown', error: 'no answer; another client changed the record' },
  ],
  ['a deletion that is done', remove(1, A), A, '', { state: 'applied', id: 1 }, { state: 'applied', id: 1 }],
  ['a deletion that is not done', remove(1, A), A, A, NOT, YET],
  ['a zone that exists after its creation', zone('create'), '', '', { state: 'applied' }, { state: 'applied' }],
  ['a zone that does not exist after its creation', zone('create'), '', null, NOT, YET],
  ['a zone that does not exist after its deletion', zone('delete'), '', null, { state: 'applied' }, { state: 'applied' }],
  ['a zone that exists after its deletion', zone('delete'), '', '', NOT, YET],
  ['settings, which a record read cannot confirm', zone('update'), '', '', UNKNOWN, UNKNOWN],
]

describe.each(cases)('%s', (_, change, before, live, closed, open) => {
  test.each([
    ['cannot complete later', false, closed],
    ['may complete later', true, open],
  ])('its call %s', (_name, mayCompleteLater, expected) => {
    const reading = {
      before: existing(ORIGIN, before),
      live: live === null ? null : existing(ORIGIN, live),
      mayCompleteLater: () => mayCompleteLater,
    }
    expect(resolveUnknownOutcomes([callOf(change, 0)], [UNKNOWN], reading)).toEqual([expected])
  })
})

test('matches each record to at most one creation, excluding records of applied calls', () => {
  const reading = { before: [], live: existing(ORIGIN, `${A}\n${A}\n${A}`), mayCompleteLater: () => false }
  const changes = [create(A), create(A), create(A), create(A)]
  expect(resolveUnknownOutcomes(changes.map(callOf), [UNKNOWN, { state: 'applied', id: 1 }, UNKNOWN, UNKNOWN], reading)).toEqual([
    { state: 'applied', id: 2 },
    { state: 'applied', id: 1 },
    { state: 'applied', id: 3 },
    NOT,
  ])
})

test('keeps known outcomes', () => {
  const outcomes: Outcome[] = [
    { state: 'applied', id: 1 },
    { state: 'failed', error: 'no' },
    { state: 'skipped', because: 'why' },
  ]
  const reading = { before: [], live: [], mayCompleteLater: () => false }
  expect(resolveUnknownOutcomes([create(A), create(B), create(C)].map(callOf), outcomes, reading)).toEqual(outcomes)
})

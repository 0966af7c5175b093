import { expect, test } from 'vitest'
import type { ExistingZone } from '../../../src/dns/zone.ts'
import { movedState } from '../../../src/run/saved/reread-zones.ts'
import { ORIGIN } from '../../support/plan.ts'
import { existingZone } from '../../support/records.ts'

const zone = (text: string, more: Partial<ExistingZone> = {}): ExistingZone => ({ ...existingZone(ORIGIN, text), ...more })

/** Records without IDs, as in providers whose unit is the RRset. */
const withoutIds = (text: string): ExistingZone => {
  const { id, records, ...rest } = zone(text)
  return { ...rest, records: records.map(({ id: _, ...record }) => record) }
}

const reversed = (one: ExistingZone): ExistingZone => ({ ...one, records: [...one.records].reverse() })
const BEFORE = 'a A 192.0.2.1\nb 300 A 192.0.2.2\nb 300 A 192.0.2.3'

type Case = { before: ExistingZone | null; now: ExistingZone | null; summary: string | null; details?: readonly string[] }

test.each<[string, Case]>([
  ['nothing', { before: zone(BEFORE), now: zone(BEFORE), summary: null }],
  ['the order of records', { before: zone(BEFORE), now: reversed(zone(BEFORE)), summary: null }],
  ['a zone that still does not exist', { before: null, now: null, summary: null }],
  ['a created zone', { before: null, now: zone(BEFORE), summary: 'it did not exist, and now exists with 3 records' }],
  ['a deleted zone', { before: zone(BEFORE), now: null, summary: 'it no longer exists; it had 3 records' }],
  [
    'added records',
    {
      before: zone(BEFORE),
      now: zone(`${BEFORE}\nz A 192.0.2.9\nc TXT "x"`),
      summary: '2 records added',
      details: ['added c.example.com. default TXT "x"', 'added z.example.com. default A 192.0.2.9'],
    },
  ],
  [
    'a removed record',
    {
      before: zone(BEFORE),
      now: zone('a A 192.0.2.1\nb 300 A 192.0.2.2'),
      summary: '1 record removed',
      details: ['removed b.example.com. 300 A 192.0.2.3'],
    },
  ],
  [
    'a record with another TTL and one with another name',
    {
      before: zone(BEFORE),
      now: zone('x A 192.0.2.1\nb 600 A 192.0.2.2\nb 300 A 192.0.2.3'),
      summary: '2 records changed',
      details: [
        'changed a.example.com. default A 192.0.2.1 to x.example.com. default A 192.0.2.1',
        'changed b.example.com. 300 A 192.0.2.2 to b.example.com. 600 A 192.0.2.2',
      ],
    },
  ],
  [
    'a record that was deleted and created again',
    {
      before: zone('a A 192.0.2.1'),
      now: zone('', { records: [{ ...(zone('a A 192.0.2.1').records[0] as ExistingZone['records'][number]), id: 7 }] }),
      summary: '1 record replaced by an equal one',
      details: ['replaced a.example.com. default A 192.0.2.1 by an equal one: its identifier is 7, and was 1'],
    },
  ],
  [
    'settings',
    {
      before: zone(BEFORE, { settings: { soa_email: 'a@example.com', tags: ['x'], group: 'g' } }),
      now: zone(BEFORE, { settings: { soa_email: 'b@e.example', tags: ['x'], ttl_sec: 300 } }),
      summary: '3 settings changed',
      details: ['group is not set, and was "g"', 'soa_email is "b@e.example", and was "a@example.com"', 'ttl_sec is 300, and was not set'],
    },
  ],
  [
    'a zone that was deleted and created again',
    { before: zone(BEFORE), now: zone(BEFORE, { id: 2 }), summary: 'it was deleted and created again: its identifier is 2, and was 1' },
  ],
  [
    'records without identifiers',
    {
      before: withoutIds(`${BEFORE}\nd TXT "2"\nd TXT "2"`),
      now: withoutIds('a 60 A 192.0.2.1\nb 300 A 192.0.2.2\nb 300 A 192.0.2.3\nd TXT "2"'),
      summary: '1 record added, 2 records removed',
      details: [
        'removed a.example.com. default A 192.0.2.1',
        'added a.example.com. 60 A 192.0.2.1',
        'removed d.example.com. default TXT "2"',
      ],
    },
  ],
])('%s', (_, { before, now, summary, details = [] }) => {
  const moved = movedState(before, now)
  expect(moved?.summary ?? null).toBe(summary)
  expect(moved?.details ?? []).toEqual(details)
})

test('truncates long rdata', () => {
  const long = zone('a TXT "x"', {
    records: [{ ...(zone('a TXT "x"').records[0] as ExistingZone['records'][number]), data: 'y'.repeat(1000) }],
  })
  expect(movedState(zone(''), long)?.details[0]?.length).toBeLessThan(300)
})

import { expect, test } from 'vitest'
import type { ZoneSnapshot } from '../../../src/providers/provider.ts'
import { compareRendered } from '../../../src/run/read/rendered-state.ts'
import { existingZone, name } from '../../support/records.ts'

const ORIGIN = name('example.com.')
const SOA = '@ 300 IN SOA ns1.example.net. hostmaster.example.com. 7 7200 600 86400 300'
const NS = '@ 300 IN NS ns1.example.net.'
const WWW = 'www 300 IN A 192.0.2.1'

const zoneOf = (more: Partial<ZoneSnapshot> = {}): ZoneSnapshot => {
  return { ...existingZone(ORIGIN, 'www 300 A 192.0.2.1'), id: 7, ...more }
}

test.each<[string, string[], Partial<ZoneSnapshot>, string, RegExp | null]>([
  ['as listed', [SOA, NS, WWW], {}, 'match', null],
  ['without SOA', [NS, WWW], {}, 'differs', /^not rendered: the SOA record of example\.com\./],
  ['without SOA, soon after a change', [NS, WWW], { millisecondsSinceLastChange: 1000 }, 'differs', /SOA/],
  ['with the SOA of another name', [SOA.replace('@', 'sub'), NS, WWW], {}, 'differs', /SOA/],
  ['without SOA and a record', [NS], {}, 'differs', /SOA/],
  ['without a record, soon after', [SOA, NS], { millisecondsSinceLastChange: 1000 }, 'stale', /^not rendered: www\.example\.com\. 300 A/],
  ['empty', [], {}, 'stale', null],
  ['of a disabled zone, without SOA', [NS, WWW], { settings: { status: 'disabled' } }, 'match', null],
])('a rendered file %s', (_, lines, more, state, difference) => {
  const rendered = compareRendered({ lines }, zoneOf(more))
  expect(rendered.state).toBe(state)
  if (difference === null) expect(rendered.differences).toEqual([])
  else expect(rendered.differences[0]).toMatch(difference)
})

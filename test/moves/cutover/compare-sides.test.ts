import { expect, test } from 'vitest'
import { type Message, RCODE } from '../../../src/dns/wire/message.ts'
import { compareSides } from '../../../src/moves/cutover/compare-sides.ts'
import { formerZone } from '../../../src/moves/cutover/steps.ts'
import type { ZoneSnapshot } from '../../../src/providers/provider.ts'
import type { Cutover } from '../../../src/run/load/cutover-state.ts'
import { existingZone, name } from '../../support/records.ts'
import { response, startScriptedDns } from '../../support/scripted-dns.ts'

test.each([
  [null, 300],
  [0, undefined],
  [3600, 3600],
])('a zone whose TTL was %s before the cutover is copied with %s', (formerZoneTtl, copied) => {
  const zone = { ...existingZone(name('example.com.'), ''), settings: { type: 'master', ttl_sec: 300 } } as ZoneSnapshot
  expect(formerZone(zone, { formerZoneTtl } as Cutover).settings).toEqual({ type: 'master', ...(copied && { ttl_sec: copied }) })
})

test('no server is queried a type that has no number', async () => {
  const server = { host: '127.0.0.1', port: 9 }
  const records = ['ALIAS', 'LUA'].map((type) => ({ name: name('www.example.com.'), type, ttl: null, data: 'example.net.' }))
  const compared = await compareSides(name('example.com.'), records, [server], [server], () => false)
  expect(compared).toEqual({ ok: true, asked: 0, differences: [] })
})

test.each<[string, Partial<Message>, number]>([
  ['fail', { rcode: RCODE.SERVFAIL }, 1],
  ['refuse the query', { rcode: RCODE.REFUSED }, 1],
  ['have no authority', { authoritative: false }, 1],
  ['do not have the name', { rcode: RCODE.NXDOMAIN }, 0],
])('two servers that %s', async (_, answer, differences) => {
  const server = await startScriptedDns((query) => [response(query, [], answer)])
  const records = [{ name: name('www.example.com.'), type: 'A', ttl: null, data: '192.0.2.1' }]
  const compared = await compareSides(name('example.com.'), records, [server], [server], () => false)
  expect(compared).toMatchObject({ ok: true, asked: 1, differences: { length: differences } })
})

import { expect, test } from 'vitest'
import { compareSides } from '../../src/apply/cutover/compare-sides.ts'
import { name } from '../support/records.ts'

test('no server is asked for a type that has no number', async () => {
  const server = { host: '127.0.0.1', port: 9 }
  const records = ['ALIAS', 'LUA'].map((type) => ({ name: name('www.example.com.'), type, ttl: null, data: 'example.net.' }))
  const compared = await compareSides(name('example.com.'), records, [server], [server], () => false)
  expect(compared).toEqual({ ok: true, asked: 0, differences: [] })
})

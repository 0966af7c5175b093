/** Records that the child process of a provider class describes: everything that it writes comes from outside. */
import { describe, expect, test } from 'vitest'
import { readClassRecords, UnreadableRecord } from '../../../src/providers/octodns/read-records.ts'
import { name } from '../../support/records.ts'

const ZONE = name('example.com.')
const BASE = { name: 'www', type: 'A', ttl: 300, values: ['192.0.2.1'], settings: [], dynamic: false, problem: null }
const described = (more: object) => ({ ...BASE, ...more })

const read = (more: object, servesApexNs = false): string[] => {
  const { records, unplanned } = readClassRecords([described(more)], ZONE, { servesApexNs, redact: String })
  return [
    ...records.map((record) => `${record.name} ${record.ttl} ${record.type} ${record.data}`),
    ...unplanned.map((record) => `${record.name} ${record.type} ${record.data} ${record.reason}`),
  ]
}

describe('a record set', () => {
  test.each<[what: string, more: object, expected: string[]]>([
    ['several values', { values: ['192.0.2.2', '192.0.2.1'] }, ['www.example.com. 300 A 192.0.2.2', 'www.example.com. 300 A 192.0.2.1']],
    ['the apex', { name: '' }, ['example.com. 300 A 192.0.2.1']],
    ['a mapping', { type: 'MX', values: [{ preference: '10', exchange: 'M.test.' }] }, ['www.example.com. 300 MX 10 m.test.']],
    ['a text with semicolons', { type: 'TXT', values: ['v=DKIM1\\; p="a"'] }, ['www.example.com. 300 TXT "v=DKIM1; p=\\"a\\""']],
    ['lenient', { settings: ['lenient'] }, ['www.example.com. 300 A 192.0.2.1']],
    ['other settings', { settings: ['lenient', 'cloudflare.x'] }, ['www.example.com. A 192.0.2.1 has settings of octoDNS (cloudflare.x)']],
    [
      'a type of one provider',
      { type: 'PowerDnsProvider/LUA', values: [{ type: 'A', script: 'x' }] },
      ['www.example.com. PowerDnsProvider/LUA {"type":"A","script":"x"} has a type that only octoDNS has'],
    ],
    ['no value', { type: 'TXT', values: [] }, [expect.stringMatching(/has data that no definition can have/)]],
    ['invalid data', { values: ['192.0.2.256'] }, [expect.stringMatching(/A 192\.0\.2\.256 has data that no definition can have/)]],
    ['an invalid TTL', { ttl: -1 }, [expect.stringMatching(/has data that no definition can have/)]],
    ['a problem of the class', { values: [], problem: 'no parser' }, ['www.example.com. A  cannot be read by octoDNS (no parser)']],
  ])('%s', (_, more, expected) => expect(read(more)).toEqual(expected))

  test('the apex NS records of a provider that sets them itself are left out', () => {
    const ns = { name: '', type: 'NS', values: ['ns1.example.net.'] }
    expect([read(ns, true), read(ns, false), read({ ...ns, name: 'sub' }, true)].map((lines) => lines.length)).toEqual([0, 1, 1])
  })
})

const nested = (depth: number): unknown => (depth === 0 ? 'x' : [nested(depth - 1)])

test.each<[what: string, value: unknown]>([
  ['null', null],
  ['a text', 'www'],
  ['no values', { ...described({}), values: 'x' }],
  ['no settings', { ...described({}), settings: undefined }],
  ['a name outside the zone', described({ name: 'www.example.net.' })],
  ['a name that is none', described({ name: `${'a'.repeat(64)}` })],
  ['a value that is nested too deeply', described({ values: nested(50) })],
  ['a dynamic one that is nested too deeply', described({ values: nested(50), dynamic: true })],
])('what is no record set is refused: %s', (_, value) => {
  expect(() => readClassRecords([value], ZONE, { servesApexNs: false, redact: String })).toThrow(UnreadableRecord)
})

/** Every record type through the API to a real PowerDNS server and back, judged by a zone transfer. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAbsoluteName } from '../../../src/dns/domain-name.ts'
import { canonicalRdata } from '../../../src/dns/rdata/canonical.ts'
import { presentationTokens } from '../../../src/dns/rdata/field.ts'
import { RDATA_TYPES } from '../../../src/dns/rdata/rdata-types.ts'
import { isServerType } from '../../../src/providers/powerdns/capabilities.ts'
import { rdataFromApi, rdataToApi } from '../../../src/providers/powerdns/rdata-format.ts'
import { transferZone } from '../../../src/transport/dns-transfer.ts'
import { expectEnd } from '../../support/cli.ts'
import { type PowerDnsServer, startPowerDns } from '../../support/dns-servers.ts'
import { RECORD_VALUES } from '../../support/record-values.ts'
import { name as parseName } from '../../support/records.ts'
import { describeWithTools } from '../../support/skip.ts'
import { originOf, run, workspace } from './scene.ts'

/** Types that belong to the server, or that no server has. */
const NOT_SENT = [...RDATA_TYPES.keys()].filter((type) => isServerType(type) || type === 'URLFWD')

test('there is a value of every type, and each survives the form of the API', () => {
  expect([...Object.keys(RECORD_VALUES), ...NOT_SENT].filter((type) => type !== 'TYPE65280').sort()).toEqual([...RDATA_TYPES.keys()].sort())
  for (const [type, values] of Object.entries(RECORD_VALUES))
    for (const value of values) {
      const data = canonical(type, value)
      const api = rdataToApi(type, data)
      expect(rdataFromApi(api.type, api.content), `${type} ${value}`).toEqual({ type, data: { ok: true, value: data } })
    }
})

/** Types that the server serves from its database only with `direct-dnskey=yes`, and LUA, which it transfers under a number for private use. */
const UNSERVED: ReadonlySet<string> = new Set(['CDS', 'CDNSKEY', 'DNSKEY', 'LUA', 'TYPE65402'])

function canonical(type: string, value: string): string {
  const tokens = presentationTokens(value)
  const data = tokens.ok ? canonicalRdata(type, tokens.value, parseAbsoluteName) : tokens
  if (!data.ok) throw new Error(`${type} ${value}: ${data.message}`)
  return data.value
}

describeWithTools(['pdns_server', 'pdnsutil'], 'every record type', () => {
  let server: PowerDnsServer
  beforeAll(async () => {
    server = await startPowerDns()
  })
  afterAll(() => server.stop())

  /** Each value at a name of its own; DNSKEY only at the apex. */
  const records = Object.entries(RECORD_VALUES).flatMap(([type, values]) =>
    values.map((v, i) => ({ type, data: canonical(type, v), owner: type === 'DNSKEY' ? '@' : `${type.toLowerCase()}${i}` })),
  )

  test('is applied, read again, planned to empty, and transferred', async () => {
    const folder = workspace(originOf(server), ', new_zones: {nameservers: [ns1.example.net.]}')
    const lines = records.map(({ owner, type, data }) => `${owner} 300 IN ${type === 'ALIAS' ? 'CNAME' : type} ${data}`.trimEnd())
    writeFileSync(
      join(folder, 'zones/types.example.zone'),
      ['$ORIGIN types.example.', '$TTL 300', '@ SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300', ...lines, ''].join(
        '\n',
      ),
    )
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers:\n  pdns: {type: powerdns, base_url: '${originOf(server)}', api_key: env:PDNS_KEY, new_zones: {nameservers: [ns1.example.net.]}}\n`,
    )
    const applied = await run(folder, server, 'apply', '--yes', '--format', 'json')
    const document = JSON.parse(applied.stdout)
    expect([applied.status, document.zones[0]?.readBack, applied.stderr]).toEqual([0, 'equal', expect.not.stringContaining('error')])
    expectEnd(await run(folder, server, 'plan', '--detailed-exitcode'), 0, { out: 'No changes' })
    const served = (await transferZone({ host: '127.0.0.1', port: server.port }, parseName('types.example.')))
      .filter(({ name, type }) => name !== 'types.example.' && !UNSERVED.has(type))
      .map(({ name, type, data }) => `${name} ${type} ${data}`)
    const expected = records
      .filter(({ type }) => !UNSERVED.has(type))
      .map(({ owner, type, data }) => `${owner}.types.example. ${type === 'ALIAS' ? 'CNAME' : type} ${data}`)
    expect(served.sort()).toEqual(expected.sort())
  })
})

test.each([
  ['LUA', 'x', 'LUA'],
  ['A', 'nonsense', 'A'],
  ['TXT', '"open', 'TXT'],
])('%s %s has no canonical data', (type, content, expected) => {
  expect(rdataFromApi(type, content)).toMatchObject({ type: expected, data: { ok: false } })
})

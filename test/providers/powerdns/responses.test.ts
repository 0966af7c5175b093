/** Responses that no PowerDNS Authoritative server sends: another program at the address, or a hostile one. */
import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import type { SerialNumber } from '../../../src/dns/serial-number.ts'
import { createPowerDnsProvider } from '../../../src/providers/powerdns/powerdns-provider.ts'
import type { Provider, ProviderCall } from '../../../src/providers/provider.ts'
import { name } from '../../support/records.ts'
import { json, type ScriptedServer, scriptedServer } from '../cloud/scripted-server.ts'

const ZONE = name('example.com.')
const RECORD = { name: 'www.example.com.', type: 'A', ttl: 300, records: [{ content: '192.0.2.1', disabled: false }] }
const BODY = { id: 'example.com.', name: 'example.com.', kind: 'Native', masters: [], rrsets: [RECORD] }
let server: ScriptedServer | null = null
afterEach(async () => {
  await server?.close()
})

async function providerFor(answer: (path: string, response: ServerResponse) => void): Promise<Provider> {
  const started = await scriptedServer(({ path }, response) => answer(path, response))
  server = started
  return createPowerDnsProvider(
    { provider: 'pdns', baseUrl: new URL(started.baseUrl.origin), token: 'key-of-the-server', parallelism: 2, timeout: 2000 },
    {
      server: 'localhost',
      notifies: false,
      nameservers: [],
      newZones: { kind: 'Master', soaEditApi: null, account: null, primaryKeys: [], secondaryKeys: [] },
    },
  )
}

const reference = { name: ZONE, id: 'example.com.', settings: {} }

test.each<[string, unknown]>([
  ['no object', []],
  ['another zone', { ...BODY, name: 'example.org.' }],
  ['no kind', { ...BODY, kind: undefined }],
  ['an id that is another path', { ...BODY, id: '../tsigkeys' }],
  ['masters that are no list', { ...BODY, masters: '192.0.2.1' }],
  ['no record sets', { ...BODY, rrsets: undefined }],
  ['a negative TTL', { ...BODY, rrsets: [{ ...RECORD, ttl: -1 }] }],
  ['a name that is none', { ...BODY, rrsets: [{ ...RECORD, name: 'a..b.example.com.' }] }],
  ['a record without content', { ...BODY, rrsets: [{ ...RECORD, records: [{}] }] }],
])('a zone with %s is refused', async (_, body) => {
  const provider = await providerFor((_path, response) => json(response, 200, body))
  await expect(provider.readZone(reference)).rejects.toMatchObject({
    code: 'provider-garbled',
    message: expect.stringContaining('reading example.com.'),
  })
})

test('records outside the zone, of unknown types or malformed, and the words of later versions', async () => {
  const rrsets = [
    RECORD,
    { ...RECORD, name: 'www.example.org.' },
    { ...RECORD, type: 'ADDR', records: [{ content: 'x' }] },
    { ...RECORD, name: 'bad.example.com.', ttl: 2 ** 32 - 1, records: [{ content: 'nonsense' }] },
    { ...RECORD, type: 'RRSIG', records: [{ content: 'x' }] },
  ]
  const provider = await providerFor((_path, response) => json(response, 200, { ...BODY, kind: 'Primary', rrsets }))
  const { records, unplanned, settings, signerRecords } = await provider.readZone(reference)
  expect(settings.type).toBe('master')
  expect(records.map(({ name: owner, ttl, data }) => `${owner} ${ttl} ${data}`)).toEqual([
    'www.example.com. 300 192.0.2.1',
    'bad.example.com. 2147483647 nonsense',
  ])
  expect(unplanned?.map(({ name: owner, type, reason }) => `${owner} ${type} ${reason}`)).toEqual([
    'www.example.com. ADDR has a type that only PowerDNS has',
    'www.example.org. A is outside the zone',
  ])
  expect(signerRecords?.map(({ type }) => type)).toEqual(['RRSIG'])
})

test('the zones of a list that no definition can describe are named', async () => {
  const provider = await providerFor((_path, response) =>
    json(response, 200, [BODY, { ...BODY, id: '=2E', name: '.' }, { ...BODY, id: 'x', name: 'a..b.' }]),
  )
  const { zones, unusable } = await provider.listZones()
  expect([zones.map((zone) => zone.name), unusable.map((zone) => zone.name)]).toEqual([[ZONE], ['.', 'a..b.']])
})

test('a new zone whose serial the server does not raise is created, with a warning', async () => {
  const soa = { ...RECORD, name: 'example.com.', type: 'SOA', records: [{ content: 'ns1. host. 1 2 3 4 5', disabled: false }] }
  const provider = await providerFor((path, response) =>
    path.endsWith('/example.com.') && ++requests > 1
      ? json(response, 422, { error: 'refused' })
      : json(response, 200, { ...BODY, rrsets: [soa] }),
  )
  let requests = 0
  const create = { subject: 'domain', action: 'create', name: ZONE, desired: {} } as unknown as ProviderCall['changes'][number]
  const { zone, problems } = await provider.apply(null, { changes: [create], rrsets: [] }, { lastSerial: 100 as SerialNumber })
  expect([zone?.id, problems]).toEqual([
    'example.com.',
    [expect.objectContaining({ code: 'apply-incomplete', message: expect.stringMatching(/serial may not be newer than 100: .*refused/) })],
  ])
})

test('a zone with records that no plan shows is not deleted', async () => {
  const paths: string[] = []
  const provider = await providerFor((path, response) => {
    paths.push(path)
    json(response, 200, { ...BODY, rrsets: [{ ...RECORD, type: 'ADDR', records: [{ content: 'x' }] }] })
  })
  const remove = { subject: 'domain', action: 'delete', name: ZONE } as unknown as ProviderCall['changes'][number]
  await expect(provider.apply(reference, { changes: [remove], rrsets: [] })).rejects.toMatchObject({
    code: 'provider-rejected',
    message: expect.stringContaining('www.example.com. ADDR has a type that only PowerDNS has'),
  })
  expect(paths).toHaveLength(1)
})

test('doctor recognises a PowerDNS Recursor, and an error never has the key', async () => {
  const recursor = await providerFor((_path, response) => json(response, 200, { daemon_type: 'recursor', version: '5.0' }))
  const usage = { zones: [ZONE], inventory: new Set<never>() }
  expect(await recursor.examine?.(usage, new Date())).toMatchObject([
    { status: 'error', message: expect.stringContaining('PowerDNS recursor, which has no zones to manage') },
  ])
  await server?.close()
  const echo = await providerFor((_path, response) => json(response, 422, { error: 'the key key-of-the-server is wrong' }))
  const [finding] = (await echo.examine?.(usage, new Date())) ?? []
  expect(finding?.message).toContain('the key *** is wrong')
})

/** Provider packages: whatever a package returns or throws becomes a canonical record or one clear error. */
import { expect, test } from 'vitest'
import { createGuard, type LoadedSecrets, redacted } from '../../src/base/secret-guard.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { API_VERSION, type PackageProvider, type ProviderPackage } from '../../src/providers/package/package-interface.ts'
import { packageType } from '../../src/providers/package/package-type.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { name } from '../support/records.ts'

const ORIGIN = name('example.com.')
const ZONE = { name: ORIGIN, id: 1, settings: {} }

const packageOf = (inner: Partial<PackageProvider>, more: Partial<ProviderPackage> = {}): ProviderPackage => ({
  apiVersion: API_VERSION,
  settings: { type: 'object' },
  capabilities: {},
  create: () => ({ address: 'test://', listZones: async () => [], readZone: async () => [], apply: async () => undefined, ...inner }),
  ...more,
})

const entryOf = (settings: string) => {
  const place = { file: 'zonewright.yaml', folder: process.cwd(), cwd: process.cwd() }
  const { config } = readConfig(`providers:\n  own: {type: npm:own${settings}}\n`, place)
  const entry = config?.providers.get('own')
  if (entry === undefined) throw new Error('invalid entry')
  return entry
}

const secretsOf = (env: Record<string, string> = {}): { folder: string; env: Record<string, string>; loaded: LoadedSecrets } => {
  return { folder: process.cwd(), env, loaded: { guard: createGuard(), hasLeaked: false } }
}

async function open(provided: ProviderPackage, settings = ''): Promise<Provider> {
  const { provider, diagnostics } = await packageType(provided, 'own').create(entryOf(settings), { secrets: secretsOf() })
  if (provider === null) throw new Error(diagnostics[0]?.message)
  return provider
}

test('records become canonical', async () => {
  const records = [
    { name: '@', type: 'MX', ttl: 300, data: '010 MAIL', id: 7 },
    { name: 'WWW.example.com.', type: 'AAAA', ttl: 60, data: '2001:DB8:0::1' },
  ]
  const provider = await open(packageOf({ readZone: async () => records }))
  expect((await provider.readZone(ZONE)).records).toEqual([
    { id: 7, name: 'example.com.', type: 'MX', ttl: 300, data: '10 mail.example.com.' },
    { id: undefined, name: 'www.example.com.', type: 'AAAA', ttl: 60, data: '2001:db8::1' },
  ])
})

test.each([
  ['a line break', { name: 'a', type: 'A', ttl: 1, data: '192.0.2.1\nb 1 IN A 192.0.2.2' }],
  ['invalid data', { name: 'a', type: 'A', ttl: 1, data: '192.0.2.256' }],
  ['a record outside the zone', { name: 'a.example.net.', type: 'A', ttl: 1, data: '192.0.2.1' }],
])('%s is a garbled answer', async (_, record) => {
  const provider = await open(packageOf({ readZone: async () => [record] }))
  await expect(provider.readZone(ZONE)).rejects.toMatchObject({ code: 'provider-garbled' })
})

test('zones with a wrong or a repeated name cannot be used', async () => {
  const zones = [{ name: 'Example.com.' }, { name: 'example.com.', id: 2 }, { name: 'not a name' }]
  const { zones: usable, unusable } = await (await open(packageOf({ listZones: async () => zones }))).listZones()
  expect([usable.map((zone) => zone.name), unusable.map((zone) => zone.reason)]).toEqual([
    ['example.com.'],
    ['has the name of another zone', 'is not a domain name'],
  ])
})

test('an unknown error of a call leaves its result unknown, and that of a read does not', async () => {
  const broken = async (): Promise<never> => {
    throw new TypeError('undefined is not a function')
  }
  const provider = await open(packageOf({ apply: broken, readZone: broken }))
  await expect(provider.apply(ZONE, { changes: [], rrsets: [] })).rejects.toMatchObject({ code: 'provider-failed', ambiguous: true })
  await expect(provider.readZone(ZONE)).rejects.toMatchObject({ code: 'provider-failed', ambiguous: false })
})

test('an error of another copy of the class keeps its fields', async () => {
  const foreign = Object.assign(new Error('slow down'), { code: 'provider-rate-limited', ambiguous: false, hint: 'wait' })
  const provider = await open(packageOf({ apply: async () => Promise.reject(foreign) }))
  await expect(provider.apply(ZONE, { changes: [], rrsets: [] })).rejects.toMatchObject({
    name: 'ProviderError',
    code: 'provider-rate-limited',
    hint: 'wait',
  })
})

test('after a stop nothing is sent', async () => {
  let calls = 0
  const provider = await open(
    packageOf({
      apply: async () => {
        calls += 1
        return undefined
      },
    }),
  )
  const stopped = provider.apply(ZONE, { changes: [], rrsets: [] }, { stop: AbortSignal.abort() })
  await expect(stopped).rejects.toMatchObject({ code: 'provider-stopped', notSent: true })
  expect(calls).toBe(0)
})

test('a secret is resolved, and registered for redaction', async () => {
  const secrets = secretsOf({ OWN_TOKEN: 'a-secret-of-the-package' })
  let seen = ''
  const provided = packageOf(
    {},
    {
      async create({ resolveSecret, settings }) {
        seen = await resolveSecret(String(settings['token']))
        return packageOf({}).create({} as never)
      },
    },
  )
  const { provider } = await packageType(provided, 'own').create(entryOf(', token: env:OWN_TOKEN'), { secrets })
  expect([provider?.name, seen]).toEqual(['own', 'a-secret-of-the-package'])
  expect(redacted(secrets.loaded, 'sent a-secret-of-the-package')).not.toContain('a-secret')
  const missing = await packageType(provided, 'own').create(entryOf(', token: env:OTHER'), { secrets })
  expect([missing.provider, missing.diagnostics[0]?.code]).toEqual([null, 'secret-missing'])
})

test('its hosts are checked like those of any provider', () => {
  const hosts = () => ['https://api.example.net/v1', 'ns1.example.net:5353']
  const endpoints = packageType(packageOf({}, { hosts }), 'own').endpoints(entryOf(''))
  expect(endpoints.map(({ endpoint }) => endpoint)).toEqual([
    { scheme: 'https', host: 'api.example.net', port: 443 },
    { scheme: 'dns', host: 'ns1.example.net', port: 5353 },
  ])
})

test.each<[string, ProviderPackage['hosts']]>([
  ['fails', () => expect.unreachable()],
  ['is no list', () => 'api.example.net' as never],
  ['names no host', () => ['ftp://api.example.net']],
])('a package whose list of hosts %s is refused', (_, hosts) => {
  const type = packageType(packageOf({}, { hosts: hosts as () => readonly string[] }), 'own')
  expect(type.checkSettings(entryOf('')).map(({ code }) => code)).toEqual(['host-not-allowed'])
  expect(type.endpoints(entryOf(''))).toEqual([])
})

test('capabilities of a wrong type are refused, and calls are completed', () => {
  const of = (capabilities: object) => packageType(packageOf({}, { capabilities }), 'own').capabilities
  for (const wrong of [{ types: ['A'] }, { createsZones: 'yes' }, { calls: null }, { maxRecords: '9' }, { rules: [], ttlSteps: 300 }])
    expect(() => of(wrong), JSON.stringify(wrong)).toThrow('has the wrong type')
  expect(of({ types: new Set(['A']), calls: { atomic: true } }).calls).toMatchObject({ unit: 'rrset', maxUnits: null, atomic: true })
})

test('what cannot be in a plan or journal is one clear error', async () => {
  const provider = await open(
    packageOf({
      listZones: async () => [{ name: 'example.com.', id: 1n as never }],
      readZone: async () => [{ name: '@', type: 'A', ttl: 1, data: '192.0.2.1', id: {} as never }],
      apply: async () => ({ changes: [{ id: 1n as never }] }),
      close: () => Promise.reject(new Error('no')),
    }),
  )
  await expect(provider.listZones()).rejects.toMatchObject({ code: 'provider-failed', ambiguous: false })
  await expect(provider.readZone(ZONE)).rejects.toMatchObject({ code: 'provider-failed', ambiguous: false })
  await expect(provider.apply(ZONE, { changes: [], rrsets: [] })).rejects.toMatchObject({ code: 'provider-failed', ambiguous: true })
  await expect(provider.close()).rejects.toMatchObject({ code: 'provider-failed' })
  expect((await open(packageOf({ parallelism: -1 }))).parallelism).toBe(4)
})

test('a request that never ends is given up when it is aborted, and may have been carried out if it changes something', async () => {
  const never = (): Promise<never> => new Promise(() => undefined)
  const provider = await open(packageOf({ readZone: never, apply: never }))
  const signal = AbortSignal.abort()
  await expect(provider.readZone(ZONE, { signal })).rejects.toMatchObject({ code: 'provider-stopped', ambiguous: false })
  const call = provider.apply(ZONE, { changes: [], rrsets: [] }, { signal })
  await expect(call).rejects.toMatchObject({ code: 'provider-stopped', ambiguous: true, mayCompleteLater: true })
})

test('the parallelism of the config is used', async () => {
  expect((await open(packageOf({ parallelism: 2 }))).parallelism).toBe(2)
  expect((await open(packageOf({ parallelism: 2 }), ', parallelism: 9')).parallelism).toBe(9)
})

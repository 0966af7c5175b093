import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { noSecrets, redacted } from '../../src/base/secret-guard.ts'
import type { ProviderConfig } from '../../src/config/config.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { capabilitiesOf, checkSettings, createProvider, PROVIDER_TYPES } from '../../src/providers/registry.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8')

describe('the types of providers', () => {
  const schema = JSON.parse(read('schemas/config.schema.json'))

  it('are those of the schema', () => {
    expect(schema.definitions.provider.properties.type.else.enum).toEqual([...PROVIDER_TYPES].sort())
  })

  it('each have a folder with their name, and no other folder has a schema', () => {
    const folders = readdirSync(resolve(root, 'src/providers'), { recursive: true })
      .map(String)
      .filter((path) => path.endsWith('settings.schema.json'))
    expect(folders.map((path) => path.split('/')[0]).sort()).toEqual([...PROVIDER_TYPES].sort())
  })

  const documents = [
    'README.md',
    ...readdirSync(resolve(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ]
  const fences = documents.flatMap((document) =>
    [...read(document).matchAll(/^```yaml[^\n]*\n(.*?)^```$/gms)].map(([, text = '']) => ({ document, text })),
  )
  const configs = fences.filter(({ text }) => /^providers:/m.test(text) && !text.includes('class:'))

  test('are the only ones in the documents', () => {
    expect(configs.length).toBeGreaterThan(10)
    const types = configs.flatMap(({ document, text }) => {
      const { providers } = (() => {
        try {
          return parse(text) as { providers?: unknown }
        } catch {
          // An example of a syntax error.
          return {}
        }
      })()
      return Object.values(providers ?? {}).flatMap(({ type }: { type?: string }) => (type === undefined ? [] : [`${document} ${type}`]))
    })
    expect(types.filter((text) => !PROVIDER_TYPES.includes(text.split(' ')[1] ?? '') && !/ npm:[a-z-]+$/.test(text))).toEqual([])
  })

  test('are all in docs/configuration.md', () => {
    const text = read('docs/configuration.md')
    expect(PROVIDER_TYPES.filter((type) => !text.includes(`[\`${type}\`](providers.md#${type})`))).toEqual([])
  })
})

test('settings that are no secrets may be variables, and hosts in them are checked', async () => {
  const text = `providers:
  pdns: {type: powerdns, base_url: env:URL, api_key: env:KEY}
  own: {type: rfc2136, server: 192.0.2.1, tsig: {name: env:NAME, secret: env:KEY}}
  azure: {type: azure, resource_group: env:GROUP, subscription: env:ID, tenant: env:ID, client_id: env:NAME, client_secret: env:KEY}
`
  const { config, diagnostics } = readConfig(text, { file: 'zonewright.yaml', folder: '/srv', cwd: '/srv' })
  expect([...diagnostics, ...[...(config?.providers.values() ?? [])].flatMap(checkSettings)]).toEqual([])
  const make = async (name: string, env: Record<string, string>) => {
    const secrets = { folder: '/srv', env: { KEY: 'c2VjcmV0', ...env }, loaded: noSecrets() }
    const { provider, diagnostics: found } = await createProvider(config?.providers.get(name) as ProviderConfig, { secrets })
    await provider?.close()
    // Plans may have it, such as in the identifiers of records.
    expect(redacted(secrets.loaded, String(env['ID']))).toBe(String(env['ID']))
    return found.map(({ message }) => message)
  }
  const env = { URL: 'https://dns.example.net', NAME: 'key', GROUP: 'dns', ID: '11111111-1111-4111-8111-111111111111' }
  for (const name of config?.providers.keys() ?? []) expect(await make(name, env)).toEqual([])
  expect(await make('own', {})).toEqual(['providers.own.tsig.name: the environment variable NAME is not set'])
  expect(await make('azure', { ...env, ID: '../x' })).toHaveLength(1)
  expect(await make('pdns', { URL: 'secret' })).toEqual(['providers.pdns.base_url: is not a URL'])
  expect(await make('pdns', { ...env, ZONEWRIGHT_ALLOWED_HOSTS: 'dns.example.com:443' })).toEqual([
    expect.stringContaining('dns.example.net'),
  ])
})

test.each<[name: string, url: string, expected: string[]]>([
  ['a valid address', 'https://dns.example.net/v4', []],
  ['loopback', 'http://127.0.0.1:8080/v4', []],
  ['no URL', 'cloud', ['2:48 schema-value']],
  ['another scheme', 'ftp://192.0.2.1/v4', ['2:48 schema-value']],
  ['a password', 'https://u:p@dns.example.net/v4', ['2:48 schema-value']],
  ['a query', 'https://dns.example.net/v4?x', ['2:48 schema-value']],
  ['plain HTTP', 'http://dns.example.net/v4', ['2:48 insecure-url']],
])('the settings of a cloud provider: %s', (_, url, expected) => {
  const { config } = readConfig(`providers:\n  cloud: {type: cloud, token: env:T, base_url: ${JSON.stringify(url)}}\n`, {
    file: 'zonewright.yaml',
    folder: '/srv',
    cwd: '/srv',
  })
  const found = [...(config?.providers.values() ?? [])].flatMap(checkSettings)
  expect(found.map(({ code, at }) => `${at?.line}:${at?.column} ${code}`)).toEqual(expected)
})

test.each([
  ['{type: route53}', true],
  ['{type: route53, zone_type: private}', false],
  ['{type: route53, zone_type: private, vpc: {id: vpc-1, region: eu-west-1}}', true],
  ['{type: cloudflare, token: env:T}', false],
  ['{type: cloudflare, token: env:T, account_id: env:A}', true],
  ['{type: google, project: p, visibility: private}', false],
  ['{type: azure, subscription: 11111111-1111-4111-8111-111111111111, resource_group: g, visibility: private}', false],
])('the settings %s decide whether zones are created: %s', (settings, creates) => {
  const { config } = readConfig(`providers: {p: ${settings}}\n`, { file: 'zonewright.yaml', folder: root, cwd: root })
  expect(capabilitiesOf(config?.providers.get('p'))?.createsZones).toBe(creates)
})

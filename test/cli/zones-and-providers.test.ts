import { describe, expect, test } from 'vitest'
import { validate as validateProviders } from '../../generated/providers-schema.js'
import { validate as validateZones } from '../../generated/zones-schema.js'
import { PROVIDER_TYPES } from '../../src/providers/registry.ts'
import { folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'

const CONFIG = `providers:
  lab: {type: rfc2136, server: 192.0.2.53, tsig: {name: k., secret: env:LAB_KEY}}
  cloud: {type: cloud, base_url: 'https://dns.example.net/v4', token: env:TOKEN}
defaults: {soa_email: hostmaster@example.com}
zones:
  - {files: zones/*.yaml, targets: [cloud]}
`

const FILES = {
  'zonewright.yaml': CONFIG,
  'zones/example.org.yaml':
    'domain: example.org\ntargets: [lab, cloud]\npolicy: upsert-only\nrecords: {www: {type: A, value: 192.0.2.1}}\n',
  'zones/example.com.yaml':
    'domain: example.com\ninclude: [shared.yaml]\nunmanaged: [{name: _acme-challenge*, type: TXT}]\nrecords: {www: {type: A, values: [192.0.2.1, 192.0.2.2]}}\n',
  'zones/shared.yaml': 'mail: {type: A, value: 192.0.2.3}\n',
  'zones/example.net.yaml': 'domain: example.net\nabsent: true\n',
}

// The environment has no secret and the addresses no server: nothing is contacted.
const run = (files: Readonly<Record<string, string>>, ...args: string[]) => cli([...args, '--no-color'], { cwd: folderWith(files) })

describe('zones', () => {
  test('lists every zone with its targets, policy and files', async () => {
    const { stdout } = expectEnd(await run(FILES, 'zones'), 0, { err: '' })
    expect(stdout).toBe(
      [
        'zone          targets     policy                      records  files',
        'example.com.  cloud       sync, 1 unmanaged selector        3  zones/example.com.yaml, zones/shared.yaml',
        'example.net.  cloud       deleted                           0  zones/example.net.yaml',
        'example.org.  lab, cloud  upsert-only                       1  zones/example.org.yaml',
        '',
        '3 zones.',
        '',
      ].join('\n'),
    )
  })

  test('as JSON, with a schema', async () => {
    const { stdout } = await run(FILES, 'zones', '--format', 'json', '--target', 'lab')
    const document = JSON.parse(stdout)
    expect([validateZones(document), validateZones.errors]).toEqual([true, null])
    expect(document.zones).toEqual([
      {
        zone: 'example.org.',
        absent: false,
        files: ['zones/example.org.yaml'],
        owner: null,
        targets: ['lab', 'cloud'],
        policy: 'upsert-only',
        records: 1,
        unmanaged: 0,
        valid: true,
      },
    ])
  })

  test('a definition with an error is listed as such', async () => {
    const files = { ...FILES, 'zones/example.org.yaml': 'domain: example.org\nrecords: {www: {type: A, value: nonsense}}\n' }
    expectEnd(await run(files, 'zones', 'example.org'), 1, { err: 'example.org.yaml:2:', out: 'has errors' })
  })
})

describe('providers', () => {
  test('shows what each provider of the config can hold, in its order', async () => {
    expectEnd(await run(FILES, 'providers'), 0, {
      err: '',
      out: [/^lab \(rfc2136\)\n(?:.+\n)+\ncloud \(cloud\)\n(?:.+\n)+$/, /^ {2}records in a zone +at most 12,000$/m, /A AAAA CAA CNAME MX/],
    })
  })

  test('by name, and as JSON with a schema', async () => {
    const { stdout } = await run(FILES, 'providers', 'lab', '--format', 'json')
    const document = JSON.parse(stdout)
    expect([validateProviders(document), validateProviders.errors]).toEqual([true, null])
    expect(document.providers).toMatchObject([{ name: 'lab', type: 'rfc2136', types: null, calls: { atomic: true } }])
    const reason = 'the server maintains these records itself'
    expect(document.providers[0].refusedTypes).toContainEqual({ types: ['CDNSKEY', 'CDS', 'DNSKEY'], atApex: true, reason })
  })

  test('with --all every type, without a config', async () => {
    const { status, stdout } = await run({}, 'providers', '--all', '--format', 'json')
    const document = JSON.parse(stdout)
    expect([status, validateProviders(document), validateProviders.errors]).toEqual([0, true, null])
    expect(document.providers.map(({ type }: { type: string }) => type)).toEqual([...PROVIDER_TYPES].sort())
  })
})

test.each([
  ['a zone that is not defined', ['zones', 'missing.example'], 'missing.example'],
  ['an unknown target', ['zones', '--target', 'clod'], 'cloud'],
  ['an unknown name', ['providers', 'clod'], 'cloud'],
  ['a name with --all', ['providers', 'cloud', '--all'], 'exclude each other'],
])('%s is an error', async (_, args, text) => {
  const { stdout } = expectEnd(await run(FILES, ...args), 1, { err: text })
  if (args[0] === 'providers') expect(stdout).toBe('')
})

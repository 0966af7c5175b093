/** The types of `zonewright/definition`, as the compiler of a user reads them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { parseCsv } from '../../src/base/csv.ts'
import { definitionPrelude } from '../../src/programs/definition/prelude.ts'
import { TYPE_FUNCTIONS } from '../../src/programs/definition/run-definition.ts'
import type { SandboxHost } from '../../src/programs/sandbox/sandbox.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const root = resolve(import.meta.dirname, '../..')

const PROGRAM = `import { A, caa, CAA, dkim, ip, load, LOC, loc, MX, record, reverse, spf, SRV, TXT, type Records, zone } from 'zonewright/definition'
const hosts = load('hosts.csv')
const mail = (): Records => [MX('@', { preference: 10, exchange: 'mx' }), TXT('@', spf({ mx: true, all: '-all' }))]
zone('example.com', { soa_email: 'hostmaster@example.com', default_ttl: '1h', unmanaged: [{ name: '_acme-challenge*' }] }, [
  A('@', ['192.0.2.1', ip.add('192.0.2.1', 1)], { ttl: 300, owner: 'web', cloudflare: { proxied: true } }),
  hosts.filter((h) => h['site'] === 'ams').map((h) => A(h['name']!, h['ip']!)),
  mail(), CAA('@', caa({ issue: 'ca.example' })), LOC('@', loc({ latitude: 1, longitude: 2 })), TXT('k._domainkey', dkim({ p: 'AAAA' })),
  SRV('_x._tcp', { priority: 1, weight: 1, port: 1, target: 'x' }), record('x', 'TYPE65280', '\\\\# 0'),
])
reverse('192.0.2.0/24', [{ name: 'www', ip: '192.0.2.1' }], { domain: 'example.com', default_ttl: 60 })
// @ts-expect-error: no text
A('@', 5)
// @ts-expect-error: the exchange is missing
MX('@', { preference: 10 })
// @ts-expect-error: no setting
zone('example.net', { soa_mail: 'x' }, [])
// @ts-expect-error: no option
A('@', '192.0.2.1', { tll: 5 })
// @ts-expect-error: no mechanism
spf({ al: '-all' })
// @ts-expect-error: no record
zone('example.net', {}, ['192.0.2.1'])
`

test('correct programs compile, and mistakes do not', () => {
  const folder = temporaryDirectory()
  execFileSync(process.execPath, ['-e', "import('./scripts/definition-types.mjs').then((one) => one.writeDefinitionTypes())"], {
    cwd: root,
  })
  mkdirSync(join(folder, 'node_modules/zonewright'), { recursive: true })
  writeFileSync(join(folder, 'node_modules/zonewright/definition.d.ts'), readFileSync(join(root, 'generated/definition.d.ts')))
  writeFileSync(
    join(folder, 'node_modules/zonewright/package.json'),
    JSON.stringify({ name: 'zonewright', exports: { './definition': { types: './definition.d.ts' } } }),
  )
  writeFileSync(join(folder, 'zone.ts'), PROGRAM)
  const flags = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--noUncheckedIndexedAccess',
    '--target',
    'es2023',
    '--module',
    'preserve',
    '--types',
    '',
  ]
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  expect(spawnSync(process.execPath, [tsc, ...flags, 'zone.ts'], { cwd: folder, encoding: 'utf8' }).stdout).toBe('')
})

test('the reference page is made of them', async () => {
  const { referenceOf, writeDefinitionTypes } = await import('../../scripts/definition-types.mjs')
  expect(readFileSync(join(root, 'docs/programs/reference.md'), 'utf8')).toBe(referenceOf(await writeDefinitionTypes()))
})

test('they declare what programs can import', () => {
  const text = readFileSync(join(root, 'generated/definition.d.ts'), 'utf8')
  const declared = [...text.matchAll(/^export declare (?:function|const) (\w+)/gm)].map(([, name]) => name)
  const host = { exports: {}, variables: {} } as unknown as SandboxHost
  definitionPrelude(host, TYPE_FUNCTIONS, parseCsv)
  expect([...new Set(declared)].sort()).toEqual(Object.keys(host.exports).sort())
})

/** `plan --compare-targets`: what the targets of each zone can hold, without a server and without a secret. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { startCloudflareScene } from '../providers/cloudflare/scene.ts'
import type { ScriptedScene } from '../providers/scripted-scene.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const ZONE = `domain: example.com
records:
  '': [{type: NS, ttl: 86400, values: [ns1.example.net., ns2.example.net.]}, {type: ALIAS, ttl: 300, value: host.example.net.}]
  www: {type: A, ttl: 100, values: [192.0.2.1, 192.0.2.2]}
  place: {type: URI, ttl: 300, value: {priority: 10, weight: 1, target: 'https://example.com/'}}
`

function workspace(definition = ZONE) {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    `providers:
  cloud: {type: cloud, base_url: 'https://api.example.net/v4', token: env:CLOUD_TOKEN}
  own: {type: rfc2136, server: 192.0.2.53, tsig: {name: key., secret: env:DNS_KEY}}
  files: {type: zonefile, directory: served}
zones:
  - {files: zones/example.com.yaml, targets: [cloud, own]}
  - {files: zones/*.yaml, targets: [cloud]}
`,
  )
  writeFileSync(join(folder, 'zones/example.com.yaml'), definition)
  writeFileSync(join(folder, 'zones/other.example.yaml'), 'domain: other.example\nrecords: {}\n')
  return (...args: string[]) => cli(['plan', '--compare-targets', '--no-color', ...args], { cwd: folder, env: {} })
}

test('what differs is side by side, and each target says what it does not support', async () => {
  const { status, stdout, stderr } = await workspace()()
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toContain('cloud and own (1 zone)\n')
  expect(stdout).toMatch(/ {2}TTLs\n {4}cloud {2}the nearest of 300 3,600 .*\n {4}own {4}any; a record without one gets the default/)
  expect(stdout).toMatch(/ {2}record types\n {4}cloud {2}A AAAA CAA CNAME MX NS PTR SRV TXT\n {4}own {4}all except ALIAS/)
  expect(stdout).toMatch(/ {2}records in a zone\n {4}cloud {2}at most 12,000\n {4}own {4}no limit\n/)
  expect(stdout).toMatch(/ {2}alike: .*ALIAS records/)
  expect(stdout).toContain('cloud supports example.com. only with these changes:')
  expect(stdout).toMatch(/ {2}changed +2 {2}www A +TTL 100 becomes 300\n/)
  expect(stdout).not.toMatch(/ {2}(?:changed|left out) +0 /)
  expect(stdout).toMatch(/ {2}left out +2 {2}@ NS +cloud sets its own apex NS records\n/)
  expect(stdout).toMatch(/ {2}left out +1 {2}place URI +cloud does not support URI records\n/)
  expect(stdout).toMatch(/own supports example\.com\. only with these changes:\n.*\n {2}left out +1 {2}@ ALIAS /)
})

test('--verbose shows what is alike', async () => {
  const { stdout } = await workspace()('--verbose')
  expect(stdout).toMatch(/ {2}ALIAS records\n {4}cloud {2}none\n {4}own {4}none\n/)
  expect(stdout).not.toContain('alike:')
})

test('as Markdown, with the text of users escaped', async () => {
  const hostile = ZONE.replace('place:', "'a|<b>':")
  const { status, stdout } = await workspace(hostile)('--format', 'markdown')
  expect(status).toBe(0)
  expect(stdout).toContain('### <code>cloud</code>, <code>own</code>: 1 zone\n')
  expect(stdout).toContain('| records in a zone | <code>at most 12,000</code> | <code>no limit</code> |\n')
  expect(stdout).toMatch(/\| <code>example\.com\.<\/code> \| <code>cloud<\/code> \| changed \| 2 \| <code>www A<\/code> \|/)
  expect(stdout).not.toContain('<b>')
})

test('as JSON, by its schema', async () => {
  const run = workspace()
  const { stdout } = await run('--format', 'json')
  const document = JSON.parse(stdout)
  const read = (name: string) => readFileSync(resolve(import.meta.dirname, `../../schemas/${name}.schema.json`), 'utf8')
  const schemas = ['plan', 'comparison'].map((name) => JSON.parse(read(name)))
  const ajv = new Ajv2020({ schemas, strict: false, validateFormats: false })
  expect([ajv.validate('https://zonewright.example/schemas/comparison.schema.json', document), ajv.errors]).toEqual([true, null])
  expect(document.groups[0].targets).toEqual([
    { name: 'cloud', type: 'cloud' },
    { name: 'own', type: 'rfc2136' },
  ])
  expect(document.groups[0].zones[0].misfits).toContainEqual({
    target: 'cloud',
    ...{ name: 'www.example.com.', type: 'A', records: 2, state: 'ttl', reason: 'TTL 100 becomes 300' },
  })
  const broken = await workspace('domain: example.com\nrecords: {www: {type: A, value: x}}\n')('--format', 'json')
  expect([broken.status, JSON.parse(broken.stdout)]).toMatchObject([1, { groups: [], diagnostics: [{ severity: 'error' }] }])
})

test('without a zone at two targets there is nothing to compare', async () => {
  const none = await workspace()('other.example')
  expect([none.status, none.stdout, none.stderr]).toEqual([0, '', 'No zone has more than one target: there is nothing to compare.\n'])
})

test.each([
  ['--format', 'html'],
  ['--out', 'plan.json'],
  ['--target', 'own'],
])('%s %s is refused', async (...args) => {
  const refused = await workspace()(...args)
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('error[usage] --compare-targets has the formats text')])
})

/** `copy` from a scripted cloud to a folder: what the source has and the copy does not. */
const WWW = { type: 'A', name: 'www', content: '192.0.2.1', ttl: 300 }
const addProvider = ({ folder }: ScriptedScene, line: string): void => appendFileSync(join(folder, 'zonewright.yaml'), line)

const CASES: readonly (readonly [loss: string, open: () => Promise<ScriptedScene>, row: string])[] = [
  [
    'a record that plans leave alone',
    async () => {
      const scene = await startCloudflareScene({ posts: [WWW, { ...WWW, name: 'cdn' }] })
      for (const { name, meta } of scene.records()) if (name.startsWith('cdn')) Object.assign(meta, { read_only: true })
      return scene
    },
    'left out        1  cdn A  at cf it is managed by Cloudflare itself',
  ],
  [
    'settings of a record',
    () => startCloudflareScene({ posts: [WWW, { ...WWW, name: 'cdn', proxied: true, ttl: 1 }] }),
    'changed        1  cdn A  at cf it has the settings proxied',
  ],
  [
    'a record with malformed data',
    async () => {
      const scene = await startCloudflareScene({ posts: [WWW, { ...WWW, name: 'cdn' }] })
      Object.assign(scene.records().find(({ name }) => name.startsWith('cdn')) as object, { content: '192.0.2.256' })
      return scene
    },
    'left out        1  cdn A  at cf it has data that no definition can have',
  ],
]

describe('what the source has and the copy does not is in the table', () => {
  test.each(CASES)('%s stops the copy, unless it is lossy', async (_, open, row) => {
    const scene = await open()
    mkdirSync(join(scene.folder, 'served'))
    addProvider(scene, '  files: {type: zonefile, directory: served}\n')
    const copy = (...more: string[]) =>
      scene.run(['copy', '--from', 'cf', '--to', 'files', 'example.com', '--apex-ns', 'ns1.example.net', ...more])
    expectEnd(await copy('--yes'), 1, { err: [row, /error\[record-unplanned\] cdn\.example\.com\. A: .* not copied \(.*--lossy\)/] })
    expect(existsSync(join(scene.folder, 'served/example.com.zone'))).toBe(false)
    expectEnd(await copy('--yes', '--lossy'), 0, { err: 'warning[record-unplanned]' })
    expect(readFileSync(join(scene.folder, 'served/example.com.zone'), 'utf8')).toMatch(/^www\s/m)
  })
})

test('settings of records are copied to the same type of provider', async () => {
  const scene = await startCloudflareScene({ posts: [{ ...WWW, proxied: true, ttl: 1, comment: 'web' }] })
  const other = await startCloudflareScene({})
  addProvider(scene, `  new: {type: cloudflare, base_url: '${other.server.origin}/client/v4', token: env:TOKEN}\n`)
  expect(await scene.run(['copy', '--from', 'cf', '--to', 'new', 'example.com', '--yes'])).toMatchObject({ status: 0, stderr: '' })
  expect(other.records()).toMatchObject([{ content: '192.0.2.1', proxied: true, comment: 'web' }])
})

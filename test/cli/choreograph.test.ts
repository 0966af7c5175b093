/** `apply --choreograph`: a change in stages, with a clock that the test moves. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RFC2136_CAPABILITIES } from '../../src/providers/rfc2136/capabilities.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { startBind, TEST_KEY } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { dig, transferZone } from '../support/tools.ts'
import { openScene, type SceneOptions } from './scene.ts'

const zone = (address: string, more = ''): string =>
  `domain: example.com\nsoa_email: hostmaster@example.com\nrecords:\n  www: {type: A, ttl: 1h, value: ${address}}\n  mail: {type: A, ttl: 300, value: ${address}}\n  kept: {type: A, ttl: 1d, value: 192.0.2.9}\n${more}`

const START = Date.UTC(2026, 10, 23, 12)

/** A zone that is applied at the start. */
async function open(options: SceneOptions = {}) {
  let now = 0
  const scene = openScene({ files: { 'zones/example.com.yaml': zone('192.0.2.1') }, ...options, now: () => new Date(START + now * 1000) })
  /** Runs the program at a time in seconds after the start. */
  const at = (seconds: number, ...args: string[]): Promise<CliResult> => {
    now = seconds
    return scene.run(...args, '--no-color')
  }
  expect((await at(0, 'apply', '--yes')).status).toBe(0)
  const define = (address: string): void => scene.write({ 'zones/example.com.yaml': zone(address) })
  return { scene, at, define, stages: () => readdirSync(join(scene.folder, '.zonewright/stages')) }
}

const choreograph = ['apply', '--choreograph', '--yes', '--allow', 'updates']

test('lowers the TTLs, waits for the old ones, changes the records, waits again and restores the TTLs', async () => {
  const { at, define, stages } = await open()
  define('192.0.2.2')

  expectEnd(await at(0, ...choreograph), 2, {
    err: ['step 1 of 3, lower the TTL of www A to 5 min', 'Safe to go on after 2026-11-23 13:00:0'],
    out: /- www {2}3600 +A +192\.0\.2\.1\n +\+ www +300 +A +192\.0\.2\.1\n/,
  })
  expect(stages()).toHaveLength(1)

  expectEnd(await at(3000, ...choreograph), 2, { err: /Safe to go on after 2026-11-23 13:00:0\dZ \(in 10 min/, out: '' })

  expectEnd(await at(3605, ...choreograph), 2, { err: 'step 2 of 3', out: /- www +300 +A +192\.0\.2\.1\n +\+ www +300 +A +192\.0\.2\.2\n/ })

  expect((await at(3700, ...choreograph)).status).toBe(2)
  const restored = await at(3910, ...choreograph)
  expect([restored.status, restored.stderr]).toEqual([0, expect.stringContaining('step 3 of 3')])
  expect(restored.stdout).toMatch(/- www +300 +A +192\.0\.2\.2\n +\+ www +3600 +A +192\.0\.2\.2\n/)
  expect(stages()).toEqual([])
  expect((await at(3911, 'plan', '--detailed-exitcode')).status).toBe(0)
})

test('a change that no cache holds for long is made in one step', async () => {
  const { scene, at } = await open()
  const more = zone('192.0.2.1', '  new: {type: A, value: 192.0.2.5}\n').replace('300, value: 192.0.2.1', '300, value: 192.0.2.2')
  scene.write({ 'zones/example.com.yaml': more })
  expectEnd(await at(0, ...choreograph), 0, { out: '1 created, 1 updated' })
})

test('if another client raises a TTL while caches forget, the wait begins again', async () => {
  const { at, define } = await open()
  define('192.0.2.2')
  expect((await at(0, ...choreograph)).status).toBe(2)
  define('192.0.2.1')
  expect((await at(10, 'apply', '--yes', '--allow', 'updates')).status).toBe(0)
  define('192.0.2.2')
  expectEnd(await at(3605, ...choreograph), 2, { err: ['step 1 of 3', 'after 2026-11-23 14:00:0'] })
})

test('a run that was killed while it lowered the TTLs: the wait begins when the next run finds them lowered', async () => {
  const { scene, at, define, stages } = await open()
  define('192.0.2.2')
  // The state on the disk while the TTLs are lowered.
  const file = () => join(scene.folder, '.zonewright/stages', stages().find((one) => !one.startsWith('.')) ?? '')
  let during = ''
  scene.memory.use(({ kind }) => {
    if (kind === 'write') during ||= readFileSync(file(), 'utf8')
    return null
  })
  expect((await at(0, ...choreograph)).status).toBe(2)
  expect(JSON.parse(during)).toMatchObject({ stage: 'lowering' })
  writeFileSync(file(), during)
  expectEnd(await at(1200, ...choreograph), 2, { err: 'Safe to go on after 2026-11-23 13:20:0' })
  expect((await at(3700, ...choreograph)).stderr).toContain('step 1 of 3 is done')
  expect((await at(4900, ...choreograph)).stderr).toContain('step 2 of 3, change')
})

test('a low TTL that the target rounds up is the TTL of the stages', async () => {
  const { at, define } = await open()
  define('192.0.2.2')
  expectEnd(await at(0, ...choreograph, '--low-ttl', '60'), 2, { err: 'step 1 of 3, lower the TTL of www A to 5 min' })
  expectEnd(await at(3605, ...choreograph, '--low-ttl', '60'), 2, { err: ['step 2 of 3', 'Safe to go on after 2026-11-23 13:05:0'] })
})

test('--stay with a report that is a document is refused: there would be one for each stage', async () => {
  const { at } = await open()
  const { stdout } = expectEnd(await at(0, ...choreograph, '--stay', '--format', 'json'), 1, { err: 'use it with --format text' })
  expect(JSON.parse(stdout).diagnostics).toHaveLength(1)
})

test('a state file that is not valid, and a saved plan, are refused', async () => {
  const { scene, at, define, stages } = await open()
  define('192.0.2.2')
  expect((await at(0, 'plan', '--out', 'plan.json')).status).toBe(0)
  expectEnd(await at(0, 'apply', 'plan.json', '--choreograph', '--yes'), 1, { err: 'a saved plan is applied as it is' })
  expect((await at(0, ...choreograph)).status).toBe(2)
  const [file = ''] = stages()
  writeFileSync(join(scene.folder, '.zonewright/stages', file), '{"format": "zonewright-stages"}')
  expectEnd(await at(9999, ...choreograph), 1, { err: `${file} is not valid` })
})

describeWithTools(['named', 'dig'], 'with --stay', () => {
  test('one command does all stages, and a name server has the TTLs of the definition at the end', async () => {
    const text =
      '$TTL 60\n@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300\n@ NS ns1.example.net.\nwww 3 A 192.0.2.1\n'
    const bind = await startBind({ zones: [{ name: 'example.com', text }], key: TEST_KEY })
    const folder = temporaryDirectory()
    const lab = `{type: rfc2136, server: '127.0.0.1:${bind.port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}}`
    mkdirSync(join(folder, 'zones'))
    writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  lab: ${lab}\n`)
    writeFileSync(join(folder, 'zones/example.com.yaml'), 'domain: example.com\nrecords:\n  www: {type: A, ttl: 3, value: 192.0.2.2}\n')
    const args = ['apply', '--choreograph', '--low-ttl', '1', '--stay', '--yes', '--no-color', '--allow', 'updates']
    const began = Date.now()
    const done = await cli(args, { cwd: folder, env: { LAB_KEY: TEST_KEY.secret } })
    expect([done.status, done.stderr]).toEqual([0, expect.stringMatching(/step 1 of 3[\s\S]*step 2 of 3[\s\S]*step 3 of 3/)])
    expect(Date.now() - began).toBeGreaterThanOrEqual(4000)
    expect(await dig({ port: bind.port, name: 'www.example.com', type: 'A' })).toEqual(['192.0.2.2'])
    const transfer = await transferZone({ port: bind.port, name: 'example.com', key: TEST_KEY })
    expect(transfer.map((line) => line.replace(/\s+/g, ' '))).toContain('www.example.com. 3 IN A 192.0.2.2')
  })
})

test('a record of another type at the name has the low TTL first', async () => {
  const { scene, at } = await open()
  const text = zone('192.0.2.1').replace('{type: A, ttl: 1h, value: 192.0.2.1}', '{type: CNAME, ttl: 1h, value: kept}')
  scene.write({ 'zones/example.com.yaml': text })
  const run = [...choreograph, '--allow', 'deletes']
  const www = () => scene.memory.zone('example.com')?.filter((line) => line.startsWith('www'))
  expect((await at(0, ...run)).status).toBe(2)
  expect((await at(3605, ...run)).status).toBe(2)
  expect(www()).toEqual(['www.example.com. 300 CNAME kept.example.com.'])
  expect((await at(3910, ...run)).status).toBe(0)
  expect(www()).toEqual(['www.example.com. 3600 CNAME kept.example.com.'])
})

test.each([
  ['{type: A, target: 192.0.2.8}', 'shared', 'A', '192.0.2.8', '192.0.2.2'],
  ['{preset: acme}', '_acme-challenge.www', 'TXT', '"theirs"', 'ours'],
])('an RRset with records of %s has their TTL, so it is changed in one step', async (selector, owner, type, theirs, value) => {
  const { scene, at } = await open({ capabilities: RFC2136_CAPABILITIES, zones: { 'example.com': '' } })
  scene.memory.add('example.com', `${owner} 3600 ${type} ${theirs}`)
  const more = `  ${owner}: {type: ${type}, ttl: 1h, value: ${value}}\nunmanaged: [${selector}]\n`
  scene.write({ 'zones/example.com.yaml': zone('192.0.2.1', more) })
  expectEnd(await at(0, ...choreograph), 0)
  expect(scene.memory.zone('example.com')).toContain(`${owner}.example.com. 3600 ${type} ${theirs}`)
})

test('a low TTL that the server does not store is lowered once', async () => {
  const { scene, at } = await open({ capabilities: RFC2136_CAPABILITIES, zones: { 'example.com': '' } })
  scene.memory.use(({ kind }, { zone: held, change }) => {
    for (const line of kind === 'read' ? (held('example.com') ?? []) : [])
      if (line.includes('. 300 ')) change('example.com', line.replace('. 300 ', '. 600 '))
    return null
  })
  scene.write({ 'zones/example.com.yaml': zone('192.0.2.2') })
  for (const seconds of [0, 3605, 4300]) await at(seconds, ...choreograph)
  expectEnd(await at(9999, 'plan', '--detailed-exitcode'), 0)
})

/** `proxied`, comments and tags as settings of records in definitions. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checksumOf } from '../../../src/stored/plans/plan-json.ts'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN } from '../scripted-scene.ts'
import { startCloudflareScene as start } from './scene.ts'

const ROLLBACK = ['rollback', '--last', '--yes', '--no-color']
const A = { type: 'A', ttl: 300, content: '192.0.2.1' }

/** The name, `proxied`, the TTL, the comment and the tags of each record. */
const settingsOf = (scene: Awaited<ReturnType<typeof start>>): unknown[] =>
  scene.view(({ name, proxied, ttl, comment, tags }) => [name.split('.')[0], proxied, ttl, comment, tags])

test('a new record has the settings of its definition', async () => {
  const definition =
    '  www: {type: A, value: 192.0.2.1, cloudflare: {proxied: true, comment: web, tags: [team:web, a:b, team:web]}}\n' +
    '  auto: {type: A, value: 192.0.2.1, octodns: {cloudflare: {auto-ttl: true, comment: as octoDNS has it}}}\n'
  const scene = await start({ definition, settings: ', plan: pro', plan: 'pro' })
  expect((await scene.run(PLAN)).stdout).toContain('proxied: true, comment: "web", tags: ["a:b","team:web"]')
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(settingsOf(scene)).toEqual([
    ['auto', false, 1, 'as octoDNS has it', []],
    ['www', true, 1, 'web', ['a:b', 'team:web']],
  ])
  expect((await scene.run(PLAN)).status).toBe(0)
})

test('an update changes the stated settings and keeps the others, also if the order of tags differs', async () => {
  const posts = [{ ...A, name: 'www', proxied: true, ttl: 1, comment: 'kept', tags: ['b:2', 'a:1'] }]
  const definition = '  www: {type: A, value: 192.0.2.1, cloudflare: {proxied: false, tags: [a:1, b:2]}}\n'
  const scene = await start({ posts, definition, settings: ', plan: pro', plan: 'pro' })
  const { stdout } = await scene.run(PLAN)
  expect(stdout).toMatch(/- www +300 \(default\) +A +192\.0\.2\.1\n +proxied: true\n.*\+ www +3600 +A +192\.0\.2\.1\n +proxied: false\n/s)
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(settingsOf(scene)).toEqual([['www', false, 3600, 'kept', ['a:1', 'b:2']]])
  expect((await scene.run(PLAN)).status).toBe(0)
})

test('a change of a setting alone is an update; rollback takes it back, and restores a deleted record with its settings', async () => {
  const posts = [{ ...A, name: 'www', comment: 'before' }]
  const scene = await start({ posts, definition: '  www: {type: A, ttl: 300, value: 192.0.2.1, cloudflare: {comment: after}}\n' })
  const planned = JSON.parse((await scene.run([...PLAN, '--format', 'json'])).stdout)
  expect(planned.zones[0].changes).toMatchObject([
    { action: 'update', fields: ['settings'], existing: { settings: { comment: 'before' } }, desired: { settings: { comment: 'after' } } },
  ])
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(settingsOf(scene)).toEqual([['www', false, 300, 'after', []]])
  expect(await scene.run(ROLLBACK)).toMatchObject({ status: 0 })
  expect(settingsOf(scene)).toEqual([['www', false, 300, 'before', []]])

  scene.define('  other: {type: A, value: 192.0.2.1}\n')
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(await scene.run(ROLLBACK)).toMatchObject({ status: 0 })
  expect(settingsOf(scene)).toEqual([['www', false, 300, 'before', []]])
})

test('a saved plan carries settings', async () => {
  const scene = await start({ definition: '  www: {type: A, value: 192.0.2.1, cloudflare: {proxied: true}}\n' })
  expect((await scene.run(['plan', '--out', 'plan.json', '--no-color'])).status).toBe(0)
  expect((await scene.run(['apply', 'plan.json', '--yes'])).status).toBe(0)
  expect(settingsOf(scene)).toEqual([['www', true, 1, null, []]])
})

test.each<[what: string, side: 'existing' | 'desired', settings: object, message: string]>([
  ['proxied is a text', 'desired', { proxied: 'yes' }, 'no such value of it: "proxied"'],
  ['a comment is a list', 'desired', { comment: ['a', 'b'] }, 'no such value of it: "comment"'],
  ['another setting', 'desired', { constructor: true }, 'no such setting, or no such value of it: "constructor"'],
  ['tags without a plan for them', 'desired', { tags: ['a:b'] }, 'the plan free has none'],
  ['the comment before is another', 'existing', { comment: 'forged' }, '.existing.settings do not match the saved state'],
  ['a setting before is another', 'existing', { comment: 'live', proxied: true }, '.existing.settings do not match the saved state'],
  ['a setting before is unknown', 'existing', { comment: 'live', other: 'x' }, '.existing.settings do not match the saved state'],
])('a saved plan that was edited is refused: %s', async (_, side, settings, message) => {
  const posts = side === 'existing' ? [{ ...A, name: 'www', comment: 'live' }] : []
  const scene = await start({ posts, definition: '  www: {type: A, ttl: 300, value: 192.0.2.1, cloudflare: {comment: mine}}\n' })
  expect((await scene.run(['plan', '--out', 'plan.json', '--no-color'])).status).toBe(0)
  const file = join(scene.folder, 'plan.json')
  const plan = JSON.parse(readFileSync(file, 'utf8'))
  plan.zones[0].changes[0][side].settings = settings
  writeFileSync(file, JSON.stringify({ ...plan, checksum: checksumOf(plan) }))
  expectEnd(await scene.run(['apply', 'plan.json', '--yes', '--no-color']), 1, { said: message })
  expect(settingsOf(scene)).toEqual(posts.map(() => ['www', false, 300, 'live', []]))
})

test('a lost answer to a change of a setting is looked up', async () => {
  const posts = [{ ...A, name: 'www' }]
  const scene = await start({ posts, definition: '  www: {type: A, ttl: 300, value: 192.0.2.1, cloudflare: {comment: after}}\n' })
  scene.server.loseAnswers(1)
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(settingsOf(scene)).toEqual([['www', false, 300, 'after', []]])
})

test('import writes settings that differ from the defaults, and the plan of the result is empty', async () => {
  const posts = [
    { ...A, name: 'www', proxied: true, ttl: 1, comment: 'web' },
    { ...A, name: 'two', comment: 'one of two' },
    { ...A, name: 'two', content: '192.0.2.2' },
  ]
  const scene = await start({ posts, definition: '' })
  scene.undefine()
  expectEnd(await scene.run(['import', '--from', 'cf', '-o', 'zones']), 0)
  expect(scene.definition()).toContain('cloudflare: {proxied: true, comment: web}')
  expect(scene.definition()).toContain('cloudflare: {comment: one of two}')
  expect((await scene.run(PLAN)).status).toBe(0)
})

describe('a proxied CNAME', () => {
  const CNAME = 'type: CNAME, value: web, cloudflare: {proxied: true}'
  const beside = (first: string, ...others: string[]): string =>
    `  web: {type: A, ttl: 300, value: 192.0.2.1}\n  www: [${[first, ...others].map((one) => `{${one}}`).join(', ')}]\n`
  const TXT = 'type: TXT, value: verified'

  test('may stand beside other types: planned, applied, changed, imported, and exported for octoDNS', async () => {
    const scene = await start({ definition: beside('type: A, ttl: 300, value: 192.0.2.1', TXT) })
    expect((await scene.run(APPLY)).status).toBe(0)
    scene.define(beside(CNAME, TXT, 'type: MX, value: {preference: 10, exchange: mail.example.net.}'))
    expect(JSON.parse((await scene.run([...PLAN, '--format', 'json'])).stdout).zones[0].impact.stopsAnswering).toEqual([])
    expect(await scene.run(APPLY)).toMatchObject({ status: 0 })
    expect(scene.view(({ type, proxied }) => [type, proxied])).toEqual([
      ['A', false],
      ['CNAME', true],
      ['MX', false],
      ['TXT', false],
    ])
    expect((await scene.run(PLAN)).status).toBe(0)
    expect((await scene.run(['export', 'octodns', 'example.com'])).stdout.match(/lenient: true/g)).toHaveLength(3)
    expectEnd(await scene.run(['export', 'dnscontrol', 'example.com']), 1, { err: 'without which it excludes the other records' })
    scene.undefine()
    expectEnd(await scene.run(['import', '--from', 'cf', '-o', 'zones']), 0)
    expect((await scene.run(PLAN)).status).toBe(0)
    scene.define(beside(CNAME.replace('true', 'false')))
    expect(await scene.run([...APPLY, '--allow', 'deletes'])).toMatchObject({ status: 0 })
    expect(scene.view(({ type, proxied }) => [type, proxied])).toEqual([
      ['A', false],
      ['CNAME', false],
    ])
  })

  test.each([
    ['that is not proxied', beside(CNAME.replace('true', 'false'), TXT)],
    ['beside an address', beside(CNAME, 'type: A, value: 192.0.2.1')],
    ['beside NS records', beside(CNAME, 'type: NS, value: ns.example.net.')],
  ])('%s is refused', async (_, definition) => {
    expectEnd(await (await start({ definition })).run(['plan']), 1, { said: 'cname-not-alone' })
  })
})

test.each([
  ['an MX', '  www: {type: MX, value: {preference: 10, exchange: m}, cloudflare: {proxied: true}}\n', 'proxies A, AAAA, ALIAS, CNAME'],
  ['tags on the plan free', '  www: {type: A, value: 192.0.2.1, cloudflare: {tags: [a:b]}}\n', 'the plan free has none'],
  ['a long comment', `  www: {type: A, value: 192.0.2.1, cloudflare: {comment: ${'x'.repeat(101)}}}\n`, 'the comment has 101 characters'],
  ['an unknown setting', '  www: {type: A, value: 192.0.2.1, cloudflare: {proxy: true}}\n', 'unknown key "proxy"'],
  ['a wrong kind', '  www: {type: A, value: 192.0.2.1, cloudflare: {proxied: 2}}\n', 'cloudflare.proxied must be true or false'],
])('refused: %s', async (_, definition, message) => {
  const scene = await start({ definition })
  expectEnd(await scene.run(['plan']), 1, { said: message })
})

test('export to octoDNS has the settings as octoDNS spells them', async () => {
  const definition = '  www: {type: A, value: 192.0.2.1, cloudflare: {auto_ttl: true, proxied: true, tags: [a:b]}}\n'
  const scene = await start({ definition })
  const { stdout } = await scene.run(['export', 'octodns', 'example.com'])
  expect(stdout).toContain('    cloudflare:\n      auto-ttl: true\n      proxied: true\n      tags:\n')
})

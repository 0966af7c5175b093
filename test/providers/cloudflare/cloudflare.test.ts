/** What plans and runs do at Cloudflare beyond the conformance suite: what records keep, TTLs, requests and errors. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jsonResponse } from '../../scripted/base.ts'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN, WWW } from '../scripted-scene.ts'
import { startCloudflareScene as start } from './scene.ts'

const A = { type: 'A', name: 'www', content: '192.0.2.1', ttl: 3600 }

describe('what a record keeps', () => {
  test('an update keeps the proxy, the comment, the tags and the settings', async () => {
    const posts = [
      { ...A, proxied: true, comment: 'shop', tags: ['team:web'] },
      { type: 'CNAME', name: 'docs', content: 'a.example.net', ttl: 300, comment: 'manual', settings: { flatten_cname: true } },
    ]
    const scene = await start({ posts, definition: '  www: {type: A, value: 192.0.2.9}\n  docs: {type: CNAME, value: b.example.net.}\n' })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(
      scene.records().map(({ name, content, proxied, comment, tags, settings }) => [name, content, proxied, comment, tags, settings]),
    ).toEqual([
      ['docs.example.com', 'b.example.net', false, 'manual', [], { flatten_cname: true }],
      ['www.example.com', '192.0.2.9', true, 'shop', ['team:web'], {}],
    ])
    expect((await scene.run(PLAN)).status).toBe(0)
  })

  test('the TTL of a proxied record is no difference, and a record beside it is proxied', async () => {
    const posts = [
      { ...A, proxied: true },
      { ...A, name: 'other' },
    ]
    const both = '  www: {type: A, value: 192.0.2.1}\n  other: {type: A, value: 192.0.2.1}\n'
    const scene = await start({ posts, definition: both })
    expect((await scene.run(PLAN)).stdout).toContain('No changes')
    scene.define('  www: {type: A, values: [192.0.2.1, 192.0.2.2]}\n  other: {type: A, values: [192.0.2.1, 192.0.2.2]}\n')
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.view(({ name, proxied, ttl }) => `${name} ${proxied} ${ttl}`)).toEqual([
      'other.example.com false 3600',
      'other.example.com false 3600',
      'www.example.com true 1',
      'www.example.com true 1',
    ])
    scene.define('  www: {type: CNAME, value: host.example.net.}\n  other: {type: CNAME, value: host.example.net.}\n')
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.view(({ name, proxied }) => `${name} ${proxied}`)).toEqual(['other.example.com false', 'www.example.com true'])
    expect((await scene.run(PLAN)).status).toBe(0)
  })

  test('a name never takes over the proxy and the comment of another one', async () => {
    const posts = [
      { ...A, proxied: true, comment: 'shop' },
      { ...A, name: 'kept' },
    ]
    const scene = await start({ posts, definition: '  new: {type: A, value: 192.0.2.1}\n  kept: {type: A, value: 192.0.2.1}\n' })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.view(({ name, proxied, comment }) => [name, proxied, comment])).toEqual([
      ['kept.example.com', false, null],
      ['new.example.com', false, null],
    ])
  })
})

test('TTLs: none and 1 are automatic, others become the nearest limit of the plan', async () => {
  const definition =
    '  auto: {type: A, ttl: 1, value: 192.0.2.1}\n  low: {type: A, ttl: 30, value: 192.0.2.1}\n  high: {type: A, ttl: 90000, value: 192.0.2.1}\n'
  const ttls = async (settings: string): Promise<(string | number)[][]> => {
    const scene = await start({ definition, settings, plan: 'enterprise' })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect((await scene.run(PLAN)).status).toBe(0)
    return scene.view(({ name, ttl }) => [name.split('.')[0] ?? '', ttl])
  }
  expect(await ttls('')).toEqual([
    ['auto', 1],
    ['high', 86_400],
    ['low', 60],
  ])
  expect(await ttls(', plan: enterprise')).toEqual([
    ['auto', 1],
    ['high', 86_400],
    ['low', 30],
  ])
})

test('a CNAME at the apex is an ALIAS', async () => {
  const scene = await start({ definition: "  '': {type: ALIAS, value: host.example.net.}\n" })
  expect((await scene.run(APPLY)).status).toBe(0)
  expect(scene.records()).toMatchObject([{ name: 'example.com', type: 'CNAME', content: 'host.example.net' }])
  expect((await scene.run(PLAN)).status).toBe(0)
})

describe('requests', () => {
  const thousand = Array.from({ length: 1000 }, (_, host) => `  h${host}: {type: A, value: 192.0.2.1}\n`).join('')
  const batches = (paths: readonly { readonly path: string }[]): number => paths.filter(({ path }) => path.endsWith('/batch')).length

  test.each([
    ['free', '', 5],
    ['pro', ', plan: pro', 1],
  ] as const)('1,000 new records on the plan %s', async (plan, settings, calls) => {
    const scene = await start({ definition: thousand, settings, plan })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.records()).toHaveLength(1000)
    expect(batches(scene.server.requests)).toBe(calls)
    // octoDNS's provider sends one request per record.
    expect(scene.server.requests.length).toBeLessThan(20)
  })
})

test('more changes than one batch carries still move no record to another name', async () => {
  const hosts = Array.from({ length: 150 }, (_, host) => host)
  const posts = hosts.map((host) => ({ ...A, name: `old${host}`, comment: `of old${host}` }))
  const scene = await start({ posts, definition: hosts.map((host) => `  new${host}: {type: A, value: 192.0.2.1}\n`).join('') })
  expect(expectEnd(await scene.run([...APPLY, '--allow', 'empty-zone']), 0).stdout).not.toContain('split')
  expect(scene.records().filter(({ name, comment }) => !name.startsWith('new') || comment !== null)).toEqual([])
  expect(scene.records()).toHaveLength(150)
})

test('with apex_ns: all-targets, its name servers become known to the other targets, and those of the others are added', async () => {
  const zone = { id: '1'.repeat(32), name: 'example.com', type: 'full', name_servers: ['a.ns.example.net', 'b.ns.example.net'] }
  const page = { page: 1, per_page: 50, total_pages: 1, count: 1, total_count: 1 }
  const scene = await start({
    definition: '  www: {type: A, ttl: 300, value: 192.0.2.1}\n',
    answer: ({ method, path }) =>
      method === 'GET' && /\/zones(?:\?|$)/.test(path)
        ? { success: true, errors: [], messages: [], result: [zone], result_info: page }
        : undefined,
  })
  const file = join(scene.folder, 'zonewright.yaml')
  mkdirSync(join(scene.folder, 'served'))
  writeFileSync(
    join(scene.folder, 'served/example.com.zone'),
    '$TTL 3600\n@ SOA ns1.own.example. hostmaster.example.com. 1 7200 3600 1209600 300\n@ NS ns1.own.example.\n',
  )
  const config = readFileSync(file, 'utf8').replace(/^providers:\n/, 'providers:\n  own: {type: zonefile, directory: served}\n')
  writeFileSync(file, `${config}zones: [{files: zones/*.yaml, targets: [cf, own], apex_ns: all-targets}]\n`)
  const planned = await scene.run(['plan', '--allow', 'apex-ns'])
  expect([planned.status, planned.stdout]).toEqual([0, expect.stringMatching(/\+ @ .* NS +ns1\.own\.example\./)])
  expect(planned.stdout).toMatch(/\+ @ .* NS +a\.ns\.example\.net\.\n/)
  expect((await scene.run(['apply', '--yes', '--allow', 'apex-ns'])).status).toBe(0)
  expect((await scene.run(['plan', '--detailed-exitcode'])).status).toBe(0)
})

test('an error without a code is told as it is', async () => {
  const errors = [{ message: 'Invalid request' }, { code: 1004, message: 'DNS Validation Error' }, { code: 7 }]
  const scene = await start({ definition: WWW, respond: () => jsonResponse(400, { success: false, errors, messages: [], result: null }) })
  expectEnd(await scene.run(PLAN), 1, { said: /400 Invalid request; DNS Validation Error \(1004\)\n/ })
})

describe('records of others', () => {
  test('that Cloudflare manages itself are shown, left alone, and skipped by imports', async () => {
    const posts = [A, { type: 'MX', name: '@', content: 'route1.mx.example.net', priority: 10, ttl: 300 }]
    const scene = await start({ posts, definition: WWW })
    for (const { type, meta } of scene.records()) if (type === 'MX') Object.assign(meta, { read_only: true, email_routing: true })
    expectEnd(await scene.run([...APPLY, '--allow', 'deletes', '--allow', 'empty-zone']), 0, { said: 'is managed by Cloudflare itself' })
    expect(scene.records().map(({ type }) => type)).toContain('MX')
    expect((await scene.run(PLAN)).status).toBe(0)
    scene.undefine()
    expectEnd(await scene.run(['import', '--from', 'cf', '-o', 'zones']), 0, { err: 'the record is managed by Cloudflare itself' })
    expect(readFileSync(join(scene.folder, 'zones/example.com.yaml'), 'utf8')).not.toContain('MX')
  })

  test('of a type that no definition can name stay, and CERT records are ordinary', async () => {
    const cert = { type: 'CERT', name: 'c', ttl: 300, data: { type: 1, key_tag: 2, algorithm: 8, certificate: 'AQID' } }
    const scene = await start({
      posts: [cert],
      definition: '  d: {type: CERT, ttl: 300, value: {certificate_type: PKIX, key_tag: 3, algorithm: 8, certificate: AQID}}\n',
    })
    expect(await scene.run([...APPLY, '--allow', 'deletes'])).toMatchObject({ status: 0, stderr: expect.any(String) })
    expect(scene.records().map(({ type, name, content }) => `${type} ${name} ${content}`)).toEqual(['CERT d.example.com 1 3 8 AQID'])
    expect((await scene.run(PLAN)).status).toBe(0)
    // What the service could have tomorrow.
    Object.assign(scene.records()[0] as object, { type: 'NEWTYPE' })
    const planned = await scene.run(PLAN)
    expect(planned.stdout + planned.stderr).toContain('has a type that is not managed')
    expect(planned.stdout).not.toMatch(/^ +- /m)
  })
})

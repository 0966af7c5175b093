/** What plans and runs do at Scaleway beyond the conformance suite: what records keep, dynamic records, zones, requests and errors. */
import { describe, expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN, TOKEN, WWW } from '../scripted-scene.ts'
import { startScalewayScene as start } from './scene.ts'

const ZONES = '/domain/v2beta1/dns-zones'
const A = { name: 'www', type: 'A', ttl: 3600, data: '192.0.2.1' }

test('what a record keeps its identifier and comment, when its TTL or its value changes', async () => {
  const scene = await start({
    definition: '  www: {type: A, ttl: 600, values: [192.0.2.1, 192.0.2.9]}\n  gone: {type: A, value: 192.0.2.1}\n',
    added: [
      { ...A, comment: 'first' },
      { ...A, data: '192.0.2.2', comment: 'second' },
      { ...A, name: 'gone', comment: 'third' },
      { ...A, name: 'gone', data: '192.0.2.3' },
    ],
  })
  const ids = new Map(scene.records()?.map(({ comment, id }) => [comment, id]))
  expect((await scene.run(APPLY)).status).toBe(0)
  const held = (scene.records() ?? [])
    .filter(({ type }) => type === 'A')
    .map(({ name, data, ttl, comment, id }) => [name, data, ttl, comment, id])
  expect(held.sort()).toEqual([
    ['gone', '192.0.2.1', 3600, 'third', ids.get('third')],
    ['www', '192.0.2.1', 600, 'first', ids.get('first')],
    ['www', '192.0.2.9', 600, 'second', ids.get('second')],
  ])
  expect((await scene.run(PLAN)).status).toBe(0)
})

test('types in lower case are those of the definition', async () => {
  const record = { ...A, id: 'one', type: 'a', priority: 0, comment: null }
  const scene = await start({ definition: WWW, zones: [{ domain: 'example.com', records: [record] }] })
  expect((await scene.run(PLAN)).status).toBe(0)
})

describe('dynamic records', () => {
  const config = { matches: [{ countries: ['FR'], continents: [], data: '192.0.2.7' }], default: '192.0.2.1' }
  const added = [
    { ...A, name: 'geo', geo_ip_config: config },
    { ...A, name: 'geo', data: '192.0.2.5' },
  ]

  test('are reported, and their record sets stay as they are', async () => {
    const scene = await start({ definition: WWW, added })
    const before = scene.records()?.filter(({ name }) => name === 'geo')
    expectEnd(await scene.run(APPLY), 0, {
      err: [
        /geo\.example\.com\. A 192\.0\.2\.1 is a dynamic record \(geo_ip_config\) at live, and stays as it is/,
        /geo\.example\.com\. A 192\.0\.2\.5 is beside a dynamic record at live, and stays as it is/,
      ],
    })
    expect(scene.records()?.filter(({ name }) => name === 'geo')).toEqual(before)
  })

  test('are left out of an import, and the next plan is empty', async () => {
    const scene = await start({ definition: '', added: [...added, A] })
    scene.undefine()
    expectEnd(await scene.run(['import', '--from', 'live', '-o', 'zones']), 0, { err: 'geo.example.com. A' })
    expect(await scene.run(PLAN)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
  })

  test('are not changed by a definition with the same record set', async () => {
    const scene = await start({ definition: `${WWW}  geo: {type: A, value: 192.0.2.99}\n`, added })
    expect(await scene.run(APPLY)).toMatchObject({ stderr: expect.stringMatching(/geo\.example\.com\. A/) })
    expect(
      scene
        .records()
        ?.filter(({ name }) => name === 'geo')
        .map(({ data }) => data)
        .sort(),
    ).toEqual(['192.0.2.1', '192.0.2.5'])
  })
})

test('the NS records of the apex are known, although they belong to Scaleway', async () => {
  const scene = await start({ definition: "  '': {type: NS, values: [ns0.dom.scw.cloud., ns1.dom.scw.cloud.]}\n" })
  expect(await scene.run(PLAN)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n', stderr: '' })
  scene.define("  '': {type: NS, value: ns.example.net.}\n")
  expect((await scene.run(PLAN)).stderr).toMatch(/notice\[apex-ns-kept\] .*\(ns0\.dom\.scw\.cloud\., ns1\.dom\.scw\.cloud\.\)/)
})

describe('zones', () => {
  test('a zone below a domain of the account is created and deleted', async () => {
    const project = '99999999-2222-4333-8444-555555555555'
    const scene = await start({ definition: '', zones: [{ domain: 'example.com', project }] })
    scene.define(WWW, '', 'dev.example.com')
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(scene.records('dev.example.com')?.map(({ type }) => type)).toEqual(['NS', 'NS', 'A'])
    const created = scene.server.requests.find(({ method }) => method === 'POST')
    expect(JSON.parse(created?.body ?? '')).toEqual({ domain: 'example.com', subdomain: 'dev', project_id: project })
    expect(await scene.run(PLAN)).toMatchObject({ status: 0 })
    scene.defineAbsent('dev.example.com')
    expect(await scene.run(['apply', '--yes', '--allow', 'delete-zone', '--no-color'])).toMatchObject({ status: 0 })
    expect(scene.records('dev.example.com')).toBeNull()
  })

  test('a zone of another domain cannot be created', async () => {
    const scene = await start({ definition: '' })
    scene.define(WWW, '', 'example.net')
    const run = await scene.run(APPLY)
    expect([run.status, run.stdout + run.stderr]).toEqual([1, expect.stringMatching(/no domain of the account holds example\.net\./)])
    expect(run.stdout + run.stderr).toContain('external domain')
    expectEnd(await scene.run(['doctor']), 0, { out: /would create example\.net\..*only zones below a domain/s })
    expect(scene.server.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  test('only those of the project are listed', async () => {
    const project = '99999999-2222-4333-8444-555555555555'
    const scene = await start({
      definition: '',
      zones: [{ domain: 'example.com' }, { domain: 'example.net', project }],
      settings: `, project_id: ${project}`,
    })
    scene.undefine()
    const run = await scene.run(['import', '--from', 'live', '-o', 'zones'])
    expect([run.status, run.stdout.includes('example.net'), run.stdout.includes('example.com')]).toEqual([0, true, false])
  })
})

describe('requests', () => {
  test('an answer that states other data than the sent is an error', async () => {
    const stored = { records: [{ id: 'a', name: 'www', type: 'A', ttl: 3600, data: '203.0.113.9', comment: null }] }
    const scene = await start({ definition: WWW, answer: ({ method }) => (method === 'PATCH' ? stored : undefined) })
    expectEnd(await scene.run(APPLY), 1, { err: 'www.example.com. A was set to 192.0.2.1' })
  })

  test('all zones are looked up by name in one request before any is read', async () => {
    const zones = Array.from({ length: 5 }, (_, number) => ({ domain: 'example.com', subdomain: `s${number}` }))
    for (const settings of ['', ', project_id: 11111111-2222-4333-8444-555555555555']) {
      const scene = await start({ definition: '', zones: [{ domain: 'example.com' }, ...zones], settings })
      scene.undefine()
      for (const { subdomain } of zones) scene.define('  {}\n', '', `${subdomain}.example.com`)
      const names = zones.map(({ subdomain }) => `${subdomain}.example.com`)
      const { status, requests } = await scene.requestsOf([...PLAN, ...names])
      expect([status, requests[0], requests.filter((request) => request === `GET ${ZONES}`).length]).toEqual([0, `GET ${ZONES}`, 1])
    }
  })

  test('a pause and a change that is not published yet are waited out', async () => {
    const scene = await start({ definition: WWW, requestsPerPause: 2, transient: 2 })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.records()).toHaveLength(3)
  })

  test('no zone is created by a change of records', async () => {
    const scene = await start({ definition: WWW })
    expect((await scene.run(APPLY)).status).toBe(0)
    const [change] = scene.server.requests.filter(({ method }) => method === 'PATCH')
    expect(JSON.parse(change?.body ?? '')).toMatchObject({ disallow_new_zone_creation: true, return_all_records: false })
  })
})

test('TTLs below a minute become a minute', async () => {
  const scene = await start({ definition: '  www: {type: A, ttl: 30, value: 192.0.2.1}\n' })
  expectEnd(await scene.run(APPLY), 0, { err: 'live rounds TTL 30 up to 60 for www.example.com. A' })
  expect((await scene.run(PLAN)).status).toBe(0)
})

test('a key that may only read is told what it needs', async () => {
  const scene = await start({ definition: WWW, readOnly: true })
  const { status, stdout, stderr } = await scene.run(APPLY)
  expect([status, stdout + stderr]).toEqual([1, expect.stringContaining('403 insufficient permissions; domain_dns_zone write')])
  expect(stdout + stderr).not.toContain(TOKEN)
})

test('a zone that does not exist is never read or written, because the service may answer for the one above it', async () => {
  const parent = { status: 200, headers: { 'content-type': 'application/json' } }
  const scene = await start({
    definition: WWW,
    zones: [{ domain: 'example.com' }],
    added: [A],
    // Like the service: records of a missing zone are those of its parent.
    answer: ({ path }) => (path.includes('sub.example.com/records') ? { ...parent, total_count: 1, records: [] } : undefined),
  })
  scene.undefine()
  scene.define('  other: {type: A, value: 192.0.2.7}\n', '', 'sub.example.com')
  const { status, requests } = await scene.requestsOf([...PLAN, 'sub.example.com'])
  expect(status).toBe(2)
  expect(requests.filter((request) => request.includes('records'))).toEqual([])
})

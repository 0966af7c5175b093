/** What plans and runs do at Azure DNS beyond the conformance suite: ETags, metadata, aliases, zones, pages, requests and errors. */
import { describe, expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN, TOKEN, WWW } from '../scripted-scene.ts'
import { hostSet, recordSet, startAzureScene as start } from './scene.ts'

const ofMethod = (requests: readonly { readonly method: string }[], method: string): number =>
  requests.filter((request) => request.method === method).length

describe('another client', () => {
  test.each([
    ['changed a record set that an update replaces', 'PUT', '  www: {type: A, value: 192.0.2.9}\n'],
    ['changed a record set that is to be deleted', 'DELETE', '  other: {type: A, value: 192.0.2.1}\n'],
  ])('%s: the service refuses the request', async (_, method, definition) => {
    let isRead = false
    const scene = await start({
      definition,
      sets: [hostSet('www', '192.0.2.1'), hostSet('other', '192.0.2.1')],
      answer(request) {
        // What the plan read has another ETag than the record set now.
        if (request.method !== 'GET' || !request.path.endsWith('/recordsets') || isRead) return undefined
        isRead = true
        const set = { ...hostSet('www', '192.0.2.1'), etag: 'older' }
        const properties = { TTL: 3600, ARecords: [{ ipv4Address: '192.0.2.1' }] }
        return { value: [{ ...set, type: 'Microsoft.Network/dnszones/A', properties }] }
      },
    })
    expectEnd(await scene.run(APPLY), 1, { said: "The condition 'older' in the If-Match header was not satisfied" })
    expect(ofMethod(scene.server.requests, method)).toBe(1)
    expect(scene.lines()).toContain('www 3600 IN A 192.0.2.1')
  })

  test('created the record set that an apply creates: the service refuses the request', async () => {
    let isRead = false
    const scene = await start({
      definition: '  www: {type: A, value: 192.0.2.9}\n',
      sets: [hostSet('www', '192.0.2.1')],
      answer(request) {
        if (request.method !== 'GET' || !request.path.endsWith('/recordsets') || isRead) return undefined
        isRead = true
        return { value: [] }
      },
    })
    expectEnd(await scene.run(APPLY), 1, { said: 'exists already and hence cannot be created again' })
    expect(scene.lines()).toEqual(['www 3600 IN A 192.0.2.1'])
  })
})

test('metadata stay when the records change', async () => {
  const metadata = { owner: 'web team' }
  const scene = await start({
    definition: '  www: {type: A, ttl: 600, values: [192.0.2.1, 192.0.2.2]}\n',
    sets: [recordSet('www', 'A', [{ ipv4Address: '192.0.2.1' }], { metadata })],
  })
  expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
  expect(scene.lines()).toEqual(['www 600 IN A 192.0.2.1', 'www 600 IN A 192.0.2.2'])
  expect(scene.sets().find(({ name }) => name === 'www')?.metadata).toEqual(metadata)
})

test('a saved plan keeps metadata, and is refused after a change of another client', async () => {
  const metadata = { owner: 'web team' }
  const sets = [recordSet('www', 'A', [{ ipv4Address: '192.0.2.1' }], { metadata })]
  const scene = await start({ definition: '  www: {type: A, value: 192.0.2.2}\n', sets })
  const plan = ['plan', '--out', 'plan.json', '--allow', 'updates', '--allow', 'deletes']
  expect((await scene.run(plan)).status).toBe(0)
  expect(await scene.run(['apply', 'plan.json', '--yes'])).toMatchObject({ status: 0, stderr: '' })
  expect(scene.sets().find(({ name }) => name === 'www')).toMatchObject({ metadata, records: [{ ipv4Address: '192.0.2.2' }] })
  expect((await scene.run(['apply', 'plan.json', '--yes'])).status).not.toBe(0)
})

test('an empty record set is filled', async () => {
  const empty = { ...hostSet('www', '192.0.2.1'), records: [] }
  const scene = await start({ definition: WWW, sets: [empty] })
  expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
  expect(scene.lines()).toEqual(['www 3600 IN A 192.0.2.1'])
})

test('names with and without the final dot are the same', async () => {
  const sets = [
    recordSet('www', 'CNAME', [{ cname: 'Host.example.net.' }]),
    recordSet('@', 'MX', [{ preference: 10, exchange: 'mail.example.net' }]),
  ]
  const definition =
    "  www: {type: CNAME, value: host.example.net.}\n  '': {type: MX, value: {preference: 10, exchange: mail.example.net.}}\n"
  const scene = await start({ definition, sets })
  expect(await scene.run(PLAN)).toMatchObject({ status: 0 })
})

describe('alias record sets', () => {
  const targetResource = { id: '/subscriptions/x/resourceGroups/y/providers/Microsoft.Network/publicIPAddresses/front' }
  const alias = recordSet('lb', 'A', [], { targetResource })

  test('are reported and left alone, and never replaced by a definition', async () => {
    const definition = '  www: {type: A, value: 192.0.2.9}\n  lb: {type: A, value: 192.0.2.9}\n'
    const scene = await start({ definition, sets: [alias] })
    expectEnd(await scene.run(APPLY), 0, { err: 'lb.example.com. A of the definition is ignored: the one at az is an' })
    expect((await scene.run(['plan', '--format', 'json'])).stdout).toContain('is an alias of the resource publicIPAddresses/front')
    expect(scene.sets().find(({ name }) => name === 'lb')).toEqual(alias)
    expect(ofMethod(scene.server.requests, 'PUT')).toBe(1)
  })
})

describe('zones', () => {
  test('are created with the NS records of Azure and more of the definition, and deleted', async () => {
    const scene = await start({ definition: WWW, zones: [] })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(scene.zones()).toEqual(['example.com'])
    const ns = ['ns1-05.azure-dns.com.', 'ns2-05.azure-dns.net.', 'ns3-05.azure-dns.org.', 'ns4-05.azure-dns.info.', 'ns1.example.net.']
    scene.define(`  '': {type: NS, values: [${ns.join(', ')}]}\n  www: {type: A, value: 192.0.2.1}\n`)
    expect(await scene.run([...APPLY, '--allow', 'apex-ns'])).toMatchObject({ status: 0, stderr: '' })
    expect(scene.sets()[0]).toMatchObject({ type: 'NS', records: { length: 5 } })
    scene.define('  {}\n', 'absent: true\n')
    expect(await scene.run([...APPLY, '--allow', 'delete-zone'])).toMatchObject({ status: 0, stderr: '' })
    expect(scene.zones()).toEqual([])
    // Azure deletes it after its answer: the run asks until it is gone.
    const methods = scene.server.requests.map(({ method }) => method)
    expect(methods.slice(methods.lastIndexOf('DELETE'))).toEqual(['DELETE', 'GET', 'GET'])
  })

  test('whose creation or deletion has no answer are created and deleted', async () => {
    const scene = await start({ definition: WWW, zones: [] })
    scene.server.loseAnswers(1)
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.lines()).toEqual(['www 3600 IN A 192.0.2.1'])
    scene.define('  {}\n', 'absent: true\n')
    scene.server.loseAnswers(1)
    expect((await scene.run([...APPLY, '--allow', 'delete-zone'])).status).toBe(0)
    expect(scene.zones()).toEqual([])
  })

  test('that are private have their own path and names of properties', async () => {
    const scene = await start({
      definition: '  www: {type: A, values: [192.0.2.1, 192.0.2.2]}\n  alias: {type: CNAME, value: www.example.com.}\n',
      isPrivate: true,
      settings: 'token: env:TOKEN, visibility: private',
    })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect(await scene.run(PLAN)).toMatchObject({ status: 0 })
    expect(scene.lines()).toEqual(['alias 3600 IN CNAME www.example.com.', 'www 3600 IN A 192.0.2.1', 'www 3600 IN A 192.0.2.2'])
    expect(scene.server.requests.every(({ path }) => path.includes('/privateDnsZones'))).toBe(true)
  })
})

describe('requests', () => {
  test('a concurrent request is waited out', async () => {
    let refused = 0
    const scene = await start({
      definition: WWW,
      respond(request) {
        if (request.method !== 'PUT' || refused > 0) return undefined
        refused += 1
        const error = { code: 'Conflict', message: 'The request failed due to conflict with a concurrent request.' }
        return { status: 409, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error }) }
      },
    })
    expect(await scene.run(APPLY)).toMatchObject({ status: 0, stderr: '' })
    expect([refused, scene.lines()]).toEqual([1, ['www 3600 IN A 192.0.2.1']])
  })

  test.each([
    ['an update', [hostSet('www', '192.0.2.2')], WWW, ['www 3600 IN A 192.0.2.1']],
    ['deletion', [hostSet('www', '192.0.2.2'), hostSet('x', '192.0.2.2')], '  x: {type: A, value: 192.0.2.2}\n', ['x 3600 IN A 192.0.2.2']],
  ])('a lost answer to %s is no conflict', async (_, before, definition, after) => {
    const scene = await start({ definition, sets: before })
    scene.server.loseAnswers(1)
    expect(await scene.run(APPLY)).toMatchObject({ status: 0 })
    expect(scene.lines()).toEqual(after)
  })
})

test('errors of the settings name what to do, and never the token', async () => {
  const other = await start({ definition: '', resourceGroup: 'another' })
  const doctor = expectEnd(await other.run(['doctor']), 1, { out: '"DNS Zone Contributor" in the resource group dns' })
  const missing = await start({ definition: '', subscription: '00000000-0000-4000-8000-000000000000' })
  const plan = await missing.run(PLAN)
  expect([plan.status, plan.stdout + plan.stderr]).toEqual([1, expect.stringContaining('check the subscription')])
  for (const run of [doctor, plan]) expect(run.stdout + run.stderr).not.toContain(TOKEN)
})

describe('responses that are not of the API', () => {
  const properties = { TTL: 300, ARecords: [{ ipv4Address: '192.0.2.1' }] }
  const SET = { name: 'www', type: 'Microsoft.Network/dnszones/A', etag: '1', properties }
  test('a next page at another host is queried at this one', async () => {
    const scene = await start({
      definition: '  www: {type: A, ttl: 300, value: 192.0.2.1}\n',
      answer: ({ path, query }) =>
        path.endsWith('/recordsets')
          ? query.has('page')
            ? { value: [SET] }
            : { value: [], nextLink: 'https://attacker.invalid/x?page=2' }
          : undefined,
    })
    expect(await scene.run(PLAN)).toMatchObject({ status: 0 })
  })
})

/** Zones that runs create and delete at Cloudflare. */
import { describe, expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, PLAN, WWW } from '../scripted-scene.ts'
import { startCloudflareScene } from './scene.ts'

const ACCOUNT = '2'.repeat(32)
const IN_ACCOUNT = { account: ACCOUNT, settings: `, account_id: '${ACCOUNT}'` }
const ZONE = { id: '1'.repeat(32), name: 'example.com', type: 'full', status: 'active', account: { id: ACCOUNT } }
const DELETE = [...APPLY, '--allow', 'delete-zone']
const A = { type: 'A', name: 'www', content: '192.0.2.1', ttl: 3600 }

describe('a new zone', () => {
  test('is planned, created with its records, and planned to empty', async () => {
    const scene = await startCloudflareScene({ ...IN_ACCOUNT, zones: [], definition: WWW })
    expectEnd(await scene.run(PLAN), 2, { out: 'new zone' })
    expect(await scene.run(['doctor'])).toMatchObject({ status: 0, stdout: expect.stringContaining('an apply would create example.com.') })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect([scene.zones(), scene.records().map(({ name }) => name)]).toEqual([['example.com'], ['www.example.com']])
    const created = scene.server.requests.filter(({ method, path }) => method === 'POST' && path === '/client/v4/zones')
    expect(created.map(({ body }) => JSON.parse(body))).toEqual([{ name: 'example.com', account: { id: ACCOUNT }, type: 'full' }])
    expect(await scene.run(PLAN)).toMatchObject({ status: 0, stdout: 'No changes. 1 zone matches.\n' })
  })

  test('is an error without account_id, which names the setting', async () => {
    const scene = await startCloudflareScene({ account: ACCOUNT, zones: [], definition: WWW })
    expectEnd(await scene.run(PLAN), 1, { said: 'zone-fixed' })
    expect((await scene.run(['doctor'])).stdout).toContain('set account_id')
  })

  test('that the token may not create: the error names the permission', async () => {
    const scene = await startCloudflareScene({ settings: IN_ACCOUNT.settings, zones: [], definition: WWW })
    expectEnd(await scene.run(APPLY), 1, { said: /403 Requires permission.*Zone:Edit/s })
  })

  test('is created in the account that a variable names', async () => {
    const settings = ', account_id: env:ACCOUNT'
    const scene = await startCloudflareScene({ account: ACCOUNT, settings, zones: [], definition: WWW })
    expect(await scene.run(APPLY)).toMatchObject({ status: 1, stderr: expect.stringContaining('providers.cf.account_id') })
    expect((await scene.run(APPLY, { ACCOUNT })).status).toBe(0)
    expect(scene.zones()).toEqual(['example.com'])
  })

  test('of the same name in another account is another zone', async () => {
    const other = { ...ZONE, account: { id: '3'.repeat(32) } }
    const scene = await startCloudflareScene({ settings: IN_ACCOUNT.settings, zones: [other], definition: WWW })
    expect((await scene.run(['doctor'])).stdout).toContain('an apply would create example.com.')
  })
})

test.each([
  ['pending', { status: 'pending', name_servers: ['a.ns.cloudflare.com'] }, /is pending: its parent.*a\.ns\.cloudflare\.com/s],
  ['moved', { status: 'moved' }, /is moved: .*will delete it/],
  ['initializing', { status: 'initializing' }, 'does not answer for it yet'],
  ['locked', { status: 'read only' }, 'has the status "read only"'],
  ['paused', { paused: true }, 'is paused: Cloudflare proxies none of its records'],
])('the state of a zone is said in plan and doctor: %s', async (_, fields, said) => {
  const scene = await startCloudflareScene({ zones: [{ ...ZONE, ...fields }], posts: [A], definition: WWW })
  expectEnd(await scene.run(PLAN), 0, { err: [/warning\[zone-inactive\]/, said] })
  expectEnd(await scene.run(['doctor']), 0, { out: said })
})

test.each([
  ['a secondary zone', [{ ...ZONE, type: 'secondary' }], 'gets its records from its primary'],
  ['a zone in two accounts', [ZONE, { ...ZONE, id: '4'.repeat(32) }], 'exists twice: name the account of one under account_id'],
])('a zone that exists and cannot be managed is not created again: %s', async (_, zones, message) => {
  const scene = await startCloudflareScene({ ...IN_ACCOUNT, zones, definition: WWW })
  expectEnd(await scene.run(PLAN), 1, { said: message })
})

describe('a zone whose definition is absent', () => {
  test('is deleted if that is allowed', async () => {
    const scene = await startCloudflareScene({ ...IN_ACCOUNT, zones: [ZONE], posts: [A, { ...A, name: 'auto', ttl: 1 }], definition: WWW })
    scene.defineAbsent()
    expect((await scene.run(APPLY)).status).toBe(3)
    expect(scene.zones()).toEqual(['example.com'])
    expect(await scene.run(DELETE)).toMatchObject({ status: 0, stderr: '' })
    expect(scene.zones()).toEqual([])
    expect(await scene.run(PLAN)).toMatchObject({ status: 0 })
  })

  test('stays if another client adds a record after the plan', async () => {
    let reads = 0
    const added = { id: 'a9', name: 'late.example.com', type: 'A', content: '192.0.2.9', ttl: 300 }
    const scene = await startCloudflareScene({
      ...IN_ACCOUNT,
      zones: [ZONE],
      definition: '',
      answer({ method, path }) {
        if (method !== 'GET' || !path.endsWith('/dns_records')) return undefined
        reads += 1
        const result = reads === 1 ? [] : [added]
        return { result, result_info: { page: 1, per_page: 5000, count: result.length, total_count: result.length, total_pages: 1 } }
      },
    })
    scene.defineAbsent()
    expectEnd(await scene.run(DELETE), 1, { said: 'late.example.com. A 192.0.2.9 was created' })
    expect(scene.zones()).toEqual(['example.com'])
  })

  test('stays without account_id', async () => {
    const scene = await startCloudflareScene({ account: ACCOUNT, definition: WWW })
    scene.defineAbsent()
    expectEnd(await scene.run(PLAN), 1, { said: 'zone-fixed' })
  })
})

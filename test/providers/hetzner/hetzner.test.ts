/** What plans and runs do at Hetzner beyond the conformance suite: comments, labels, protection, actions, zones, requests and errors. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectEnd } from '../../support/cli.ts'
import { APPLY, hostLines, PLAN, UNCHANGED, WWW } from '../scripted-scene.ts'
import { rrset, startHetznerScene as start, ZONE } from './scene.ts'

describe('what plans do not manage', () => {
  const commented = rrset('www', 'A', [], {
    labels: { team: 'web' },
    records: [
      { value: '192.0.2.1', comment: 'first' },
      { value: '192.0.2.2', comment: 'second' },
    ],
  })

  test.each([
    ['a new value', '[192.0.2.1, 192.0.2.2, 192.0.2.3]', ['first', 'second', '']],
    ['a removed value', '[192.0.2.2]', ['second']],
    ['a replaced value', '[192.0.2.2, 192.0.2.9]', ['second', 'first']],
  ])('comments and labels stay: %s', async (_, values, comments) => {
    const scene = await start({ rrsets: [commented], definition: `  www: {type: A, values: ${values}}\n` })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.rrsets()).toMatchObject([{ labels: { team: 'web' }, records: comments.map((comment) => ({ comment })) }])
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })

  test('a protected record set is not changed, and the report says why', async () => {
    const guarded = rrset('www', 'A', ['192.0.2.9'], { protection: { change: true } })
    const scene = await start({ rrsets: [guarded], definition: `${WWW}  other: {type: A, value: 192.0.2.1}\n` })
    const { status, stdout, stderr } = await scene.run(APPLY)
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('www.example.com. A is protected against changes at Hetzner')
    expect(scene.rrsets().map(({ id, records }) => `${id} ${records[0]?.value}`)).toEqual(['other/A 192.0.2.1', 'www/A 192.0.2.9'])
    scene.define('  www: {type: A, value: 192.0.2.9}\n  other: {type: A, value: 192.0.2.1}\n')
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })

  test('relative names are read as the zone has them', async () => {
    const scene = await start({
      rrsets: [rrset('docs', 'CNAME', ['www']), rrset('@', 'MX', ['10 mail'])],
      definition:
        "  docs: {type: CNAME, value: www.example.com.}\n  '': {type: MX, value: {preference: 10, exchange: mail.example.com.}}\n",
    })
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })
})

describe('TTLs', () => {
  test('of a record set and of the zone', async () => {
    const scene = await start({ definition: '' })
    scene.define('  low: {type: A, ttl: 30, value: 192.0.2.1}\n  usual: {type: A, value: 192.0.2.1}\n')
    expectEnd(await scene.run(APPLY), 0, { err: 'rounds TTL 30 up to 60 for low.example.com. A' })
    expect(scene.rrsets().map(({ name, ttl }) => `${name} ${ttl}`)).toEqual(['low 60', 'usual 3600'])
    scene.send('POST', `/zones/${ZONE}/rrsets/usual/A/actions/change_ttl`, { ttl: null })
    expect((await scene.run(PLAN)).status).not.toBe(0)
  })

  test.each([
    ['falls before the data changes', 300, ['change_ttl', 'set_records']],
    ['rises after the data has changed', 7200, ['set_records', 'change_ttl']],
  ])('a TTL that %s', async (_, ttl, order) => {
    const scene = await start({ rrsets: [rrset('www', 'A', ['10.0.0.9'])], definition: `  www: {type: A, ttl: ${ttl}, value: 10.0.0.1}\n` })
    const { status, requests } = await scene.requestsOf(APPLY)
    expect(status).toBe(0)
    expect(requests.filter((line) => line.startsWith('POST')).map((line) => line.replace(/^.*\//, ''))).toEqual(order)
    expect(scene.rrsets()).toMatchObject([{ ttl, records: [{ value: '10.0.0.1' }] }])
  })
})

describe('actions', () => {
  test('are awaited together', async () => {
    const scene = await start({ definition: hostLines(16), stepsOf: () => [0, 50] })
    const { status, requests } = await scene.requestsOf(APPLY)
    expect(status).toBe(0)
    expect(scene.rrsets()).toHaveLength(16)
    expect(requests.filter((line) => line === 'GET /v1/zones/actions').length).toBeLessThan(8)
  })

  test('a failed one is a failed change', async () => {
    const scene = await start({ definition: WWW, fails: () => true, stepsOf: () => [] })
    const { status, stdout, stderr } = await scene.run(APPLY)
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('Hetzner could not complete it: Action failed (action_failed)')
    expect(scene.rrsets()).toEqual([])
  })

  test('one that does not end leaves the answer to the next read', { tags: ['long'] }, async () => {
    const scene = await start({ definition: WWW, settings: ', timeout: 1', stepsOf: () => Array(1000).fill(50) })
    const { status, stdout, stderr } = await scene.run(APPLY)
    expect([status, stdout + stderr]).toEqual([0, expect.not.stringContaining('failed')])
    expect(scene.rrsets()).toHaveLength(1)
  })

  test('a locked zone is tried again', async () => {
    const scene = await start({ definition: WWW, locked: 2 })
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.rrsets()).toHaveLength(1)
  })
})

describe('zones', () => {
  test('are created, changed and deleted', async () => {
    const scene = await start({ definition: '', zones: [], rrsets: [] })
    scene.define(WWW)
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.zones()).toMatchObject([{ name: 'example.com', mode: 'primary' }])
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
    scene.defineAbsent()
    expect((await scene.run([...APPLY, '--allow', 'delete-zone', '--allow', 'empty-zone'])).status).toBe(0)
    expect(scene.zones()).toEqual([])
  })

  test('a new one gets the NS records of its definition', async () => {
    const scene = await start({ definition: '', zones: [], rrsets: [] })
    scene.define("  '': {type: NS, ttl: 600, values: [ns1.example.net., ns2.example.net.]}\n")
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)
  })

  test('a secondary one is created, and its other primaries keep their keys', async () => {
    const zone = { id: ZONE, name: 'example.com', mode: 'secondary' as const }
    const primaries = ['192.0.2.1', '192.0.2.2'].map((address) => ({ address, port: 53, tsig_algorithm: 'hmac-sha256', tsig_key: 'c2Vj' }))
    const scene = await start({ definition: '', zones: [{ ...zone, primary_nameservers: primaries }], rrsets: [] })
    const define = (addresses: readonly string[], zone = 'example.com'): void =>
      writeFileSync(join(scene.folder, `zones/${zone}.yaml`), `domain: ${zone}\ntype: slave\nmaster_ips: [${addresses.join(', ')}]\n`)
    define(['192.0.2.2', '192.0.2.3'])
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.zones()).toMatchObject([{ primary_nameservers: [primaries[1], { address: '192.0.2.3' }] }])
    define(['192.0.2.9'], 'new.example')
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(scene.zones()[1]).toMatchObject({ mode: 'secondary', primary_nameservers: [{ address: '192.0.2.9' }] })
  })

  test('a protected one is not deleted', async () => {
    const scene = await start({ definition: '', zones: [{ id: ZONE, name: 'example.com', protection: { delete: true } }] })
    scene.defineAbsent()
    const { status, stdout, stderr } = await scene.run([...APPLY, '--allow', 'delete-zone', '--allow', 'empty-zone'])
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('example.com. is protected against deletion at Hetzner')
    expect(scene.zones()).toHaveLength(1)
  })
})

test('requests a new record set takes one request', async () => {
  const scene = await start({ definition: hostLines(20) })
  const { status, requests } = await scene.requestsOf(APPLY)
  expect([status, requests.filter((line) => line.startsWith('POST')).length]).toEqual([0, 20])
})

test('responses that are not of the API an action of another change', async () => {
  const action = { id: 1, status: 'success' }
  const scene = await start({ definition: hostLines(2), answer: ({ method }) => (method === 'POST' ? { action } : undefined) })
  const { status, stdout, stderr } = await scene.run(APPLY)
  expect([status === 0, stdout + stderr]).toEqual([false, expect.stringContaining('the response is that of another change')])
})

/** The audit log: what each change appends, and that nothing else can change it. */
import { expect, test } from 'vitest'
import { AUDITED_TABLES, listAudit } from '../../src/service/store/audit.ts'
import { SCHEMA } from '../../src/service/store/schema.ts'
import { during, freshStore, MASTER, ON_POSTGRES, openStore, type Store } from './harness.ts'
import { gzipOf, put, startUpload } from './images/upload-client.ts'
import { numberOf, runSql } from './raw-files.ts'

// biome-ignore lint/suspicious/noExplicitAny: entries have objects of all kinds
type Entry = any

/** The entries of a store after an id, oldest first. */
async function entriesOf(store: Store, after = 0): Promise<Entry[]> {
  const database = await openStore(store)
  const entries = await database.read((connection) => listAudit(connection, { after, limit: 1000 }))
  await database.close()
  return entries
}

/** `action object: changed fields`. */
const summaryOf = ({ actor, action, object, before, after }: Entry): string => {
  const fields = Object.keys(after ?? before).filter((key) => before === null || after === null || before[key] !== after[key])
  return `${actor} ${action} ${object}${action === 'update' ? `: ${fields.join()}` : ''}`
}

test('has who, where, before and after of each change, and of no other write', async () => {
  const store = await freshStore()
  const headers = { 'x-zonewright-run': '20260131T090000Z-0a1b' }
  let requestId: unknown
  let from = 0
  await during(store, async (client, service) => {
    from = await numberOf(store, 'select max(id) as number from audit')
    const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'a.example', tags: ['blue'] })
    const record = await client.ok('POST', `/domains/${id}/records`, { type: 'A', name: 'www', target: '192.0.2.1' })
    const answer = await client.call('PUT', `/domains/${id}/records/${record.id}`, { target: '192.0.2.2' }, headers)
    requestId = answer.headers['x-request-id']
    await client.ok('PUT', `/domains/${id}/records/${record.id}`, { target: '192.0.2.2' })
    await client.refused('POST', `/domains/${id}/records`, { type: 'A', name: 'www', target: 'x' })
    await client.ok('POST', '/profile/tokens', { label: 'ci', scopes: '*' }, { 'x-zonewright-run': 'with spaces' })
    await client.ok('PUT', '/profile/preferences', { password: 'hidden' })
    await service.flush()
    await client.ok('DELETE', `/domains/${id}`)
  })
  const entries = await entriesOf(store, from)
  expect(entries.map(summaryOf)).toEqual([
    'user create domain',
    'user create tag',
    'user create tagged_object',
    'user create record',
    'user update record: target',
    'user create token',
    'user create preference',
    'user delete tagged_object',
    expect.any(String),
    expect.any(String),
    expect.any(String),
  ])
  expect(
    entries
      .slice(-3)
      .map(({ object }) => object)
      .sort(),
  ).toEqual(['domain', 'record', 'tag'])
  expect(entries[4]).toEqual({
    id: expect.any(Number),
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    actor: 'user',
    account: 1,
    user: 'admin',
    token: 1,
    address: '127.0.0.1',
    request: requestId,
    run: headers['x-zonewright-run'],
    action: 'update',
    object: 'record',
    object_id: 1,
    before: {
      id: 1,
      domain_id: 1,
      type: 'A',
      name: 'www',
      target: '192.0.2.1',
      priority: 0,
      weight: 0,
      port: 0,
      ttl_sec: 0,
      service: null,
      protocol: null,
      tag: null,
    },
    after: expect.objectContaining({ target: '192.0.2.2' }),
  })
  expect(entries[5]).toMatchObject({ run: null, after: { label: 'ci' } })
  expect(JSON.stringify(entries)).not.toMatch(/hidden|hash|prefix/)
})

test('has the objects with secrets, but no secret', async () => {
  const store = await freshStore()
  await during(store, async (client) => {
    await client.ok('POST', '/compute/scripts', { label: 'script', images: ['any/all'], script: '#!/bin/sh' })
    const answers = [1, 5, 19].map((question_id) => ({ question_id, response: 'Gotham' }))
    await client.ok('POST', '/profile/security-questions', { security_questions: answers })
    await client.ok('POST', '/profile/phone-number', { iso_code: 'US', phone_number: '201-555-0123' })
    await client.ok('POST', '/profile/tfa-enable')
    await client.ok('PUT', '/profile/preferences', { hidden: true })
    await startUpload(client)
  })
  const entries = await entriesOf(store)
  const fieldsOf = (kind: string) => entries.flatMap(({ object, after }) => (object === kind ? Object.keys(after) : []))
  for (const [kind, ...secrets] of [
    ['token', 'hash', 'prefix'],
    ['script', 'script'],
    ['security_answer', 'response'],
    ['phone_code', 'code'],
    ['second_factor', 'secret', 'pending', 'scratch_hash'],
    ['preference', 'body'],
    ['image', 'upload_hash'],
  ] as [string, ...string[]][]) {
    const fields = fieldsOf(kind)
    expect([kind, fields.length > 0, secrets.filter((secret) => fields.includes(secret))]).toEqual([kind, true, []])
  }
})

test('has no entry of a change that is rolled back', async () => {
  const store = await freshStore()
  const database = await openStore(store)
  const insert = database.write(async (connection) => {
    await connection.insertInto('accounts').values({ created: '2026-01-31T09:00:00' }).execute()
    throw new Error('rolled back')
  })
  await expect(insert).rejects.toThrow('rolled back')
  await database.close()
  expect(await entriesOf(store)).toEqual([])
})

test('cannot be changed but by retention', async () => {
  const store = await freshStore()
  const day = 86_400_000
  let now = Date.now()
  await during({ ...store, clock: () => now, auditDays: 30 }, async (_client, service) => {
    const count = () => numberOf(store, 'select count(*) as number from audit')
    const before = await count()
    const whole = ON_POSTGRES ? 'truncate audit' : 'replace into audit select * from audit limit 1'
    for (const statement of ['delete from audit', "update audit set username = 'x'", whole])
      await expect(runSql(store, [statement])).rejects.toThrow('append-only')
    // More than one job deletes.
    const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 20001) select i from n'
    const old = `select '2020-01-31T09:00:00.000Z', 'service', 'create', 'record', 1 from (${numbers}) numbers`
    await runSql(store, [`insert into audit (time, actor, action, object, object_id) ${old}`])
    now += 2 * day
    await service.catchUp()
    expect([before > 0, await count()]).toEqual([true, before])
    now += 30 * day
    await service.catchUp()
    expect(await count()).toBe(0)
  })
})

test('is kept for ever with a number of days that no date has', async () => {
  const store = await freshStore()
  let now = Date.now()
  await during({ ...store, clock: () => now, auditDays: 1e9 }, async (_client, service) => {
    now += 2 * 86_400_000
    await service.catchUp()
    expect(await numberOf(store, "select attempts as number from jobs where kind = 'delete-expired'")).toBe(0)
    expect(await numberOf(store, 'select count(*) as number from audit')).toBeGreaterThan(0)
  })
})

test('has who sent the data of an image', async () => {
  const store = await freshStore()
  await during(store, async (client) => expect((await put((await startUpload(client)).url, gzipOf(1))).status).toBe(200))
  expect((await entriesOf(store)).at(-1)).toMatchObject({
    ...{ actor: 'user', account: 1, user: null, address: '127.0.0.1', request: expect.any(String), action: 'update', object: 'image' },
    ...{ before: { status: 'pending_upload' }, after: { status: 'available' } },
  })
})

test('blames no user for a change by another program', async () => {
  const store = await freshStore()
  await during(store, (client) => client.ok('POST', '/domains', { ...MASTER, domain: 'a.example' }))
  await runSql(store, ['update domains set description = 1'])
  expect((await entriesOf(store)).at(-1)).toMatchObject({ actor: 'service', user: null, request: null, after: { description: '1' } })
})

test('covers every table but those with state of the service', () => {
  const uncovered = Object.keys(SCHEMA).filter((table) => !(AUDITED_TABLES as readonly string[]).includes(table))
  expect(uncovered.sort()).toEqual(
    ['address_pools', 'audit', 'jobs', 'logins', 'secondaries', 'secret_key', 'served_revision', 'served_zones', 'zone_files'].sort(),
  )
})

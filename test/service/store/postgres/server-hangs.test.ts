import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService } from '../../../../src/service/index.ts'
import { createPool } from '../../../../src/service/store/postgres/postgres-pool.ts'
import { type PostgresServer, startPostgres } from '../../../support/postgres.ts'
import { connect, LOOPBACK, TEST_KEY } from '../../harness.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

test('replaces a connection without a response', async () => {
  const settings = { url: server.url('postgres'), connections: 1, statementTimeout: 3_000, lockTimeout: 0 }
  const { pool, abandon } = createPool(settings, () => undefined)
  const ask = async (): Promise<unknown> => {
    const client = await pool.connect()
    try {
      return (await client.query<{ answer: number }>('select 1 as answer', [])).rows
    } finally {
      client.release()
    }
  }
  expect(await ask()).toEqual([{ answer: 1 }])
  server.freeze()
  await expect(ask()).rejects.toThrow(/Query read timeout/)
  server.thaw()
  expect(await ask()).toEqual([{ answer: 1 }])
  abandon()
  await expect(ask()).rejects.toThrow(/no longer/)
  await pool.end()
})

test('a service stops even if its database hangs', async () => {
  const errors: unknown[] = []
  const service = await startService({
    dataFolder: null,
    secretsKey: TEST_KEY,
    database: server.url('postgres'),
    listen: LOOPBACK,
    dns: null,
    bootstrapToken: 'bootstrap',
    onError: (error) => errors.push(error),
  })
  const { client, close } = connect(service.baseUrl, 'bootstrap')
  await client.ok('POST', '/domains', { domain: 'hangs.example', type: 'master', soa_email: 'a@hangs.example' })
  await service.flush()
  server.freeze()
  // One query is sure to wait; the requests may arrive after the listener has closed.
  const waiting = Promise.allSettled([service.catchUp(), client.call('GET', '/profile'), client.call('GET', '/domains')])
  await service.stop()
  await waiting
  await close()
  server.thaw()
  expect(errors).not.toHaveLength(0)
})

test('requests wait if the server has no free connections', async () => {
  await server.query('postgres', 'create database scarce owner guarded')
  await server.query('postgres', 'alter role guarded connection limit 4')
  const service = await startService({
    dataFolder: null,
    secretsKey: TEST_KEY,
    database: server.url('scarce', 'guarded').replace('guarded@', 'guarded:right@'),
    listen: LOOPBACK,
    dns: null,
    bootstrapToken: 'bootstrap',
  })
  const { client, close } = connect(service.baseUrl, 'bootstrap')
  const answers = await Promise.all(Array.from({ length: 40 }, () => client.call('GET', '/domains')))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  await close()
  await service.stop()
})

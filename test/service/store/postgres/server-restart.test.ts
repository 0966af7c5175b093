import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../support/postgres.ts'
import { expectAudited, expectKept, nothingAcknowledged, startWriters } from '../../acknowledged.ts'
import { connect, LOOPBACK, startForTest } from '../../harness.ts'
import { serviceProcesses } from '../../service-process.ts'

const serve = serviceProcesses()
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

test('acknowledged writes survive a killed database server, and the service continues', async () => {
  const store = { dataFolder: null, database: server.url('postgres') }
  const { baseUrl, kill } = await serve(store)
  const { client, close } = connect(baseUrl, 'bootstrap')
  const { id } = await client.ok('POST', '/domains', { domain: 'kept.example', type: 'master', soa_email: 'a@kept.example' })
  const acknowledged = nothingAcknowledged()
  for (let round = 0; round < 3; round += 1) {
    const created = acknowledged.created.size
    const writers = startWriters(client, id, `r${round}`, acknowledged)
    await expect.poll(() => acknowledged.created.size).toBeGreaterThan(created + 50)
    writers.expectFailures()
    await server.kill()
    await server.start()
    const afterwards = acknowledged.created.size
    // The same process continues without a restart.
    await expect.poll(() => acknowledged.created.size).toBeGreaterThan(afterwards + 20)
    await writers.stop()
  }
  await expect.poll(() => server.query('postgres', 'select id from domains where settled < revision')).toEqual([])
  await expectKept(client, id, acknowledged)
  await expectAudited(store, acknowledged)
  await close()

  // Both at once.
  await Promise.all([kill(), server.kill()])
  await server.start()
  const { service, client: later } = await startForTest({ ...store, dns: LOOPBACK, bootstrapToken: 'bootstrap' })
  await expectKept(later, id, acknowledged)
  // Before its database is removed.
  await service.stop()
})

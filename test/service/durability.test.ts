import { expect, test } from 'vitest'
import { startService } from '../../src/service/index.ts'
import { expectKept, nothingAcknowledged, startWriters } from './acknowledged.ts'
import { connect, freshStore, LOOPBACK } from './harness.ts'
import { serviceProcesses } from './service-process.ts'

const serve = serviceProcesses()

test('acknowledged writes survive a killed process', { timeout: 180_000 }, async () => {
  const store = await freshStore()
  const acknowledged = nothingAcknowledged()
  let domainId = 0
  for (let round = 0; round < 3; round += 1) {
    const { baseUrl, kill } = await serve(store)
    const { client, close } = connect(baseUrl, 'bootstrap')
    if (domainId === 0) {
      domainId = (await client.ok('POST', '/domains', { domain: 'kept.example', type: 'master', soa_email: 'a@kept.example' })).id
    }
    const writers = startWriters(client, domainId, `r${round}`, acknowledged)
    const before = acknowledged.created.size
    await expect.poll(() => acknowledged.created.size, { timeout: 30_000 }).toBeGreaterThan(before + 100)
    writers.expectFailures()
    await kill()
    await writers.stop()
    await close()
  }

  const service = await startService({ ...store, listen: LOOPBACK, dns: null, bootstrapToken: 'bootstrap' })
  const { client, close } = connect(service.baseUrl, 'bootstrap')
  try {
    await expectKept(client, domainId, acknowledged)
  } finally {
    await close()
    await service.stop()
  }
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { rounds } from '../support/random.ts'
import { expectAudited, expectKept, nothingAcknowledged, startWriters } from './acknowledged.ts'
import { connect, during, freshStore, MASTER } from './harness.ts'
import { serviceProcesses } from './service-process.ts'
import { record, scriptedMaster, serving, soa } from './transfers/scripted-master.ts'

const serve = serviceProcesses()

test('acknowledged writes survive a killed process', async () => {
  const store = await freshStore()
  const acknowledged = nothingAcknowledged()
  let domainId = 0
  for (let round = 0; round < rounds(3); round += 1) {
    const { baseUrl, kill } = await serve(store)
    const { client, close } = connect(baseUrl, 'bootstrap')
    if (domainId === 0) domainId = (await client.ok('POST', '/domains', { ...MASTER, domain: 'kept.example' })).id
    const writers = startWriters(client, domainId, `r${round}`, acknowledged)
    const before = acknowledged.created.size
    await expect.poll(() => acknowledged.created.size).toBeGreaterThan(before + 100)
    writers.expectFailures()
    await kill()
    await writers.stop()
    await close()
  }
  await during(store, (client) => expectKept(client, domainId, acknowledged))
  await expectAudited(store, acknowledged)
})

const RECORDS = 5000

test('a killed import leaves the complete domain or nothing', { tags: ['long'] }, async () => {
  const peerPort = await scriptedMaster((query, ...rest) => {
    const zone = query.questions[0]?.name ?? ''
    const hosts = Array.from({ length: RECORDS }, (_, i) => record(`h${i}.${zone}`, 'A', `192.0.${i >> 8}.${i & 255}`))
    serving([soa(1, '3600 600 604800 300', zone), ...hosts])(query, ...rest)
  })
  const store = await freshStore()
  const place = { ...store, peerPort }
  const importing = (domain: string, baseUrl: string) => {
    const { client, close } = connect(baseUrl, 'bootstrap')
    return client.call('POST', '/domains/import', { domain, remote_nameserver: '127.0.0.1' }).finally(close)
  }

  const whole = await serve(place)
  const started = performance.now()
  expect((await importing('whole.test', whole.baseUrl)).status).toBe(200)
  const duration = performance.now() - started
  await whole.kill()
  for (const part of [0.4, 0.7, 0.9]) {
    const { baseUrl, kill } = await serve(place)
    const lost = importing(`part${part * 10}.test`, baseUrl).catch(() => null)
    await sleep(part * duration)
    await kill()
    await lost
  }

  await during(store, async (client) => {
    const { data } = await client.ok('GET', '/domains')
    expect(data.map(({ domain }: { domain: string }) => domain)).toContain('whole.test')
    for (const { id, domain } of data) {
      const first = await client.ok('GET', `/domains/${id}/records?page_size=25`)
      const last = await client.ok('GET', `/domains/${id}/records?page_size=500&page=${RECORDS / 500}`)
      expect([domain, first.results, last.data.length, last.data[499]?.name]).toEqual([domain, RECORDS, 500, `h${RECORDS - 1}`])
    }
  })
})

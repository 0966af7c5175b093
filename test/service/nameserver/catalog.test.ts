/** The catalog zone of the service. catalog.servers.test.ts has secondaries that follow it. */
import { Resolver } from 'node:dns/promises'
import { expect, test } from 'vitest'
import type { DomainName } from '../../../src/dns/domain-name.ts'
import { createCatalog } from '../../../src/service/nameserver/catalog.ts'
import type { ServedRecord } from '../../../src/service/nameserver/zone-data.ts'
import { startService } from '../../../src/service/start-service.ts'
import { LOOPBACK, MASTER, startForTest } from '../harness.ts'

test('lists the zones, and has a new serial only for new members', async () => {
  const built: (readonly [serial: number, members: string])[] = []
  const name = (text: string): DomainName => `${text}.example.` as DomainName
  const catalog = createCatalog(name('catalog'), {
    setZone: ({ serial, records }) => {
      const members = (records as readonly ServedRecord[]).flatMap(({ type, data }) => (type === 'PTR' ? [data] : []))
      built.push([serial, members.join()])
    },
  })
  catalog.published(0)
  catalog.add(name('a'))
  catalog.add(name('b'))
  catalog.published(7)
  await expect.poll(() => built.at(-1)).toEqual([7, 'a.example.,b.example.'])
  catalog.add(name('a'))
  catalog.remove(name('c'))
  catalog.published(8)
  catalog.remove(name('a'))
  catalog.published(9)
  await expect.poll(() => built.at(-1)).toEqual([9, 'b.example.'])
  expect(built.map(([serial]) => serial)).toEqual([1, 7, 9])
  catalog.close()
})

test.each([
  [{ catalogZone: 'catalog.invalid' }, 'needs secondaries'],
  [{ catalogZone: 'a..b', secondaries: ['192.0.2.1'] }, 'not a valid name'],
  [{ secondaries: ['ns1.example.net'] }, 'is not an address'],
])('%j does not start', async (options, reason) => {
  await expect(startService({ dataFolder: null, listen: null, dns: LOOPBACK, ...options })).rejects.toThrow(reason)
})

test('a zone with its name is not served', async () => {
  const { service, client } = await startForTest({ dns: LOOPBACK, secondaries: ['127.0.0.1'], catalogZone: 'catalog.invalid' })
  for (const domain of ['catalog.invalid', 'a.example']) await client.ok('POST', '/domains', { ...MASTER, domain })
  await service.flush()
  const resolver = new Resolver()
  resolver.setServers([`127.0.0.1:${service.dnsAddress?.port}`])
  await expect.poll(() => resolver.resolveSoa('catalog.invalid')).toMatchObject({ hostmaster: 'invalid' })
  expect(await resolver.resolveSoa('a.example')).toMatchObject({ hostmaster: 'hostmaster.example.com' })
})

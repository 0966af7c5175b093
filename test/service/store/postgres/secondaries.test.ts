/** Several processes transfer zones for one database. */
import { expect, test } from 'vitest'
import { freshDatabase, startForTest } from '../../harness.ts'
import { eventually } from '../../transfers/eventually.ts'
import { sendNotify } from '../../transfers/notify.ts'
import { askService, createSlave, OPTIONS, portOf, scripts, serve, timesAsked } from '../../transfers/zone-master.ts'

test('refresh each zone once, and all serve it', async () => {
  const store = { database: await freshDatabase() }
  const options = { ...OPTIONS, ...store, bootstrapToken: 'token' }
  const first = await startForTest(options)
  const services = [first, await startForTest(options), await startForTest(options)]
  const { client: caller } = first
  const zones = Array.from({ length: 10 }, (_, i) => `shared${i}.test`)
  for (const zone of zones) serve(zone, 1)
  await Promise.all(zones.map((zone) => createSlave(caller, zone)))
  const everywhere = async (answer: string): Promise<void> => {
    for (const { service: one } of services)
      for (const zone of zones) expect(await askService(one, `www.${zone}`)).toEqual(['NOERROR', answer])
  }
  await eventually(() => everywhere('192.0.2.1'))
  for (const zone of zones) expect(timesAsked(zone, 'AXFR')).toBe(1)
  for (const zone of zones) serve(zone, 2)
  await Promise.all(services.flatMap(({ service: one }) => zones.map((zone) => sendNotify(portOf(one), zone))))
  await eventually(() => everywhere('192.0.2.2'))
  for (const zone of zones) expect([timesAsked(zone, 'AXFR'), timesAsked(zone, 'IXFR')]).toEqual([1, 1])
})

test('the claims of a killed process are taken over', async () => {
  const store = { database: await freshDatabase() }
  const options = { ...OPTIONS, ...store, bootstrapToken: 'token', clockSpeed: 1 }
  const { client: caller, service: one } = await startForTest(options)
  scripts.set('taken.test.', () => {})
  await createSlave(caller, 'taken.test')
  await eventually(async () => expect(timesAsked('taken.test')).toBe(1))
  await one.stop()
  serve('taken.test', 1)
  const other = await startForTest(options)
  await eventually(async () => expect(await askService(other.service, 'www.taken.test')).toEqual(['NOERROR', '192.0.2.1']))
})

/** Instances with several processes at once. */
import { describe, expect, test } from 'vitest'
import { startService, UNLIMITED } from '../../../src/service/index.ts'
import { type Client, connect, freshStore, inParallel, LOOPBACK, ON_POSTGRES } from '../harness.ts'
import { EMPTY, IMAGE, START } from './fixture.ts'

describe.runIf(ON_POSTGRES)('processes of one database', () => {
  test('agree on labels, addresses, states and the number of clones', async () => {
    const store = await freshStore()
    let now = START
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    // Each as in its own process.
    const services = await Promise.all(
      [0, 1, 2].map(() =>
        startService({ ...UNLIMITED, ...store, listen: LOOPBACK, dns: null, bootstrapToken: 'bootstrap', clock: () => now, onError }),
      ),
    )
    const connections = services.map(({ baseUrl }) => connect(baseUrl, 'bootstrap'))
    const at = (index: number): Client => connections[index % connections.length]?.client as Client
    const pass = async (seconds: number): Promise<void> => {
      now += seconds * 1000
      await Promise.all(services.map((service) => service.catchUp()))
    }
    try {
      const labelled = await inParallel(12, 12, (index) => at(index).call('POST', '/compute/instances', { ...EMPTY, label: 'the-same' }))
      expect(labelled.filter(({ status }) => status === 200)).toHaveLength(1)
      for (const { status, body } of labelled) {
        if (status !== 200) expect(body.errors).toEqual([{ field: 'label', reason: 'Label must be unique among your linodes' }])
      }
      const made = await inParallel(24, 8, (index) => at(index).ok('POST', '/compute/instances', { ...IMAGE, private_ip: true }))
      expect(new Set(made.flatMap(({ ipv4 }) => ipv4)).size).toBe(48)
      await pass(10)
      const { data } = await at(1).ok('GET', '/compute/instances', undefined, { 'x-filter': '{"image":"public/debian11"}' })
      expect(data.map(({ status }: { status: string }) => status)).toEqual(Array(24).fill('running'))
      const { id } = made[0]
      const clones = await inParallel(9, 9, (index) => at(index).call('POST', `/compute/instances/${id}/clone`, {}))
      expect(clones.filter(({ status }) => status === 200)).toHaveLength(5)
      await pass(20)
      expect((await at(2).ok('GET', `/compute/instances/${id}`)).status).toBe('running')
      expect(errors).toEqual([])
    } finally {
      await Promise.all(connections.map(({ close }) => close()))
      await Promise.all(services.map((service) => service.stop()))
    }
  })
})

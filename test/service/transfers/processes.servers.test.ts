/** Several name server processes on one PostgreSQL: each sends IXFR between the versions that it has served, and all need the key. */
import { describe, expect, test } from 'vitest'
import { dig, transferZone } from '../../support/tools.ts'
import { freshStore, ON_POSTGRES } from '../harness.ts'
import { eventually } from './eventually.ts'
import { type KeyEntry, startKeyed, toolKey } from './keyed-service.ts'

const ALICE: KeyEntry = { name: 'alice-1.example', account: 'alice' }
const key = toolKey(ALICE)

describe.runIf(ON_POSTGRES)('processes on one database', () => {
  test('send the same changes', async () => {
    const store = await freshStore()
    const first = await startKeyed([ALICE], store)
    const others = [await startKeyed([ALICE], { ...store, seed: null })]
    const settings = { domain: 'main.example', type: 'master', soa_email: 'hostmaster@example.com', axfr_ips: ['127.0.0.1'] }
    const { id } = await first.alice.ok('POST', '/domains', settings)
    for (let i = 0; i < 30; i += 1)
      await first.alice.ok('POST', `/domains/${id}/records`, { type: 'A', name: `h${i}`, target: '192.0.2.1' })
    await first.service.flush()
    const ports = [first, ...others].map(({ port }) => port)
    const serialAt = async (port: number): Promise<number> =>
      Number((await dig({ port, name: 'main.example', type: 'SOA' }))[0]?.split(' ')[2] ?? 0)
    const agree = async (): Promise<number> => {
      const serial = await serialAt(ports[0] as number)
      for (const port of ports) await eventually(async () => expect(await serialAt(port)).toBe(serial))
      return serial
    }
    const before = await agree()
    for (let i = 0; i < 3; i += 1) {
      await first.alice.ok('POST', `/domains/${id}/records`, { type: 'A', name: `later${i}`, target: '192.0.2.2' })
      await first.service.flush()
    }
    await agree()
    for (const port of ports) {
      expect(await transferZone({ port, name: 'main.example' })).toEqual([])
      const lines = await dig({ port, name: 'main.example', type: `IXFR=${before}`, key, options: ['+noall', '+answer'] })
      expect(lines.filter((line) => /\sA\s/.test(line)).map((line) => line.split('.')[0])).toEqual(['later0', 'later1', 'later2'])
    }
  })
})

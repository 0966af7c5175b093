import { expect, test } from 'vitest'
import type { DnsServer, DnsServerOptions } from './dns-servers.ts'
import { startBind, startKnot, startNsd, startPowerDns, TEST_KEY, waitForZone } from './dns-servers.ts'
import { describeWithTools } from './skip.ts'
import { dig, kdig, nsupdate, transferZone } from './tools.ts'

const zoneText = (name: string, serial: number): string => `$ORIGIN ${name}.
$TTL 300
@ SOA ns1 hostmaster ${serial} 3600 600 604800 300
@ NS ns1
ns1 A 192.0.2.53
www A 192.0.2.1
`

const ZONE = { name: 'example.test', text: zoneText('example.test', 1) }
type Start = (options: DnsServerOptions) => Promise<DnsServer>

const MAKES: readonly { make: string; tools: string[]; start: Start; updates: boolean; reloads: boolean }[] = [
  { make: 'BIND', tools: ['named'], start: startBind, updates: true, reloads: true },
  { make: 'Knot', tools: ['knotd'], start: startKnot, updates: true, reloads: true },
  { make: 'NSD', tools: ['nsd'], start: startNsd, updates: false, reloads: true },
  { make: 'PowerDNS', tools: ['pdns_server', 'pdnsutil'], start: startPowerDns, updates: true, reloads: false },
]

for (const { make, tools, start, updates, reloads } of MAKES) {
  describeWithTools([...tools, 'dig', 'kdig', 'nsupdate'], `${make} as a child process`, () => {
    test('answers and stops', async () => {
      const server = await start({ zones: [ZONE, { name: 'example.com', text: zoneText('example.com', 7) }] })
      expect(await dig({ port: server.port, name: 'www.example.test' })).toEqual(['192.0.2.1'])
      expect(await kdig({ port: server.port, name: 'www.example.com' })).toEqual(['192.0.2.1'])
      await server.stop()
      expect(() => process.kill(server.pid, 0)).toThrow('ESRCH')
    })

    test('transfers only with the key if unsigned transfers are disabled', async () => {
      const server = await start({ zones: [ZONE], key: TEST_KEY, unsignedTransfer: false })
      expect(await transferZone({ port: server.port, name: 'example.test', key: TEST_KEY })).toHaveLength(5)
      expect(await transferZone({ port: server.port, name: 'example.test' })).toEqual([])
    })

    if (updates)
      test('accepts only signed updates', async () => {
        const server = await start({ zones: [ZONE], key: TEST_KEY })
        const script = 'zone example.test\nupdate add new.example.test 60 A 192.0.2.7'
        expect((await nsupdate(server.port, script)).status).not.toBe(0)
        expect(await nsupdate(server.port, script, TEST_KEY)).toMatchObject({ status: 0 })
        expect(await dig({ port: server.port, name: 'new.example.test' })).toEqual(['192.0.2.7'])
      })

    if (reloads)
      test('reads a replaced zone', async () => {
        const server = await start({ zones: [ZONE] })
        server.replaceZone('example.test', `${zoneText('example.test', 2)}new A 192.0.2.8\n`)
        await waitForZone(server.port, 'example.test', { serial: 2 })
        await expect.poll(() => dig({ port: server.port, name: 'new.example.test' })).toEqual(['192.0.2.8'])
      })
  })
}

describeWithTools(['named', 'knotd', 'nsd', 'dig', 'nsupdate'], 'secondaries as child processes', () => {
  test.each([
    ['BIND', startBind],
    ['Knot', startKnot],
    ['NSD', startNsd],
  ] as const)('%s transfers a zone and reacts to a NOTIFY', async (_, start) => {
    const primary = await startBind({ zones: [ZONE], key: TEST_KEY })
    const secondary = await start({ secondaryZones: [{ name: 'example.test', primaryPort: primary.port }] })
    await waitForZone(secondary.port, 'example.test', { serial: 1 })
    await primary.stop()
    const again = await startBind({ zones: [{ ...ZONE, text: zoneText('example.test', 9) }], notify: [secondary.port], port: primary.port })
    await waitForZone(secondary.port, 'example.test', { serial: 9 })
    await again.stop()
  })
})

describeWithTools(['named'], 'a server that cannot start', () => {
  test('fails with the output of the server', async () => {
    await expect(startBind({ zones: [{ name: 'example.test', text: 'no zone file' }], readyWithin: 6_000 })).rejects.toThrow(
      /no answer for example\.test.*not loaded due to errors/s,
    )
  })
})

/** Repeated reads of a zone in a run: by IXFR from real servers, and by AXFR if that does not help. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { contentKey } from '../../src/dns/record.ts'
import { OPCODE, type WireRecord } from '../../src/dns/wire/message.ts'
import { AXFR } from '../../src/providers/axfr/axfr-provider.ts'
import type { NameServer } from '../../src/providers/name-server.ts'
import type { ProviderType } from '../../src/providers/provider.ts'
import { RFC2136 } from '../../src/providers/rfc2136/rfc2136-config.ts'
import { createTransferReader, type TransferredZone } from '../../src/providers/transfer-reader.ts'
import { answerOf, record, type Script, scriptedMaster, serving, soa } from '../service/transfers/scripted-master.ts'
import { type DnsServer, startBind, startKnot, startNsd, startPowerDns, TEST_KEY, waitForZone } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { nsupdate } from '../support/tools.ts'

const RECORDS = 12_000
const CHANGES = 10

const serverAt = (port: number, key: NameServer['key'] = null): NameServer => {
  return { provider: 'lab', server: { host: '127.0.0.1', port }, key, timeout: 10_000, parallelism: 1 }
}

const keysOf = ({ soa: first, records }: TransferredZone): string[] => [first.data, ...records.map(contentKey).sort()]

/** A proxy that counts the octets that the server sends, and the connections. */
async function countingProxy(port: number): Promise<{ port: number; take(): { octets: number; connections: number } }> {
  let [octets, connections] = [0, 0]
  const proxy = createServer((client) => {
    connections += 1
    const server = connect(port, '127.0.0.1')
    client.pipe(server).on('data', (chunk: Buffer) => {
      octets += chunk.length
    })
    server.pipe(client)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  const take = () => {
    const taken = { octets, connections }
    ;[octets, connections] = [0, 0]
    return taken
  }
  return { port: (proxy.address() as AddressInfo).port, take }
}

/** A zone file of 12,000 addresses, with this serial; from serial 2 on with the changes. */
function zoneText(serial: number): string {
  const hosts = Array.from({ length: RECORDS }, (_, index) => {
    const [ttl, last] = serial > 1 && index < CHANGES ? [index % 2 === 0 ? 600 : 300, 201] : [300, index % 200]
    return `h${index} ${ttl} A 192.0.2.${last}`
  })
  const soa = `@ SOA ns1.example.net. hostmaster.example.com. ${serial} 14400 14400 1209600 300`
  return ['$TTL 3600', soa, '@ NS ns1.example.net.', ...hosts, ''].join('\n')
}

/** The same changes by dynamic update. */
async function update(server: DnsServer): Promise<void> {
  const commands = Array.from({ length: CHANGES }, (_, index) => {
    const name = `h${index}.example.com.`
    return `update delete ${name} A\nupdate add ${name} ${index % 2 === 0 ? 600 : 300} A 192.0.2.201`
  })
  expect(await nsupdate(server.port, `zone example.com\n${commands.join('\n')}`, TEST_KEY)).toMatchObject({ status: 0, stderr: '' })
}

async function replace(server: DnsServer): Promise<void> {
  server.replaceZone('example.com', zoneText(2))
  await waitForZone(server.port, 'example.com', { serial: 2 })
  // The previous processes of NSD may still accept a connection.
  await setTimeout(500)
}

const SERVERS = [
  { name: 'BIND', tool: 'named', start: startBind, change: update, isIncremental: true },
  { name: 'Knot DNS', tool: 'knotd', start: startKnot, change: update, isIncremental: true },
  { name: 'NSD', tool: 'nsd', start: startNsd, change: replace, isIncremental: true },
  // It answers IXFR with the whole zone.
  { name: 'PowerDNS', tool: 'pdns_server', start: startPowerDns, change: update, isIncremental: false },
]

describe.each(SERVERS)('$name', ({ name, tool, start, change, isIncremental }) =>
  describeWithTools([tool, 'nsupdate'], name, () => {
    test('a read after 10 changes of 12,000 records has the same records as AXFR', async () => {
      const zone = 'example.com.' as DomainName
      const running = await start({
        zones: [{ name: 'example.com', text: zoneText(1) }],
        key: TEST_KEY,
        unsignedTransfer: false,
        incremental: true,
      })
      const proxy = await countingProxy(running.port)
      const key = { name: TEST_KEY.name as DomainName, algorithm: TEST_KEY.algorithm, secret: Buffer.from(TEST_KEY.secret, 'base64') }
      const reader = createTransferReader(serverAt(proxy.port, key))
      const before = await reader.read(zone)
      expect(before.records).toHaveLength(RECORDS + 1)
      const whole = proxy.take()

      expect(keysOf(await reader.read(zone))).toEqual(keysOf(before))
      const unchanged = proxy.take()
      expect(unchanged.connections).toBe(1)
      expect(unchanged.octets).toBeLessThan(400)

      await change(running)
      reader.noteChange(zone)
      const after = await reader.read(zone)
      const changed = proxy.take()
      expect(changed.connections).toBe(1)
      if (isIncremental) expect(changed.octets).toBeLessThan(3000)
      else expect(changed.octets).toBeGreaterThan(whole.octets / 2)

      const again = await createTransferReader(serverAt(proxy.port, key)).read(zone)
      expect(keysOf(after)).toEqual(keysOf(again))
      expect(keysOf(after)).not.toEqual(keysOf(before))
      expect(after.records.filter(({ data }) => data === '192.0.2.201')).toHaveLength(CHANGES)

      // Another change, from the version that the differences led to.
      if (change !== update) return
      await nsupdate(running.port, 'zone example.com\nupdate add new.example.com. 60 TXT "x"', TEST_KEY)
      proxy.take()
      const last = await reader.read(zone)
      if (isIncremental) expect(proxy.take().octets).toBeLessThan(1000)
      expect(last.records).toHaveLength(RECORDS + 2)
    })
  }),
)

describe('if IXFR does not help, AXFR is used', () => {
  const zone = 'example.test.' as DomainName
  const host = (label: string, last = 1): WireRecord => record(`${label}.example.test.`, 'A', `192.0.2.${last}`)
  const [first, second] = [soa(1), soa(2)]
  const sending =
    (...records: readonly WireRecord[]): Script =>
    (query, socket) =>
      void socket.write(answerOf(query, records))
  const refusing =
    (rcode: number): Script =>
    (query, socket) =>
      void socket.write(answerOf(query, [], { rcode }))

  /** Reads a zone twice from a server that answers the IXFR with `ixfr`; returns the data read and the types of the queries. */
  async function readTwice(ixfr: Script, { noted = false, then = [second, host('kept'), host('new')] } = {}) {
    const asked: string[] = []
    let whole = serving([first, host('kept'), host('gone')])
    const port = await scriptedMaster((...request) => {
      const type = request[0].questions[0]?.type ?? ''
      asked.push(type)
      ;(type === 'IXFR' ? ixfr : whole)(...request)
    })
    const reader = createTransferReader({ ...serverAt(port), timeout: 2000 })
    await reader.read(zone)
    whole = serving(then as [WireRecord, ...WireRecord[]])
    if (noted) reader.noteChange(zone)
    const { soa: last, records } = await reader.read(zone)
    return { asked: asked.join(' '), serial: last.data.split(' ')[2], names: records.map(({ name }) => name.split('.')[0]).sort() }
  }
  const NEWEST = { serial: '2', names: ['kept', 'new'] }
  const FIRST = { serial: '1', names: ['gone', 'kept'] }

  test.each<[string, Script]>([
    ['differences', sending(second, first, host('gone'), second, host('new'), second)],
    ['the whole zone', sending(second, host('kept'), host('new'), second)],
  ])('with %s no AXFR is needed', async (_, ixfr) => {
    expect(await readTwice(ixfr, { noted: true })).toEqual({ asked: 'AXFR IXFR', ...NEWEST })
  })

  test('the same SOA record means that the zone is unchanged', async () => {
    expect(await readTwice(sending(first))).toEqual({ asked: 'AXFR IXFR', ...FIRST })
  })

  test('the same SOA record after an update of this run is not believed', async () => {
    expect(await readTwice(sending(first), { noted: true })).toEqual({ asked: 'AXFR IXFR AXFR', ...NEWEST })
  })

  test.each<[string, Script]>([
    ['NOTIMP', refusing(4)],
    ['FORMERR', refusing(1)],
    ['REFUSED', refusing(5)],
    ['a removed record that is not there', sending(second, first, host('other'), second, host('new'), second)],
    ['a removed record with other data', sending(second, first, host('gone', 9), second, host('new'), second)],
    ['an added record that exists', sending(second, first, host('gone'), second, host('kept'), second)],
    ['differences from another serial', sending(second, soa(7), host('gone'), second, host('new'), second)],
    ['an older SOA record', sending(soa(0))],
    ['the same serial with other times', sending(soa(1, '7200 600 604800 300'))],
    ['a closed connection', (_, socket) => void socket.destroy()],
    ['silence', () => undefined],
  ])('after %s', async (_, ixfr) => expect(await readTwice(ixfr)).toEqual({ asked: 'AXFR IXFR AXFR', ...NEWEST }))

  test.each([
    [2, 'SERVFAIL', 'provider-failed', /log of the server/],
    [5, 'REFUSED', 'provider-unauthorized', /allow the transfer/],
    [9, 'NOTAUTH', 'provider-unauthorized', /allow the transfer/],
  ] as const)('a transfer that ends with rcode %i (%s) is %s', async (rcode, word, code, hint) => {
    const port = await scriptedMaster(refusing(rcode))
    await expect(createTransferReader(serverAt(port)).read(zone)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(
        `reading ${zone}: the transfer of ${zone} from 127.0.0.1 port ${port} failed: the answer is ${word}`,
      ),
      hint: expect.stringMatching(hint),
    })
  })

  test('a zone with a record twice is not asked for changes', async () => {
    const asked: (string | undefined)[] = []
    const whole = serving([first, host('twice'), host('twice')])
    const port = await scriptedMaster((...request) => {
      asked.push(request[0].questions[0]?.type)
      whole(...request)
    })
    const reader = createTransferReader(serverAt(port))
    await reader.read(zone)
    expect((await reader.read(zone)).records).toHaveLength(2)
    expect(asked).toEqual(['AXFR', 'AXFR'])
  })
})

describe('providers', () => {
  const zone = 'example.test.' as DomainName
  const reference = { name: zone, id: zone, settings: {} }

  /** A provider at a server whose zone always has serial 1, and what the server is asked. */
  async function atUnchangedServer(type: string, { create }: ProviderType) {
    const asked: string[] = []
    const port = await scriptedMaster((query, socket) => {
      const [question] = query.questions
      asked.push(query.opcode === OPCODE.UPDATE ? 'UPDATE' : (question?.type ?? ''))
      if (query.opcode === OPCODE.UPDATE) socket.write(answerOf(query, []))
      else if (question?.type === 'IXFR') socket.write(answerOf(query, [soa()]))
      else serving([soa(), record('www.example.test.', 'A', '192.0.2.1')])(query, socket)
    })
    const at = { file: 'zonewright.yaml', line: 1, column: 1 }
    const config = { name: 'lab', type, settings: { server: `127.0.0.1:${port}` }, at, placeOf: () => at }
    const { provider, diagnostics } = await create(config, { secrets: { env: {}, folder: '.', loaded: noSecrets() } })
    if (provider === null) throw new Error(JSON.stringify(diagnostics))
    return { provider, asked }
  }

  test.each<[string, ProviderType]>([
    ['rfc2136', RFC2136],
    ['axfr', AXFR],
  ])('%s asks for the changes the second time', async (name, type) => {
    const { provider, asked } = await atUnchangedServer(name, type)
    const first = await provider.readZone(reference)
    expect(first.records).toHaveLength(1)
    expect(await provider.readZone(reference)).toEqual(first)
    expect(asked).toEqual(['AXFR', 'IXFR'])
  })

  test('rfc2136 reads the whole zone after an update if the serial stays', async () => {
    const { provider, asked } = await atUnchangedServer('rfc2136', RFC2136)
    await provider.readZone(reference)
    await provider.apply(reference, { changes: [], rrsets: [] })
    await provider.readZone(reference)
    expect(asked).toEqual(['AXFR', 'UPDATE', 'IXFR', 'AXFR'])
  })
})

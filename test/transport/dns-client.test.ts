import dns from 'node:dns'
import { describe, expect, test, vi } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { encodeMessage } from '../../src/dns/wire/encode-message.ts'
import type { Message, WireRecord } from '../../src/dns/wire/message.ts'
import { createDnsClient, queryDns } from '../../src/transport/dns-client.ts'
import { transferZone } from '../../src/transport/dns-transfer.ts'
import { startBind, startKnot, startNsd } from '../support/dns-servers.ts'
import { freePort } from '../support/free-port.ts'
import { response, startScriptedDns } from '../support/scripted-dns.ts'
import { describeWithTools } from '../support/skip.ts'

const HOST = '127.0.0.1'
const name = (text: string): DomainName => text as DomainName
const HOSTS = 3000
const ZONE = {
  name: 'example.test',
  text: `$TTL 300
@ SOA ns1 hostmaster 1 3600 600 604800 300
@ NS ns1
ns1 A 192.0.2.53
www CNAME web
web A 192.0.2.1
a\\.b TXT "x" "y\\"z"
${Array.from({ length: 60 }, (_, i) => `many TXT "${'x'.repeat(100)}${i}"`).join('\n')}
${Array.from({ length: HOSTS }, (_, i) => `h${i} A 192.0.${i >> 8}.${i & 255}`).join('\n')}
`,
}
const RECORDS = 6 + 60 + HOSTS

for (const [make, tool, start] of [
  ['BIND', 'named', startBind],
  ['Knot', 'knotd', startKnot],
  ['NSD', 'nsd', startNsd],
] as const) {
  describeWithTools([tool], make, () => {
    test('answers one query and thousands of concurrent queries, and transfers the zone', async () => {
      const address = { host: HOST, port: (await start({ zones: [ZONE] })).port }
      expect(await queryDns(address, { name: name('www.example.test.'), type: 'A' })).toMatchObject({
        rcode: 'NOERROR',
        authoritative: true,
        transport: 'udp',
        answers: [
          { name: 'www.example.test.', type: 'CNAME', ttl: 300, data: 'web.example.test.' },
          { name: 'web.example.test.', type: 'A', ttl: 300, data: '192.0.2.1' },
        ],
      })
      const many = await queryDns(address, { name: name('many.example.test.'), type: 'TXT' })
      expect([many.transport, many.answers.length]).toEqual(['tcp', 60])
      expect(await queryDns(address, { name: name('nothing.example.test.'), type: 'A' })).toMatchObject({ rcode: 'NXDOMAIN', answers: [] })
      expect(await queryDns(address, { name: name('example.org.'), type: 'A' })).toMatchObject({ rcode: 'REFUSED' })

      const client = createDnsClient(address)
      const answers = await Promise.all(
        Array.from({ length: HOSTS }, (_, i) => client.query({ name: name(`h${i}.example.test.`), type: 'A' })),
      )
      client.close()
      expect(answers.map((answer) => answer.answers.map((record) => record.data))).toEqual(
        Array.from({ length: HOSTS }, (_, i) => [`192.0.${i >> 8}.${i & 255}`]),
      )

      const records = await transferZone(address, name('example.test.'))
      expect(records.length).toBe(RECORDS)
      expect(records[0]).toMatchObject({ name: 'example.test.', type: 'SOA', ttl: 300 })
      expect(records).toContainEqual({ name: 'a\\.b.example.test.', type: 'TXT', ttl: 300, data: '"x" "y\\"z"' })
      await expect(transferZone(address, name('example.test.'), { maxRecords: 100 })).rejects.toMatchObject({ reason: 'garbled' })
      await expect(transferZone(address, name('example.org.'))).rejects.toMatchObject({ code: 'DNS_FAILURE', reason: 'rejected' })
    })
  })
}

const QUESTION = { name: name('www.example.test.'), type: 'A' }
const A: WireRecord = { name: QUESTION.name, type: 'A', class: 1, ttl: 60, data: '192.0.2.1' }
const FORGED: WireRecord = { ...A, data: '203.0.113.66' }

const reply = (query: Message, changes: Partial<Message> = {}): Uint8Array => response(query, [A], changes)

describe('accepts only a response to the query', () => {
  test.each<[string, (query: Message) => Uint8Array]>([
    ['another identifier', (query) => reply(query, { id: query.id ^ 1, answers: [FORGED] })],
    ['another name', (query) => reply(query, { questions: [{ name: name('other.test.'), type: 'A', class: 1 }], answers: [FORGED] })],
    ['another type', (query) => reply(query, { questions: [{ ...QUESTION, type: 'AAAA', class: 1 }], answers: [FORGED] })],
    ['no question and no error', (query) => reply(query, { questions: [], answers: [FORGED] })],
    ['not a response', (query) => reply(query, { response: false, answers: [FORGED] })],
    ['octets that are not a message', (query) => Buffer.concat([encodeMessage(query).subarray(0, 2), Buffer.from('nonsense')])],
  ])('ignores %s', async (_, forge) => {
    const server = await startScriptedDns((query) => [forge(query), reply(query)])
    expect((await queryDns(server, QUESTION)).answers).toEqual([{ name: A.name, type: 'A', ttl: 60, data: '192.0.2.1' }])
  })

  test('IDs and ports are unpredictable', async () => {
    const seen: number[] = []
    const server = await startScriptedDns((query) => {
      seen.push(query.id)
      return [reply(query)]
    })
    const client = createDnsClient(server)
    await Promise.all(Array.from({ length: 50 }, () => client.query(QUESTION)))
    client.close()
    const steps = new Set(seen.slice(1).map((id, i) => (id - (seen[i] ?? 0)) & 0xffff))
    expect(steps.size).toBeGreaterThan(25)
  })
})

describe('failures', () => {
  test('reports every address of a host if none is reachable', async () => {
    const port = await freePort()
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
    const lookup = vi
      .spyOn(dns, 'lookup')
      .mockImplementation(((_: string, __: object, found: (error: null, all: object[]) => void) =>
        found(null, addresses)) as unknown as typeof dns.lookup)
    await expect(transferZone({ host: 'ns.example', port }, name('example.test.')).finally(() => lookup.mockRestore())).rejects.toThrow(
      `ns.example port ${port} cannot be reached over TCP: connect ECONNREFUSED 127.0.0.1:${port}, connect ECONNREFUSED 127.0.0.2:${port}`,
    )
  })

  test('a closed port', async () => {
    const server = { host: HOST, port: await freePort() }
    await expect(queryDns(server, QUESTION, { timeout: 5000 })).rejects.toMatchObject({ code: 'DNS_FAILURE', reason: 'unreachable' })
    await expect(transferZone(server, name('example.test.'))).rejects.toMatchObject({ reason: 'unreachable', retryable: true })
  })

  test('a name that does not resolve is a typed failure', async () => {
    const server = { host: 'ns1.nowhere.invalid', port: 53 }
    await expect(queryDns(server, QUESTION, { timeout: 20_000 })).rejects.toMatchObject({ code: 'DNS_FAILURE', reason: 'unreachable' })
    const client = createDnsClient(server)
    const all = await Promise.allSettled([client.query(QUESTION), client.query(QUESTION)])
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    client.close()
  })

  test('no response, after the given number of tries, the last one over TCP', async () => {
    const asked: string[] = []
    const silent = (transport: string) => () => {
      asked.push(transport)
      return []
    }
    const server = await startScriptedDns(silent('udp'), silent('tcp'))
    await expect(queryDns(server, QUESTION, { timeout: 30, tries: 4 })).rejects.toMatchObject({ reason: 'timeout', retryable: true })
    await expect.poll(() => asked).toEqual(['udp', 'udp', 'udp', 'tcp'])
  })

  test('an answer that a server drops over UDP comes over TCP', async () => {
    const server = await startScriptedDns(
      () => [],
      (query) => [reply(query)],
    )
    expect(await queryDns(server, QUESTION, { timeout: 400, tries: 2 })).toMatchObject({ transport: 'tcp', rcode: 'NOERROR' })
  })

  test('retries after a lost datagram', async () => {
    let asked = 0
    const server = await startScriptedDns((query) => {
      asked += 1
      return asked === 1 ? [] : [reply(query)]
    })
    expect((await queryDns(server, QUESTION, { timeout: 1000 })).rcode).toBe('NOERROR')
  })

  test('only malformed datagrams', async () => {
    const server = await startScriptedDns((_, octets) => [Buffer.concat([octets.subarray(0, 2), Buffer.from([0x84])])])
    await expect(queryDns(server, QUESTION, { timeout: 1000, tries: 2 })).rejects.toMatchObject({ reason: 'garbled', retryable: false })
  })

  test('a closed client', async () => {
    const client = createDnsClient(await startScriptedDns(() => []))
    const asked = client.query(QUESTION)
    setTimeout(() => client.close(), 20)
    await expect(asked).rejects.toMatchObject({ reason: 'closed' })
    await expect(client.query(QUESTION)).rejects.toMatchObject({ reason: 'closed' })
  })

  test('a type without a number', async () => {
    const server = await startScriptedDns(() => [])
    await expect(queryDns(server, { name: QUESTION.name, type: 'ALIAS' })).rejects.toThrow(RangeError)
  })
})

describe('a truncated response', () => {
  const cutInTheMiddle = (query: Message): Uint8Array => reply(query, { truncated: true }).subarray(0, -5)

  test.each<[string, (query: Message) => Uint8Array]>([
    ['whole', (query) => reply(query, { truncated: true, answers: [] })],
    ['truncated inside a record', cutInTheMiddle],
  ])('%s is retried over TCP', async (_, truncate) => {
    const server = await startScriptedDns(
      (query) => [truncate(query)],
      (query) => [reply(query)],
    )
    expect(await queryDns(server, QUESTION)).toMatchObject({ transport: 'tcp', answers: [{ data: '192.0.2.1' }] })
  })

  test.each<[string, (query: Message) => Uint8Array, string]>([
    ['another question', (query) => reply(query, { questions: [] }), 'garbled'],
    ['another identifier', (query) => reply(query, { id: query.id ^ 1 }), 'garbled'],
  ])('with %s over TCP is a failure', async (_, forge, reason) => {
    const server = await startScriptedDns(
      (query) => [reply(query, { truncated: true })],
      (query) => [forge(query)],
    )
    await expect(queryDns(server, QUESTION)).rejects.toMatchObject({ reason })
  })

  test('without a response over TCP is a timeout', async () => {
    const server = await startScriptedDns((query) => [reply(query, { truncated: true })])
    await expect(queryDns(server, QUESTION, { timeout: 100 })).rejects.toMatchObject({ reason: 'timeout' })
  })
})

test('queries a server without EDNS support without EDNS', async () => {
  const server = await startScriptedDns((query) => [
    query.edns ? reply(query, { rcode: 1, questions: [], answers: [], edns: null }) : reply(query),
  ])
  expect((await queryDns(server, QUESTION)).rcode).toBe('NOERROR')
})

test('repeats a truncated query over TCP without EDNS if the server refuses EDNS', async () => {
  const refuseEdns = (query: Message, response: Uint8Array): Uint8Array =>
    query.edns ? reply(query, { rcode: 1, questions: [], answers: [], edns: null }) : response
  const server = await startScriptedDns(
    (query) => [refuseEdns(query, reply(query, { truncated: true, answers: [] }))],
    (query) => [refuseEdns(query, reply(query))],
  )
  expect(await queryDns(server, QUESTION)).toMatchObject({ transport: 'tcp', rcode: 'NOERROR', answers: [{ data: '192.0.2.1' }] })
})

test('recognises the question of a cut response by all octets of its type', async () => {
  const question = { name: QUESTION.name, type: 'HTTPS' }
  const server = await startScriptedDns(
    (query) => [reply(query, { truncated: true }).subarray(0, -5)],
    (query) => [reply(query, { answers: [] })],
  )
  expect(await queryDns(server, question, { tries: 1 })).toMatchObject({ transport: 'tcp' })
})

test.each([
  ['queries', { concurrency: 3 }, 3, false],
  ['TCP connections', {}, 4, true],
] as const)('limits concurrent %s', async (_, options, limit, truncated) => {
  let waiting = 0
  let most = 0
  const answer = async (query: Message): Promise<Uint8Array[]> => {
    waiting += 1
    most = Math.max(most, waiting)
    await new Promise((resolve) => setTimeout(resolve, 10))
    waiting -= 1
    return [reply(query)]
  }
  const server = await startScriptedDns(truncated ? (query) => [reply(query, { truncated })] : answer, answer)
  const client = createDnsClient(server, options)
  await Promise.all(Array.from({ length: 30 }, () => client.query(QUESTION)))
  client.close()
  expect(most).toBe(limit)
})

describe('a zone transfer', () => {
  const zone = name('example.test.')
  const soa = (serial: number): WireRecord => ({ name: zone, type: 'SOA', class: 1, ttl: 60, data: `. . ${serial} 2 3 4 5` })
  const parts = (query: Message, ...sections: WireRecord[][]): Uint8Array[] =>
    sections.map((answers, i) => reply(query, { answers, ...(i > 0 ? { questions: [] } : {}) }))

  test('is assembled from its messages, with the question only in the first', async () => {
    const server = await startScriptedDns(
      () => [],
      (query) => parts(query, [soa(1)], [A, A], [soa(1)]),
    )
    expect((await transferZone(server, zone)).map((record) => record.type)).toEqual(['SOA', 'A', 'A'])
  })

  test.each<[string, (query: Message) => Uint8Array[]]>([
    ['that does not start with the SOA', (query) => parts(query, [A, soa(1)])],
    ['whose last SOA is another', (query) => parts(query, [soa(1), A, soa(2)])],
    ['with records after its end', (query) => parts(query, [soa(1), soa(1), A])],
    ['with a message without records', (query) => parts(query, [soa(1)], [])],
    ['of another zone', (query) => parts(query, [{ ...soa(1), name: name('other.test.') }])],
    ['with another identifier', (query) => [reply(query, { id: query.id ^ 1, answers: [soa(1), soa(1)] })]],
  ])('%s is a failure', async (_, tcp) => {
    await expect(transferZone(await startScriptedDns(() => [], tcp), zone)).rejects.toMatchObject({ reason: 'garbled' })
  })

  test('that stops early is a timeout', async () => {
    const server = await startScriptedDns(
      () => [],
      (query) => parts(query, [soa(1), A]),
    )
    await expect(transferZone(server, zone, { timeout: 100 })).rejects.toMatchObject({ reason: 'timeout' })
  })
})

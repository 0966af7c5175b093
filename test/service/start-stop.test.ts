import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { createQuery } from '../../src/dns/wire/message.ts'
import { type RunningService, startService } from '../../src/service/index.ts'
import { queryDns } from '../../src/transport/dns-client.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type Client, connect, during, freshStore, LOOPBACK, MASTER, ON_POSTGRES } from './harness.ts'
import { askUdp } from './nameserver/udp-client.ts'

describe('the administrator’s token', () => {
  test('is created at the first start, shown once and stored as a hash', async () => {
    const store = await freshStore()
    const token = await during({ ...store, bootstrapToken: null }, async (client, service) => {
      expect((await client.call('GET', '/domains')).status).toBe(200)
      return service.token
    })
    expect(token).toMatch(/^[0-9a-f]{64}$/)
    await during({ ...store, bootstrapToken: null }, async (_client, service) => {
      expect(service.token).toBeNull()
      const { client, close } = connect(service.baseUrl, token as string)
      expect((await client.call('GET', '/domains')).status).toBe(200)
      await close()
    })
  })

  test('can be given at any start', async () => {
    const store = await freshStore()
    await during({ ...store, bootstrapToken: 'one' }, async (client, service) => {
      expect(service.token).toBe('one')
      expect((await client.call('GET', '/domains')).status).toBe(200)
    })
    await during({ ...store, bootstrapToken: 'two' }, async (client, service) => {
      expect((await client.call('GET', '/domains')).status).toBe(200)
      const { client: former, close } = connect(service.baseUrl, 'one')
      expect((await former.call('GET', '/domains')).status).toBe(200)
      await close()
    })
  })

  test.each([[''], ['with space'], ['umlaut-ä'], ['x'.repeat(513)]])('cannot be %j', async (bootstrapToken) => {
    await expect(during({ bootstrapToken }, async () => undefined)).rejects.toThrow('it must have 1 to 512 printable ASCII characters')
  })
})

test('a stopped service starts again with the same data and serials', async () => {
  const options = { ...(await freshStore()), bootstrapToken: 'token' }
  const state = async (client: Client) => {
    const domains = await client.ok('GET', '/domains')
    const ids: number[] = domains.data.map(({ id }: { id: number }) => id)
    const read = (path: string) => Promise.all(ids.map((id) => client.ok('GET', `/domains/${id}/${path}`)))
    return { domains, records: await read('records'), zoneFiles: await read('zone-file') }
  }
  const before = await during(options, async (client, service) => {
    for (const domain of ['one.example', 'two.example']) {
      const { id } = await client.ok('POST', '/domains', { ...MASTER, domain, tags: ['kept'] })
      await client.ok('POST', `/domains/${id}/records`, { type: 'A', target: '192.0.2.1' })
    }
    await service.flush()
    return state(client)
  })
  expect(await during(options, state)).toEqual(before)
  const renamed = await during({ ...options, nsNames: ['ns.other.test'] }, state)
  expect(renamed.zoneFiles[0].zone_file).toContain('@\t\tNS\tns.other.test.')
  expect(renamed.zoneFiles[0].zone_file[2]).not.toBe(before.zoneFiles[0].zone_file[2])
})

test.skipIf(ON_POSTGRES)('keeps the counts of queries in the data folder while it is stopped', async () => {
  const dataFolder = temporaryDirectory()
  const file = join(dataFolder, 'query-counts.json')
  const errors: unknown[] = []
  let now = Date.now()
  const options = { dataFolder, bootstrapToken: 'token', dns: LOOPBACK, observability: LOOPBACK, clock: () => now }
  const counting = (work: (port: number, client: Client, service: RunningService) => Promise<void>) =>
    during({ ...options, onError: (error) => errors.push(error) }, async (client, service) => {
      // If the process is killed, it leaves no counts of another time.
      expect(existsSync(file)).toBe(false)
      await work(service.dnsAddress?.port as number, client, service)
    })
  const usage = async ({ observabilityUrl }: { observabilityUrl: string | null }) => (await fetch(`${observabilityUrl}/usage`)).text()
  const begin = `# from ${new Date(now).toISOString().slice(0, 19)}Z`
  await counting(async (port, client, service) => {
    await client.ok('POST', '/domains', { ...MASTER, domain: 'counted.example' })
    await service.flush()
    await askUdp(port, createQuery(1, { name: 'counted.example.' as DomainName, type: 'SOA' }))
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  now += 60_000
  await counting(async (_port, _client, service) => {
    expect(await usage(service)).toMatch(new RegExp(`^${begin} .*\nname,.*\ncounted\\.example\\.,SOA,1,`))
  })
  expect(errors).toEqual([])
})

test('renders a change just before the stop', async () => {
  const options = { ...(await freshStore()), bootstrapToken: 'token' }
  const id = await during(options, async (client) => (await client.ok('POST', '/domains', { ...MASTER, domain: 'last.example' })).id)
  const lines = await during(options, async (client) => (await client.ok('GET', `/domains/${id}/zone-file`)).zone_file)
  expect(lines[0]).toBe(`; last.example [${id}]`)
})

test('deletes a temporary folder', async () => {
  const before = new Set(readdirSync('/tmp'))
  const made = await during({}, async () => readdirSync('/tmp').filter((name) => name.startsWith('zonewright-') && !before.has(name)))
  expect(made.length).toBeGreaterThan(0)
  // Other tests may create folders concurrently; at least ours is deleted.
  expect(made.some((name) => !existsSync(join('/tmp', name)))).toBe(true)
})

test('reports an address in use, and releases everything', async () => {
  const blocker = createServer()
  await new Promise<void>((done) => blocker.listen(0, '127.0.0.1', done))
  const { port } = blocker.address() as { port: number }
  const store = await freshStore()
  await expect(during({ ...store, listen: { host: '127.0.0.1', port } }, async () => undefined)).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
  await during({ ...store, bootstrapToken: 'token' }, async (client) => expect((await client.call('GET', '/domains')).status).toBe(200))
  await new Promise((done) => blocker.close(done))
})

test.each([[[]], [['not a name']], [['ns1..test']]])('refuses the name server names %j', async (nsNames) => {
  await expect(during({ nsNames }, async () => undefined)).rejects.toThrow(RangeError)
})

test('a stopping service completes its requests', async () => {
  const service = await startService({ dataFolder: null, listen: LOOPBACK, dns: null })
  const { client, close } = connect(service.baseUrl, service.token as string)
  await client.ok('GET', '/domains')
  const answers = Array.from({ length: 20 }, (_, index) => client.call('POST', '/domains', { ...MASTER, domain: `stop-${index}.example` }))
  await new Promise((done) => setTimeout(done, 2))
  const stopped = service.stop()
  const settled = await Promise.allSettled(answers)
  for (const answer of settled) if (answer.status === 'fulfilled') expect(answer.value.status).toBe(200)
  await close()
  await stopped
})

test('the name server serves active domains, and refuses deleted ones', async () => {
  const options = { ...(await freshStore()), dns: LOOPBACK }
  /** The response code and the records: TTL, type and data. */
  const ask = async ({ dnsAddress, flush }: RunningService, name: string, type: string): Promise<string> => {
    await flush()
    const { rcode, answers } = await queryDns(dnsAddress as NonNullable<typeof dnsAddress>, { name: `${name}.` as DomainName, type })
    return [rcode, ...answers.map((record) => `${record.ttl} ${record.type} ${record.data}`).sort()].join(' | ')
  }
  await during(options, async (client, service) => {
    const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'served.example', ttl_sec: 300 })
    const path = `/domains/${id}`
    const record = await client.ok('POST', `${path}/records`, { type: 'A', name: 'www', target: '192.0.2.1' })
    expect(await ask(service, 'www.served.example', 'A')).toBe('NOERROR | 300 A 192.0.2.1')
    await client.ok('PUT', `${path}/records/${record.id}`, { target: '192.0.2.2', ttl_sec: 3600 })
    expect(await ask(service, 'www.served.example', 'A')).toBe('NOERROR | 3600 A 192.0.2.2')
    expect(await ask(service, 'served.example', 'NS')).toContain('300 NS ns1.zonewright.test.')
    await client.ok('DELETE', `${path}/records/${record.id}`)
    expect(await ask(service, 'www.served.example', 'A')).toBe('NXDOMAIN')

    await client.ok('POST', `${path}/records`, { type: 'TXT', target: 'here' })
    await client.ok('PUT', path, { domain: 'renamed.example' })
    expect(await ask(service, 'renamed.example', 'TXT')).toBe('NOERROR | 300 TXT "here"')
    expect(await ask(service, 'served.example', 'TXT')).toBe('REFUSED')
    await client.ok('PUT', path, { status: 'disabled' })
    expect(await ask(service, 'renamed.example', 'TXT')).toBe('REFUSED')
    await client.ok('PUT', path, { status: 'active' })
    expect(await ask(service, 'renamed.example', 'TXT')).toBe('NOERROR | 300 TXT "here"')

    // The name moves between domains between two renderings.
    await client.ok('DELETE', path)
    const heir = await client.ok('POST', '/domains', { ...MASTER, domain: 'renamed.example' })
    await client.ok('POST', `/domains/${heir.id}/records`, { type: 'TXT', target: 'heir' })
    expect(await ask(service, 'renamed.example', 'TXT')).toBe('NOERROR | 86400 TXT "heir"')
    await client.ok('DELETE', `/domains/${heir.id}`)
    expect(await ask(service, 'renamed.example', 'TXT')).toBe('REFUSED')

    const last = await client.ok('POST', '/domains', { ...MASTER, domain: 'again.example' })
    await client.ok('POST', `/domains/${last.id}/records`, { type: 'TXT', target: 'again' })
  })
  await during(options, async (_client, service) => expect(await ask(service, 'again.example', 'TXT')).toContain('"again"'))
})

test('connections over the limit are closed, and the others are served', async () => {
  await during({ maxConnections: 3 }, async (client, service) => {
    const { hostname, port } = new URL(service.baseUrl)
    const connections = await Promise.all(
      [1, 2, 3, 4, 5].map(async () => {
        const socket = createConnection(Number(port), hostname)
        socket.on('error', () => undefined)
        await once(socket, 'connect')
        return socket
      }),
    )
    await expect.poll(() => connections.filter(({ readyState }) => readyState === 'closed').length).toBeGreaterThanOrEqual(2)
    for (const connection of connections) connection.destroy()
    await expect.poll(async () => (await client.call('GET', '/profile').catch(() => null))?.status).toBe(200)
  })
})

import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { createQuery } from '../../src/dns/wire/message.ts'
import type { RunningService } from '../../src/service/index.ts'
import { NO_SECRETS } from '../../src/service/secrets/prepare-secrets.ts'
import { createUsers } from '../../src/service/seed/apply-seed.ts'
import { queryDns } from '../../src/transport/dns-client.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { type Client, connect, during, freshStore, LOOPBACK, MASTER, ON_POSTGRES, openStore } from './harness.ts'
import { askUdp } from './nameserver/udp-client.ts'
import { runSql } from './raw-files.ts'

test('the administrator’s token is created at the first start and shown once; others can be given at any start', async () => {
  const store = await freshStore()
  const statusOf = async ({ baseUrl }: RunningService, token: string): Promise<number> => {
    const { client, close } = connect(baseUrl, token)
    const { status } = await client.call('GET', '/domains')
    await close()
    return status
  }
  const made = await during({ ...store, bootstrapToken: null }, async (_client, service) => {
    expect(await statusOf(service, service.token as string)).toBe(200)
    return service.token as string
  })
  expect(made).toMatch(/^[0-9a-f]{64}$/)
  for (const bootstrapToken of ['one', null]) {
    await during({ ...store, bootstrapToken }, async (_client, service) => {
      expect(service.token).toBe(bootstrapToken)
      for (const token of ['one', made]) expect(await statusOf(service, token)).toBe(200)
    })
  }
})

test('the administrator’s token has 1 to 512 printable ASCII characters', async () => {
  const database = await openStore(await freshStore())
  for (const token of ['', 'with space', 'umlaut-ä', 'x'.repeat(513)]) {
    const created = createUsers(database, token, null, '2026-01-31T09:00:00', NO_SECRETS)
    await expect(created).rejects.toThrow('it must have 1 to 512 printable ASCII characters')
  }
  await database.close()
})

test('a stopped service starts again with the same data and serials, and has rendered the last change', async () => {
  const options = { ...(await freshStore()), bootstrapToken: 'token' }
  const state = async (client: Client) => {
    const domains: { id: number; domain: string }[] = (await client.ok('GET', '/domains')).data
    const read = (id: number) => Promise.all(['records', 'zone-file'].map((path) => client.ok('GET', `/domains/${id}/${path}`)))
    return Object.fromEntries(await Promise.all(domains.map(async (domain) => [domain.domain, [domain, ...(await read(domain.id))]])))
  }
  const before = await during(options, async (client, service) => {
    for (const domain of ['one.example', 'two.example']) {
      const { id } = await client.ok('POST', '/domains', { ...MASTER, domain, tags: ['kept'] })
      await client.ok('POST', `/domains/${id}/records`, { type: 'A', target: '192.0.2.1' })
    }
    await service.flush()
    const found = await state(client)
    await client.ok('POST', '/domains', { ...MASTER, domain: 'last.example' })
    return found
  })
  const { 'last.example': last, ...others } = await during(options, state)
  expect(others).toEqual(before)
  expect(last[2].zone_file[0]).toBe(`; last.example [${last[0].id}]`)
})

test('an error in the data of one zone is found at the start, and affects only that zone', async () => {
  const options = { ...(await freshStore()), bootstrapToken: 'token', dns: LOOPBACK }
  const errors: string[] = []
  const ids = await during(options, async (client, service) => {
    const create = async (name: string): Promise<number> => {
      const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: `${name}.example` })
      await client.ok('POST', `/domains/${id}/records`, { type: 'A', name: 'www', target: '192.0.2.1' })
      return id
    }
    const created = [await create('damaged'), await create('broken'), await create('changed')]
    await service.flush()
    return created
  })
  await runSql(options, [
    `update zone_files set text = replace(text, '192.0.2.1', '192.0.2.9') where domain_id = ${ids[0]}`,
    `update records set name = '\\999' where domain_id = ${ids[1]}`,
    `update records set target = '192.0.2.2' where domain_id = ${ids[2]}`,
    `update domains set revision = revision + 1 where id in (${ids[1]}, ${ids[2]})`,
  ])
  await during({ ...options, onError: (error) => errors.push(String(error)) }, async (_client, { dnsAddress }) => {
    expect(new Set(errors)).toEqual(
      new Set(['Error: not a canonical name: \\999.broken.example.', 'Error: the stored zone file of damaged.example. is damaged']),
    )
    const ask = async (name: string) => {
      const query = createQuery(1, { name: `www.${name}.example.` as DomainName, type: 'A' })
      const { rcode, answers } = await askUdp(dnsAddress?.port as number, query)
      return [rcode, ...answers.map(({ data }) => data)]
    }
    expect(await Promise.all(['damaged', 'broken', 'changed'].map(ask))).toEqual([[2], [0, '192.0.2.1'], [0, '192.0.2.2']])
  })
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

test('deletes a temporary folder', async () => {
  const before = new Set(readdirSync('/tmp'))
  const made = await during({ dataFolder: null }, async () =>
    readdirSync('/tmp').filter((name) => name.startsWith('zonewright-') && !before.has(name)),
  )
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

test('refuses invalid name server names', async () => {
  for (const nsNames of [[], ['not a name'], ['ns1..test']])
    await expect(during({ nsNames }, async () => undefined)).rejects.toThrow(RangeError)
})

test('the name server serves active domains, and refuses deleted ones', async () => {
  /** The response code and the records: TTL, type and data. */
  const ask = async ({ dnsAddress, flush }: RunningService, name: string, type: string): Promise<string> => {
    await flush()
    const { rcode, answers } = await queryDns(dnsAddress as NonNullable<typeof dnsAddress>, { name: `${name}.` as DomainName, type })
    return [rcode, ...answers.map((record) => `${record.ttl} ${record.type} ${record.data}`).sort()].join(' | ')
  }
  await during({ dns: LOOPBACK }, async (client, service) => {
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
  })
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

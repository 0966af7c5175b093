/** The administrative API and its client: accounts while the service runs, suspension, and who may use it. */

import { spawnSync } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { connect as connectTo } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, test } from 'vitest'
import { openAdmin } from '../../src/service/admin/admin-client.ts'
import type { AdminPlace } from '../../src/service/admin/admin-server.ts'
import { type RunningService, startService } from '../../src/service/index.ts'
import { selfSigned } from '../support/certificate.ts'
import {
  connect,
  during,
  freshDatabase,
  freshStore,
  LOOPBACK,
  MASTER,
  ON_POSTGRES,
  openStore,
  placeOf,
  temporaryDirectory,
} from './harness.ts'
import { filesOf, gzipOf, put, sendPart, startUpload } from './images/upload-client.ts'

const TOKEN = 'administrative-token-of-32-characters'
const socket = (): { path: string } => ({ path: join(temporaryDirectory(), 'a.sock') })
const user = (username: string) => ({ username, email: `${username}@example.com` })

/** The administrative API of a service. */
const adminOf = (service: RunningService, token: string | null = null) => openAdmin({ admin: service.adminAddress as string, token })

/** A customer with a token. */
async function customer(service: RunningService, name: string) {
  const admin = await adminOf(service)
  await admin.request('POST', '/accounts', { users: [user(name)] })
  const { token } = await admin.request('POST', `/accounts/${name}/tokens`)
  return { admin, token, call: connect(service.baseUrl, token).client.call }
}

async function soaOf(service: RunningService, zone: string): Promise<number | string> {
  await service.flush()
  const resolver = new Resolver({ tries: 1, timeout: 5000 })
  resolver.setServers([`127.0.0.1:${service.dnsAddress?.port}`])
  return resolver.resolveSoa(zone).then(
    ({ serial }) => serial,
    ({ code }) => code,
  )
}

test('manages accounts while the service runs, and logs what it does', async () => {
  const store = await freshStore()
  await during({ ...store, admin: socket() }, async (_client, service) => {
    const { admin, token, call } = await customer(service, 'alice')
    expect((await call('GET', '/profile')).body).toMatchObject({ username: 'alice', restricted: false })
    await admin.request('POST', '/accounts/alice/users', { ...user('bob'), restricted: true })
    expect(await admin.request('PUT', '/accounts/bob/quotas', { domains: 1, images: null })).toMatchObject({
      users: ['alice', 'bob'],
      quotas: { domains: 1, images: null },
    })
    await call('POST', '/domains', { ...MASTER, domain: 'a.example' })
    expect((await call('POST', '/domains', { ...MASTER, domain: 'b.example' })).body.errors[0].reason).toBe(
      'An account can have at most 1 domains.',
    )
    const { data } = await admin.request('GET', '/accounts')
    expect(data.map(({ users, domains }: { users: string[]; domains: number }) => [users.join(), domains])).toEqual([
      ['admin', 0],
      ['alice,bob', 1],
    ])
    const second = await admin.request('POST', '/accounts/alice/tokens', {
      label: 'ci',
      scopes: 'domains:read_only',
      expiry: '2090-01-31T09:00:00',
    })
    expect((await call('GET', '/profile/tokens')).body.results).toBe(2)
    await admin.request('DELETE', `/accounts/alice/tokens/${second.id}`)
    expect((await connect(service.baseUrl, second.token).client.call('GET', '/profile')).status).toBe(401)
    const log = await admin.request('GET', '/audit?account=2')
    const entries = log.data.map(({ actor, action, object }: Record<string, string>) => `${actor} ${action} ${object}`)
    expect(entries).toEqual([
      ...['create account', 'create user', 'create token', 'create user', 'update account'].map((entry) => `operator ${entry}`),
      'user create domain',
      ...['create token', 'delete token'].map((entry) => `operator ${entry}`),
    ])
    expect(JSON.stringify(log)).not.toContain(token.slice(0, 12))
    expect((await admin.request('GET', '/audit?object=token&limit=2&since=2020-01-31')).data).toHaveLength(2)
    const moment = `${log.data.at(-1).time.slice(0, 19)}Z`
    expect((await admin.request('GET', `/audit?since=${moment}`)).data.at(-1)).toEqual(log.data.at(-1))
    expect((await admin.request('GET', `/audit?until=${moment}`)).data).not.toContainEqual(log.data.at(-1))
    const page = await admin.request('GET', '/audit?account=2&limit=2')
    expect(page).toEqual({ data: log.data.slice(0, 2), next: log.data[1].id })
    expect((await admin.request('GET', `/audit?account=2&limit=100&after=${page.next}`)).data).toEqual(log.data.slice(2))
    await admin.close()
  })
})

test('suspension stops requests and answers, and its end brings back the same zone', async () => {
  const store = await freshStore()
  await during({ ...store, admin: socket(), dns: LOOPBACK }, async (client, service) => {
    const { admin, call } = await customer(service, 'alice')
    await client.ok('POST', '/domains', { ...MASTER, domain: 'kept.example' })
    const { id } = (await call('POST', '/domains', { ...MASTER, domain: 'a.example' })).body
    await call('POST', `/domains/${id}/records`, { type: 'A', target: '192.0.2.1' })
    const [kept, serial] = [await soaOf(service, 'kept.example'), await soaOf(service, 'a.example')]
    expect([typeof kept, typeof serial]).toEqual(['number', 'number'])
    expect((await admin.request('POST', '/accounts/alice/suspend')).suspended).toMatch(/^\d{4}-/)
    const refusal = { errors: [{ field: null, reason: 'This account is suspended.' }] }
    expect((await call('PUT', `/domains/${id}`, { description: 'x' })).body).toEqual(refusal)
    expect(await call('GET', '/regions')).toMatchObject({ status: 403, body: refusal })
    expect([await soaOf(service, 'a.example'), await soaOf(service, 'kept.example')]).toEqual(['EREFUSED', kept])
    await admin.request('POST', '/accounts/alice/suspend')
    expect((await admin.request('POST', '/accounts/alice/resume')).suspended).toBeNull()
    expect(await soaOf(service, 'a.example')).toBe(serial)
    expect((await call('PUT', `/domains/${id}`, { description: 'x' })).status).toBe(200)
    await admin.request('POST', '/accounts/alice/suspend')
    await admin.close()
  })
  // After a restart, too; then the account is removed, and its names are free.
  await during({ ...store, admin: socket(), dns: LOOPBACK }, async (client, service) => {
    expect(await soaOf(service, 'a.example')).toBe('EREFUSED')
    const admin = await adminOf(service)
    await admin.request('DELETE', '/accounts/alice')
    const { data } = await admin.request('GET', '/audit?account=2')
    const deleted = data.filter(({ action, actor }: Record<string, string>) => action === 'delete' && actor === 'operator')
    expect(deleted.map(({ object }: { object: string }) => object).sort()).toEqual(['account', 'domain', 'record', 'token', 'user'])
    await client.ok('POST', '/domains', { ...MASTER, domain: 'a.example' })
    expect(await soaOf(service, 'a.example')).toEqual(expect.any(Number))
  })
})

test('an account can be removed right after its suspension, before its zones are rendered again', async () => {
  await during({ admin: socket(), dns: LOOPBACK }, async (_client, service) => {
    const { admin, call } = await customer(service, 'alice')
    await call('POST', '/domains', { ...MASTER, domain: 'a.example' })
    expect(await soaOf(service, 'a.example')).toEqual(expect.any(Number))
    await admin.request('POST', '/accounts/alice/suspend')
    await admin.request('DELETE', '/accounts/alice')
    expect(await soaOf(service, 'a.example')).toBe('EREFUSED')
  })
})

test('changes a database without a running service, and on PostgreSQL beside one', async () => {
  const store = await freshStore()
  const work = async () => {
    const admin = await openAdmin(placeOf(store))
    await admin.request('POST', '/accounts/alice/suspend')
    await admin.close()
  }
  await during({ ...store, admin: socket(), dns: LOOPBACK }, async (_client, service) => {
    const { call } = await customer(service, 'alice')
    await call('POST', '/domains', { ...MASTER, domain: 'a.example' })
    expect(await soaOf(service, 'a.example')).toEqual(expect.any(Number))
    if (!ON_POSTGRES) return expect(work()).rejects.toThrow(/is in use by process/)
    await work()
    await expect.poll(() => soaOf(service, 'a.example')).toBe('EREFUSED')
  })
  if (!ON_POSTGRES) await work()
  const database = await openStore(store)
  expect(
    await database.readOne((connection) => connection.selectFrom('accounts').select('id').where('suspended', 'is not', null).execute()),
  ).toEqual([{ id: 2 }])
  await database.close()
})

test.each<[string, string, string, object | undefined, RegExp]>([
  ['a user that exists', 'POST', '/accounts', { users: [user('admin')] }, /^The user admin already exists\.$/],
  ['an account without users', 'POST', '/accounts', {}, /users/],
  ['an invalid name', 'POST', '/accounts', { users: [{ ...user('x'), username: '-' }] }, /username/],
  ['an unknown account', 'POST', '/accounts/nobody/suspend', undefined, /^Not found$/],
  ['an unknown number', 'GET', '/accounts/77', undefined, /^Not found$/],
  ['an unknown quota', 'PUT', '/accounts/1/quotas', { domain: 1 }, /domain/],
  ['the suspension of the administrator', 'POST', '/accounts/admin/suspend', undefined, /^The account of the administrator can/],
  ['the removal of an active account', 'DELETE', '/accounts/alice', undefined, /^Suspend the account before you remove it\.$/],
  ['scopes that do not exist', 'POST', '/accounts/alice/tokens', { scopes: 'zones:all' }, /scopes/],
  ['a foreign token', 'DELETE', '/accounts/alice/tokens/1', undefined, /^Not found$/],
  ['an unknown operation', 'PATCH', '/accounts', undefined, /^Not found$/],
  ['a number that is the name of another user', 'GET', '/accounts/3', undefined, /^3 is both a user and the number of another account\.$/],
  ['too large a body', 'POST', '/accounts', { text: 'x'.repeat(2 ** 21) }, /larger than 1048576 octets/],
  ['a time in words', 'GET', '/audit?since=yesterday', undefined, /^since is not a time in UTC/],
  ['a time of another zone', 'GET', '/audit?until=2026-01-31T09:00:00%2B01:00', undefined, /^until is not a time in UTC/],
  ['a kind of object that does not exist', 'GET', '/audit?object=domains', undefined, /^object is none of account, user, /],
  ['a page that is no number', 'GET', '/audit?after=x', undefined, /^after is not a number$/],
])('refuses %s', async (_title, method, target, body, reason) => {
  await during({ admin: socket() }, async (_client, service) => {
    const { admin } = await customer(service, 'alice')
    await admin.request('POST', '/accounts/alice/users', user('3'))
    await admin.request('POST', '/accounts', { users: [user('bob')] })
    await expect(admin.request(method, target, body)).rejects.toThrow(reason)
  })
})

test('several administrators at once: one creates the user, and each request succeeds or is refused', async () => {
  await during({ admin: socket() }, async (_client, service) => {
    const admin = await adminOf(service)
    const results = async (requests: readonly (readonly [string, string, object?])[]) => {
      const settled = await Promise.allSettled(requests.map((request) => admin.request(...request)))
      return settled.map((result) => (result.status === 'fulfilled' ? 'ok' : result.reason.message)).sort()
    }
    const taken = Array.from({ length: 5 }, () => 'The user alice already exists.')
    expect(await results(Array.from({ length: 6 }, () => ['POST', '/accounts', { users: [user('alice')] }]))).toEqual([...taken, 'ok'])
    const changes = ['suspend', 'resume', 'tokens', 'users'].flatMap((path) =>
      [1, 2, 3].map((n) => ['POST', `/accounts/alice/${path}`, path === 'users' ? user(`u${n}`) : {}] as const),
    )
    const removals = [1, 2, 3].map(() => ['DELETE', '/accounts/alice'] as const)
    const outcomes = new Set(await results([...changes, ...removals, ...changes]))
    const expected = new Set([
      'ok',
      'Not found',
      'Suspend the account before you remove it.',
      ...[1, 2, 3].map((n) => `The user u${n} already exists.`),
    ])
    expect([...outcomes].filter((outcome) => !expected.has(outcome))).toEqual([])
  })
})

const start = (admin: AdminPlace, options: object = {}) =>
  startService({ dataFolder: temporaryDirectory(), listen: null, dns: LOOPBACK, admin, ...options })

test.runIf(!ON_POSTGRES)('is open to its owner by a socket, and to others only with a token and TLS', async () => {
  const place = socket()
  const services = [
    await start(place),
    await start(LOOPBACK, { adminToken: TOKEN }),
    await start({ ...LOOPBACK, host: '0.0.0.0' }, { adminToken: TOKEN, tls: selfSigned('dns.example.net') }),
  ]
  const [local, loopback, secure] = services as [RunningService, RunningService, RunningService]
  expect((statSync(place.path).mode & 0o777).toString(8)).toBe('600')
  expect((await (await adminOf(local)).request('GET', '/accounts')).data).toEqual([])
  for (const token of [null, 'wrong'.repeat(8)])
    await expect((await adminOf(loopback, token)).request('GET', '/accounts')).rejects.toThrow('Invalid Token')
  expect((await (await adminOf(loopback, TOKEN)).request('GET', '/accounts')).data).toEqual([])
  expect(secure.adminAddress).toMatch(/^https:/)
  secure.useCertificate(selfSigned('new.example.net'))
  const client = connectTls({ port: Number(new URL(secure.adminAddress as string).port), host: '127.0.0.1', rejectUnauthorized: false })
  await once(client, 'secureConnect')
  expect(client.getPeerCertificate().subject.CN).toBe('new.example.net')
  client.destroy()
  await Promise.all(services.map((service) => service.stop()))
})

test.runIf(!ON_POSTGRES).each<[AdminPlace, object, string]>([
  [LOOPBACK, {}, 'needs ZONEWRIGHT_ADMIN_TOKEN'],
  [LOOPBACK, { adminToken: 'short' }, 'at least 32 characters'],
  [{ ...LOOPBACK, host: '0.0.0.0' }, { adminToken: TOKEN }, 'needs --tls-cert and --tls-key'],
  [{ path: '/'.padEnd(120, 'x') }, {}, 'longer than 107 octets'],
  [{ path: '/dev/null' }, {}, 'is not a socket'],
  [{ path: '/tmp/a.sock' }, {}, 'every user may write to /tmp'],
])('does not start at %j with %j', async (place, options, reason) => {
  await expect(start(place, options)).rejects.toThrow(reason)
})

test('the first account is the administrator', async () => {
  const store = await freshStore()
  const service = await startService({ ...store, listen: null, dns: LOOPBACK, admin: socket() })
  const added = (await adminOf(service)).request('POST', '/accounts', { users: [user('alice')] })
  await expect(added).rejects.toThrow('There is no administrator yet')
  await service.stop()
})

test('a database that no service has created is not opened', async () => {
  const place = ON_POSTGRES ? { database: await freshDatabase({ tables: false }) } : { dataFolder: join(temporaryDirectory(), 'none') }
  await expect(openAdmin(place)).rejects.toThrow(/there is no database in .*none|the database of the service does not exist/)
  if ('dataFolder' in place) expect(existsSync(place.dataFolder)).toBe(false)
})

test.runIf(!ON_POSTGRES)('a token is not sent in clear text to another machine', async () => {
  await expect(openAdmin({ admin: 'http://dns.example.net:9354', token: TOKEN })).rejects.toThrow('use https://')
})

test.runIf(!ON_POSTGRES)('the socket of a killed process is replaced, that of a running one is not', async () => {
  const place = socket()
  const listen = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"
  expect(spawnSync(process.execPath, ['-e', listen, place.path]).signal).toBe('SIGKILL')
  expect(existsSync(place.path)).toBe(true)
  const service = await start(place)
  await expect(start(place)).rejects.toThrow('another process listens')
  expect((await (await adminOf(service)).request('GET', '/accounts')).data).toEqual([])
  await service.stop()
})

test.runIf(!ON_POSTGRES)('a target that is no URL is an unknown operation', async () => {
  const service = await start(socket())
  const client = connectTo(service.adminAddress as string).end('GET http://[ HTTP/1.0\r\n\r\n')
  expect(String((await once(client, 'data'))[0])).toMatch(/^HTTP\/1.1 404 /)
  await service.stop()
})

test.runIf(!ON_POSTGRES)('clients that do not finish their requests delay no stop', async () => {
  const place = socket()
  const service = await start(place)
  for (const text of ['', 'POST /accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{']) {
    const client = connectTo(place.path).on('error', () => undefined)
    await once(client, 'connect')
    client.write(text)
  }
  await service.stop()
  expect(existsSync(place.path)).toBe(false)
})

test.runIf(!ON_POSTGRES)('suspension ends a running upload', async () => {
  const store = await freshStore()
  await during({ ...store, admin: socket(), uploadLimits: { claim: 400 } }, async (_client, service) => {
    const { admin, token } = await customer(service, 'alice')
    const { url } = await startUpload(connect(service.baseUrl, token).client)
    const upload = await sendPart(url, 1_000_000, gzipOf(0))
    await expect.poll(() => filesOf(store)).toContainEqual(expect.stringMatching(/\.part$/))
    await admin.request('POST', '/accounts/alice/suspend')
    const [answer] = await once(upload, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 404 /)
    upload.destroy()
    expect((await put(url, gzipOf(1))).status).toBe(404)
  })
})

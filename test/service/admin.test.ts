/** The administrative API and its client: accounts while the service runs, suspension, and who may use it. */

import { Resolver } from 'node:dns/promises'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAdmin } from '../../src/service/admin/admin-client.ts'
import type { AdminPlace } from '../../src/service/admin/admin-server.ts'
import { type RunningService, startService } from '../../src/service/index.ts'
import { selfSigned } from '../support/certificate.ts'
import { connect, during, freshStore, LOOPBACK, MASTER, ON_POSTGRES, openStore, placeOf, temporaryDirectory } from './harness.ts'

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
    expect((await admin.request('GET', '/audit?object=token&limit=2&since=2020')).data).toHaveLength(2)
    await admin.close()
  })
})

test('suspension stops requests and answers, and its end brings back the same zone', async () => {
  const store = await freshStore()
  await during({ ...store, admin: socket(), dns: LOOPBACK }, async (client, service) => {
    const { admin, call } = await customer(service, 'alice')
    await client.ok('POST', '/domains', { ...MASTER, domain: 'kept.example' })
    const { id } = (await call('POST', '/domains', { ...MASTER, domain: 'a.example' })).body
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
    await client.ok('POST', '/domains', { ...MASTER, domain: 'a.example' })
    expect(await soaOf(service, 'a.example')).toEqual(expect.any(Number))
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
  ['a page that is no number', 'GET', '/audit?after=x', undefined, /^after is not a number$/],
])('refuses %s', async (_title, method, target, body, reason) => {
  await during({ admin: socket() }, async (_client, service) => {
    const { admin } = await customer(service, 'alice')
    await expect(admin.request(method, target, body)).rejects.toThrow(reason)
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
  await Promise.all(services.map((service) => service.stop()))
})

test.runIf(!ON_POSTGRES).each<[AdminPlace, object, string]>([
  [LOOPBACK, {}, 'needs ZONEWRIGHT_ADMIN_TOKEN'],
  [LOOPBACK, { adminToken: 'short' }, 'at least 32 characters'],
  [{ ...LOOPBACK, host: '0.0.0.0' }, { adminToken: TOKEN }, 'needs --tls-cert and --tls-key'],
  [{ path: '/'.padEnd(120, 'x') }, {}, 'longer than 107 octets'],
  [{ path: '/dev/null' }, {}, 'is not a socket'],
])('does not start at %j with %j', async (place, options, reason) => {
  await expect(start(place, options)).rejects.toThrow(reason)
})

/** Every operation of the client library of the hosting service's own web front end, unchanged except for the origin of its requests. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import * as library from '@linode/api-v4'
import { baseRequest } from '@linode/api-v4/lib/request'
import { Secret, TOTP } from 'otpauth'
import { Pool } from 'undici'
import { afterAll, expect, test } from 'vitest'
import { isInSection, isServed, startClientService } from './client-service.ts'
import { expectRow, pinnedVersion } from './client-table.ts'

/** Functions of the library without a request of their own. */
const OTHERS = ['baseRequest', 'convertYupToLinodeErrors', 'disableFirewall', 'enableFirewall', 'isEmpty', 'setToken']

// biome-ignore lint/suspicious/noExplicitAny: the package's declarations name their files without extension, so that none is found
const functions = Object.entries(library as any).filter((entry): entry is [string, (...args: any[]) => Promise<any>] => {
  return typeof entry[1] === 'function'
})

/** The request of an operation, read from its source text: every parameter of the path is `probe`. */
function requestOf(source: string): string | null {
  const [, url] = /setURL\(\s*(`[^`]*`|"[^"]*")\s*,?\s*\)/.exec(source) ?? []
  const [, method = 'GET'] = /setMethod\("([A-Z]+)"\)/.exec(source) ?? []
  const path = url
    ?.replace(/[\s`"]/g, '')
    .replace(/\$\{(BETA_)?API_ROOT\}/, (_, beta) => (beta ? '/v4beta' : '/v4'))
    .replace(/\$\{[^}]*\}/g, 'probe')
  return path === undefined ? null : `${method} ${path}`
}

const operations = functions.map(([name, operation]) => ({ name, request: requestOf(operation.toString()) }))
const served = operations.flatMap(({ name, request }) => (request !== null && isServed(request) ? [name] : []))
const used = new Set<string>()
/** The library; notes the operations that succeed. */
const client = Object.fromEntries(
  functions.map(([name, operation]) => [
    name,
    async (...args: unknown[]) => {
      const result = await operation(...args)
      used.add(name)
      return result
    },
  ]),
  // biome-ignore lint/suspicious/noExplicitAny: see above
) as Record<string, (...args: unknown[]) => Promise<any>>

/** The operation with a name; fails if the library does not have it. */
const call = (name: string, ...args: unknown[]) => (client[name] as (typeof client)[string])(...args)

/** Directs the library to our service, with the current token, until the tests of the file have ended. Only the origin of its requests changes. */
function directTo(baseUrl: string, token: () => string): void {
  const { request } = baseRequest.interceptors
  const own = request.use((config: { url?: string; headers: { set(name: string, value: string): void } }) => {
    const url = new URL(config.url as string)
    config.url = new URL(baseUrl).origin + url.pathname + url.search
    config.headers.set('authorization', `Bearer ${token()}`)
    return config
  })
  afterAll(() => request.eject(own))
}

const { environment, pass } = await startClientService()
let token = environment['TOKEN'] as string
directTo(`${environment['SERVICE']}/v4`, () => token)

test('the library has no function whose request is not known', () => {
  expect(operations.flatMap(({ name, request }) => (request === null ? [name] : []))).toEqual(OTHERS)
})

/** The errors that the library has for a refused request. */
const errorsOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => null,
    (error) => error.response?.data.errors ?? error,
  )

test('domains and records', async () => {
  const settings = { domain: 'walk.example', type: 'master', soa_email: 'host@walk.example', tags: ['blue'] }
  const { id } = await call('createDomain', settings)
  expect(await errorsOf(call('createDomain', settings))).toEqual([{ field: 'domain', reason: 'DNS zone already exists.' }])
  const domain = await call('updateDomain', id, { ttl_sec: 3600, axfr_ips: ['192.0.2.53'], tags: ['red'] })
  expect(domain).toMatchObject({ ttl_sec: 3600, axfr_ips: ['192.0.2.53'], tags: ['red'], status: 'active' })
  expect(await call('getDomain', id)).toEqual(domain)
  const filter = { domain: { '+contains': 'walk' }, '+order_by': 'domain', '+order': 'desc' }
  expect(await call('getDomains', { page: 1, page_size: 25 }, filter)).toEqual({ data: [domain], page: 1, pages: 1, results: 1 })
  const records = []
  for (const body of [
    { type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 300 },
    { type: 'AAAA', name: 'www', target: '2001:db8::1' },
    { type: 'MX', name: '', target: 'mail.example.net', priority: 10 },
    { type: 'CNAME', name: 'alias', target: 'www.walk.example' },
    { type: 'TXT', name: '', target: 'v=spf1 -all' },
    { type: 'NS', name: 'sub', target: 'ns.example.net' },
    { type: 'CAA', name: '', tag: 'issue', target: 'ca.example.net' },
    { type: 'SRV', service: 'sip', protocol: 'tcp', target: 'sip.example.net', priority: 1, weight: 2, port: 5060 },
  ]) {
    const created = await call('createDomainRecord', id, body)
    expect(created).toMatchObject(body)
    records.push(created)
  }
  expect((await call('getDomainRecords', id)).data).toEqual(records)
  const [record] = records
  expect(await call('updateDomainRecord', id, record.id, { target: '192.0.2.2' })).toMatchObject({ target: '192.0.2.2', ttl_sec: 300 })
  expect(await call('getDomainRecord', id, record.id)).toMatchObject({ target: '192.0.2.2' })
  await pass(30)
  expect((await call('getDNSZoneFile', id)).zone_file.join('\n')).toContain('192.0.2.2')
  await call('cloneDomain', id, { domain: 'clone.example' })
  await call('importZone', { domain: 'example.test', remote_nameserver: '127.0.0.1' })
  expect((await call('getDomains', {}, { domain: 'example.test' })).results).toBe(1)
  await call('deleteDomainRecord', id, record.id)
  await call('deleteDomain', id)
  expect(await errorsOf(call('getDomain', id))).toEqual([{ field: null, reason: 'Not found' }])
})

test('instances, scripts, kernels and images of disks', async () => {
  const script = await call('createStackScript', {
    label: 'deploy',
    script: '#!/bin/sh\n# <UDF name="db" label="Database"/>\n',
    images: ['linode/debian12'],
    description: '',
    is_public: false,
    rev_note: '',
  })
  expect((await call('updateStackScript', script.id, { rev_note: 'second' })).images).toEqual(['linode/debian12'])
  expect(await call('getStackScript', script.id)).toMatchObject({ rev_note: 'second' })
  expect((await call('getStackScripts', {}, { mine: true })).results).toBe(1)
  const created = await call('createLinode', {
    ...{ region: 'us-east', type: 'g6-standard-1', image: 'linode/debian12', root_pass: 'correct horse 9', label: 'walk' },
    ...{ stackscript_id: script.id, stackscript_data: { db: 'main' }, tags: ['walked'] },
    ...{ backups_enabled: false, booted: true, private_ip: false },
  })
  expect(created.image).toBe('linode/debian12')
  await pass(30)
  expect(await call('getLinode', created.id)).toMatchObject({ status: 'running', image: 'linode/debian12' })
  expect((await call('getLinodes', {}, { image: 'linode/debian12' })).results).toBe(1)
  await call('updateLinode', created.id, { label: 'renamed', tags: ['walked', 'second'] })
  const [config] = (await call('getLinodeConfigs', created.id)).data
  const { devices, helpers, kernel, root_device, virt_mode } = config
  await call('createLinodeConfig', created.id, { label: 'second', devices, helpers, kernel, root_device, virt_mode })
  await call('linodeBoot', created.id, config.id)
  await pass(30)
  await call('enableBackups', created.id)
  const snapshot = await call('takeSnapshot', created.id, 'before')
  await pass(600)
  expect((await call('getLinodeBackups', created.id)).snapshot.current).toMatchObject({ id: snapshot.id, status: 'successful' })
  await call('restoreBackup', created.id, snapshot.id, created.id, true)
  await pass(30)
  const clone = await call('cloneLinode', created.id, { region: 'us-east', type: 'g6-standard-1' })
  await pass(60)
  expect(await call('cloneLinode', created.id, { linode_id: clone.id, configs: [] })).toMatchObject({ id: clone.id })
  await pass(60)
  await call('cancelBackups', created.id)
  const [{ devices: disks }] = (await call('getLinodeConfigs', created.id)).data
  const image = await call('createImage', { disk_id: disks.sda.disk_id, label: 'of a disk' })
  await pass(60)
  expect(await call('getImage', image.id)).toMatchObject({ status: 'available' })
  await call('deleteImage', image.id)
  for (const { id } of [clone, created]) await call('deleteLinode', id)
  await call('deleteStackScript', script.id)
  const { data: kernels, results } = await call('getLinodeKernels', { page_size: 500 })
  expect(results).toBeGreaterThan(300)
  expect(await call('getLinodeKernel', kernels[0].id)).toEqual(kernels[0])
  const [type] = (await call('getLinodeTypes')).data
  expect(await call('getType', type.id)).toEqual(type)
})

test('images, regions and tags', async () => {
  expect((await call('getImages', {}, { is_public: true })).results).toBeGreaterThan(10)
  const { image, upload_to: uploadTo } = await call('uploadImage', { label: 'uploaded', region: 'us-east', cloud_init: undefined })
  const { origin, pathname } = new URL(uploadTo)
  const pool = new Pool(origin)
  const headers = { 'content-type': 'application/octet-stream' }
  expect((await pool.request({ method: 'PUT', path: pathname, headers, body: gzipSync(Buffer.alloc(1 << 20)) })).statusCode).toBe(200)
  await pool.close()
  expect(await call('updateImage', image.id, { label: 'kept' })).toMatchObject({ status: 'available', label: 'kept' })
  const [region] = (await call('getRegions')).data
  expect(await call('getRegion', region.id)).toEqual(region)
  const [availability] = (await call('getAccountAvailabilities')).data
  expect(await call('getAccountAvailability', region.id)).toEqual(availability)
  expect(await call('getAccountInfo')).toMatchObject({ balance: 0 })
  await call('createTag', { label: 'green', linodes: [1001] })
  expect((await call('getTags')).data).toContainEqual({ label: 'green' })
  expect((await call('getLinode', 1001)).tags).toEqual(['green'])
  await call('deleteTag', 'green')
})

test('the profile', async () => {
  // The library refuses the profile's own null for no keys.
  const { authorized_keys: _, ...profile } = await call('getProfile')
  expect(await call('updateProfile', { ...profile, lish_auth_method: 'keys_only' })).toMatchObject({ lish_auth_method: 'keys_only' })
  const [app] = (await call('getAppTokens')).data
  expect(await call('getAppToken', app.id)).toEqual(app)
  await call('deleteAppToken', app.id)
  const [device] = (await call('getTrustedDevices')).data
  await call('deleteTrustedDevice', device.id)
  expect((await call('getLogins')).results).toBeGreaterThan(0)
  await call('updateUserPreferences', { linode_id: 1 })
  expect(await call('getUserPreferences')).toEqual({ linode_id: 1 })
  const key = await call('createSSHKey', { label: 'laptop', ssh_key: environment['SSH_KEY'] })
  await call('updateSSHKey', key.id, { label: 'desk' })
  expect(await call('getSSHKey', key.id)).toMatchObject({ label: 'desk' })
  expect((await call('getSSHKeys')).results).toBe(1)
  await call('deleteSSHKey', key.id)
  const made = await call('createPersonalAccessToken', { label: 'reader', scopes: 'linodes:read_only', expiry: '2999-12-12T05:00:00' })
  await call('updatePersonalAccessToken', made.id, { label: 'kept' })
  const listed = (await call('getPersonalAccessTokens')).data.find(({ id }: { id: number }) => id === made.id)
  expect(listed).toMatchObject({ label: 'kept', scopes: 'linodes:read_only', token: made.token.slice(0, 16) })
  expect(await call('getPersonalAccessToken', made.id)).toEqual(listed)
  token = made.token
  expect(await errorsOf(call('getDomains'))).toMatchObject([{ reason: 'Your OAuth token is not authorized to use this endpoint.' }])
  token = environment['TOKEN'] as string
  await call('deletePersonalAccessToken', made.id)
  // An unrestricted user has none: 204 without a body.
  expect(await call('getMyGrants')).toBeFalsy()
  token = environment['RESTRICTED_TOKEN'] as string
  expect(await call('getMyGrants')).toMatchObject({ global: { add_linodes: true, add_stackscripts: false }, linode: [{ label: 'seeded' }] })
  expect(await call('listGrants')).toMatchObject({ stackscript: [] })
  token = environment['TOKEN'] as string
})

test('the second factor and the phone number', async () => {
  const { security_questions: questions } = await call('getSecurityQuestions')
  const answers = questions.slice(0, 3).map(({ id, question }: { id: number; question: string }) => ({
    ...{ question_id: id, security_question: question, response: 'answer' },
  }))
  await call('updateSecurityQuestions', { security_questions: answers })
  const { secret } = await call('getTFAToken')
  const timestamp = 1000 * (await pass(0))
  await call('confirmTwoFactor', new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp }))
  expect(await call('getProfile')).toMatchObject({ two_factor_auth: true })
  await call('disableTwoFactor')
  await call('sendCodeToPhoneNumber', { iso_code: 'US', phone_number: '2015550123' })
  const [, code] = /code is (\d{6})/.exec(readFileSync(environment['SMS'] as string, 'utf8')) ?? []
  await call('verifyPhoneNumberCode', { otp_code: code })
  expect(await call('getProfile')).toMatchObject({ two_factor_auth: false, verified_phone_number: '+12015550123' })
  await call('smsOptOut')
})

test('every operation of the service was used, and succeeded', () => {
  expect(served.filter((name) => !used.has(name))).toEqual([])
  expectRow('@linode/api-v4', pinnedVersion('../../../package.json', '@linode/api-v4'), served.length)
})

test('operations that the service does not have are refused', async () => {
  const pool = new Pool(environment['SERVICE'] as string)
  const absent = operations.filter(({ name, request }) => request !== null && isInSection(request) && !served.includes(name))
  expect(absent.length).toBeGreaterThan(40)
  for (const { name, request } of absent) {
    const [method, path] = (request as string).replaceAll('probe', '1001').split(' ') as ['GET', string]
    const { statusCode, body } = await pool.request({ method, path, headers: { authorization: `Bearer ${environment['TOKEN']}` } })
    expect([name, statusCode, await body.json()]).toEqual([
      name,
      expect.toSatisfy((code) => code === 404 || code === 405),
      { errors: [expect.anything()] },
    ])
  }
  await pool.close()
})

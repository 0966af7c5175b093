/**
 * Tries every declared operation with every kind of token and user. The expected result is derived from the declarations alone, so a new
 * operation is tested as soon as it is declared.
 */
import { describe, expect, test } from 'vitest'
import type { Route } from '../../../src/service/api/route.ts'
import { ROUTES } from '../../../src/service/api/routes.ts'
import { type Client, connect, startForTest } from '../harness.ts'
import { nameFor, namesFor, ownedObjects, parametersOf, pathFor, sharedName } from './owned-objects.ts'
import { EXPIRED, PEOPLE, type Person, SCOPES, seedOfPeople, tokenOf } from './people.ts'

const named = ROUTES.map((route): [string, Route] => [`${route.method} ${route.path}`, route])
const scopesOf = ({ scope }: Route): readonly string[] => (scope === null ? [] : [scope].flat())

const { domains, ...belongings } = namesFor(ROUTES, Object.keys(PEOPLE))
const { service } = await startForTest({ seed: seedOfPeople(domains, belongings), bootstrapToken: 'administrator' })
const as = (token: string): Client => connect(service.baseUrl, token).client
const owner = as(tokenOf('owner'))
const OBJECTS = await ownedObjects(owner)
const pathOf = (route: Route, name: string): Promise<string> => pathFor(route, name, OBJECTS)

/** The expected result for a person with a token of all scopes: an error status, or admission. */
function expected(route: Route, person: Person): 403 | 404 | 'admitted' {
  const { granted } = person
  const seen = parametersOf(route).every((name) => OBJECTS[name]?.seenBy(person))
  if (granted !== null && route.grants !== null) {
    const { unrestricted, object, global } = route.grants
    if (unrestricted) return 403
    if (object && !seen) return 404
    if (object && (granted.objects === null || (object.permissions === 'read_write' && granted.objects === 'read_only'))) return 403
    if (global && !granted.global) return 403
  }
  return seen ? 'admitted' : 404
}

const verdict = (status: number): number | 'admitted' => ([401, 403, 404, 405, 429, 500].includes(status) ? status : 'admitted')

let bodies = 0

/** A body that the schema of the operation accepts. */
function bodyOf({ method, path }: Route): object | undefined {
  bodies += 1
  switch (`${method} ${path}`) {
    case 'POST /domains':
      return { domain: `made-${bodies}.example`, type: 'master', soa_email: 'hostmaster@example.com' }
    case 'POST /domains/{domainId}/clone':
      return { domain: `made-${bodies}.example` }
    case 'POST /domains/{domainId}/records':
      return { type: 'TXT', target: 'x' }
    case 'POST /compute/instances/{instanceId}/backups':
      return { label: 'snapshot' }
    case 'POST /compute/instances/{instanceId}/backups/{backupId}/restore':
      return { instance_id: 1 }
    case 'POST /compute/instances/{instanceId}/configs':
      return { label: 'profile', devices: {} }
    case 'POST /tags':
      return { label: `tag ${bodies}` }
    default:
      return method === 'POST' || method === 'PUT' ? {} : undefined
  }
}

describe('without a valid token', async () => {
  const revoked = await owner.ok('POST', '/profile/tokens', { label: 'to be revoked' })
  expect((await as(revoked.token).call('GET', '/domains')).status).toBe(200)
  await owner.ok('DELETE', `/profile/tokens/${revoked.id}`)

  const nobody = as('')
  // A private image needs a token of its account.
  const isOpen = ({ open, path }: Route): boolean => open === true && !path.includes('{imageId}')

  test.each(named)('%s is 401, or needs no token', async (_name, route) => {
    const path = await pathOf(route, sharedName(route))
    for (const [kind, headers] of Object.entries({
      none: {},
      unknown: { authorization: `Bearer ${'0'.repeat(64)}` },
      revoked: { authorization: `Bearer ${revoked.token}` },
      expired: { authorization: `Bearer ${EXPIRED}` },
    })) {
      const answer = await nobody.call(route.method, path, bodyOf(route), headers)
      if (kind === 'none' && isOpen(route)) expect([route.path, answer.status]).toEqual([route.path, 200])
      else expect([kind, answer.status, answer.body]).toEqual([kind, 401, { errors: [{ field: null, reason: 'Invalid Token' }] }])
      expect(answer.headers['x-oauth-scopes']).toBe('unknown')
      expect(answer.headers['x-accepted-oauth-scopes']).toBe(scopesOf(route).join(',') || '*')
    }
  })
})

describe('scopes', () => {
  // The owner of another account has no objects to damage.
  const stranger = Object.entries(SCOPES).map(([which, scopes]) => ({ scopes, client: as(tokenOf('stranger', which)) }))
  const covers = (scopes: string, needed: string): boolean =>
    scopes === '*' || scopes === needed || (needed.endsWith(':read_only') && scopes === needed.replace('read_only', 'read_write'))

  test.each(named)('%s', async (_name, route) => {
    const path = await pathOf(route, sharedName(route))
    for (const { scopes, client } of stranger) {
      const enough = scopesOf(route).every((needed) => covers(scopes, needed))
      const answer = await client.call(route.method, path, bodyOf(route))
      const reason = answer.status === 401 ? answer.body.errors[0].reason : 'let in'
      expect([scopes, reason]).toEqual([scopes, enough ? 'let in' : 'Your OAuth token is not authorized to use this endpoint.'])
      expect(answer.headers['x-oauth-scopes']).toBe(scopes)
      expect(answer.headers['x-accepted-oauth-scopes']).toBe(scopesOf(route).join(',') || '*')
    }
  })
})

describe.each(Object.entries(PEOPLE))('%s', (name, person) => {
  const client = as(tokenOf(person.user))

  test.each(named)('%s', async (_name, route) => {
    const answer = await client.call(route.method, await pathOf(route, nameFor(route, ROUTES.indexOf(route), name)), bodyOf(route))
    expect(verdict(answer.status)).toBe(expected(route, person))
    if (answer.status === 403) expect(answer.body).toEqual({ errors: [{ field: null, reason: 'Unauthorized' }] })
    if (answer.status === 404) expect(answer.body).toEqual({ errors: [{ field: null, reason: 'Not found' }] })
  })
})

describe('the declarations', () => {
  test('match the API', () => {
    expect(Object.fromEntries(named.map(([name, route]) => [name, scopesOf(route).join(' ')]))).toEqual({
      'GET /compute/instances': 'instances:read_only',
      'POST /compute/instances': 'instances:read_write',
      'GET /compute/instances/{instanceId}': 'instances:read_only',
      'PUT /compute/instances/{instanceId}': 'instances:read_write',
      'DELETE /compute/instances/{instanceId}': 'instances:read_write',
      'POST /compute/instances/{instanceId}/boot': 'instances:read_write',
      'POST /compute/instances/{instanceId}/clone': 'instances:read_write',
      'GET /compute/instances/{instanceId}/backups': 'instances:read_only',
      'POST /compute/instances/{instanceId}/backups': 'instances:read_write',
      'POST /compute/instances/{instanceId}/backups/cancel': 'instances:read_write',
      'POST /compute/instances/{instanceId}/backups/enable': 'instances:read_write',
      'GET /compute/instances/{instanceId}/backups/{backupId}': 'instances:read_only',
      'POST /compute/instances/{instanceId}/backups/{backupId}/restore': 'instances:read_write',
      'GET /compute/instances/{instanceId}/configs': 'instances:read_only',
      'POST /compute/instances/{instanceId}/configs': 'instances:read_write',
      'GET /compute/kernels': '',
      'GET /compute/scripts': 'scripts:read_only',
      'POST /compute/scripts': 'scripts:read_write',
      'GET /compute/scripts/{scriptId}': 'scripts:read_only',
      'PUT /compute/scripts/{scriptId}': 'scripts:read_write',
      'DELETE /compute/scripts/{scriptId}': 'scripts:read_write',
      'GET /regions': '',
      'GET /regions/{regionId}': '',
      'GET /domains': 'domains:read_only',
      'POST /domains': 'domains:read_write',
      'POST /domains/import': 'domains:read_write',
      'GET /domains/{domainId}': 'domains:read_only',
      'PUT /domains/{domainId}': 'domains:read_write',
      'DELETE /domains/{domainId}': 'domains:read_write',
      'POST /domains/{domainId}/clone': 'domains:read_write',
      'GET /domains/{domainId}/records': 'domains:read_only',
      'POST /domains/{domainId}/records': 'domains:read_write',
      'GET /domains/{domainId}/records/{recordId}': 'domains:read_only',
      'PUT /domains/{domainId}/records/{recordId}': 'domains:read_write',
      'DELETE /domains/{domainId}/records/{recordId}': 'domains:read_write',
      'GET /domains/{domainId}/zone-file': 'domains:read_only',
      'GET /images': 'images:read_only',
      'POST /images': 'images:read_write instances:read_only',
      'POST /images/upload': 'images:read_write',
      'GET /images/{imageId}': 'images:read_only',
      'PUT /images/{imageId}': 'images:read_write',
      'DELETE /images/{imageId}': 'images:read_write',
      'GET /tags': 'account:read_only',
      'POST /tags': 'account:read_write',
      'GET /tags/{label}': 'account:read_only',
      'DELETE /tags/{label}': 'account:read_write',
      'GET /profile': '',
      'PUT /profile': 'account:read_write',
      'GET /profile/apps': 'account:read_only',
      'GET /profile/apps/{appId}': 'account:read_only',
      'DELETE /profile/apps/{appId}': 'account:read_write',
      'GET /profile/devices': 'account:read_only',
      'GET /profile/devices/{deviceId}': 'account:read_only',
      'DELETE /profile/devices/{deviceId}': 'account:read_write',
      'GET /profile/grants': '',
      'GET /profile/logins': 'account:read_only',
      'GET /profile/logins/{loginId}': 'account:read_only',
      'POST /profile/phone-number': 'account:read_write',
      'DELETE /profile/phone-number': 'account:read_write',
      'POST /profile/phone-number/verify': 'account:read_write',
      'GET /profile/preferences': 'account:read_only',
      'PUT /profile/preferences': 'account:read_write',
      'GET /profile/security-questions': 'account:read_only',
      'POST /profile/security-questions': 'account:read_write',
      'GET /profile/sshkeys': 'account:read_only',
      'POST /profile/sshkeys': 'account:read_write',
      'GET /profile/sshkeys/{sshKeyId}': 'account:read_only',
      'PUT /profile/sshkeys/{sshKeyId}': 'account:read_write',
      'DELETE /profile/sshkeys/{sshKeyId}': 'account:read_write',
      'POST /profile/tfa-enable': 'account:read_write',
      'POST /profile/tfa-enable-confirm': 'account:read_write',
      'POST /profile/tfa-disable': 'account:read_write',
      'GET /profile/tokens': 'account:read_only',
      'POST /profile/tokens': 'account:read_write',
      'GET /profile/tokens/{tokenId}': 'account:read_only',
      'PUT /profile/tokens/{tokenId}': 'account:read_write',
      'DELETE /profile/tokens/{tokenId}': 'account:read_write',
    })
  })

  // The grants besides those on the object in the path; the matrix above would follow a wrong declaration.
  test('require the grants of the API', () => {
    const asked = named.flatMap(([name, { grants }]) => {
      const { unrestricted, global } = grants ?? {}
      return unrestricted || global ? [[name, unrestricted ? 'to be unrestricted' : global]] : []
    })
    expect(Object.fromEntries(asked)).toEqual({
      'POST /compute/instances': 'add_instances',
      'POST /compute/instances/{instanceId}/clone': 'add_instances',
      'POST /compute/scripts': 'add_scripts',
      'POST /domains': 'add_domains',
      'POST /domains/import': 'add_domains',
      'POST /domains/{domainId}/clone': 'add_domains',
      'POST /images': 'add_images',
      'POST /images/upload': 'add_images',
      'POST /tags': 'to be unrestricted',
      'DELETE /tags/{label}': 'to be unrestricted',
    })
  })

  test.each(named)('%s requires read_write if and only if it changes something', (_name, route) => {
    const access = route.method === 'GET' ? 'read_only' : 'read_write'
    if (route.scope !== null) {
      expect(scopesOf(route).some((scope) => scope.endsWith(access))).toBe(true)
    }
    for (const [parameter, kind] of Object.entries({ domainId: 'domain', instanceId: 'instance', imageId: 'image', scriptId: 'script' })) {
      if (route.path.includes(`{${parameter}}`)) expect(route.grants?.object).toMatchObject({ kind, parameter, permissions: access })
    }
  })
})

describe('a restricted user', () => {
  const writer = as(tokenOf('writer'))

  test('cannot change tags of instances, but may send the existing ones', async () => {
    const [{ id, tags }] = (await writer.ok('GET', '/compute/instances')).data
    expect((await writer.call('PUT', `/compute/instances/${id}`, { tags: ['mine'] })).status).toBe(403)
    await writer.ok('PUT', `/compute/instances/${id}`, { tags, group: 'changed' })
    expect(await owner.ok('GET', `/compute/instances/${id}`)).toMatchObject({ tags, group: 'changed' })
    const order = { region: 'us-east', type: 'g6-nanode-1' }
    const keeper = as(tokenOf('keeper'))
    expect((await keeper.call('POST', '/compute/instances', { ...order, tags: ['mine'] })).status).toBe(403)
    const made = await keeper.ok('POST', '/compute/instances', order)
    expect((await keeper.ok('GET', '/profile/grants')).instance).toContainEqual({
      id: made.id,
      label: made.label,
      permissions: 'read_write',
    })
    expect((await writer.call('GET', `/compute/instances/${made.id}`)).status).toBe(403)
  })

  test('cannot lift its restriction, and nobody can enable the second factor through the profile', async () => {
    expect((await writer.call('PUT', '/profile', { restricted: false })).status).toBe(403)
    expect((await writer.ok('GET', '/profile')).restricted).toBe(true)
    for (const client of [writer, owner]) {
      expect((await client.call('PUT', '/profile', { two_factor_auth: true })).status).toBe(400)
      expect((await client.ok('GET', '/profile')).two_factor_auth).toBe(false)
    }
  })
})

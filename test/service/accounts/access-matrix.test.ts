/**
 * Tries every declared operation with every kind of token and user. The expected result is derived from the declarations alone, so a new
 * operation is tested as soon as it is declared.
 */
import { describe, expect, test } from 'vitest'
import type { Route } from '../../../src/service/api/route.ts'
import { ROUTES } from '../../../src/service/api/routes.ts'
import { type Client, connect, MASTER, startForTest } from '../harness.ts'
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

/** Bodies that the schemas of operations accept; the others accept `{}`. */
const BODIES: Readonly<Record<string, (number: number) => object>> = {
  'POST /domains': (number) => ({ ...MASTER, domain: `made-${number}.example` }),
  'POST /domains/{domainId}/clone': (number) => ({ domain: `made-${number}.example` }),
  'POST /domains/{domainId}/records': () => ({ type: 'TXT', target: 'x' }),
  'POST /compute/instances/{instanceId}/backups': () => ({ label: 'snapshot' }),
  'POST /compute/instances/{instanceId}/backups/{backupId}/restore': () => ({ instance_id: 1 }),
  'POST /compute/instances/{instanceId}/configs': () => ({ label: 'profile', devices: {} }),
  'POST /tags': (number) => ({ label: `tag ${number}` }),
}

function bodyOf({ method, path }: Route): object | undefined {
  bodies += 1
  return BODIES[`${method} ${path}`]?.(bodies) ?? (method === 'POST' || method === 'PUT' ? {} : undefined)
}

// A private image needs a token of its account.
const isOpen = ({ open, path }: Route): boolean => open === true && !path.includes('{imageId}')

describe('without a valid token', async () => {
  const revoked = await owner.ok('POST', '/profile/tokens', { label: 'to be revoked' })
  expect((await as(revoked.token).call('GET', '/domains')).status).toBe(200)
  await owner.ok('DELETE', `/profile/tokens/${revoked.id}`)

  const nobody = as('')

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
    const families = scopesOf(route).map((needed) => needed.split(':')[0] as string)
    const others = stranger.filter(({ scopes }) => !families.some((family) => scopes.startsWith(family)))
    // Those of its own families, `*`, and one other; scopes.test.ts compares all scopes with each other.
    const place = ROUTES.indexOf(route) % (others.length - 1)
    const tried = stranger.filter((one) => !others.includes(one) || one.scopes === '*' || others.indexOf(one) === place + 1)
    for (const { scopes, client } of tried) {
      // Without the scope, an open operation does what it does without a token.
      const enough = isOpen(route) || scopesOf(route).every((needed) => covers(scopes, needed))
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
  /** The family of scopes by the beginning of a path. */
  const FAMILIES = {
    '/compute/instances': 'instances',
    '/compute/scripts': 'scripts',
    '/domains': 'domains',
    '/images': 'images',
    '/account': 'account',
    '/tags': 'account',
    '/profile': 'account',
  }
  const EXCEPTIONS: Readonly<Record<string, string>> = {
    'POST /images': 'images:read_write instances:read_only',
    ...Object.fromEntries(
      [
        '/compute/types',
        '/compute/types/{typeId}',
        '/compute/kernels',
        '/compute/kernels/{kernelId}',
        '/regions',
        '/regions/{regionId}',
        '/profile',
        '/profile/grants',
      ].map((path) => [`GET ${path}`, '']),
    ),
  }

  test.each(named)('%s requires the scope of the API', (name, route) => {
    const [, family] = Object.entries(FAMILIES).find(([start]) => route.path.startsWith(start)) ?? []
    expect(scopesOf(route).join(' ')).toBe(EXCEPTIONS[name] ?? `${family}:${route.method === 'GET' ? 'read_only' : 'read_write'}`)
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

  test.each(named)('%s requires a grant to read or to change the object in its path', (_name, route) => {
    const permissions = route.method === 'GET' ? 'read_only' : 'read_write'
    for (const [parameter, kind] of Object.entries({ domainId: 'domain', instanceId: 'instance', imageId: 'image', scriptId: 'script' }))
      if (route.path.includes(`{${parameter}}`)) expect(route.grants?.object).toMatchObject({ kind, parameter, permissions })
  })
})

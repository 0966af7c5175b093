/**
 * Every operation that is declared, asked for with every kind of token by every kind of user. What must come out is worked out here
 * from the declarations alone, so that an operation that is added is tested by being declared.
 */
import { describe, expect, test } from 'vitest'
import { PARTS } from '../../../src/service/api/parts.ts'
import type { Route } from '../../../src/service/api/route.ts'
import { type Client, connect, startForTest } from '../harness.ts'
import { PEOPLE, type Person, SCOPES, seedOfPeople, tokenOf } from './people.ts'

const ROUTES = PARTS.flat()
const named = ROUTES.map((route): [string, Route] => [`${route.method} ${route.path}`, route])
const scopesOf = ({ scope }: Route): readonly string[] => (scope === null ? [] : [scope].flat())

/** The domain that operations are tried on; what deletes has one of its own each time. */
const SHARED = 'shared.example'
const domainFor = (route: Route, person: string): string =>
  route.method === 'DELETE' ? `${person}-${ROUTES.indexOf(route)}.example` : SHARED
const DOMAINS = [...new Set(Object.keys(PEOPLE).flatMap((person) => ROUTES.map((route) => domainFor(route, person))))]

const { service } = await startForTest({ seed: seedOfPeople(DOMAINS), bootstrapToken: 'administrator' })
const as = (token: string): Client => connect(service.baseUrl, token).client
const owner = as(tokenOf('owner'))

const domainIds = new Map<string, number>(
  (await owner.ok('GET', '/domains?page_size=500')).data.map(({ domain, id }: { domain: string; id: number }) => [domain, id]),
)

/** A value for each path parameter, of an object of the owner; and who can see that at all. */
const OBJECTS: Readonly<Record<string, { value: (domain: string) => Promise<string | number>; seenBy: (person: Person) => boolean }>> = {
  domainId: { value: async (domain) => domainIds.get(domain) as number, seenBy: ({ account }) => account === 'first' },
  recordId: {
    value: async (domain) => (await owner.ok('POST', `/domains/${domainIds.get(domain)}/records`, { type: 'TXT', target: 'x' })).id,
    seenBy: ({ account }) => account === 'first',
  },
  tokenId: {
    value: async () => (await owner.ok('POST', '/profile/tokens', { label: 'target' })).id,
    seenBy: ({ user }) => user === 'owner',
  },
  label: {
    value: async (domain) => encodeURIComponent(`tag of ${domain}`),
    seenBy: ({ account, granted }) => account === 'first' && (granted === null || granted.domain !== null),
  },
}

async function pathFor(route: Route, domain: string): Promise<string> {
  let path = route.path
  for (const [, name = ''] of route.path.matchAll(/\{(\w+)\}/g)) {
    const object = OBJECTS[name]
    if (object === undefined) throw new Error(`the matrix must be told how to make a ${name}`)
    path = path.replace(`{${name}}`, String(await object.value(domain)))
  }
  return path
}

/** What a person must get with a token of all scopes: a status, or to be let in, to whatever the request then says. */
function expected(route: Route, person: Person): 403 | 404 | 'admitted' {
  const { granted } = person
  const parameters = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string)
  const seen = parameters.every((name) => OBJECTS[name]?.seenBy(person))
  if (granted !== null && route.needs !== null) {
    const { unrestricted, object, global } = route.needs
    if (unrestricted) return 403
    if (object && !seen) return 404
    if (object && (granted.domain === null || (object.permissions === 'read_write' && granted.domain === 'read_only'))) return 403
    if (global && !granted.global) return 403
  }
  return seen ? 'admitted' : 404
}

const verdict = (status: number): number | 'admitted' => ([401, 403, 404, 405, 429, 500].includes(status) ? status : 'admitted')

let bodies = 0

/** A body that the operation's schema lets through. */
function bodyOf({ method, path }: Route): object | undefined {
  bodies += 1
  switch (`${method} ${path}`) {
    case 'POST /domains':
      return { domain: `made-${bodies}.example`, type: 'master', soa_email: 'hostmaster@example.com' }
    case 'POST /domains/{domainId}/clone':
      return { domain: `made-${bodies}.example` }
    case 'POST /domains/{domainId}/records':
      return { type: 'TXT', target: 'x' }
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

  test.each(named)('%s is 401', async (_name, route) => {
    const path = await pathFor(route, SHARED)
    for (const [kind, headers] of Object.entries({
      none: { authorization: '' },
      unknown: { authorization: `Bearer ${'0'.repeat(64)}` },
      revoked: { authorization: `Bearer ${revoked.token}` },
    })) {
      const answer = await owner.call(route.method, path, bodyOf(route), headers)
      expect([kind, answer.status, answer.body]).toEqual([kind, 401, { errors: [{ field: null, reason: 'Invalid Token' }] }])
      expect(answer.headers['x-oauth-scopes']).toBe('unknown')
      expect(answer.headers['x-accepted-oauth-scopes']).toBe(scopesOf(route).join(',') || '*')
    }
  })
})

describe('scopes', () => {
  // The owner of another account has nothing that could be lost.
  const stranger = Object.entries(SCOPES).map(([which, scopes]) => ({ scopes, client: as(tokenOf('stranger', which)) }))
  const covers = (scopes: string, needed: string): boolean =>
    scopes === '*' || scopes === needed || (needed.endsWith(':read_only') && scopes === needed.replace('read_only', 'read_write'))

  test.each(named)('%s', async (_name, route) => {
    const path = await pathFor(route, SHARED)
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
    const answer = await client.call(route.method, await pathFor(route, domainFor(route, name)), bodyOf(route))
    expect(verdict(answer.status)).toBe(expected(route, person))
    if (answer.status === 403) expect(answer.body).toEqual({ errors: [{ field: null, reason: 'Unauthorized' }] })
    if (answer.status === 404) expect(answer.body).toEqual({ errors: [{ field: null, reason: 'Not found' }] })
  })
})

describe('the declarations', () => {
  test('are those of the interface', () => {
    expect(Object.fromEntries(named.map(([name, route]) => [name, scopesOf(route).join(' ')]))).toMatchObject({
      'GET /domains': 'domains:read_only',
      'POST /domains': 'domains:read_write',
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
      'GET /tags': 'account:read_only',
      'POST /tags': 'account:read_write',
      'DELETE /tags/{label}': 'account:read_write',
      'GET /profile': '',
      'PUT /profile': 'account:read_write',
      'GET /profile/grants': '',
      'GET /profile/tokens': 'account:read_only',
      'POST /profile/tokens': 'account:read_write',
      'GET /profile/tokens/{tokenId}': 'account:read_only',
      'PUT /profile/tokens/{tokenId}': 'account:read_write',
      'DELETE /profile/tokens/{tokenId}': 'account:read_write',
    })
  })

  test.each(named)('%s asks for read_write exactly where it changes something', (_name, route) => {
    const access = route.method === 'GET' ? 'read_only' : 'read_write'
    if (route.path !== '/profile' && route.path !== '/profile/grants') {
      expect(scopesOf(route).some((scope) => scope.endsWith(access))).toBe(true)
    }
    if (route.path.includes('{domainId}')) {
      const permissions = route.path.endsWith('/clone') ? 'read_write' : access
      expect(route.needs?.object).toEqual({ kind: 'domain', parameter: 'domainId', permissions })
    }
  })
})

/** The paths, fields and ids of the hosting service's own clients. */
import { describe, expect, test } from 'vitest'
import { aliasPathOf } from '../../src/service/api/alias-names.ts'
import { ROUTES } from '../../src/service/api/routes.ts'
import { connect, exchange, seedFrom, startForTest } from './harness.ts'

const SEED = {
  accounts: [
    {
      users: [
        { username: 'owner', email: 'owner@example.com', tokens: [{ token: 'owner' }, { token: 'narrow', scopes: 'linodes:read_only' }] },
        {
          username: 'helper',
          email: 'helper@example.com',
          restricted: true,
          tokens: [{ token: 'helper' }],
          grants: { global: { add_instances: true }, instance: [{ label: 'source', permissions: 'read_only' }] },
        },
      ],
      instances: [
        { id: 1001, label: 'source', region: 'us-east', image: 'public/debian11', tags: ['shown'] },
        { id: 1002, label: 'target', region: 'us-east' },
      ],
      volumes: [{ id: 4001, label: 'data', region: 'us-east', instance: 'source', tags: ['shown'] }],
      scripts: [{ label: 'setup', script: '#!/bin/sh\n# <UDF name="db" label="Database"/>\n', images: ['public/debian11'] }],
    },
  ],
}
const { service } = await startForTest({ seed: seedFrom(SEED), clockSpeed: 5000 })
const { client } = connect(service.baseUrl, 'owner')
const [{ id: SCRIPT }] = (await client.ok('GET', '/compute/scripts')).data
/** The same service under the version segment with beta operations. */
const { client: beta } = connect(service.baseUrl.replace(/v4$/, 'v4beta'), 'owner')
const DEPLOY = { region: 'us-east', type: 'g6-standard-1', root_pass: 'correct horse 9' }

describe('paths', () => {
  const compute = ROUTES.filter(({ path }) => path.startsWith('/compute/'))

  test.each(compute.map((route) => [`${route.method} ${route.path}`, route] as const))('%s has an alias', async (_, route) => {
    const pathOf = (path: string): string => path.replace(/\{\w+\}/g, '999999999')
    const alias = aliasPathOf(route.path) as string
    expect(alias).toMatch(/^\/linode\/(instances|kernels|stackscripts|types)/)
    const own = await client.call(route.method, pathOf(route.path), route.body ? {} : undefined)
    for (const answer of [
      await client.call(route.method, pathOf(alias), route.body ? {} : undefined),
      await beta.call(route.method, pathOf(alias), route.body ? {} : undefined),
    ]) {
      expect(answer.status).toBe(own.status)
      expect(Object.keys(answer.body)).toEqual(Object.keys(own.body))
    }
  })

  test('every other operation answers under v4beta', async () => {
    for (const { method, path } of ROUTES.filter((route) => aliasPathOf(route.path) === null)) {
      const place = path.replace(/\{\w+\}/g, '999999999')
      expect([path, (await beta.call(method, place, '[')).status]).toEqual([path, (await client.call(method, place, '[')).status])
    }
  })

  test.each([
    '/linode/',
    '/linode/unknown',
    '/linode/typesX',
    '/linode/instances/',
    '/linode/instancesX',
    '/linode/scripts',
    '/LINODE/instances',
    '/compute/stackscripts',
  ])('%s does not exist', async (path) => {
    expect(await client.call('GET', path)).toMatchObject({ status: 404, body: { errors: [{ field: null, reason: 'Not found' }] } })
  })

  test('v4beta has no path that only this API has', async () => {
    for (const path of ['/compute/instances', '/%63ompute/instances', '/compute/kernels', `/compute/scripts/${SCRIPT}`])
      expect((await beta.call('GET', path)).status).toBe(404)
  })

  test('query, HEAD, OPTIONS and other methods are those of the path', async () => {
    expect(await client.ok('GET', '/linode/kernels?page=2&page_size=25')).toEqual(
      await client.ok('GET', '/compute/kernels?page=2&page_size=25'),
    )
    expect(await client.problems('GET', '/linode/instances?page_size=1')).toEqual(
      await client.problems('GET', '/compute/instances?page_size=1'),
    )
    for (const path of ['instances', 'instances/1001', 'instances/1001/boot']) {
      for (const method of ['HEAD', 'OPTIONS', 'PATCH']) {
        const [own, alias] = [await client.call(method, `/compute/${path}`), await client.call(method, `/linode/${path}`)]
        const shown = ({ status, headers, body }: typeof own) => [method, path, status, headers['allow'], body]
        expect(shown(alias)).toEqual(shown(own))
      }
    }
  })

  test('letters may be percent-encoded, and the target may be in absolute form', async () => {
    for (const path of ['/%6cinode/instances', '/linode/%69nstances/1001', '/linode/instances?page%5Fsize=25'])
      expect([path, (await client.call('GET', path)).status]).toEqual([path, 200])
    const { origin, host } = new URL(service.baseUrl)
    const head = `GET ${origin}/v4/linode/instances/1001 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer owner\r\nConnection: close`
    expect(await exchange(service.baseUrl, `${head}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 [\s\S]*"image":"linode\/debian11"/)
  })

  test('both names share the rate limit of an operation', async () => {
    const limited = await startForTest({ bootstrapToken: 'limited', rateLimits: {} })
    for (let count = 0; count < 5; count += 1) {
      await limited.client.call('POST', '/compute/instances', {})
      await limited.client.call('POST', '/linode/instances', {})
    }
    expect((await limited.client.call('POST', '/linode/instances', {})).status).toBe(429)
    expect((await limited.client.call('POST', '/compute/instances', {})).status).toBe(429)
  })

  test('the required scopes have the names of the path', async () => {
    const narrow = connect(service.baseUrl, 'narrow').client
    const scopesOf = async (path: string) => (await narrow.call('GET', path)).headers['x-accepted-oauth-scopes']
    expect(await scopesOf('/linode/instances')).toBe('linodes:read_only')
    expect(await scopesOf('/compute/instances')).toBe('instances:read_only')
    expect(await scopesOf(`/linode/stackscripts/${SCRIPT}`)).toBe('stackscripts:read_only')
    expect(await scopesOf('/linode/kernels')).toBe('*')
    expect((await narrow.call('GET', '/linode/instances')).status).toBe(200)
    expect((await narrow.call('DELETE', '/linode/instances/1002')).status).toBe(401)
  })
})

test('the OpenAPI document names them', async () => {
  const { info, paths } = await client.ok('GET', '/openapi.json')
  for (const name of ['/linode/stackscripts', 'linode_id', 'stackscript_data', 'linodes', 'linode/', '/v4beta'])
    expect(info.description).toContain(`\`${name}\``)
  expect(paths['/compute/instances/{instanceId}/boot'].post['x-alias-path']).toBe('/linode/instances/{instanceId}/boot')
  expect(paths['/domains'].get['x-alias-path']).toBeUndefined()
})

describe('fields', () => {
  test('errors name the fields of the request', async () => {
    const refused = (body: object) => client.problems('POST', '/linode/instances', { ...DEPLOY, image: 'linode/debian11', ...body })
    expect(await refused({ stackscript_id: 999 })).toEqual(['stackscript_id: stackscript_id is not valid'])
    expect(await refused({ stackscript_id: 'x' })).toEqual(['stackscript_id: stackscript_id is not valid'])
    expect(await refused({ stackscript_id: SCRIPT })).toEqual([expect.stringMatching(/^stackscript_data\.db: .*db/)])
    expect(await refused({ image: 'linode/none' })).toEqual(['image: image is not valid'])
    expect(await client.problems('POST', '/linode/stackscripts', { label: 'new', script: '#!', images: ['linode/none'] })).toEqual([
      'images: linode/none is not an image',
    ])
  })

  test.each([
    ['/compute', 'instance_id', { linode_id: 999 }],
    ['/compute', 'instance_id', { linode_id: 1002, instance_id: 999 }],
    ['/linode', 'linode_id', { instance_id: 999 }],
    ['/linode', 'linode_id', { linode_id: 1002, instance_id: 999 }],
    ['/compute', 'instance_id', { linode_id: 999, instance_id: null }],
    ['/linode', 'linode_id', { instance_id: null, linode_id: 999 }],
  ])('%s accepts both names of a field, so that neither is ignored as unknown', async (path, field, body) => {
    expect(await client.problems('POST', `${path}/instances/1001/clone`, body)).toEqual([`${field}: ${field} is not valid`])
  })

  test('the own path does not know the image ids of clients', async () => {
    const deploy = { ...DEPLOY, image: 'linode/debian11' }
    expect(await client.problems('POST', '/compute/instances', deploy)).toEqual(['image: image is not valid'])
  })

  test('a body that is no object is refused as on the own path', async () => {
    for (const body of ['[]', '"linode_id"', 'null', '1', '{']) {
      const send = (path: string) => client.call('POST', path, body)
      const [own, alias] = [await send('/compute/instances/1001/clone'), await send('/linode/instances/1001/clone')]
      expect([body, alias.status, alias.body]).toEqual([body, own.status, own.body])
    }
  })

  test('preferences are stored as they are', async () => {
    const preferences = { linode_id: 1, image: 'public/debian11', data: { id: 'public/x' } }
    expect(await beta.ok('PUT', '/profile/preferences', preferences)).toEqual(preferences)
    expect(await client.ok('GET', '/profile/preferences')).toEqual(preferences)
  })
})

describe('image ids', () => {
  test('of instances begin with linode/ on the clients’ paths and with public/ on the own ones', async () => {
    for (const image of ['linode/debian12', 'public/debian12']) {
      const { id, ...created } = await client.ok('POST', '/linode/instances', { ...DEPLOY, image })
      expect(created.image).toBe('linode/debian12')
      expect((await client.ok('GET', `/compute/instances/${id}`)).image).toBe('public/debian12')
      expect((await client.ok('GET', `/linode/instances/${id}`)).image).toBe('linode/debian12')
    }
    const filtered = async (path: string, filter: object) =>
      (await client.ok('GET', path, undefined, { 'x-filter': JSON.stringify(filter) })).data.map(({ image }: { image: string }) => image)
    const two = ['linode/debian12', 'linode/debian12']
    expect(await filtered('/linode/instances', { image: 'linode/debian12' })).toEqual(two)
    expect(await filtered('/linode/instances', { '+or': [{ image: { '+contains': 'linode/debian12' } }, { label: 'none' }] })).toEqual(two)
    expect(await filtered('/linode/instances', { image: 'public/debian12' })).toEqual(two)
    for (const part of ['linode', 'NODE', 'node/debian12', 'debian12', 'linode/debian12'])
      expect(
        (await filtered('/linode/instances', { image: { '+contains': part } })).filter((image: string) => image !== 'linode/debian11'),
      ).toEqual(two)
    expect(await filtered('/linode/instances', { image: { '+contains': 'node/alpine' } })).toEqual([])
    expect(await filtered('/compute/instances', { image: 'linode/debian12' })).toEqual([])
    expect(await filtered('/compute/instances', { image: 'public/debian12' })).toEqual(['public/debian12', 'public/debian12'])
    expect(await filtered('/linode/instances', { image: null, id: 1002 })).toEqual([null])
  })

  test('in deeply nested lists are refused', async () => {
    const depth = 100_000
    const nested = `${'['.repeat(depth)}"linode/debian12"${']'.repeat(depth)}`
    for (const path of ['/linode/stackscripts', '/compute/scripts']) {
      const { status, body } = await client.call('POST', path, `{"label": "deep", "script": "#!", "images": ${nested}}`)
      expect([path, status, body]).toEqual([path, 400, { errors: [{ field: 'images', reason: 'images is not valid' }] }])
    }
  })

  test('in a path: the answer has the name of the request', async () => {
    const own = await client.ok('GET', '/images/public/debian12')
    for (const path of ['/images/linode/debian12', '/images/linode%2Fdebian12'])
      expect(await client.ok('GET', path)).toEqual({ ...own, id: 'linode/debian12' })
    expect((await client.call('GET', '/images/linode%2Fnone')).status).toBe(404)
    expect(await client.problems('DELETE', '/images/linode%2Fdebian12')).toEqual(['A public image cannot be deleted.'])
    expect(await client.problems('PUT', '/images/linode%2Fdebian12', { label: 'x' })).toEqual(['A public image cannot be updated.'])
  })

  test('in the list, which has one path, have the names of the version', async () => {
    const idsOf = async (with_: typeof client) =>
      (await with_.ok('GET', '/images?page_size=500')).data.map(({ id }: { id: string }) => id) as string[]
    const own = await idsOf(client)
    expect(own.every((id) => id.startsWith('public/'))).toBe(true)
    expect(await idsOf(beta)).toEqual(own.map((id) => id.replace('public/', 'linode/')))
  })
})

describe('lists with one path for both names have the fields of both', () => {
  test('the objects with a tag', async () => {
    const { data } = await client.ok('GET', '/tags/shown')
    expect([data[0], data.at(-1)]).toMatchObject([
      { type: 'linode', data: { id: 1001, image: 'public/debian11' } },
      { type: 'volume', data: { instance_id: 1001, linode_id: 1001, instance_label: 'source', linode_label: 'source' } },
    ])
    expect((await beta.ok('GET', '/tags/shown')).data[0].data.image).toBe('linode/debian11')
  })

  test('the profile, which can be updated by either name', async () => {
    const update = (body: object) => client.ok('PUT', '/profile', body)
    expect(await update({ lish_auth_method: 'keys_only' })).toMatchObject({ lish_auth_method: 'keys_only', shell_auth_method: 'keys_only' })
    const profile = await client.ok('GET', '/profile')
    expect(await update(profile)).toEqual(profile)
    expect(await update({ ...profile, lish_auth_method: 'disabled' })).toMatchObject({ shell_auth_method: 'disabled' })
    expect(await update({ ...profile, shell_auth_method: 'password_keys', lish_auth_method: 'disabled' })).toMatchObject({
      lish_auth_method: 'password_keys',
    })
    expect(await update({ shell_auth_method: 'disabled', lish_auth_method: 'keys_only' })).toMatchObject({ shell_auth_method: 'disabled' })
    expect(await client.problems('PUT', '/profile', { lish_auth_method: 'none' })).toEqual([
      'lish_auth_method: lish_auth_method is not valid',
    ])
  })

  test('grants', async () => {
    const { global, ...kinds } = await connect(service.baseUrl, 'helper').client.ok('GET', '/profile/grants')
    expect(global).toMatchObject({ add_linodes: true, add_instances: true, add_stackscripts: false, longview_subscription: false })
    expect(kinds).toMatchObject({ linode: [{ id: 1001, permissions: 'read_only' }], stackscript: [], nodebalancer: [], longview: [] })
    expect(kinds.linode).toEqual(kinds.instance)
  })
})

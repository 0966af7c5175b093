/** Kinds of declared access that no operation uses yet: open to all, several scopes, its own rate limit. */
import { afterAll, describe, expect, test } from 'vitest'
import { createHttpApp } from '../../../src/service/api/http-app.ts'
import { createRateLimiter, requestsPerMinute } from '../../../src/service/api/rate-limit.ts'
import { defineOpenRoute, defineRoute } from '../../../src/service/api/route.ts'
import { SILENT } from '../../../src/service/observability/log.ts'
import { NO_METRICS } from '../../../src/service/observability/metrics.ts'
import { UNLIMITED_QUOTAS } from '../../../src/service/quotas.ts'
import { NO_SECRETS } from '../../../src/service/secrets/prepare-secrets.ts'
import { createUsers } from '../../../src/service/seed/apply-seed.ts'
import { openDatabase } from '../../../src/service/store/open-database.ts'
import { freshStore } from '../harness.ts'
import { seedOfPeople, tokenOf } from './people.ts'

const NOW = '2026-01-01T00:00:00'
const ANSWER = { type: 'object', properties: { username: { type: ['string', 'null'] } } }

const open = defineOpenRoute({
  method: 'GET',
  path: '/regions/{regionId}',
  textParameters: ['regionId'],
  summary: 'Open to all',
  scope: null,
  grants: null,
  response: ANSWER,
  handle: async ({ actor, texts }) => ({ username: actor?.username ?? `nobody in ${texts['regionId']}` }),
})

const strict = defineRoute({
  method: 'POST',
  path: '/images',
  summary: 'Two scopes, and few times',
  scope: ['images:read_write', 'instances:read_only'],
  grants: { global: 'add_images' },
  rate: { requests: 2, seconds: 30 },
  response: ANSWER,
  handle: async ({ actor }) => ({ username: actor.username }),
})

const store = await freshStore()
const database = await openDatabase({ url: store.database ?? null, folder: store.dataFolder, onError: () => undefined })
await createUsers(database, 'administrator', seedOfPeople([]), NOW, NO_SECRETS)
const app = await createHttpApp({
  service: {
    database,
    now: () => NOW,
    limiter: createRateLimiter({ ...requestsPerMinute(100), failures: null }, () => Date.parse(`${NOW}Z`)),
    limits: { recordsPerDomain: 1 },
    quotas: UNLIMITED_QUOTAS,
    nsNames: [],
    regions: [],
    uploadOrigin: () => null,
    uploads: {
      canReceive: false,
      receive: async () => undefined,
      deleteData: () => undefined,
      start: async () => undefined,
      close: async () => undefined,
    },
    zoneChanged: () => undefined,
    secrets: NO_SECRETS,
    sms: async () => undefined,
    logins: { record: async () => undefined },
    clock: () => Date.parse(`${NOW}Z`),
    jobs: { wake: () => undefined },
    transfers: { fetchZone: async () => Promise.reject(new Error('not here')), addresses: [], wake: () => undefined },
  },
  routes: [open, strict],
  tls: null,
  log: SILENT,
  metrics: NO_METRICS,
  onError: (error) => expect(error).toBeUndefined(),
})
afterAll(async () => {
  await app.close()
  await database.close()
})

const ask = async (method: 'GET' | 'POST', url: string, token?: string) => {
  const answer = await app.inject({ method, url: `/v4${url}`, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers }
}

describe('an open operation', () => {
  test('needs no token, and recognizes one', async () => {
    expect(await ask('GET', '/regions/eu%2Fwest')).toMatchObject({
      status: 200,
      body: { username: 'nobody in eu/west' },
      headers: { 'x-accepted-oauth-scopes': '*', 'x-ratelimit-remaining': '99' },
    })
    expect(await ask('GET', '/regions/x', tokenOf('guest', 'images-read_only'))).toMatchObject({ status: 200, body: { username: 'guest' } })
  })

  test('refuses an invalid token', async () => {
    expect(await ask('GET', '/regions/x', 'nobody')).toMatchObject({ status: 401, body: { errors: [{ reason: 'Invalid Token' }] } })
  })
})

describe('an operation with several scopes', () => {
  test('requires all of them, and names them', async () => {
    for (const which of ['images-read_write', 'instances-read_only']) {
      expect(await ask('POST', '/images', tokenOf('owner', which))).toMatchObject({
        status: 401,
        headers: { 'x-accepted-oauth-scopes': 'images:read_write,instances:read_only' },
      })
    }
    expect(await ask('POST', '/images', tokenOf('owner'))).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '2' } })
    expect((await ask('POST', '/images', tokenOf('guest'))).status).toBe(403)
  })

  test('can have its own rate limit', async () => {
    const statuses = []
    for (let request = 0; request < 3; request += 1) statuses.push((await ask('POST', '/images', tokenOf('colleague'))).status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

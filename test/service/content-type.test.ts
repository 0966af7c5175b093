/** Every JSON response has exactly `Content-Type: application/json`: clients such as linodego compare it literally. */
import { METHODS } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { requestsPerMinute } from '../../src/service/api/rate-limit.ts'
import type { Route } from '../../src/service/api/route.ts'
import { ROUTES } from '../../src/service/api/routes.ts'
import { nameFor, namesFor, ownedObjects, pathFor, sharedName } from './accounts/owned-objects.ts'
import { seedOfPeople, tokenOf } from './accounts/people.ts'
import { GOOD_BODIES } from './good-bodies.ts'
import { type Answer, connect, startForTest } from './harness.ts'

const { domains, ...belongings } = namesFor(ROUTES, ['owner'])
const { service } = await startForTest({ seed: seedOfPeople(domains, belongings), bootstrapToken: 'administrator', clockSpeed: 5000 })
const { client: owner } = connect(service.baseUrl, tokenOf('owner'))
const { client: nobody } = connect(service.baseUrl, '')
const OBJECTS = await ownedObjects(owner)

/** Status and type of a response; the type of an empty response does not matter. */
const typeOf = ({ status, headers, body }: Answer): [number, unknown] => [status, body === null ? null : headers['content-type']]

const NAMED = await (async () => {
  const instance = Number(await OBJECTS['instanceId']?.value('shared.example'))
  const [config] = (await owner.ok('GET', `/compute/instances/${instance}/configs`)).data
  const { security_questions: questions } = await owner.ok('GET', '/profile/security-questions')
  const saved = Number(await OBJECTS['instanceId']?.value('saved.example'))
  return { instance, saved, disk: config.devices.sda.disk_id, questions: questions.map(({ id }: { id: number }) => id) }
})()

describe.each(ROUTES.map((route): [string, Route] => [`${route.method} ${route.path}`, route]))('%s', (name, route) => {
  test('answers with JSON', async () => {
    const path = await pathFor(route, nameFor(route, ROUTES.indexOf(route), 'owner'), OBJECTS)
    const answer = await owner.call(route.method, path, GOOD_BODIES[name]?.make(1, NAMED))
    const [status, type] = typeOf(answer)
    expect([200, 204, 400, 503]).toContain(status)
    if (status !== 204) expect(type).toBe('application/json')
  })

  test('refuses with JSON', async () => {
    const path = await pathFor(route, sharedName(route), OBJECTS)
    const without = await nobody.call(route.method, path)
    expect(typeOf(without)).toEqual([without.status, 'application/json'])
    const missing = await owner.call(route.method, `${path}/nothing`)
    expect(typeOf(missing)).toEqual([missing.status, 'application/json'])
    if (route.body === undefined) return
    expect(typeOf(await owner.call(route.method, path, '{'))).toEqual([400, 'application/json'])
    expect(typeOf(await owner.call(route.method, path, 'x', { 'content-type': 'text/html' }))).toEqual([415, 'application/json'])
    expect(typeOf(await owner.call(route.method, path, 'x'.repeat(1024 * 1024 + 1)))).toEqual([413, 'application/json'])
  })

  test('refuses other methods with JSON', async () => {
    const path = await pathFor(route, sharedName(route), OBJECTS)
    const answers = await Promise.all(
      METHODS.filter((method) => !['CONNECT', 'HEAD', 'OPTIONS'].includes(method)).map((method) =>
        ROUTES.some((other) => other.method === method && other.path === route.path) ? null : nobody.call(method, path),
      ),
    )
    for (const answer of answers) if (answer !== null) expect(typeOf(answer)).toEqual([405, 'application/json'])
  })
})

test('the document, unknown and malformed requests are answered with JSON', async () => {
  expect(typeOf(await nobody.call('GET', '/openapi.json'))).toEqual([200, 'application/json'])
  for (const path of ['/nothing', '/domains/%zz', `/domains/${'1'.repeat(600)}`]) {
    expect(typeOf(await nobody.call('GET', path))).toEqual([404, 'application/json'])
  }
  const { origin, port } = new URL(service.baseUrl)
  const upload = await fetch(`${origin}/uploads/unknown`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: '',
  })
  expect([upload.status, upload.headers.get('content-type')]).toEqual([404, 'application/json'])
  for (const text of ['HELLO\r\n\r\n', 'GET /v4/domains HTTP/1.1\r\n\r\n', `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`]) {
    expect(await exchange(Number(port), text)).toMatch(/\r\ncontent-type: application\/json\r\n/i)
  }
})

test('429 is answered with JSON', async () => {
  const { client } = await startForTest({ rateLimits: requestsPerMinute(5) })
  let answer = await client.call('POST', '/compute/instances', {})
  for (let count = 0; count < 20 && answer.status !== 429; count += 1) answer = await client.call('POST', '/compute/instances', {})
  expect(typeOf(answer)).toEqual([429, 'application/json'])
})

/** Everything that is received until the connection is closed. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(text))
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      received += chunk
      if (received.endsWith(']}')) socket.end()
    })
    socket.on('close', () => resolve(received))
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
  })
}

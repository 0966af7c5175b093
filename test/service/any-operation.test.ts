/**
 * Calls every declared operation with generated bodies, valid and invalid. Every response follows the API and the declared schema;
 * refused requests change nothing; accepted values can be read back.
 */
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts'
import type { Route } from '../../src/service/api/route.ts'
import { ROUTES } from '../../src/service/api/routes.ts'
import { fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { nameFor, namesFor, ownedObjects, pathFor, sharedName } from './accounts/owned-objects.ts'
import { seedOfPeople, tokenOf } from './accounts/people.ts'
import { GOOD_BODIES, type GoodBody, type Named } from './good-bodies.ts'
import { connect, startForTest } from './harness.ts'
import { type Body, invalidBodiesOf, type Schema, variedOf } from './schema-bodies.ts'

/** Bodies of each kind per operation. */
const RUNS = rounds(12)
const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`
const DECLARED = new Map(ROUTES.map((route) => [nameOf(route), route]))
const { domains, ...belongings } = namesFor(ROUTES, ['owner'])
// Temporary states end before the next request.
const { service } = await startForTest({ seed: seedOfPeople(domains, belongings), bootstrapToken: 'administrator', clockSpeed: 5000 })
const { client: owner } = connect(service.baseUrl, tokenOf('owner'))
const OBJECTS = await ownedObjects(owner)
const pathOf = (route: Route): Promise<string> => pathFor(route, sharedName(route), OBJECTS)
const [instance, saved] = (await Promise.all(['shared', 'saved'].map((name) => OBJECTS['instanceId']?.value(`${name}.example`)))).map(
  Number,
)
const [config] = (await owner.ok('GET', `/compute/instances/${instance}/configs`)).data
const named = { instance, saved, disk: config.devices.sda.disk_id, questions: [1, 2, 3] } as Named
const ajv = new Ajv({ strict: false, validateFormats: false })

/** Validates a successful response with the declared schema. */
function checkAnswer({ response, noContent }: Route, status: number, body: unknown): void {
  if (noContent !== undefined && status === 204) {
    expect(body).toBeNull()
    return
  }
  const fits = ajv.compile(response)
  expect([fits(body), fits.errors, body]).toEqual([true, null, body])
}

/** Validates an error response: every error has a field or null, and a reason. */
function checkRefusal(body: { readonly errors: readonly { readonly field: string | null; readonly reason: string }[] }): void {
  expect(body.errors.length).toBeGreaterThan(0)
  for (const problem of body.errors) {
    expect(Object.keys(problem).sort()).toEqual(['field', 'reason'])
    expect(problem.field === null || typeof problem.field === 'string').toBe(true)
    expect(problem.reason).toMatch(/\S{2}/)
  }
}

/** Fields that change over time, or if the object is used. */
const VOLATILE = new Set([
  ...'snapshot automatic status updated finished available last_successful backups size errors'.split(' '),
  ...['deployments_active', 'deployments_total'],
])

/** Fields that are shown only in the response to the creation. */
const ONCE: Readonly<Record<string, readonly string[]>> = { 'POST /profile/tokens': ['token', 'expiry'] }

const comparable = (value: unknown, without: readonly string[] = []): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (key, inner) => (VOLATILE.has(key) || without.includes(key) ? undefined : inner)))

/** Reads the object at a path or at its nearest ancestor. */
async function stateAround(route: Route, path: string): Promise<unknown> {
  let declared = route.path
  let actual = path
  while (declared !== '' && !DECLARED.has(`GET ${declared}`)) {
    declared = declared.slice(0, declared.lastIndexOf('/'))
    actual = actual.slice(0, actual.lastIndexOf('/'))
  }
  return declared === '' ? null : comparable((await owner.call('GET', actual)).body)
}

/** The object in a response. */
const objectOf = (answer: Schema): Schema => (typeof answer.image === 'object' && answer.image !== null ? answer.image : answer)

/** The path for reading an object that an operation has created or changed; null if there is none. */
function placeOf({ method, path: declared }: Route, path: string, object: Schema): string | null {
  if (method === 'PUT') return DECLARED.has(`GET ${declared}`) ? path : null
  const collection = declared.replace(/\/upload$/, '')
  const reads = ROUTES.some((route) => route.method === 'GET' && route.path.replace(/\/\{\w+\}$/, '/') === `${collection}/`)
  return reads && object.id !== undefined ? `${path.replace(/\/upload$/, '')}/${object.id}` : null
}

/** Reading an object returns the same as the operation that created or changed it. */
async function checkStored(route: Route, path: string, answer: Schema): Promise<void> {
  const object = objectOf(answer)
  const place = placeOf(route, path, object)
  if (place === null) return
  const once = ONCE[nameOf(route)] ?? []
  expect([place, comparable(await owner.ok('GET', place), once)]).toEqual([place, comparable(object, once)])
}

async function send(route: Route, path: string, body: unknown): Promise<{ readonly status: number; readonly body: Schema }> {
  const answer = await owner.call(route.method, path, JSON.stringify(body))
  expect([200, 400, 429, ...(path.includes('phone') ? [503] : [])]).toContain(answer.status)
  return answer
}

/** Operations that decide who has access: a field that they ignored, such as a misspelt `scopes`, could give more than was meant. */
const STRICT = /^\w+ \/profile(\/(tokens|tfa|phone|security).*)?$/

const withBody = ROUTES.filter(({ body }) => body !== undefined)
let number = 0

describe.each(withBody.map((route): [string, Route] => [nameOf(route), route]))('%s', (name, route) => {
  const good = GOOD_BODIES[name] as GoodBody
  const schema = route.body as Schema
  const next = (): Body => {
    number += 1
    return good.make(number, named)
  }

  test('accepts its sample body and stores its values', async () => {
    const path = await pathOf(route)
    const sent = next()
    const { status, body } = good.errorsOnly ? { status: 0, body: null } : await send(route, path, sent)
    if (good.errorsOnly) return
    if (good.mayBeRefused && status !== 200) return checkRefusal(body)
    expect([status, body]).toEqual([200, body])
    checkAnswer(route, status, body)
    await checkStored(route, path, body)
    const made = objectOf(body)
    // The response may contain more than the request.
    for (const [field, value] of Object.entries(sent)) if (field in made) expect([field, made[field]]).toMatchObject([field, value])
  })

  test('ignores unknown fields, unless it decides who has access', async () => {
    const answer = await send(route, await pathOf(route), { ...next(), unknown: { more: 1 } })
    const isRefused = JSON.stringify(answer.body).includes('Unknown field')
    expect(isRefused).toBe(STRICT.test(name))
    if (name !== 'PUT /profile/preferences') expect(JSON.stringify(answer.body)).not.toContain('"more"')
  })

  test('refuses a body with one schema error by its field, and changes nothing', async () => {
    const path = await pathOf(route)
    const before = await stateAround(route, path)
    await fc.assert(
      fc.asyncProperty(invalidBodiesOf(schema, next()), async ({ body, field }) => {
        const answer = await send(route, path, body)
        expect([body, answer.status]).toEqual([body, 400])
        checkRefusal(answer.body)
        const fields = answer.body.errors.map((problem: { field: string | null }) => problem.field?.split('.')[0] ?? null)
        expect(fields).toContain(field)
      }),
      { numRuns: RUNS },
    )
    expect(await stateAround(route, path)).toEqual(before)
  })

  test.skipIf(good?.errorsOnly)('accepts or refuses every body that its schema accepts', async () => {
    const path = await pathOf(route)
    await fc.assert(
      fc.asyncProperty(variedOf(schema, next(), good.fixed), async (varied) => {
        // Names of objects are always new, unless they vary.
        const fresh = next()
        const body = Object.fromEntries(Object.entries(varied).map(([field, value]) => [field, isNumbered(value) ? fresh[field] : value]))
        const before = await stateAround(route, path)
        const answer = await send(route, path, body)
        if (answer.status === 200) {
          checkAnswer(route, answer.status, answer.body)
          await checkStored(route, path, answer.body)
        } else {
          checkRefusal(answer.body)
          expect(await stateAround(route, path)).toEqual(before)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

const isNumbered = (value: unknown): boolean =>
  typeof value === 'string' && /^(any|any tag|clone|cloned|changed)[- ]\d+(\.example)?$/.test(value)

test('the zones of all accepted records and settings are valid', async () => {
  await service.flush()
  const { data } = await owner.ok('GET', '/domains?page_size=500')
  for (const { id, domain, type } of data) {
    const lines: string[] = (await owner.ok('GET', `/domains/${id}/zone-file`)).zone_file
    if (type !== 'master' || lines.length === 0) continue
    const { records, diagnostics } = parseZoneFile(`${lines.join('\n')}\n`, { origin: `${domain}.` as DomainName, file: domain })
    expect([domain, diagnostics.filter(({ severity }) => severity === 'error')]).toEqual([domain, []])
    expect([domain, records]).toEqual([domain, expect.objectContaining({ length: lines.length - 2 })])
  }
})

describe.each(ROUTES.filter(({ body }) => body === undefined).map((route): [string, Route] => [nameOf(route), route]))(
  '%s',
  (_name, route) => {
    test('responds according to its schema', async () => {
      const path = await pathFor(route, nameFor(route, ROUTES.indexOf(route), 'owner'), OBJECTS)
      const { status, body } = await owner.call(route.method, path)
      if (route.method === 'POST' && status === 400) return checkRefusal(body)
      expect([200, 204]).toContain(status)
      checkAnswer(route, status, body)
      if (route.method !== 'DELETE') return
      expect(body).toEqual({})
      if (route.path.endsWith('}') && DECLARED.has(`GET ${route.path}`)) expect((await owner.call('GET', path)).status).toBe(404)
    })
  },
)

/** Filters on the fields of a list, most of them valid. */
function filterOf(fields: Readonly<Record<string, { readonly kind: string }>>): fc.Arbitrary<object> {
  const operand = fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean(), fc.constantFrom('2026-01-31', 'us-east', null))
  const operation = fc.tuple(fc.constantFrom('+neq', '+gt', '+lte', '+contains'), operand).map(([key, value]) => ({ [key]: value }))
  const names = Object.keys(fields)
  const condition =
    names.length === 0 ? fc.constant({}) : fc.dictionary(fc.constantFrom(...names), fc.oneof(operand, operation), { maxKeys: 2 })
  const order = names.length === 0 ? fc.constant({}) : fc.constantFrom(...names).map((name) => ({ '+order_by': name, '+order': 'desc' }))
  const list = fc.array(condition, { maxLength: 3 })
  return fc.oneof(
    condition,
    order,
    list.map((all) => ({ '+and': all })),
    list.map((any) => ({ '+or': any })),
  )
}

const lists = ROUTES.filter(({ filter }) => filter !== undefined)

test.each(lists.map((route): [string, Route] => [nameOf(route), route]))('%s is filtered, or refuses the filter', async (_name, route) => {
  const path = await pathOf(route)
  const { results: all } = await owner.ok('GET', path)
  const page = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom<unknown>(0, -1, 'x', 1e21))
  await fc.assert(
    fc.asyncProperty(filterOf(route.filter as never), page, fc.integer({ min: 20, max: 505 }), async (filter, number, size) => {
      const headers = { 'x-filter': Buffer.from(JSON.stringify(filter), 'utf8').toString('latin1') }
      const { status, body } = await owner.call('GET', `${path}?page=${number}&page_size=${size}`, undefined, headers)
      if (status === 400) return checkRefusal(body)
      expect([filter, number, size, status]).toEqual([filter, number, size, 200])
      checkAnswer(route, status, body)
      expect(body.results).toBeLessThanOrEqual(all)
      expect([typeof number, size >= 25, size <= 500, body.data.length <= size]).toEqual(['number', true, true, true])
    }),
    { numRuns: RUNS },
  )
  expect(await owner.problems('GET', path, undefined, { 'x-filter': '{"no_such_field": 1}' })).toEqual([
    'X-Filter: Cannot filter on no_such_field',
  ])
})

test('every operation with a body has a sample body', () => expect(Object.keys(GOOD_BODIES).sort()).toEqual(withBody.map(nameOf).sort()))

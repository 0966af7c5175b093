/**
 * Every operation that is declared, with generated bodies: such as its schema lets through and such as it does not. What comes back is an
 * answer of the interface and fits the declared schema; what is refused changes nothing; what is taken is what can be read then.
 */
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import type { Route } from '../../src/service/api/route.ts'
import { ROUTES } from '../../src/service/api/routes.ts'
import { fc } from '../support/fast-check.ts'
import { nameFor, namesFor, ownedObjects, pathFor, sharedName } from './accounts/owned-objects.ts'
import { seedOfPeople, tokenOf } from './accounts/people.ts'
import { GOOD_BODIES, type GoodBody, type Named } from './good-bodies.ts'
import { connect, ON_POSTGRES, startForTest } from './harness.ts'
import { type Body, faultyOf, type Schema, variedOf } from './schema-bodies.ts'

/** Bodies of each kind for an operation; fewer on the slower database, which has less to say of them. */
const RUNS = ON_POSTGRES ? 5 : 12

const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`
const DECLARED = new Map(ROUTES.map((route) => [nameOf(route), route]))

const { domains, ...belongings } = namesFor(ROUTES, ['owner'])
// States that end by themselves have ended before the next request.
const { service } = await startForTest({ seed: seedOfPeople(domains, belongings), bootstrapToken: 'administrator', clockSpeed: 5000 })
const { client: owner } = connect(service.baseUrl, tokenOf('owner'))
const OBJECTS = await ownedObjects(owner)
const pathOf = (route: Route): Promise<string> => pathFor(route, sharedName(route), OBJECTS)
const named = await findNamed()

async function findNamed(): Promise<Named> {
  const instance = Number(await OBJECTS['instanceId']?.value('shared.example'))
  const [config] = (await owner.ok('GET', `/compute/instances/${instance}/configs`)).data
  const { security_questions: questions } = await owner.ok('GET', '/profile/security-questions')
  const saved = Number(await OBJECTS['instanceId']?.value('saved.example'))
  return { instance, saved, disk: config.devices.sda.disk_id, questions: questions.map(({ id }: { id: number }) => id) }
}

const ajv = new Ajv({ strict: false, validateFormats: false })

/** Checks an answer that is no refusal by the declared schema. */
function checkAnswer({ response, noContent }: Route, status: number, body: unknown): void {
  if (noContent !== undefined && status === 204) {
    expect(body).toBeNull()
    return
  }
  const fits = ajv.compile(response)
  expect([fits(body), fits.errors, body]).toEqual([true, null, body])
}

/** Checks a refusal: every fault has a field, or none, and a reason in words. */
function checkRefusal(body: { readonly errors: readonly { readonly field: string | null; readonly reason: string }[] }): void {
  expect(body.errors.length).toBeGreaterThan(0)
  for (const problem of body.errors) {
    expect(Object.keys(problem).sort()).toEqual(['field', 'reason'])
    expect(problem.field === null || typeof problem.field === 'string').toBe(true)
    expect(problem.reason).toMatch(/\S{2}/)
  }
}

/** Moves by itself, or with what is made of the object. */
const VOLATILE = new Set([
  'snapshot',
  'automatic',
  'status',
  'updated',
  'finished',
  'available',
  'last_successful',
  'backups',
  'size',
  'deployments_active',
  'deployments_total',
  'errors',
])

/** What is told of an object once, when it is made. */
const ONCE: Readonly<Record<string, readonly string[]>> = { 'POST /profile/tokens': ['token', 'expiry'] }

const settled = (value: unknown, without: readonly string[] = []): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (key, inner) => (VOLATILE.has(key) || without.includes(key) ? undefined : inner)))

/** What there is to read at a path or the nearest above it. */
async function stateAround(route: Route, path: string): Promise<unknown> {
  let declared = route.path
  let actual = path
  while (declared !== '' && !DECLARED.has(`GET ${declared}`)) {
    declared = declared.slice(0, declared.lastIndexOf('/'))
    actual = actual.slice(0, actual.lastIndexOf('/'))
  }
  return declared === '' ? null : settled((await owner.call('GET', actual)).body)
}

/** The object in an answer. */
const objectOf = (answer: Schema): Schema => (typeof answer.image === 'object' && answer.image !== null ? answer.image : answer)

/** Where an object is read that an operation has made or changed; null where there is no such operation. */
function placeOf({ method, path: declared }: Route, path: string, object: Schema): string | null {
  if (method === 'PUT') return DECLARED.has(`GET ${declared}`) ? path : null
  const collection = declared.replace(/\/upload$/, '')
  const reads = ROUTES.some((route) => route.method === 'GET' && route.path.replace(/\/\{\w+\}$/, '/') === `${collection}/`)
  return reads && object.id !== undefined ? `${path.replace(/\/upload$/, '')}/${object.id}` : null
}

/** What is read of an object is what the operation that made or changed it answered. */
async function checkStored(route: Route, path: string, answer: Schema): Promise<void> {
  const object = objectOf(answer)
  const place = placeOf(route, path, object)
  if (place === null) return
  const once = ONCE[nameOf(route)] ?? []
  expect([place, settled(await owner.ok('GET', place), once)]).toEqual([place, settled(object, once)])
}

async function send(route: Route, path: string, body: unknown): Promise<{ readonly status: number; readonly body: Schema }> {
  const answer = await owner.call(route.method, path, JSON.stringify(body))
  expect([200, 400, 429, ...(path.includes('phone') ? [503] : [])]).toContain(answer.status)
  return answer
}

const withBody = ROUTES.filter(({ body }) => body !== undefined)
let number = 0

describe.each(withBody.map((route): [string, Route] => [nameOf(route), route]))('%s', (name, route) => {
  const good = GOOD_BODIES[name] as GoodBody
  const schema = route.body as Schema
  const next = (): Body => {
    number += 1
    return good.make(number, named)
  }

  test('has a body that is taken, and what it says is stored', async () => {
    const path = await pathOf(route)
    const sent = next()
    const { status, body } = good.faultsOnly ? { status: 0, body: null } : await send(route, path, sent)
    if (good.faultsOnly) return
    if (good.mayBeRefused && status !== 200) return checkRefusal(body)
    expect([status, body]).toEqual([200, body])
    checkAnswer(route, status, body)
    await checkStored(route, path, body)
    const made = objectOf(body)
    // Of objects the answer may tell more than was sent.
    for (const [field, value] of Object.entries(sent)) if (field in made) expect([field, made[field]]).toMatchObject([field, value])
  })

  test('with one fault of form is refused by its field, and changes nothing', async () => {
    const path = await pathOf(route)
    const before = await stateAround(route, path)
    await fc.assert(
      fc.asyncProperty(faultyOf(schema, next()), async ({ body, field }) => {
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

  test.skipIf(good?.faultsOnly)('with whatever its schema lets through is taken or refused', async () => {
    const path = await pathOf(route)
    await fc.assert(
      fc.asyncProperty(variedOf(schema, next(), good.fixed), async (varied) => {
        // Names of objects are new every time, unless they are what varies.
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

describe.each(ROUTES.filter(({ body }) => body === undefined).map((route): [string, Route] => [nameOf(route), route]))(
  '%s',
  (_name, route) => {
    test('answers by its schema', async () => {
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

/** Filters of the fields that a list declares, most of which it can take. */
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

test.each(lists.map((route): [string, Route] => [nameOf(route), route]))('%s is filtered, or refuses to be', async (_name, route) => {
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
  expect(await owner.refused('GET', path, undefined, { 'x-filter': '{"no_such_field": 1}' })).toEqual([
    ['X-Filter', 'Cannot filter on no_such_field'],
  ])
})

test('every operation with a body has one that is taken', () => {
  expect(Object.keys(GOOD_BODIES).sort()).toEqual(withBody.map(nameOf).sort())
})

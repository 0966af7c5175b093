import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { PARTS } from '../../src/service/api/parts.ts'
import { fc } from '../support/fast-check.ts'
import { connect, startForTest } from './harness.ts'

const { service, client } = await startForTest()
const description = await client.ok('GET', '/openapi.json')

interface Operation {
  readonly method: string
  readonly path: string
  readonly body: object
}

const operations: Operation[] = Object.entries<Record<string, { requestBody?: { content: Record<string, { schema: object }> } }>>(
  description.paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody }]) => {
    const body = requestBody?.content['application/json']?.schema
    return body ? [{ method: method.toUpperCase(), path, body }] : []
  }),
)

test('is OpenAPI 3.1 to a judge that is not ours', async () => {
  const validator = new Validator()
  expect(await validator.validate(structuredClone(description))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('needs no token', async () => {
  const { client: stranger, close } = connect(service.baseUrl, '')
  expect((await stranger.call('GET', '/openapi.json')).body).toEqual(description)
  await close()
})

test('has every operation with its scope, and no other', () => {
  const declared = PARTS.flat().map(({ method, path, scope }) => [`${method} ${path}`, scope === null ? [] : [scope]])
  const described = Object.entries<Record<string, { security: { token?: string[] }[] }>>(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => [`${method.toUpperCase()} ${path}`, security[0]?.token ?? []]),
  )
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(declared))
})

test('tells the fields a list can be filtered by', () => {
  const parameters: { name: string; description?: string }[] = description.paths['/domains'].get.parameters
  expect(parameters.find(({ name }) => name === 'X-Filter')?.description).toMatch(/: domain, group, tags$/)
})

test.each(operations)('$method $path refuses what the described schema refuses', async ({ method, path, body }) => {
  const fits = new Ajv({ strict: false, validateFormats: false }).compile(body)
  const properties = Object.keys((body as { properties?: object }).properties ?? {})
  const value = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom<unknown>(null, '', 0, -1, 1e9, [], {}, 'x'.repeat(70_000), ['', 1]))
  const bodies = fc.dictionary(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...properties) }, { weight: 1, arbitrary: fc.string() }), value)
  const url = path.replace(/\{[^}]+\}/g, '1')
  let refused = 0
  await fc.assert(
    fc.asyncProperty(bodies, async (candidate) => {
      if (fits(candidate)) return
      refused += 1
      // Whether the object exists is told after the body's form.
      expect((await client.call(method, url, candidate)).status).toBe(400)
    }),
    { numRuns: 150 },
  )
  expect(refused).toBeGreaterThan(50)
})

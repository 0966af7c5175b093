import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { scopesOf } from '../../src/service/api/route.ts'
import { ROUTES } from '../../src/service/api/routes.ts'
import { connect, startForTest } from './harness.ts'

const { service, client } = await startForTest()
const description = await client.ok('GET', '/openapi.json')

// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary parts of the document
type Part = any
type Operation = { readonly method: string; readonly path: string; readonly described: Part }

const operations: Operation[] = Object.entries<Record<string, Part>>(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
)

/** Resolves a reference within the document; other parts are returned unchanged. */
const lookUp = (part: Part): Part =>
  typeof part?.$ref === 'string'
    ? part.$ref
        .split('/')
        .slice(1)
        .reduce((at: Part, key: string) => at[key], description)
    : part

const bodyOf = ({ described }: Operation): Part => lookUp(described.requestBody?.content['application/json'].schema)

/** Validates values with a schema of the document. */
function checkerOf(schema: Part) {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'document', components: description.components })
  return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')))
}

test('is valid OpenAPI 3.1 according to an independent validator', async () => {
  const validator = new Validator()
  expect(await validator.validate(structuredClone(description))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('needs no token', async () => {
  const { client: stranger, close } = connect(service.baseUrl, '')
  expect((await stranger.call('GET', '/openapi.json')).body).toEqual(description)
  await close()
})

test('contains exactly the operations with their scopes', () => {
  const declared = ROUTES.map((route) => [`${route.method} ${route.path}`, scopesOf(route)])
  const described = operations.map(({ method, path, described }) => [`${method} ${path}`, described.security.at(-1).token])
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(declared))
})

test('documents the filterable fields of lists', () => {
  const parameters: { name: string; description?: string }[] = description.paths['/domains'].get.parameters
  expect(parameters.find(({ name }) => name === 'X-Filter')?.description).toMatch(/: domain, group, tags$/)
})

test('names every operation like generated clients do', () => {
  const ids = operations.map(({ described }) => described.operationId)
  expect(new Set(ids).size).toBe(operations.length)
  const domains = 'listDomains createDomain getDomain updateDomain deleteDomain importDomain cloneDomain getDomainZoneFile'
  const others = 'listDomainRecords createDomainRecord updateDomainRecord listTags listTagObjects getProfile createProfileToken'
  expect(ids).toEqual(expect.arrayContaining([domains, others].flatMap((names) => names.split(' '))))
})

/** Path parameters that are not numbers. */
const TEXTS: ReadonlySet<string> = new Set(ROUTES.flatMap(({ textParameters = [] }) => textParameters))

test.each(operations)('$method $path documents its parameters, statuses and summary', ({ path, described }) => {
  const names = (kind: string) => described.parameters.filter((parameter: Part) => parameter.in === kind).map(({ name }: Part) => name)
  expect(names('path')).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
  for (const { name, description, schema } of described.parameters) {
    expect(description.length).toBeGreaterThan(10)
    if (name.endsWith('Id') && !TEXTS.has(name)) expect(schema).toMatchObject({ type: 'integer', minimum: 1 })
  }
  const isList = names('query').length > 0
  expect(names('header')).toEqual(isList ? ['X-Filter'] : [])
  const expected = ['200', '401', '429', 'default']
  if (path.includes('{')) expected.push('404')
  if (described.requestBody || isList) expected.push('400')
  expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(expected))
  for (const response of Object.values(described.responses)) {
    expect(lookUp(response).description).not.toBe('Default Response')
    for (const header of Object.values(lookUp(response).headers ?? {})) expect(lookUp(header).description).toBeDefined()
  }
  expect(description.tags.map(({ name }: Part) => name)).toEqual(expect.arrayContaining(described.tags))
})

test('every field of every response and body has a description', () => {
  const silent = Object.entries<Part>(description.components.schemas).flatMap(([name, schema]) =>
    Object.entries<Part>(schema.properties ?? {}).flatMap(([field, property]) =>
      property.description || property.$ref ? [] : [`${name}.${field}`],
    ),
  )
  expect(silent).toEqual([])
})

/** The examples of the bodies of an operation. */
function examplesOf({ described }: Operation): Part[] {
  const { example, examples } = described.requestBody?.content['application/json'] ?? {}
  return examples ? Object.values<Part>(examples).map(({ value }) => value) : example === undefined ? [] : [example]
}

const withExamples = operations.filter((operation) => examplesOf(operation).length > 0)

test.each(withExamples)('$method $path has valid examples', (operation) => {
  const fits = checkerOf(bodyOf(operation))
  for (const example of examplesOf(operation)) expect([example, fits(example), fits.errors]).toEqual([example, true, null])
})

test('accepts its examples of domains, records and tags, and describes the responses', async () => {
  const answered = async (id: string, numbers: readonly (number | string)[], body?: object): Promise<Part> => {
    const { method, path, described } = operations.find(({ described: one }) => one.operationId === id) as Operation
    const left = [...numbers]
    const { status, body: answer } = await client.call(
      method,
      path.replace(/\{\w+\}/g, () => String(left.shift())),
      body,
    )
    expect([id, body, status, answer]).toEqual([id, body, 200, answer])
    const fits = checkerOf(described.responses[200].content['application/json'].schema)
    expect([fits(answer), fits.errors]).toEqual([true, null])
    return answer
  }
  const each = async (id: string, ...numbers: readonly number[]): Promise<Part[]> => {
    const all: Part[] = []
    const operation = operations.find(({ described }) => described.operationId === id) as Operation
    for (const example of examplesOf(operation)) all.push(await answered(id, numbers, example))
    expect(all.length).toBeGreaterThan(0)
    return all
  }
  const [{ id: domain }] = (await each('createDomain')) as [Part]
  await each('updateDomain', domain)
  const [record] = await each('createDomainRecord', domain)
  await each('updateDomainRecord', domain, record.id)
  await each('cloneDomain', domain)
  await each('createTag')
  await service.flush()
  for (const id of ['listDomains', 'listTags', 'getProfile']) await answered(id, [])
  for (const id of ['listDomainRecords', 'getDomainZoneFile', 'deleteDomain']) await answered(id, [domain])
  // Errors are described, too.
  const fits = checkerOf({ $ref: '#/components/schemas/Errors' })
  for (const method of ['GET', 'PATCH']) expect(fits((await client.call(method, '/domains/4711')).body)).toBe(true)
})

import { describe, expect, test } from 'vitest'
import { inParallel, MASTER, startForTest } from './harness.ts'

const { client } = await startForTest()

const DOMAINS = [
  { domain: 'alpha.example', group: 'Web', tags: ['prod', 'web-tier'] },
  { domain: 'beta.example', group: 'web', tags: ['prod'] },
  { domain: 'gamma.example', group: '', tags: [] },
  { domain: 'delta.test', group: '50%_off', tags: ['Staging'] },
]
for (const domain of DOMAINS) await client.ok('POST', '/domains', { ...MASTER, ...domain })

const { id } = (await client.ok('GET', '/domains')).data[0]
const RECORDS = `/domains/${id}/records`
for (const record of [
  { type: 'A', name: 'www', target: '192.0.2.1' },
  { type: 'A', name: 'mail', target: '192.0.2.2' },
  { type: 'TXT', name: 'www', target: 'Hello World' },
  { type: 'CAA', name: '', tag: 'issue', target: 'ca.example.net' },
  { type: 'CAA', name: '', tag: 'iodef', target: 'mailto:ca@example.net' },
  { type: 'MX', name: '', target: 'mail.alpha.example', priority: 10 },
])
  await client.ok('POST', RECORDS, record)

const filtered = async (path: string, filter: unknown): Promise<string[]> => {
  const header = typeof filter === 'string' ? filter : JSON.stringify(filter)
  const page = await client.ok('GET', path, undefined, { 'x-filter': header })
  expect(page.results).toBe(page.data.length)
  return page.data.map((item: Record<string, string>) =>
    path === '/domains' ? item['domain']?.split('.')[0] : `${item['type']} ${item['name']}`,
  )
}

describe('X-Filter on domains', () => {
  test.each<[unknown, string[]]>([
    [{}, ['alpha', 'beta', 'gamma', 'delta']],
    [{ domain: 'BETA.Example' }, ['beta']],
    [{ domain: { '+contains': '.EX' } }, ['alpha', 'beta', 'gamma']],
    [{ group: 'WEB' }, ['alpha', 'beta']],
    [{ tags: 'prod' }, ['alpha', 'beta']],
    [{ tags: 'PROD', group: 'web', domain: { '+contains': 'alp' } }, ['alpha']],
    [{ tags: 'pro' }, []],
    [{ tags: { '+contains': 'TIER' } }, ['alpha']],
    [{ tags: { '+neq': 'prod' } }, ['gamma', 'delta']],
    [{ '+and': [{ tags: 'prod' }, { tags: 'web-tier' }] }, ['alpha']],
    [{ '+or': [{ '+and': [{ tags: 'prod' }, { domain: { '+neq': 'alpha.example' } }] }, { group: '' }] }, ['beta', 'gamma']],
    [{ '+order_by': 'group', tags: 'prod' }, ['alpha', 'beta']],
    // List modules of clients send an order and an empty list without being queried either.
    [{ '+and': [], '+order': 'asc' }, ['alpha', 'beta', 'gamma', 'delta']],
    [{ '+and': [{ '+or': [] }] }, []],
    // By the lowest tag; those without tags come first.
    [{ '+order_by': 'tags' }, ['gamma', 'alpha', 'beta', 'delta']],
  ])('%j', async (filter, expected) => expect(await filtered('/domains', filter)).toEqual(expected))

  test('octets of the header are decoded as UTF-8', async () => {
    await client.ok('POST', '/domains', { ...MASTER, domain: 'utf8.example', group: 'größe' })
    const header = Buffer.from(JSON.stringify({ group: 'größe' }), 'utf8').toString('latin1')
    expect(await filtered('/domains', header)).toEqual(['utf8'])
  })

  test('octets that are not UTF-8 are decoded as ISO 8859-1', async () => {
    expect(await filtered('/domains', JSON.stringify({ group: { '+contains': 'größe' } }))).toEqual(['utf8'])
  })

  const nested = (depth: number): unknown => (depth === 0 ? { domain: 'x' } : { '+and': [nested(depth - 1)] })

  test.each<[string, string, string]>([
    ['no JSON', '{"domain":', 'Invalid JSON'],
    ['nothing', '', 'Invalid JSON'],
    ['a list', '[]', 'Could not apply filter'],
    ['an unknown field', '{"foo":1}', 'Cannot filter on foo'],
    ['a field that is not filterable', '{"soa_email":"a@b.example"}', 'Cannot filter on soa_email'],
    ['the number', '{"id":1}', 'Cannot filter on id'],
    ['a built-in property name', '{"constructor":"x"}', 'Cannot filter on constructor'],
    ['__proto__', '{"__proto__":"x"}', 'Cannot filter on __proto__'],
    ['an unknown operator', '{"domain":{"+like":"x"}}', 'Could not apply filter'],
    ['an unknown top-level operator', '{"+not":[{"domain":"x"}]}', 'Could not apply filter'],
    ['an operator without a field', '{"+contains":"x"}', 'Could not apply filter'],
    ['a list instead of text', '{"domain":["x"]}', 'Could not apply filter'],
    ['no operator', '{"domain":{}}', 'Could not apply filter'],
    ['+or without a list', '{"+or":{"domain":"x"}}', 'Could not apply filter'],
    ['+and with a text', '{"+and":["x"]}', 'Could not apply filter'],
    ['a number instead of tags', '{"tags":5}', 'Tags filter must be a string or dict'],
    ['+gt for tags', '{"tags":{"+gt":"a"}}', 'Could not apply filter'],
    ['order by an unknown field', '{"+order_by":"id"}', 'Cannot filter on id'],
    ['an unknown order', '{"+order_by":"domain","+order":"up"}', 'Could not apply filter'],
    ['an unknown order without a field', '{"+order":"up"}', 'Could not apply filter'],
    ['a nested order', '{"+and":[{"+order_by":"domain"}]}', 'Could not apply filter'],
    ['17 levels', JSON.stringify(nested(16)), 'Filter is nested deeper than 16 levels'],
    ['501 empty lists', JSON.stringify({ '+or': new Array(501).fill({ '+or': [] }) }), 'Filter has more than 500 conditions'],
    ['501 conditions', JSON.stringify({ '+or': new Array(501).fill({ tags: 'x' }) }), 'Filter has more than 500 conditions'],
    ['NUL in a set', '{"tags":{"+contains":"a\\u0000"}}', 'Could not apply filter'],
    ['two headers joined', '{"domain":"x"}, {}', 'Invalid JSON'],
    ['too many characters', JSON.stringify({ domain: 'x'.repeat(12_000) }), 'Filter is longer than 12000 characters'],
  ])('is refused with %s', async (_name, header, reason) => {
    expect(await client.problems('GET', '/domains', undefined, { 'x-filter': header })).toEqual([`X-Filter: ${reason}`])
  })

  test('16 levels and 500 conditions are accepted', async () => {
    expect(await filtered('/domains', nested(15))).toEqual([])
    expect(await filtered('/domains', { '+or': new Array(500).fill({ tags: 'none' }) })).toEqual([])
    expect(await filtered('/domains', { '+and': [...new Array(499).fill({}), { domain: 'beta.example' }] })).toEqual(['beta'])
  })
})

describe('X-Filter on records', () => {
  test.each<[unknown, string[]]>([
    [{ type: 'A' }, ['A www', 'A mail']],
    [{ name: 'WWW' }, ['A www', 'TXT www']],
    [{ target: { '+contains': '192.0.2.' } }, ['A www', 'A mail']],
    [{ tag: null, type: { '+neq': 'A' } }, ['TXT www', 'MX ']],
  ])('%j', async (filter, expected) => expect(await filtered(RECORDS, filter)).toEqual(expected))

  test('has its own fields', async () => {
    expect(await client.problems('GET', RECORDS, undefined, { 'x-filter': '{"domain":"x"}' })).toEqual([
      'X-Filter: Cannot filter on domain',
    ])
  })
})

describe('pages', async () => {
  const { client } = await startForTest()
  const many = await client.ok('POST', '/domains', { ...MASTER, domain: 'many.example' })
  const path = `/domains/${many.id}/records`
  const few = `/domains/${(await client.ok('POST', '/domains', { ...MASTER, domain: 'few.example' })).id}/records`
  await client.ok('POST', few, { type: 'A', target: '192.0.2.1' })
  await inParallel(60, 20, (index) => client.ok('POST', path, { type: 'A', name: `h${index}`, target: '192.0.2.1' }))

  test('contain every item once, in the order of the ids', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => client.ok('GET', `${path}?page_size=25&page=${page}`)))
    expect(pages.map(({ page, pages, results, data }) => [page, pages, results, data.length])).toEqual([
      [1, 3, 60, 25],
      [2, 3, 60, 25],
      [3, 3, 60, 10],
    ])
    const ids = pages.flatMap(({ data }) => data.map((record: { id: number }) => record.id))
    expect(new Set(ids).size).toBe(60)
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
  })

  test('count the filtered items', async () => {
    const filter = { 'x-filter': '{"name":{"+contains":"h1"}}' }
    expect(await client.ok('GET', `${path}?page_size=25`, undefined, filter)).toMatchObject({ pages: 1, results: 11 })
  })

  test('have 100 items by default; an empty list has one page, and pages after the last are empty', async () => {
    expect(await client.ok('GET', path)).toMatchObject({ page: 1, pages: 1, results: 60 })
    expect(await client.ok('GET', `${few}?page=9`)).toEqual({ data: [], page: 9, pages: 1, results: 1 })
    expect(await client.ok('GET', `${few}?page=0000000009`)).toMatchObject({ page: 9 })
    for (const page of ['18446744073709551616', '9'.repeat(400)]) {
      const last = { data: [], page: Math.floor(2 ** 52 / 100), pages: 1, results: 1 }
      expect(await client.ok('GET', `${few}?page=${page}`)).toEqual(last)
    }
    expect(await client.ok('GET', '/domains', undefined, { 'x-filter': '{"domain":"none"}' })).toEqual({
      data: [],
      page: 1,
      pages: 1,
      results: 0,
    })
  })

  const PAGE = 'page: page is not valid'
  const SIZE = 'page_size: page_size is not valid'
  const RANGE = 'page_size: page_size must be between 25 and 500'
  const FORMS = ['0', '-1', 'x', '', '1.5', '1e1', '1E1', '1.0', '0x1', '%201', '1%20', '%2B1', '1_0', 'Infinity', '1e400', '%D9%A1']

  test.each<[string, string[]]>([
    ...FORMS.map((page): [string, string[]] => [`page=${page}`, [PAGE]]),
    ['page=1&page=2', [PAGE]],
    ...['1e2', 'x'].map((size): [string, string[]] => [`page_size=${size}`, [SIZE]]),
    ...['-25', '9'.repeat(400), '24', '501'].map((size): [string, string[]] => [`page_size=${size}`, [RANGE]]),
    ['page=0&page_size=1', [PAGE, RANGE]],
  ])('%s is refused', async (query, problems) => {
    expect(await client.problems('GET', `/domains?${query}`)).toEqual(problems)
    expect(await client.problems('GET', `${few}?${query}`)).toEqual(problems)
  })
})

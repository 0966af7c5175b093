/** Conditions on every kind of field: the parsed header, and the rows that the database finds, compared with a filter in memory. */
import { afterAll, describe, expect, test } from 'vitest'
import { type FilterFields, parseFilter } from '../../src/service/filter/filter.ts'
import { conditionSql, orderSql } from '../../src/service/store/rows.ts'
import { fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { freshStore, openStore } from './harness.ts'

const database = await openStore(await freshStore())
afterAll(() => database.close())

/** Columns of records, one per kind of field. */
const FIELDS = {
  name: { kind: 'name' },
  target: { kind: 'text' },
  tag: { kind: 'text', nullable: true },
  created: { kind: 'time' },
  priority: { kind: 'number' },
  weight: { kind: 'boolean' },
} as const satisfies FilterFields

type Item = { name: string; target: string; tag: string | null; created: string; priority: number; weight: number }

const TEXTS = ['', ' a', ..."a A ab aB b B % _ a_b a%b \\ a\\b ' é É z ä 企 😀 \uffee İ".split(' ')]
const DAYS = ['2026-03-01T00:00:00', '2026-03-01T10:00:00', '2026-03-02T00:00:00', '2025-12-31T23:59:59']
const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T

const ITEMS: readonly Item[] = TEXTS.map((target, index) => ({
  name: foldAscii(at(TEXTS, index * 7 + 3)),
  target,
  tag: index % 3 === 0 ? null : at(TEXTS, index * 5 + 1) || null,
  created: at(DAYS, index),
  priority: index % 5,
  weight: index % 2,
}))

await database.write(async (connection) => {
  const now = '2026-01-01T00:00:00'
  const account = await connection.insertInto('accounts').values({ created: now }).returning('id').executeTakeFirstOrThrow()
  const texts = { description: '', group: '', soa_email: '', master_ips: '[]', axfr_ips: '[]', errors: '', created: now, updated: now }
  const times = { expire_sec: 0, refresh_sec: 0, retry_sec: 0, ttl_sec: 0 }
  const name = { domain: 'x.example', reversed_name: 'example.x.' }
  const row = { account_id: account.id, ...name, type: 'master' as const, status: 'active' as const, record_count: 0 }
  const domain = await connection
    .insertInto('domains')
    .values({ ...row, ...texts, ...times })
    .returning('id')
    .executeTakeFirstOrThrow()
  const rest = { domain_id: domain.id, type: 'TXT', port: 0, service: null, protocol: null, ttl_sec: 0, updated: now }
  for (const item of ITEMS)
    await connection
      .insertInto('records')
      .values({ ...rest, ...item })
      .execute()
})

/** The indices of the rows that a filter finds, in its order. */
async function found(filter: unknown): Promise<number[]> {
  const { condition, order } = parseFilter(Buffer.from(JSON.stringify(filter), 'utf8').toString('latin1'), FIELDS)
  const rows = await database.read((connection) => {
    let selected = connection.selectFrom('records').select('id').where(conditionSql(condition, FIELDS))
    if (order) selected = selected.orderBy(orderSql(order.field, FIELDS), order.descending ? 'desc' : 'asc')
    return selected.orderBy('id').execute()
  })
  return rows.map(({ id }) => id - 1)
}

function foldAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32))
}

type Value = string | number | null

/** The value of an item for comparisons: text as octets in lower ASCII case. */
const comparable = (field: string, value: unknown): Value => {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value !== 'string') return value as Value
  // Clients send numbers and booleans as text, too.
  if (field === 'priority') return Number(value)
  if (field === 'weight') return Number(value.toLowerCase() === 'true')
  if (field !== 'created') return foldAscii(value)
  return value.length === 10 ? `${value}T00:00:00` : value.slice(0, 19)
}

function rank(left: Value, right: Value): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null)
  return typeof left === 'string' ? Buffer.compare(Buffer.from(left), Buffer.from(String(right))) : left - Number(right)
}

function holds(item: Item, filter: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filter).every(([key, value]) => {
    if (key === '+order_by' || key === '+order') return true
    if (key === '+and') return (value as Record<string, unknown>[]).every((part) => holds(item, part))
    if (key === '+or') return (value as Record<string, unknown>[]).some((part) => holds(item, part))
    const operators = typeof value === 'object' && value !== null ? value : { '=': value }
    return Object.entries(operators).every(([operator, operand]) => fits(key, item[key as keyof Item], operator, operand))
  })
}

function fits(field: string, stored: Value, operator: string, operand: unknown): boolean {
  const [left, right] = [field === 'target' || field === 'tag' ? comparable('', stored) : stored, comparable(field, operand)]
  if (operator === '=') return left === right
  if (operator === '+neq') return left !== right
  if (left === null) return false
  if (operator === '+contains') return foldAscii(String(left)).includes(foldAscii(String(operand)))
  const order = rank(left, right)
  return { '+gt': order > 0, '+gte': order >= 0, '+lt': order < 0, '+lte': order <= 0 }[operator] as boolean
}

function expected(filter: Readonly<Record<string, unknown>>): number[] {
  const places = ITEMS.map((_, index) => index).filter((index) => holds(ITEMS[index] as Item, filter))
  const field = filter['+order_by'] as keyof Item | undefined
  if (field === undefined) return places
  const sign = filter['+order'] === 'desc' ? -1 : 1
  const key = (index: number): Value => comparable(field === 'name' ? '' : field, ITEMS[index]?.[field])
  return places.sort((one, two) => sign * rank(key(one), key(two)) || one - two)
}

const text = fc.constantFrom(...TEXTS)
const ORDERINGS = ['=', '+neq', '+gt', '+gte', '+lt', '+lte'] as const
const condition = (field: string, operators: readonly string[], value: fc.Arbitrary<unknown>) =>
  fc
    .tuple(fc.constantFrom(...operators), value)
    .map(([operator, operand]) => ({ [field]: operator === '=' ? operand : { [operator]: operand } }))
const range = (field: string, value: fc.Arbitrary<unknown>) =>
  fc.tuple(value, value).map(([low, high]) => ({ [field]: { '+gte': low, '+lt': high } }))

const leaf = fc.oneof(
  condition('name', [...ORDERINGS, '+contains'], text),
  condition('target', [...ORDERINGS, '+contains'], text),
  condition('tag', [...ORDERINGS, '+contains'], text),
  condition('tag', ['=', '+neq'], fc.constant(null)),
  condition('created', ORDERINGS, fc.constantFrom(...DAYS, '2026-03-01', '2026-03-01T10:00:00Z')),
  condition('created', ['+contains'], fc.constantFrom('2026', '-03-', 't10', '')),
  condition('priority', ORDERINGS, fc.constantFrom(0, 1, 2.5, -1, 1e300, 4, '2', '-1')),
  condition('weight', ['=', '+neq'], fc.constantFrom(true, false, 'true', 'False')),
  range('target', text),
  range('priority', fc.integer({ min: 0, max: 5 })),
)
const { filter } = fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.constant({}),
    fc.array(tie('filter'), { maxLength: 4 }).map((parts) => ({ '+and': parts })),
    fc.array(tie('filter'), { maxLength: 4 }).map((parts) => ({ '+or': parts })),
    fc.tuple(tie('filter'), tie('filter')).map(([one, two]) => ({ ...one, ...two })),
  ),
}))
const ordered = fc.tuple(
  filter,
  fc.constantFrom({}, ...Object.keys(FIELDS).flatMap((field) => [{ '+order_by': field }, { '+order_by': field, '+order': 'desc' }])),
)

test('the database finds exactly the rows of any filter, in its order', async () => {
  let some = 0
  await fc.assert(
    fc.asyncProperty(ordered, async ([conditions, order]) => {
      const wanted = { ...conditions, ...order }
      const places = expected(wanted)
      if (places.length > 0 && places.length < ITEMS.length) some += 1
      expect(await found(wanted)).toEqual(places)
    }),
    { numRuns: rounds(700) },
  )
  expect(some).toBeGreaterThan(rounds(150))
})

describe('operands', () => {
  test.each<[unknown, string[]]>([
    [{ created: '2026-03-01' }, ['2026-03-01T00:00:00']],
    [{ created: { '+gte': '2026-03-01T10:00:00Z' } }, ['2026-03-01T10:00:00', '2026-03-02T00:00:00']],
    [{ created: '2026-03-01T12:00:00+02:00' }, ['2026-03-01T10:00:00']],
    [{ created: { '+contains': 'T00:' } }, ['2026-03-01T00:00:00', '2026-03-02T00:00:00']],
  ])('%j', async (conditions, times) => {
    const places = await found(conditions)
    expect([...new Set(places.map((index) => ITEMS[index]?.created))].sort()).toEqual(times)
  })

  const WRONG = {
    created: ['yesterday', '2026-02-30', { '+gt': '' }, 5, null],
    priority: ['1e1', ' 1', '', null, true, { '+contains': 1 }, { '+contains': '1' }],
    weight: [1, '1', null, { '+gt': false }, { '+contains': true }, { '+neq': [true] }, { '+neq': ['true'] }],
    tag: [{ '+gt': null }, { '+contains': null }],
    name: [5, null, { '+neq': null }],
    target: ['a\0', { '+contains': '\ud83d' }],
  }

  test.each(Object.entries(WRONG).flatMap(([field, operands]) => operands.map((operand) => ({ [field]: operand }))))(
    '%j cannot be applied',
    (conditions) => expect(() => parseFilter(JSON.stringify(conditions), FIELDS)).toThrow('X-Filter: Could not apply filter'),
  )

  test('a number that JSON cannot represent', () => {
    expect(() => parseFilter('{"priority":1e400}', FIELDS)).toThrow('X-Filter: Could not apply filter')
  })
})

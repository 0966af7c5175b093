import { type Comparison, type Condition, type Filter, type FilterField, type FilterFields, foldCase } from '../filter/filter.ts'
import { parseTimestamp } from '../timestamp.ts'
import { invalid, type RequestError } from './request-error.ts'

/** Characters of the header, nesting of objects, and comparisons in all. */
const MAX_CHARACTERS = 12_000
const MAX_DEPTH = 16
const MAX_COMPARISONS = 500

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '+neq': '!=',
  '+gt': '>',
  '+gte': '>=',
  '+lt': '<',
  '+lte': '<=',
  '+contains': 'contains',
}

interface Reading {
  readonly fields: FilterFields
  comparisons: number
}

/** Reads an `X-Filter` header. Throws 400 with field `X-Filter` where it is no filter on these fields. */
export function parseFilter(header: string, fields: FilterFields): Filter {
  if (header.length > MAX_CHARACTERS) throw refuse(`Filter is longer than ${MAX_CHARACTERS} characters`)
  const { '+order_by': orderBy, '+order': direction, ...conditions } = objectOf(parseJson(header))
  const reading: Reading = { fields, comparisons: 0 }
  return { condition: readObject(conditions, reading, 1), order: readOrder(orderBy, direction, fields) }
}

function parseJson(header: string): unknown {
  try {
    return JSON.parse(textOf(header))
  } catch {
    throw refuse('Invalid JSON')
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Header values arrive octet for octet. Some clients write their JSON in UTF-8, others in ISO 8859-1, which HTTP's fields were made of. */
function textOf(header: string): string {
  try {
    return UTF8.decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

function readObject(conditions: Readonly<Record<string, unknown>>, reading: Reading, depth: number): Condition {
  if (depth > MAX_DEPTH) throw refuse(`Filter is nested deeper than ${MAX_DEPTH} levels`)
  const entries = Object.entries(conditions)
  // An object without conditions holds always, and is work for the database like one with a condition.
  if (entries.length === 0 && depth > 1) count(reading)
  const all = entries.map(([key, value]): Condition => {
    if (key === '+and' || key === '+or') {
      if (!Array.isArray(value) || value.length === 0) throw notApplicable()
      const parts = value.map((part) => readObject(objectOf(part), reading, depth + 1))
      return key === '+and' ? { all: parts } : { any: parts }
    }
    if (key.startsWith('+')) throw notApplicable()
    const field = Object.hasOwn(reading.fields, key) ? reading.fields[key] : undefined
    if (field === undefined) throw cannotFilter(key)
    return readField(key, field, value, reading)
  })
  return all.length === 1 && all[0] !== undefined ? all[0] : { all }
}

function readField(name: string, field: FilterField, value: unknown, reading: Reading): Condition {
  if (typeof value !== 'object' || value === null) return compare(name, field, '=', value, reading)
  if (Array.isArray(value)) throw field.kind === 'set' ? setTakes(name) : notApplicable()
  const all = Object.entries(value).map(([operator, operand]) => {
    const comparison = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined
    if (comparison === undefined) throw notApplicable()
    return compare(name, field, comparison, operand, reading)
  })
  if (all.length === 0) throw notApplicable()
  return { all }
}

function compare(name: string, field: FilterField, comparison: Comparison, value: unknown, reading: Reading): Condition {
  count(reading)
  if (value === null && field.nullable && (comparison === '=' || comparison === '!=')) return { field: name, comparison, value }
  if (field.kind === 'set' && typeof value !== 'string') throw setTakes(name)
  if (!KIND_COMPARISONS[field.kind].includes(comparison)) throw notApplicable()
  return { field: name, comparison, value: operandOf(field.kind, comparison, value) }
}

function count(reading: Reading): void {
  reading.comparisons += 1
  if (reading.comparisons > MAX_COMPARISONS) throw refuse(`Filter has more than ${MAX_COMPARISONS} conditions`)
}

const EQUALITY: readonly Comparison[] = ['=', '!=']
const ORDERING: readonly Comparison[] = [...EQUALITY, '>', '>=', '<', '<=']
const TEXT: readonly Comparison[] = [...ORDERING, 'contains']

const KIND_COMPARISONS: Readonly<Record<FilterField['kind'], readonly Comparison[]>> = {
  name: TEXT,
  text: TEXT,
  time: TEXT,
  set: [...EQUALITY, 'contains'],
  number: ORDERING,
  boolean: EQUALITY,
}

/** Nothing that is stored has these; PostgreSQL takes no NUL even to compare with. */
const NEVER_STORED = /[\0\ud800-\udfff]/u

/** A value as the database compares it. */
function operandOf(kind: FilterField['kind'], comparison: Comparison, value: unknown): string | number {
  if (kind === 'number' && typeof value === 'number' && Number.isFinite(value)) return value
  if (kind === 'boolean' && typeof value === 'boolean') return value ? 1 : 0
  if (kind === 'number' || kind === 'boolean' || typeof value !== 'string' || NEVER_STORED.test(value)) throw notApplicable()
  if (kind === 'set') return value.toLowerCase()
  if (kind !== 'time') return foldCase(value)
  return comparison === 'contains' ? value.toUpperCase() : readTime(value)
}

/** A moment, or the beginning of a day, as it is stored. */
function readTime(text: string): string {
  const moment = parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00` : text)
  if (moment === null) throw notApplicable()
  return moment
}

function readOrder(orderBy: unknown, direction: unknown, fields: FilterFields): Filter['order'] {
  if (orderBy === undefined) {
    if (direction !== undefined) throw notApplicable()
    return null
  }
  if (typeof orderBy !== 'string') throw notApplicable()
  const field = Object.hasOwn(fields, orderBy) ? fields[orderBy] : undefined
  if (field === undefined) throw cannotFilter(orderBy)
  if (field.unordered) throw refuse(`Cannot order by ${orderBy}`)
  if (field.kind === 'set' || (direction !== undefined && direction !== 'asc' && direction !== 'desc')) throw notApplicable()
  return { field: orderBy, descending: direction === 'desc' }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notApplicable()
  return value as Readonly<Record<string, unknown>>
}

const refuse = (reason: string): RequestError => invalid({ field: 'X-Filter', reason })

const notApplicable = (): RequestError => refuse('Could not apply filter')

const cannotFilter = (key: string): RequestError => refuse(`Cannot filter on ${key.slice(0, 100)}`)

const setTakes = (name: string): RequestError => refuse(`${name.charAt(0).toUpperCase()}${name.slice(1)} filter must be a string or dict`)

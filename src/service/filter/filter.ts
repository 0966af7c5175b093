/** Filters of lists: parses the `X-Filter` header, and applies filters to items in memory. */
import { badRequest, type RequestError } from '../api/request-error.ts'
import { parseTimestamp } from '../time.ts'

/** Filters of lists: the model of `X-Filter`, and filtering in memory, with the same results as `store/list-sql.ts` has in the database. */

/** A filterable field. */
type FilterField =
  | {
      /**
       * `name`: text stored in lower case. `text`: compared ignoring ASCII case. `time`: a timestamp such as `2026-03-01T10:00:00`.
       */
      readonly kind: 'name' | 'text' | 'time'
      /** The field may be null and can be compared with null, which sorts first. */
      readonly nullable?: true
      /** The field cannot be used for ordering. */
      readonly unordered?: true
    }
  /** `set`: several texts, of which one must match. `boolean`: stored as 0 or 1. */
  | { readonly kind: 'set' | 'number' | 'boolean'; readonly nullable?: never; readonly unordered?: never }

export type FilterFields = Readonly<Record<string, FilterField>>

export type Comparison = '=' | '!=' | '>' | '>=' | '<' | '<=' | 'contains'

export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly field: string; readonly comparison: Comparison; readonly value: string | number | null }

export interface Filter {
  readonly condition: Condition
  readonly order: { readonly field: string; readonly descending: boolean } | null
}

/** Converts A to Z to lower case, which every database does in the same way. */
const foldCase = (text: string): string => text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase())

/** A request for a part of a list. */
export interface ListQuery {
  /** Null for all items. */
  readonly filter: Filter | null
  readonly offset: number
  readonly limit: number
}

export interface ListSlice<T> {
  readonly items: readonly T[]
  /** The number of items in the whole list. */
  readonly total: number
}

/** The value of a field as the database would compare it: booleans are 0 or 1. */
type FieldReader<T> = (item: T, field: string) => string | number | null

/** The requested part of a list in memory. */
export function selectItems<T>(items: readonly T[], { filter, offset, limit }: ListQuery, fields: FilterFields): ListSlice<T> {
  const selected = filter === null ? items : filterItems(items, filter, fields)
  return { items: selected.slice(offset, offset + limit), total: selected.length }
}

/** The items that match a filter, in its order. */
export function filterItems<T>(items: readonly T[], { condition, order }: Filter, fields: FilterFields): readonly T[] {
  const read = readerOf<T>(fields)
  const selected = items.filter((item) => holds(condition, item, read))
  if (order === null) return selected
  const sign = order.descending ? -1 : 1
  return selected.sort((a, b) => sign * compareValues(read(a, order.field), read(b, order.field)))
}

/** Merges two lists that are in the order of a filter. Equal items of the first list come before those of the second; without an order, all do. */
export function mergeOrdered<T>(first: readonly T[], second: readonly T[], order: Filter['order'], fields: FilterFields): readonly T[] {
  if (order === null) return [...first, ...second]
  const read = readerOf<T>(fields)
  const sign = order.descending ? -1 : 1
  const merged: T[] = []
  let next = 0
  for (const item of second) {
    const value = read(item, order.field)
    while (next < first.length && sign * compareValues(read(first[next] as T, order.field), value) <= 0) merged.push(first[next++] as T)
    merged.push(item)
  }
  return [...merged, ...first.slice(next)]
}

/** Reads the fields of an item as they are compared: text without regard to ASCII case. */
const readerOf =
  <T>(fields: FilterFields): FieldReader<T> =>
  (item, field) => {
    const value = (item as Readonly<Record<string, unknown>>)[field] ?? null
    if (typeof value === 'boolean') return Number(value)
    return fields[field]?.kind === 'text' && typeof value === 'string' ? foldCase(value) : (value as string | number | null)
  }

/** Null, as an empty text, comes first. */
function compareValues(a: string | number | null, b: string | number | null): number {
  const [left, right] = [a ?? '', b ?? '']
  return left < right ? -1 : left > right ? 1 : 0
}

function holds<T>(condition: Condition, item: T, read: FieldReader<T>): boolean {
  if ('all' in condition) return condition.all.every((part) => holds(part, item, read))
  if ('any' in condition) return condition.any.some((part) => holds(part, item, read))
  const { comparison, value: wanted } = condition
  const value = read(item, condition.field)
  if (comparison === '=') return value === wanted
  if (comparison === '!=') return value !== wanted
  if (value === null || wanted === null) return false
  switch (comparison) {
    case '>':
      return value > wanted
    case '>=':
      return value >= wanted
    case '<':
      return value < wanted
    case '<=':
      return value <= wanted
    case 'contains':
      return String(value).includes(String(wanted))
  }
}

/** Limits: characters of the header, nesting levels, and comparisons. */
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

interface ParseState {
  readonly fields: FilterFields
  comparisons: number
}

/** Parses an `X-Filter` header. Throws 400 with field `X-Filter` if it is not a valid filter on these fields. */
export function parseFilter(header: string, fields: FilterFields): Filter {
  if (header.length > MAX_CHARACTERS) throw refuse(`Filter is longer than ${MAX_CHARACTERS} characters`)
  const { '+order_by': orderBy, '+order': direction, ...conditions } = objectOf(parseJson(header))
  const state: ParseState = { fields, comparisons: 0 }
  return { condition: parseCondition(conditions, state, 1), order: parseOrder(orderBy, direction, fields) }
}

function parseJson(header: string): unknown {
  try {
    return JSON.parse(textOf(header))
  } catch {
    throw refuse('Invalid JSON')
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Node decodes headers as ISO 8859-1. Some clients send JSON in UTF-8, others in ISO 8859-1. */
function textOf(header: string): string {
  try {
    return UTF8.decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}

function parseCondition(conditions: Readonly<Record<string, unknown>>, state: ParseState, depth: number): Condition {
  if (depth > MAX_DEPTH) throw refuse(`Filter is nested deeper than ${MAX_DEPTH} levels`)
  const entries = Object.entries(conditions)
  // An empty object or list costs the database as much as a condition.
  if (entries.length === 0 && depth > 1) countComparison(state)
  const all = entries.map(([key, value]): Condition => {
    if (key === '+and' || key === '+or') {
      if (!Array.isArray(value)) throw notApplicable()
      if (value.length === 0) countComparison(state)
      const parts = value.map((part) => parseCondition(objectOf(part), state, depth + 1))
      return key === '+and' ? { all: parts } : { any: parts }
    }
    if (key.startsWith('+')) throw notApplicable()
    const field = Object.hasOwn(state.fields, key) ? state.fields[key] : undefined
    if (field === undefined) throw cannotFilter(key)
    return parseField(key, field, value, state)
  })
  return all.length === 1 && all[0] !== undefined ? all[0] : { all }
}

function parseField(name: string, field: FilterField, value: unknown, state: ParseState): Condition {
  if (typeof value !== 'object' || value === null) return parseComparison(name, field, '=', value, state)
  if (Array.isArray(value)) throw field.kind === 'set' ? setTakes(name) : notApplicable()
  const all = Object.entries(value).map(([operator, operand]) => {
    const comparison = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined
    if (comparison === undefined) throw notApplicable()
    return parseComparison(name, field, comparison, operand, state)
  })
  if (all.length === 0) throw notApplicable()
  return { all }
}

function parseComparison(name: string, field: FilterField, comparison: Comparison, value: unknown, state: ParseState): Condition {
  countComparison(state)
  if (value === null && field.nullable && (comparison === '=' || comparison === '!=')) return { field: name, comparison, value }
  if (field.kind === 'set' && typeof value !== 'string') throw setTakes(name)
  if (!KIND_COMPARISONS[field.kind].includes(comparison)) throw notApplicable()
  return { field: name, comparison, value: operandOf(field.kind, comparison, value) }
}

function countComparison(state: ParseState): void {
  state.comparisons += 1
  if (state.comparisons > MAX_COMPARISONS) throw refuse(`Filter has more than ${MAX_COMPARISONS} conditions`)
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

/** Never part of a stored text. PostgreSQL refuses a NUL even in a comparison. */
const NEVER_STORED = /[\0\ud800-\udfff]/u

/** Converts a value to the form that the database compares. Clients with one type for all values send numbers and booleans as text. */
function operandOf(kind: FilterField['kind'], comparison: Comparison, value: unknown): string | number {
  if (kind === 'number' && typeof value === 'number' && Number.isFinite(value)) return value
  if (kind === 'number' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value)
  if (kind === 'boolean' && typeof value === 'boolean') return Number(value)
  if (kind === 'boolean' && typeof value === 'string' && /^(true|false)$/i.test(value)) return Number(value.toLowerCase() === 'true')
  if (kind === 'number' || kind === 'boolean' || typeof value !== 'string' || NEVER_STORED.test(value)) throw notApplicable()
  if (kind === 'set') return value.toLowerCase()
  if (kind !== 'time') return foldCase(value)
  return comparison === 'contains' ? value.toUpperCase() : parseTime(value)
}

/** Parses a timestamp, or a date as its midnight. */
function parseTime(text: string): string {
  const timestamp = parseTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00` : text)
  if (timestamp === null) throw notApplicable()
  return timestamp
}

function parseOrder(orderBy: unknown, direction: unknown, fields: FilterFields): Filter['order'] {
  if (direction !== undefined && direction !== 'asc' && direction !== 'desc') throw notApplicable()
  if (orderBy === undefined) return null
  if (typeof orderBy !== 'string') throw notApplicable()
  const field = Object.hasOwn(fields, orderBy) ? fields[orderBy] : undefined
  if (field === undefined) throw cannotFilter(orderBy)
  if (field.unordered) throw refuse(`Cannot order by ${orderBy}`)
  return { field: orderBy, descending: direction === 'desc' }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notApplicable()
  return value as Readonly<Record<string, unknown>>
}

const refuse = (reason: string): RequestError => badRequest({ field: 'X-Filter', reason })

const notApplicable = (): RequestError => refuse('Could not apply filter')

const cannotFilter = (key: string): RequestError => refuse(`Cannot filter on ${key.slice(0, 100)}`)

const setTakes = (name: string): RequestError => refuse(`${name.charAt(0).toUpperCase()}${name.slice(1)} filter must be a string or dict`)

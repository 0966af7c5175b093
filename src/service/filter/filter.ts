/** Filters of lists: the model of `X-Filter`, and filtering in memory, with the same results as `store/list-sql.ts` has in the database. */

/** A filterable field. */
export type FilterField =
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
export const foldCase = (text: string): string => text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase())

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

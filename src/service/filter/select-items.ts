/** Filters in memory, with the same results as `store/list-sql.ts` has in the database. */

import type { ListQuery, ListSlice } from './filter.ts'
import { type Condition, type Filter, type FilterFields, foldCase } from './filter.ts'

/** The value of a field as the database would compare it: booleans are 0 or 1. */
type FieldReader<T> = (item: T, field: string) => string | number | null

/** The part of a list that is asked for, of its items in their own order. */
export function selectItems<T>(items: readonly T[], { filter, offset, limit }: ListQuery, fields: FilterFields): ListSlice<T> {
  const selected = filter === null ? items : filterItems(items, filter, fields)
  return { items: selected.slice(offset, offset + limit), total: selected.length }
}

/** The items that a filter lets through, in the order it asks for. */
export function filterItems<T>(items: readonly T[], { condition, order }: Filter, fields: FilterFields): readonly T[] {
  const read = readerOf<T>(fields)
  const selected = items.filter((item) => holds(condition, item, read))
  if (order === null) return selected
  const sign = order.descending ? -1 : 1
  return selected.sort((a, b) => sign * compareValues(read(a, order.field), read(b, order.field)))
}

/** Two lists in the order of a filter as one: items of the first come before their equals in the second, or all of them where there is no order. */
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

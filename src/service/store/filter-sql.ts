import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Comparison, Condition, FilterFields } from '../filter/filter.ts'

/** Makes the condition on a field that holds several texts from the one on each of them. */
export type SetCondition = (fits: (text: RawBuilder<string>) => RawBuilder<SqlBool>) => RawBuilder<SqlBool>

const OPERATORS = { '>': sql`>`, '>=': sql`>=`, '<': sql`<`, '<=': sql`<=` } as const

/** A filter's condition as SQL. Field names are columns, those of `sets` excepted. */
export function conditionSql(
  condition: Condition,
  fields: FilterFields,
  sets: Readonly<Record<string, SetCondition>> = {},
): RawBuilder<SqlBool> {
  if ('all' in condition) return joined(condition.all, sql` and `, sql<SqlBool>`1 = 1`, fields, sets)
  if ('any' in condition) return joined(condition.any, sql` or `, sql<SqlBool>`1 = 0`, fields, sets)
  const { field, comparison, value } = condition
  const set = sets[field]
  if (set !== undefined) {
    const any = set((text) => comparisonSql(text, comparison === '!=' ? '=' : comparison, value))
    return comparison === '!=' ? sql`not ${any}` : any
  }
  const column = sql.ref<string>(field)
  return comparisonSql(fields[field]?.kind === 'name' ? column : sql<string>`lower(${column})`, comparison, value)
}

/** Ordered by what a filter asks for. */
export const orderSql = (field: string, fields: FilterFields): Expression<string> =>
  fields[field]?.kind === 'name' ? sql.ref<string>(field) : sql<string>`lower(${sql.ref(field)})`

function joined(
  parts: readonly Condition[],
  separator: RawBuilder<unknown>,
  empty: RawBuilder<SqlBool>,
  fields: FilterFields,
  sets: Readonly<Record<string, SetCondition>>,
): RawBuilder<SqlBool> {
  if (parts.length === 0) return empty
  return sql`(${sql.join(
    parts.map((part) => conditionSql(part, fields, sets)),
    separator,
  )})`
}

function comparisonSql(text: RawBuilder<string>, comparison: Comparison, value: string | null): RawBuilder<SqlBool> {
  if (value === null) return comparison === '=' ? sql`${text} is null` : sql`${text} is not null`
  switch (comparison) {
    case '=':
      return sql`${text} = ${value}`
    case '!=':
      return sql`${text} is distinct from ${value}`
    case 'contains':
      return sql`${text} like ${`%${value.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
    default:
      return sql`${text} ${OPERATORS[comparison]} ${value}`
  }
}

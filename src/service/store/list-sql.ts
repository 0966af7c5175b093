import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Comparison, Condition, FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import type { Tables } from './tables.ts'

/** Makes the condition on a field that holds several texts from the one on each of them. */
export type SetCondition = (fits: (text: RawBuilder<string>) => RawBuilder<SqlBool>) => RawBuilder<SqlBool>

const OPERATORS = { '>': sql`>`, '>=': sql`>=`, '<': sql`<`, '<=': sql`<=` } as const

/** A filter's condition as SQL. Field names are columns, those of `sets` excepted. */
export function conditionSql(
  condition: Condition,
  fields: FilterFields,
  sets: Readonly<Record<string, SetCondition>> = {},
): RawBuilder<SqlBool> {
  if ('all' in condition) return joinConditions(condition.all, sql` and `, sql<SqlBool>`1 = 1`, fields, sets)
  if ('any' in condition) return joinConditions(condition.any, sql` or `, sql<SqlBool>`1 = 0`, fields, sets)
  const { field, comparison, value } = condition
  const set = sets[field]
  if (set !== undefined) {
    const any = set((text) => comparisonSql(text, comparison === '!=' ? '=' : comparison, value))
    return comparison === '!=' ? sql`not ${any}` : any
  }
  return comparisonSql(operandSql(field, fields), comparison, value)
}

/** Ordered by what a filter asks for; null first, which the databases put at different ends by themselves. */
export function orderSql(field: string, fields: FilterFields): Expression<unknown> {
  const operand = operandSql(field, fields)
  return fields[field]?.nullable ? sql`coalesce(${operand}, '')` : operand
}

/** What is compared of a field. */
function operandSql(field: string, fields: FilterFields): RawBuilder<unknown> {
  const column = sql.ref(field)
  switch (fields[field]?.kind) {
    case 'text':
      return sql`lower(${column})`
    case 'number':
    case 'boolean':
      // Filters may compare whole numbers with fractions and with what no integer column can hold.
      return sql`cast(${column} as double precision)`
    default:
      return column
  }
}

function joinConditions(
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

function comparisonSql(operand: RawBuilder<unknown>, comparison: Comparison, value: string | number | null): RawBuilder<SqlBool> {
  if (value === null) return comparison === '=' ? sql`${operand} is null` : sql`${operand} is not null`
  switch (comparison) {
    case '=':
      return sql`${operand} = ${value}`
    case '!=':
      return sql`${operand} is distinct from ${value}`
    case 'contains':
      return sql`${operand} like ${`%${String(value).replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`
    default:
      return sql`${operand} ${OPERATORS[comparison]} ${value}`
  }
}

/** Which rows a list is of. */
interface RowList {
  readonly table: keyof Tables
  /** True of the rows that the list is of, whatever is asked for. */
  readonly where: RawBuilder<SqlBool>
  readonly fields: FilterFields
}

/** A part of a list of what one user has, in the order of its numbers unless the filter asks for another. */
export async function listRows<T>(
  connection: Connection,
  { table, where, fields }: RowList,
  { filter, offset, limit }: ListQuery,
): Promise<ListSlice<T>> {
  const wanted = filter === null ? where : sql<SqlBool>`${where} and ${conditionSql(filter.condition, fields)}`
  const counted = await sql<{ total: number }>`select count(*) as total from ${sql.table(table)} where ${wanted}`.execute(connection)
  const order = filter?.order
  const first = order ? sql`${orderSql(order.field, fields)} ${order.descending ? sql`desc` : sql`asc`}, ` : sql``
  const { rows } = await sql<T>`
    select * from ${sql.table(table)} where ${wanted} order by ${first}id limit ${limit} offset ${offset}`.execute(connection)
  return { items: rows, total: Number(counted.rows[0]?.total ?? 0) }
}

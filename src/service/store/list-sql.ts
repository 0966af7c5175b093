import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Comparison, Condition, FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import type { Tables } from './tables.ts'

/** Builds the condition on a field with several values from the condition on one value. */
export type SetCondition = (fits: (text: RawBuilder<string>) => RawBuilder<SqlBool>) => RawBuilder<SqlBool>

const OPERATORS = { '>': sql`>`, '>=': sql`>=`, '<': sql`<`, '<=': sql`<=` } as const

/** A filter condition as SQL. Fields are columns, except those in `sets`. */
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

/** The order expression for a field. Nulls come first, because databases differ in their default. */
export function orderSql(field: string, fields: FilterFields): Expression<unknown> {
  const operand = operandSql(field, fields)
  return fields[field]?.nullable ? sql`coalesce(${operand}, '')` : operand
}

/** The expression that is compared for a field. */
function operandSql(field: string, fields: FilterFields): RawBuilder<unknown> {
  const column = sql.ref(field)
  switch (fields[field]?.kind) {
    case 'text':
      return sql`lower(${column})`
    case 'number':
    case 'boolean':
      // Filters may compare integers with fractions and with values outside the integer range.
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

/** The rows of a list. */
interface RowList {
  readonly table: keyof Tables
  /** True for the rows that belong to the list. */
  readonly where: RawBuilder<SqlBool>
  readonly fields: FilterFields
}

/** A page of a list, ordered by id unless the filter has another order. */
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

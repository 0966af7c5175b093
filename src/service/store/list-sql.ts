/** Filters, orders and pages of lists as SQL. */
import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Comparison, Condition, FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'

/** A field with several values: the text of one, and `from … where …` for all of an object. */
export interface SetField {
  readonly text: RawBuilder<string>
  readonly rows: RawBuilder<unknown>
}

/** The fields with several values by name. */
export type SetFields = Readonly<Record<string, SetField>>

const OPERATORS = { '>': sql`>`, '>=': sql`>=`, '<': sql`<`, '<=': sql`<=` } as const

/** A filter condition as SQL. Fields are columns, except those in `sets`. */
export function conditionSql(condition: Condition, fields: FilterFields, sets: SetFields = {}): RawBuilder<SqlBool> {
  if ('all' in condition) return joinConditions(condition.all, sql` and `, sql<SqlBool>`1 = 1`, fields, sets)
  if ('any' in condition) return joinConditions(condition.any, sql` or `, sql<SqlBool>`1 = 0`, fields, sets)
  const { field, comparison, value } = condition
  const set = sets[field]
  if (set !== undefined) {
    const matches = comparisonSql(set.text, comparison === '!=' ? '=' : comparison, value)
    const any = sql<SqlBool>`exists (select 1 ${set.rows} and ${matches})`
    return comparison === '!=' ? sql`not ${any}` : any
  }
  return comparisonSql(operandSql(field, fields), comparison, value)
}

/** The order expression for a field: of several values, the lowest. Nulls come first, because databases differ in their default. */
export function orderSql(field: string, fields: FilterFields, sets: SetFields = {}): Expression<unknown> {
  const set = sets[field]
  if (set !== undefined) return sql`coalesce((select min(${set.text}) ${set.rows}), '')`
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
  sets: SetFields,
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

/** How the rows of a list are filtered and shown. */
interface ListedRows {
  readonly fields: FilterFields
  readonly sets?: SetFields
  /** All columns by default. */
  readonly columns?: readonly string[]
}

/** Returns a page of the selected rows, ordered by id unless the filter has another order. */
export async function listRows<Row>(
  // biome-ignore lint/suspicious/noExplicitAny: the rows may be from any table
  selected: SelectQueryBuilder<any, any, object>,
  { fields, sets = {}, columns }: ListedRows,
  { filter, offset, limit }: ListQuery,
): Promise<ListSlice<Row>> {
  const matching = filter === null ? selected : selected.where(conditionSql(filter.condition, fields, sets))
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  let page = columns === undefined ? matching.selectAll() : matching.select(columns)
  const order = filter?.order
  if (order) page = page.orderBy(orderSql(order.field, fields, sets), order.descending ? 'desc' : 'asc')
  const items = await page.orderBy('id').limit(limit).offset(offset).execute()
  return { items: items as Row[], total: Number(total) }
}

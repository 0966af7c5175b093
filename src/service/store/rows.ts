/** SQL that the stores share: filters, orders and pages of lists, and rows with chosen ids. */
import { type Expression, type Kysely, PostgresAdapter, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Comparison, Condition, FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import type { Tables } from './tables.ts'

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
  /** Selects the number of all rows, if there is a faster way than counting them. */
  readonly total?: { readonly executeTakeFirstOrThrow: () => Promise<{ readonly total: number }> }
}

/** Returns a page of the selected rows, ordered by id unless the filter has another order. */
export async function listRows<Row>(
  // biome-ignore lint/suspicious/noExplicitAny: the rows may be from any table
  selected: SelectQueryBuilder<any, any, object>,
  { fields, sets = {}, columns, total: all }: ListedRows,
  { filter, offset, limit }: ListQuery,
): Promise<ListSlice<Row>> {
  const matching = filter === null ? selected : selected.where(conditionSql(filter.condition, fields, sets))
  const counted = filter === null && all ? all : matching.select((eb) => eb.fn.countAll<number>().as('total'))
  const { total } = await counted.executeTakeFirstOrThrow()
  let page = columns === undefined ? matching.selectAll() : matching.select(columns)
  const order = filter?.order
  if (order) page = page.orderBy(orderSql(order.field, fields, sets), order.descending ? 'desc' : 'asc')
  const items = await page.orderBy('id').limit(limit).offset(offset).execute()
  return { items: items as Row[], total: Number(total) }
}

/** Reads and changes the rows of a table that a user may see: those for which `visible` is true. */
export function ownRows<Row, Owner extends readonly unknown[]>(
  table: keyof Tables,
  listed: ListedRows,
  visible: (...owner: Owner) => RawBuilder<SqlBool>,
) {
  const { columns } = listed
  // biome-ignore lint/suspicious/noExplicitAny: the rows may be from any table
  const from = (connection: Connection): Kysely<any> => connection
  const firstRow = async (query: { readonly executeTakeFirst: () => Promise<unknown> }): Promise<Row | null> =>
    ((await query.executeTakeFirst()) as Row | undefined) ?? null
  const find = (connection: Connection, id: number, ...owner: Owner): Promise<Row | null> => {
    const selected = from(connection)
      .selectFrom(table)
      .where('id', '=', id)
      .where(visible(...owner))
    return firstRow(columns ? selected.select(columns) : selected.selectAll())
  }
  return {
    /** Null if there is no such row. */
    find,
    list: (connection: Connection, list: ListQuery, ...owner: Owner): Promise<ListSlice<Row>> =>
      listRows<Row>(
        from(connection)
          .selectFrom(table)
          .where(visible(...owner)),
        listed,
        list,
      ),
    /** Changes the label, unless it is undefined, and returns the row; null if there is no such row. */
    relabel: (connection: Connection, id: number, label: string | undefined, ...owner: Owner): Promise<Row | null> => {
      if (label === undefined) return find(connection, id, ...owner)
      const updated = from(connection)
        .updateTable(table)
        .set({ label })
        .where('id', '=', id)
        .where(visible(...owner))
      return firstRow(columns ? updated.returning(columns) : updated.returningAll())
    },
    /** False if there is no such row. */
    remove: async (connection: Connection, id: number, ...owner: Owner): Promise<boolean> => {
      const deletion = from(connection).deleteFrom(table).where('id', '=', id)
      return (await deletion.where(visible(...owner)).executeTakeFirstOrThrow()).numDeletedRows > 0n
    },
  }
}

/**
 * Inserts a row with a chosen id, which the table never generates afterwards; without an id, the table generates one. `subject` names the row in
 * the error. Throws a `RangeError` if the id is in use.
 */
export async function insertWithId<T>(
  connection: Connection,
  { table, id, subject }: { readonly table: keyof Tables; readonly id: number | undefined; readonly subject: string },
  insert: () => Promise<T>,
): Promise<T> {
  if (id === undefined) return insert()
  if (!(await isIdFree(connection, table, id)))
    throw new RangeError(`${subject} cannot have the id ${id}, which is in use: choose another id, or omit it`)
  const inserted = await insert()
  await reserveId(connection, table, id)
  return inserted
}

/** Whether no row of the table has this id. */
async function isIdFree(connection: Connection, table: keyof Tables, id: number): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} where id = ${id}`.execute(connection)
  return rows.length === 0
}

/** Ensures that the table never generates this id. Call it after inserting a row with the id. */
async function reserveId(connection: Connection, table: keyof Tables, id: number): Promise<void> {
  // SQLite considers the ids of existing rows; a PostgreSQL sequence does not.
  if (!(connection.getExecutor().adapter instanceof PostgresAdapter)) return
  const sequence = sql`pg_get_serial_sequence(${table}, 'id')`
  await sql`select setval(${sequence}, greatest(${id}::bigint, nextval(${sequence})))`.execute(connection)
}

/** The highest id that a table has ever generated or reserved; 0 if there is none. */
export async function highestId(connection: Connection, table: keyof Tables): Promise<number> {
  const last =
    connection.getExecutor().adapter instanceof PostgresAdapter
      ? sql<{ last: number | string | null }>`select pg_sequence_last_value(pg_get_serial_sequence(${table}, 'id')::regclass) as last`
      : sql<{ last: number | string | null }>`select seq as last from sqlite_sequence where name = ${table}`
  return Number((await last.execute(connection)).rows[0]?.last ?? 0)
}

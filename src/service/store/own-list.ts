import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { FilterFields } from '../filter/filter.ts'
import type { ListQuery, ListSlice } from '../filter/list-query.ts'
import type { Connection } from './database.ts'
import { conditionSql, orderSql } from './filter-sql.ts'
import type { Tables } from './tables.ts'

/** Which rows a list is of. */
export interface OwnList {
  readonly table: keyof Tables
  /** True of the rows that the list is of, whatever is asked for. */
  readonly where: RawBuilder<SqlBool>
  readonly fields: FilterFields
}

/** A part of a list of what one user has, in the order of its numbers unless the filter asks for another. */
export async function listOwn<T>(
  connection: Connection,
  { table, where, fields }: OwnList,
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

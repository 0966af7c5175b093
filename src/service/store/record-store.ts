/** The records of domains. */
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { listRows } from './rows.ts'
import type { RecordRow } from './tables.ts'

/** The content of a record: everything except ids and times. */
export type RecordFields = Omit<RecordRow, 'id' | 'domain_id' | 'created' | 'updated'>

export type StoredRecord = Omit<RecordRow, 'domain_id'>

export const RECORD_FILTER_FIELDS = {
  type: { kind: 'text' },
  name: { kind: 'name' },
  target: { kind: 'text' },
  tag: { kind: 'text', nullable: true },
} as const satisfies FilterFields

const COLUMNS = [
  'id',
  'type',
  'name',
  'target',
  'priority',
  'weight',
  'port',
  'service',
  'protocol',
  'tag',
  'ttl_sec',
  'created',
  'updated',
] as const satisfies readonly (keyof RecordRow)[]

export function listRecords(connection: Connection, domainId: number, list: ListQuery): Promise<ListSlice<StoredRecord>> {
  const selected = connection.selectFrom('records').where('domain_id', '=', domainId)
  // The domain knows how many records it has.
  const total = connection.selectFrom('domains').select('record_count as total').where('id', '=', domainId)
  return listRows<StoredRecord>(selected, { fields: RECORD_FILTER_FIELDS, columns: COLUMNS, total }, list)
}

export async function findRecord(connection: Connection, domainId: number, id: number): Promise<StoredRecord | null> {
  const row = await connection
    .selectFrom('records')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('domain_id', '=', domainId)
    .executeTakeFirst()
  return row ?? null
}

export const insertRecord = (connection: Connection, domainId: number, fields: RecordFields, now: string): Promise<StoredRecord> =>
  connection
    .insertInto('records')
    .values({ ...fields, domain_id: domainId, created: now, updated: now })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()

export const updateRecord = (connection: Connection, id: number, fields: RecordFields, now: string): Promise<StoredRecord> =>
  connection
    .updateTable('records')
    .set({ ...fields, updated: now })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()

/** False if there is no such record. */
export async function deleteRecord(connection: Connection, domainId: number, id: number): Promise<boolean> {
  const result = await connection.deleteFrom('records').where('id', '=', id).where('domain_id', '=', domainId).executeTakeFirstOrThrow()
  return result.numDeletedRows > 0n
}

/** Copies all records of a domain to another in the order of their ids. Returns how many. */
export async function copyRecords(connection: Connection, from: number, to: number, now: string): Promise<number> {
  const copied = COLUMNS.filter((column) => column !== 'id' && column !== 'created' && column !== 'updated')
  const result = await connection
    .insertInto('records')
    .columns(['domain_id', 'created', 'updated', ...copied])
    .expression((eb) =>
      eb
        .selectFrom('records')
        .select((select) => [select.val(to).as('to_id'), select.val(now).as('created'), select.val(now).as('updated')])
        .select(copied)
        .where('domain_id', '=', from)
        .orderBy('id'),
    )
    .executeTakeFirstOrThrow()
  return Number(result.numInsertedOrUpdatedRows ?? 0)
}

/** The length of the longest record name of a domain; 0 without records. */
export async function longestRecordName(connection: Connection, domainId: number): Promise<number> {
  const row = await connection
    .selectFrom('records')
    .select((eb) => eb.fn.max<number | null>(eb.fn<number>('length', ['name'])).as('longest'))
    .where('domain_id', '=', domainId)
    .executeTakeFirstOrThrow()
  return Number(row.longest ?? 0)
}

/** A record that cannot coexist with one of this type and target at this name; null if there is none. `id` is the record's own id, or 0. */
export async function findConflict(
  connection: Connection,
  domainId: number,
  id: number,
  { name, type, target }: Pick<RecordFields, 'name' | 'type' | 'target'>,
): Promise<Pick<RecordRow, 'id' | 'type' | 'target'> | null> {
  const row = await connection
    .selectFrom('records')
    .select(['id', 'type', 'target'])
    .where('domain_id', '=', domainId)
    .where('name', '=', name)
    .where('id', '!=', id)
    .where((eb) => {
      if (type === 'CNAME') return eb.lit(true)
      const cname = eb('type', '=', 'CNAME')
      if (type !== 'MX') return cname
      return eb.or([cname, target === '' ? eb('type', '=', 'MX') : eb.and([eb('type', '=', 'MX'), eb('target', '=', '')])])
    })
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

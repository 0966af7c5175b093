import type { Connection } from './database.ts'
import type { DomainRow, RecordRow } from './tables.ts'

export interface ZoneFile {
  readonly serial: number
  /** Lines joined by line feeds. */
  readonly text: string
}

export async function findZoneFile(connection: Connection, domainId: number): Promise<ZoneFile | null> {
  const row = await connection.selectFrom('zone_files').select(['serial', 'text']).where('domain_id', '=', domainId).executeTakeFirst()
  return row === undefined ? null : { serial: Number(row.serial), text: row.text }
}

/** Keeps what was rendered, and what had to be left out. Whether the domain is still there. */
export async function saveZoneFile(connection: Connection, domainId: number, file: ZoneFile, errors: string): Promise<boolean> {
  const { numUpdatedRows } = await connection.updateTable('domains').set({ errors }).where('id', '=', domainId).executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  await connection
    .insertInto('zone_files')
    .values({ domain_id: domainId, ...file })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet({ serial: file.serial, text: file.text }))
    .execute()
  return true
}

/** What a zone is rendered from. */
export type ZoneSource = Pick<
  DomainRow,
  'id' | 'domain' | 'type' | 'status' | 'soa_email' | 'expire_sec' | 'refresh_sec' | 'retry_sec' | 'ttl_sec'
>

export type ZoneRecord = Pick<RecordRow, 'id' | 'type' | 'name' | 'target' | 'priority' | 'weight' | 'port' | 'tag' | 'ttl_sec'>

export async function findZoneSource(connection: Connection, domainId: number): Promise<ZoneSource | null> {
  const row = await connection
    .selectFrom('domains')
    .select(['id', 'domain', 'type', 'status', 'soa_email', 'expire_sec', 'refresh_sec', 'retry_sec', 'ttl_sec'])
    .where('id', '=', domainId)
    .executeTakeFirst()
  return row ?? null
}

/** In the order of their numbers. */
export const findZoneRecords = (connection: Connection, domainId: number): Promise<ZoneRecord[]> =>
  connection
    .selectFrom('records')
    .select(['id', 'type', 'name', 'target', 'priority', 'weight', 'port', 'tag', 'ttl_sec'])
    .where('domain_id', '=', domainId)
    .orderBy('id')
    .execute()

/** The domains that are rendered: active masters. */
export async function findServedDomains(connection: Connection): Promise<number[]> {
  const rows = await connection
    .selectFrom('domains')
    .select('id')
    .where('type', '=', 'master')
    .where('status', '=', 'active')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

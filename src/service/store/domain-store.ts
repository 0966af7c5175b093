/** Domains and their settings. */
import type { Insertable } from 'kysely'
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import { lockAccountRow } from './account-store.ts'
import type { Connection } from './database.ts'
import { deleteGrants, type Viewer, visibleTo } from './grant-store.ts'
import type { RecordFields } from './record-store.ts'
import { listRows } from './rows.ts'
import { requestTransfer } from './secondary-store.ts'
import type { DomainRow, DomainsTable } from './tables.ts'
import { labelsOf, setTags, tagsField } from './tag-store.ts'
import { unserveDomain } from './zone-file-store.ts'
import { type ClaimedName, reverseName } from './zone-name-store.ts'

/** The settings of a domain that its owner controls. */
export interface DomainSettings {
  readonly domain: string
  readonly type: 'master' | 'slave'
  readonly status: 'active' | 'disabled'
  readonly description: string
  readonly group: string
  readonly tags: readonly string[]
  readonly soa_email: string
  readonly master_ips: readonly string[]
  readonly axfr_ips: readonly string[]
  readonly expire_sec: number
  readonly refresh_sec: number
  readonly retry_sec: number
  readonly ttl_sec: number
}

export interface StoredDomain extends DomainSettings {
  readonly id: number
  readonly errors: string
  readonly created: string
  readonly updated: string
  readonly recordCount: number
}

export const DOMAIN_FILTER_FIELDS = {
  domain: { kind: 'name' },
  group: { kind: 'text' },
  tags: { kind: 'set' },
} as const satisfies FilterFields

export async function listDomains(connection: Connection, viewer: Viewer, list: ListQuery): Promise<ListSlice<StoredDomain>> {
  const selected = connection.selectFrom('domains').where(visibleTo(viewer, 'domain'))
  const sets = { tags: tagsField('domain', 'domains') }
  const { items, total } = await listRows<DomainRow>(selected, { fields: DOMAIN_FILTER_FIELDS, sets }, list)
  return { items: await withTags(connection, items), total }
}

/** The domains with these ids, all of which must exist. */
export async function findDomains(connection: Connection, ids: readonly number[]): Promise<readonly StoredDomain[]> {
  if (ids.length === 0) return []
  return withTags(connection, await connection.selectFrom('domains').selectAll().where('id', 'in', ids).execute())
}

export async function findDomain(connection: Connection, accountId: number, id: number): Promise<StoredDomain | null> {
  const rows = await connection.selectFrom('domains').selectAll().where('id', '=', id).where('account_id', '=', accountId).execute()
  return (await withTags(connection, rows))[0] ?? null
}

/** Creates a domain. */
export async function insertDomain(
  connection: Connection,
  accountId: number,
  name: ClaimedName,
  settings: DomainSettings,
  now: string,
): Promise<StoredDomain> {
  const { tags, ...columns } = columnsOf(settings)
  const row: Insertable<DomainsTable> = {
    ...columns,
    ...nameColumns(name),
    account_id: accountId,
    errors: '',
    record_count: 0,
    created: now,
    updated: now,
  }
  const inserted = await connection.insertInto('domains').values(row).returningAll().executeTakeFirstOrThrow()
  if (settings.type === 'slave') await requestTransfer(connection, inserted.id)
  return storedDomain(inserted, await setTags(connection, accountId, 'domain', inserted.id, tags))
}

/** Replaces a domain's settings; with a null name it keeps its name. Clears the import remarks of a master. */
export async function updateDomain(
  connection: Connection,
  accountId: number,
  id: number,
  name: ClaimedName | null,
  settings: DomainSettings,
  now: string,
): Promise<StoredDomain> {
  const { tags, ...columns } = columnsOf(settings)
  const row = await connection
    .updateTable('domains')
    .set({
      ...columns,
      ...(name === null ? {} : nameColumns(name)),
      updated: now,
      ...(settings.type === 'master' ? { transfer_errors: '' } : {}),
    })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returningAll()
    .executeTakeFirstOrThrow()
  return storedDomain(row, await setTags(connection, accountId, 'domain', id, tags))
}

/** Deletes a domain with its records. False if there is no such domain. */
export async function deleteDomain(connection: Connection, accountId: number, id: number): Promise<boolean> {
  await lockAccountRow(connection, accountId)
  const locked = await connection
    .updateTable('domains')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (locked.numUpdatedRows === 0n) return false
  await setTags(connection, accountId, 'domain', id, [])
  await deleteGrants(connection, 'domain', id)
  await connection.deleteFrom('domains').where('id', '=', id).execute()
  await unserveDomain(connection, id)
  return true
}

/** The domain with this name, in any account; null if there is none. */
export async function findDomainByName(
  connection: Connection,
  domain: string,
): Promise<{ readonly id: number; readonly accountId: number } | null> {
  const row = await connection
    .selectFrom('domains')
    .select(['id', 'account_id as accountId'])
    .where('domain', '=', domain)
    .executeTakeFirst()
  return row ?? null
}

/** Adds `by` to a domain's record count and locks the domain until the transaction ends. Null if there is no such domain. */
export async function changeRecordCount(
  connection: Connection,
  accountId: number,
  id: number,
  by: number,
  now: string,
): Promise<Pick<DomainRow, 'id' | 'domain' | 'type' | 'record_count'> | null> {
  const row = await connection
    .updateTable('domains')
    .set((eb) => ({ record_count: eb('record_count', '+', by), revision: eb('revision', '+', 1), updated: now }))
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returning(['id', 'domain', 'type', 'record_count'])
    .executeTakeFirst()
  return row ?? null
}

const nameColumns = (name: ClaimedName) => ({ domain: name, reversed_name: reverseName(name) })

/** The columns of all settings except the name. */
function columnsOf({ domain: _, master_ips, axfr_ips, ...settings }: DomainSettings) {
  return { ...settings, master_ips: JSON.stringify(master_ips), axfr_ips: JSON.stringify(axfr_ips) }
}

async function withTags(connection: Connection, rows: readonly DomainRow[]): Promise<StoredDomain[]> {
  const labels = await labelsOf(
    connection,
    'domain',
    rows.map(({ id }) => id),
  )
  return rows.map((row) => storedDomain(row, labels.get(row.id) ?? []))
}

function storedDomain(row: DomainRow, tags: readonly string[]): StoredDomain {
  const { account_id: _a, reversed_name: _n, revision: _r, settled: _s, transfer_errors, ...columns } = row
  const { record_count: recordCount, master_ips, axfr_ips, ...settings } = columns
  const errors = [row.errors, transfer_errors].filter((text) => text !== '').join('\n')
  return { ...settings, errors, tags, master_ips: JSON.parse(master_ips), axfr_ips: JSON.parse(axfr_ips), recordCount }
}

interface Import {
  readonly settings: DomainSettings
  /** In the order in which they get their ids. */
  readonly records: readonly RecordFields[]
  /** Messages about differences from the imported zone. */
  readonly remarks: string
}

/** Rows per insert statement, limited by the number of parameters that a statement may have. */
const CHUNK = 500

/** Creates an imported domain with all its records. */
export async function storeImport(
  connection: Connection,
  accountId: number,
  name: ClaimedName,
  { settings, records, remarks }: Import,
  now: string,
): Promise<StoredDomain> {
  const domain = await insertDomain(connection, accountId, name, settings, now)
  for (let from = 0; from < records.length; from += CHUNK) {
    const rows = records.slice(from, from + CHUNK).map((fields) => ({ ...fields, domain_id: domain.id, created: now, updated: now }))
    await connection.insertInto('records').values(rows).execute()
  }
  await connection
    .updateTable('domains')
    .set({ record_count: records.length, transfer_errors: remarks })
    .where('id', '=', domain.id)
    .execute()
  return { ...domain, errors: remarks, recordCount: records.length }
}

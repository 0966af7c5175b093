/** Zone files, the names under which the name servers serve them, and the state of their rendering. */
import { crc32 } from 'node:zlib'
import type { Connection } from './database.ts'
import type { DomainRow, RecordRow } from './tables.ts'

export interface ZoneFile {
  readonly serial: number
  /** Lines joined by line feeds. */
  readonly text: string
}

export async function findZoneFile(connection: Connection, domainId: number): Promise<ZoneFile | null> {
  const row = await connection.selectFrom('zone_files').select(['serial', 'text']).where('domain_id', '=', domainId).executeTakeFirst()
  return row ?? null
}

/** The checksum that is stored with the text of a zone. */
export const zoneChecksum = (text: string): number => crc32(text)

/** Stores rendered or transferred zones. */
export async function saveZoneFiles(connection: Connection, files: readonly (ZoneFile & { readonly domain_id: number })[]): Promise<void> {
  if (files.length === 0) return
  await connection
    .insertInto('zone_files')
    .values(files.map((file) => ({ ...file, checksum: zoneChecksum(file.text) })))
    .onConflict((conflict) =>
      conflict
        .column('domain_id')
        .doUpdateSet((eb) => ({ serial: eb.ref('excluded.serial'), text: eb.ref('excluded.text'), checksum: eb.ref('excluded.checksum') })),
    )
    .execute()
}

/**
 * Stores the transferred zone of a slave, in the text form of `formatTransferredZone`; null deletes an expired one (RFC 1035 section 3.3.13,
 * EXPIRE). Mark the zone as changed afterwards to serve it. False if there is no such slave.
 */
export async function saveTransferredZone(connection: Connection, domainId: number, file: ZoneFile | null): Promise<boolean> {
  const { numUpdatedRows } = await connection
    .updateTable('domains')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', domainId)
    .where('type', '=', 'slave')
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  if (file !== null) await saveZoneFiles(connection, [{ domain_id: domainId, ...file }])
  else await connection.deleteFrom('zone_files').where('domain_id', '=', domainId).execute()
  return true
}

/** The columns of a domain that rendering needs. */
const SOURCE_COLUMNS = [
  'id',
  'account_id',
  'domain',
  'type',
  'status',
  'soa_email',
  'expire_sec',
  'refresh_sec',
  'retry_sec',
  'ttl_sec',
  'errors',
] as const satisfies readonly (keyof DomainRow)[]

export type ZoneSource = Pick<DomainRow, (typeof SOURCE_COLUMNS)[number]>

export type ZoneRecord = Pick<RecordRow, 'id' | 'type' | 'name' | 'target' | 'priority' | 'weight' | 'port' | 'tag' | 'ttl_sec'>

/**
 * Marks the current revisions of domains as rendered, and locks the domains until the transaction ends: no change of them or their records can be
 * committed meanwhile. Returns those that were not marked yet, in the order of their ids. With `withMasters` false, it leaves out active masters.
 */
export async function markDomainsRendered(
  connection: Connection,
  domainIds: readonly number[],
  withMasters: boolean,
): Promise<ZoneSource[]> {
  const rows = await connection
    .updateTable('domains')
    .set((eb) => ({ settled: eb.ref('revision') }))
    .where('id', 'in', domainIds)
    .whereRef('settled', '<', 'revision')
    .$if(!withMasters, (query) => query.where((eb) => eb.or([eb('type', '!=', 'master'), eb('status', '!=', 'active')])))
    .returning(SOURCE_COLUMNS)
    .execute()
  return rows.sort((a, b) => a.id - b.id)
}

/** Stores the error messages about omitted records of a domain. */
export async function setRenderingErrors(connection: Connection, domainId: number, errors: string): Promise<void> {
  await connection.updateTable('domains').set({ errors }).where('id', '=', domainId).execute()
}

/** The records of domains, each in the order of their ids. */
export async function findZoneRecords(connection: Connection, domainIds: readonly number[]): Promise<Map<number, ZoneRecord[]>> {
  const found = new Map<number, ZoneRecord[]>(domainIds.map((id) => [id, []]))
  if (domainIds.length === 0) return found
  const rows = await connection
    .selectFrom('records')
    .select(['domain_id', 'id', 'type', 'name', 'target', 'priority', 'weight', 'port', 'tag', 'ttl_sec'])
    .where('domain_id', 'in', domainIds)
    .orderBy('domain_id')
    .orderBy('id')
    .execute()
  for (const row of rows) found.get(row.domain_id)?.push(row)
  return found
}

/** A zone file with the properties of its domain that a name server needs. */
export interface ServedFile extends ZoneFile {
  readonly domain_id: number
  /** `zoneChecksum` of the text as it was stored. */
  readonly checksum: number
  readonly type: 'master' | 'slave'
  readonly accountId: number
  /** Addresses that may transfer the zone. */
  readonly axfrIps: readonly string[]
}

const NO_ADDRESSES: readonly string[] = []

/** The zone files by domain. */
export async function findServedFiles(connection: Connection, domainIds: readonly number[]): Promise<Map<number, ServedFile>> {
  if (domainIds.length === 0) return new Map()
  const rows = await connection
    .selectFrom('zone_files')
    .innerJoin('domains', 'domains.id', 'zone_files.domain_id')
    .select([
      'zone_files.domain_id',
      'zone_files.serial',
      'zone_files.text',
      'zone_files.checksum',
      'domains.type',
      'domains.account_id',
      'domains.axfr_ips',
    ])
    .where('zone_files.domain_id', 'in', domainIds)
    .execute()
  return new Map(
    rows.map(({ axfr_ips, account_id: accountId, ...row }) => [
      row.domain_id,
      { ...row, accountId, axfrIps: axfr_ips === '[]' ? NO_ADDRESSES : JSON.parse(axfr_ips) },
    ]),
  )
}

/**
 * The zone that the name servers serve for a name. Transactions change such rows only after locking the single row of `served_revision`. So
 * revisions are committed in order, and a reader who has seen one has not missed an earlier one.
 */
export interface ServedRow {
  readonly name: string
  readonly domain_id: number
  /** Null if the name never had a zone. */
  readonly serial: number | null
  readonly served: boolean
  readonly revision: number
}

/** Locks served names, of these domains, until the transaction ends. Returns the last serial served under each; null if there is none. */
export async function lockServedNames(
  connection: Connection,
  domains: readonly Pick<DomainRow, 'id' | 'domain'>[],
): Promise<Map<string, number | null>> {
  if (domains.length === 0) return new Map()
  const rows = await connection
    .insertInto('served_zones')
    .values(domains.map(({ id, domain }) => ({ name: domain, domain_id: id, serial: null, served: 0, revision: 0 })))
    .onConflict((conflict) => conflict.column('name').doUpdateSet((eb) => ({ domain_id: eb.ref('excluded.domain_id') })))
    .returning(['name', 'serial'])
    .execute()
  return new Map(rows.map(({ name, serial }) => [name, serial]))
}

/**
 * Serves the zone files of domains with these serials, each under its locked name and no other. Without a zone file, a name is served without
 * data; pass the last served serial then. Stops serving those of `domainIds` that are not among `zones`. Call it last in a transaction.
 */
export async function serveZones(
  connection: Connection,
  domainIds: readonly number[],
  zones: readonly Pick<ServedRow, 'name' | 'domain_id' | 'serial'>[],
): Promise<void> {
  const revision = await nextRevision(connection)
  await unserve(connection, domainIds, revision)
  if (zones.length === 0) return
  await connection
    .insertInto('served_zones')
    .values(zones.map((zone) => ({ ...zone, served: 1, revision })))
    .onConflict((conflict) => conflict.column('name').doUpdateSet((eb) => ({ serial: eb.ref('excluded.serial'), served: 1, revision })))
    .execute()
}

/** Stops serving a domain. Call it last in a transaction. */
export async function unserveDomain(connection: Connection, domainId: number): Promise<void> {
  const served = connection.selectFrom('served_zones').select('name').where('domain_id', '=', domainId).where('served', '=', 1)
  if ((await served.executeTakeFirst()) === undefined) return
  await unserve(connection, [domainId], await nextRevision(connection))
}

/** Stops serving the domains of an account. Call it last in a transaction. */
export async function unserveAccount(connection: Connection, accountId: number): Promise<void> {
  const revision = await nextRevision(connection)
  const domains = connection.selectFrom('domains').select('id').where('account_id', '=', accountId)
  await connection
    .updateTable('served_zones')
    .set({ served: 0, revision })
    .where('domain_id', 'in', domains)
    .where('served', '=', 1)
    .execute()
}

const unserve = (connection: Connection, domainIds: readonly number[], revision: number) =>
  connection.updateTable('served_zones').set({ served: 0, revision }).where('domain_id', 'in', domainIds).where('served', '=', 1).execute()

async function nextRevision(connection: Connection): Promise<number> {
  const { revision } = await connection
    .updateTable('served_revision')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .returning('revision')
    .executeTakeFirstOrThrow()
  return revision
}

/** The changes since a revision, in order; for null, all served zones. */
export async function findServedSince(connection: Connection, since: number | null): Promise<ServedRow[]> {
  const all = connection.selectFrom('served_zones').selectAll().orderBy('revision').orderBy('name')
  const rows = await (since === null ? all.where('served', '=', 1) : all.where('revision', '>', since)).execute()
  return rows.map(({ served, ...row }) => ({ ...row, served: served === 1 }))
}

/** The revision of the last commit. */
export async function findRevision(connection: Connection): Promise<number> {
  return (await connection.selectFrom('served_revision').select('revision').executeTakeFirstOrThrow()).revision
}

/** How many records each of these domains has, without those that have no changes to render. */
export const findRecordCounts = (connection: Connection, domainIds: readonly number[]): Promise<{ id: number; record_count: number }[]> =>
  connection
    .selectFrom('domains')
    .select(['id', 'record_count'])
    .where('id', 'in', domainIds)
    .whereRef('settled', '<', 'revision')
    .orderBy('id')
    .execute()

/** The domains with changes that are not rendered yet. */
export async function findOutdatedDomains(connection: Connection): Promise<number[]> {
  const rows = await connection.selectFrom('domains').select('id').whereRef('settled', '<', 'revision').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

/** The value last stored by `setRenderingInputs`; empty before the first call. */
export async function findRenderingInputs(connection: Connection): Promise<string> {
  return (await connection.selectFrom('served_revision').select('rendering').executeTakeFirstOrThrow()).rendering
}

/** Stores the rendering inputs that are not in the database. If they have changed, all masters will be rendered again. */
export async function setRenderingInputs(connection: Connection, rendering: string): Promise<void> {
  const { numUpdatedRows } = await connection
    .updateTable('served_revision')
    .set({ rendering })
    .where('rendering', '!=', rendering)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return
  await connection
    .updateTable('domains')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('type', '=', 'master')
    .execute()
}

/** Zone files, the names under which the name servers serve them, and the state of their rendering. */
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

/** Stores a rendered or transferred zone. */
export async function saveZoneFile(connection: Connection, domainId: number, file: ZoneFile): Promise<void> {
  await connection
    .insertInto('zone_files')
    .values({ domain_id: domainId, ...file })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet({ serial: file.serial, text: file.text }))
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
  if (file !== null) await saveZoneFile(connection, domainId, file)
  else await connection.deleteFrom('zone_files').where('domain_id', '=', domainId).execute()
  return true
}

/** The columns of a domain that rendering needs. */
const SOURCE_COLUMNS = [
  'id',
  'domain',
  'type',
  'status',
  'soa_email',
  'expire_sec',
  'refresh_sec',
  'retry_sec',
  'ttl_sec',
  'revision',
  'settled',
] as const satisfies readonly (keyof DomainRow)[]

export type ZoneSource = Pick<DomainRow, (typeof SOURCE_COLUMNS)[number]>

export type ZoneRecord = Pick<RecordRow, 'id' | 'type' | 'name' | 'target' | 'priority' | 'weight' | 'port' | 'tag' | 'ttl_sec'>

export async function findZoneSource(connection: Connection, domainId: number): Promise<ZoneSource | null> {
  const row = await connection.selectFrom('domains').select(SOURCE_COLUMNS).where('id', '=', domainId).executeTakeFirst()
  return row ?? null
}

/**
 * Marks this revision of a domain as rendered, with error messages about omitted records, and locks the domain until the transaction ends. False,
 * and nothing is marked, if this or a later revision was already marked, or the name or status has changed: the served zone must never go back.
 */
export async function markDomainRendered(
  connection: Connection,
  { id, revision, domain, status }: ZoneSource,
  errors?: string,
): Promise<boolean> {
  const { numUpdatedRows } = await connection
    .updateTable('domains')
    .set({ settled: revision, ...(errors === undefined ? {} : { errors }) })
    .where('id', '=', id)
    .where('settled', '<', revision)
    .where('domain', '=', domain)
    .where('status', '=', status)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The records of a domain in the order of their ids. */
export const findZoneRecords = (connection: Connection, domainId: number): Promise<ZoneRecord[]> =>
  connection
    .selectFrom('records')
    .select(['id', 'type', 'name', 'target', 'priority', 'weight', 'port', 'tag', 'ttl_sec'])
    .where('domain_id', '=', domainId)
    .orderBy('id')
    .execute()

/** A zone file with the properties of its domain that a name server needs. */
export interface ServedFile extends ZoneFile {
  readonly domain_id: number
  readonly type: 'master' | 'slave'
  readonly accountId: number
  /** Addresses that may transfer the zone. */
  readonly axfrIps: readonly string[]
}

/** The zone files by domain. */
export async function findServedFiles(connection: Connection, domainIds: readonly number[]): Promise<Map<number, ServedFile>> {
  if (domainIds.length === 0) return new Map()
  const rows = await connection
    .selectFrom('zone_files')
    .innerJoin('domains', 'domains.id', 'zone_files.domain_id')
    .select(['zone_files.domain_id', 'zone_files.serial', 'zone_files.text', 'domains.type', 'domains.account_id', 'domains.axfr_ips'])
    .where('zone_files.domain_id', 'in', domainIds)
    .execute()
  return new Map(
    rows.map(({ axfr_ips, account_id: accountId, ...row }) => [row.domain_id, { ...row, accountId, axfrIps: JSON.parse(axfr_ips) }]),
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

/** Locks a served name until the transaction ends. Returns the last serial served under it; null if there is none. */
export async function lockServedName(connection: Connection, name: string, domainId: number): Promise<number | null> {
  const row = await connection
    .insertInto('served_zones')
    .values({ name, domain_id: domainId, serial: null, served: 0, revision: 0 })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ domain_id: domainId }))
    .returning('serial')
    .executeTakeFirstOrThrow()
  return row.serial
}

/**
 * Serves the domain's zone file with this serial under a locked name, and under no other name. Without a zone file, the name is served without
 * data; pass the last served serial then. Call it last in a transaction.
 */
export async function serveZone(connection: Connection, name: string, domainId: number, serial: number | null): Promise<void> {
  const revision = await nextRevision(connection)
  await unserve(connection, domainId, revision)
  await connection.updateTable('served_zones').set({ serial, served: 1, revision }).where('name', '=', name).execute()
}

/** Stops serving a domain. Call it last in a transaction. */
export async function unserveDomain(connection: Connection, domainId: number): Promise<void> {
  const served = connection.selectFrom('served_zones').select('name').where('domain_id', '=', domainId).where('served', '=', 1)
  if ((await served.executeTakeFirst()) === undefined) return
  await unserve(connection, domainId, await nextRevision(connection))
}

const unserve = (connection: Connection, domainId: number, revision: number) =>
  connection.updateTable('served_zones').set({ served: 0, revision }).where('domain_id', '=', domainId).where('served', '=', 1).execute()

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

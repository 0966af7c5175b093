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

/** Keeps what was rendered or transferred. */
export async function saveZoneFile(connection: Connection, domainId: number, file: ZoneFile): Promise<void> {
  await connection
    .insertInto('zone_files')
    .values({ domain_id: domainId, ...file })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet({ serial: file.serial, text: file.text }))
    .execute()
}

/**
 * Keeps a slave's zone as it was transferred, its text made by `transferredText`; null for one that is served no longer (RFC 1035
 * section 3.3.13, EXPIRE). What is served follows when the zone is marked as changed. Whether the domain is still there.
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

/** What a zone is rendered from. */
export type ZoneSource = Pick<
  DomainRow,
  'id' | 'domain' | 'type' | 'status' | 'soa_email' | 'expire_sec' | 'refresh_sec' | 'retry_sec' | 'ttl_sec' | 'revision' | 'settled'
>

export type ZoneRecord = Pick<RecordRow, 'id' | 'type' | 'name' | 'target' | 'priority' | 'weight' | 'port' | 'tag' | 'ttl_sec'>

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
] as const satisfies readonly (keyof ZoneSource)[]

export async function findZoneSource(connection: Connection, domainId: number): Promise<ZoneSource | null> {
  const row = await connection.selectFrom('domains').select(SOURCE_COLUMNS).where('id', '=', domainId).executeTakeFirst()
  return row ?? null
}

/**
 * Notes that what is served follows the domain as it was found; with `errors`, what had to be left out. The domain is held until the
 * transaction ends. False, and nothing noted, where that or a later state has been noted already, or the domain has become one whose
 * zone is another: what is served must never go back.
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

/** In the order of their numbers. */
export const findZoneRecords = (connection: Connection, domainId: number): Promise<ZoneRecord[]> =>
  connection
    .selectFrom('records')
    .select(['id', 'type', 'name', 'target', 'priority', 'weight', 'port', 'tag', 'ttl_sec'])
    .where('domain_id', '=', domainId)
    .orderBy('id')
    .execute()

/** What a name server needs of a domain beside its zone. */
export interface ServedFile extends ZoneFile {
  readonly domain_id: number
  readonly type: 'master' | 'slave'
  readonly accountId: number
  /** Addresses that may transfer the zone. */
  readonly axfrIps: readonly string[]
}

/** The zone files of domains, by domain. */
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
 * What the name servers serve. A row a name, changed only in transactions that hold the single row of `served_revision` from then to
 * their end: revisions are committed in their order, so that whoever has seen one has missed none before it.
 */
export interface ServedRow {
  readonly name: string
  readonly domain_id: number
  /** Null for a name that has never had a zone. */
  readonly serial: number | null
  readonly served: boolean
  readonly revision: number
}

/** Keeps other writers of the name from it until the transaction ends. Returns the serial given out last under it; null for none. */
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
 * Serves the domain's zone file, of this serial, under a name that is held, and under no other. Without a file the name is served all the
 * same, as one of which there is no data; the serial is then what was given out last. To be the last of a transaction.
 */
export async function serveZone(connection: Connection, name: string, domainId: number, serial: number | null): Promise<void> {
  const revision = await nextRevision(connection)
  await unserve(connection, domainId, revision)
  await connection.updateTable('served_zones').set({ serial, served: 1, revision }).where('name', '=', name).execute()
}

/** Serves nothing of the domain any more. To be the last of a transaction. */
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

/** What has changed since a revision, in order; since null, all that is served. */
export async function findServedSince(connection: Connection, since: number | null): Promise<ServedRow[]> {
  const all = connection.selectFrom('served_zones').selectAll().orderBy('revision').orderBy('name')
  const rows = await (since === null ? all.where('served', '=', 1) : all.where('revision', '>', since)).execute()
  return rows.map(({ served, ...row }) => ({ ...row, served: served === 1 }))
}

/** The revision of what was committed last. */
export async function findRevision(connection: Connection): Promise<number> {
  return (await connection.selectFrom('served_revision').select('revision').executeTakeFirstOrThrow()).revision
}

/** Domains with changes that what is served does not follow yet. */
export async function findOutdatedDomains(connection: Connection): Promise<number[]> {
  const rows = await connection.selectFrom('domains').select('id').whereRef('settled', '<', 'revision').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

/** What `noteRendering` noted last; empty before that. */
export async function findRenderingInputs(connection: Connection): Promise<string> {
  return (await connection.selectFrom('served_revision').select('rendering').executeTakeFirstOrThrow()).rendering
}

/** Has all masters rendered anew unless they were last rendered from the same: `rendering` is all that is not in the database. */
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

/**
 * What the name servers serve. A row a name, changed only in transactions that hold the single row of `served_revision` from then to
 * their end: revisions are committed in their order, so that whoever has seen one has missed none before it.
 */
import type { Connection } from './database.ts'

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
export async function withdrawZones(connection: Connection, domainId: number): Promise<void> {
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
export async function findUnsettled(connection: Connection): Promise<number[]> {
  const rows = await connection.selectFrom('domains').select('id').whereRef('settled', '<', 'revision').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

/** What `noteRendering` noted last; empty before that. */
export async function findRendering(connection: Connection): Promise<string> {
  return (await connection.selectFrom('served_revision').select('rendering').executeTakeFirstOrThrow()).rendering
}

/** Has all masters rendered anew unless they were last rendered from the same: `rendering` is all that is not in the database. */
export async function noteRendering(connection: Connection, rendering: string): Promise<void> {
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

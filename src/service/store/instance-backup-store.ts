/** The backups of instances. */
import type { Connection } from './database.ts'
import type { ConfigProfile, DiskSettings } from './disk-and-profile-store.ts'
import type { BackupRow, BackupStatus, BackupsTable } from './tables/instances.ts'

/** The content of a backup. The devices of its profiles refer to disks by their original ids. */
export interface BackupContent {
  readonly image: string | null
  readonly disks: readonly (DiskSettings & { readonly id: number })[]
  readonly configs: readonly ConfigProfile[]
}

/** A backup in the API's form. */
export interface StoredBackup {
  readonly id: number
  readonly label: string | null
  readonly type: BackupsTable['type']
  readonly status: BackupStatus
  readonly available: boolean
  readonly configs: readonly string[]
  readonly disks: readonly DiskSettings[]
  readonly created: string
  readonly updated: string
  readonly finished: string | null
}

/** The backups of an instance in the order of their ids. */
export const listBackups = (connection: Connection, instanceId: number): Promise<BackupRow[]> =>
  connection.selectFrom('backups').selectAll().where('instance_id', '=', instanceId).orderBy('id').execute()

/** A backup of any instance of the account; null if there is none with this id. */
export async function findBackup(connection: Connection, accountId: number, id: number): Promise<BackupRow | null> {
  const row = await connection
    .selectFrom('backups')
    .innerJoin('instances', 'instances.id', 'backups.instance_id')
    .selectAll('backups')
    .where('backups.id', '=', id)
    .where('instances.account_id', '=', accountId)
    .executeTakeFirst()
  return row ?? null
}

export async function insertBackup(
  connection: Connection,
  backup: Pick<BackupRow, 'instance_id' | 'type' | 'label' | 'region'> & { readonly content: BackupContent },
  now: string,
): Promise<BackupRow> {
  return connection
    .insertInto('backups')
    .values({ ...backup, content: JSON.stringify(backup.content), status: 'pending', created: now, updated: now, finished: null })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Moves a backup to the next status; null if its status is not `from`. */
export async function advanceBackup(
  connection: Connection,
  id: number,
  from: BackupStatus,
  to: BackupStatus,
  now: string,
): Promise<BackupRow | null> {
  const row = await connection
    .updateTable('backups')
    .set({ status: to, updated: now, ...(to === 'successful' ? { finished: now } : {}) })
    .where('id', '=', id)
    .where('status', '=', from)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** Deletes all finished backups of a type except the latest `count`. */
export async function deleteOldBackups(
  connection: Connection,
  instanceId: number,
  type: BackupsTable['type'],
  count: number,
): Promise<void> {
  const finished = connection
    .selectFrom('backups')
    .select('id')
    .where('instance_id', '=', instanceId)
    .where('type', '=', type)
    .where('status', '=', 'successful')
  const kept = await finished.orderBy('id', 'desc').limit(count).execute()
  const oldest = kept.at(-1)?.id
  if (oldest === undefined) return
  await connection.deleteFrom('backups').where('id', 'in', finished).where('id', '<', oldest).execute()
}

export async function deleteBackups(connection: Connection, instanceId: number): Promise<void> {
  await connection.deleteFrom('backups').where('instance_id', '=', instanceId).execute()
}

/** When the last successful backup was finished, by instance. */
export async function lastBackups(connection: Connection, instanceIds: readonly number[]): Promise<Map<number, string>> {
  if (instanceIds.length === 0) return new Map()
  const rows = await connection
    .selectFrom('backups')
    .select(['instance_id', (eb) => eb.fn.max('finished').as('finished')])
    .where('instance_id', 'in', instanceIds)
    .where('status', '=', 'successful')
    .groupBy('instance_id')
    .execute()
  return new Map(rows.map(({ instance_id, finished }) => [instance_id, finished as string]))
}

export const contentOf = (backup: BackupRow): BackupContent => JSON.parse(backup.content)

export function storedBackup(row: BackupRow): StoredBackup {
  const { disks, configs } = contentOf(row)
  const { id, label, type, status, created, updated, finished } = row
  return {
    ...{ id, label, type, status, available: true },
    configs: configs.map((config) => config.label),
    disks: disks.map(({ label, filesystem, size }) => ({ label, filesystem, size })),
    ...{ created, updated, finished },
  }
}

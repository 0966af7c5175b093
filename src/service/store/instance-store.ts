/** Instances and their backups: their rows and locks, and their form in responses. */
import { type Insertable, sql, type Updateable } from 'kysely'
import { findInstanceType, type InstanceType } from '../catalogue/instance-types.ts'
import type { FilterFields, ListQuery } from '../filter/filter.ts'
import { addressesOf } from './address-store.ts'
import type { Connection } from './database.ts'
import type { ConfigProfile, DiskSettings } from './disk-and-profile-store.ts'
import { deleteGrants, type Viewer, visibleTo } from './grant-store.ts'
import { listRows, type SetFields } from './rows.ts'
import type { BackupRow, BackupStatus, BackupsTable, InstanceRow, InstancesTable } from './tables.ts'
import { labelsOf, setTags, tagsField } from './tag-store.ts'
import { detachVolumes } from './volume-store.ts'

/** The content of a backup. The devices of its profiles refer to disks by their original ids. */
export interface BackupContent {
  readonly image: string | null
  readonly disks: readonly (DiskSettings & { readonly id: number })[]
  readonly configs: readonly ConfigProfile[]
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
async function lastBackups(connection: Connection, instanceIds: readonly number[]): Promise<Map<number, string>> {
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

/** A backup in the API's form. */
export function storedBackup(row: BackupRow) {
  const { disks, configs } = contentOf(row)
  const { id, label, type, status, created, updated, finished } = row
  return {
    ...{ id, label, type, status, available: true },
    configs: configs.map((config) => config.label),
    disks: disks.map(({ label, filesystem, size }) => ({ label, filesystem, size })),
    ...{ created, updated, finished },
  }
}

export interface Alerts {
  readonly cpu: number
  readonly io: number
  readonly network_in: number
  readonly network_out: number
  readonly transfer_quota: number
}

export const INSTANCE_FILTER_FIELDS = {
  id: { kind: 'number' },
  label: { kind: 'text' },
  region: { kind: 'text' },
  image: { kind: 'text', nullable: true },
  group: { kind: 'text' },
  tags: { kind: 'set' },
  ipv4: { kind: 'set' },
} as const satisfies FilterFields

const SETS: SetFields = {
  tags: tagsField('instance', 'instances'),
  ipv4: { text: sql.ref('addresses.address'), rows: sql`from addresses where addresses.instance_id = instances.id` },
}

export async function listInstances(connection: Connection, viewer: Viewer, list: ListQuery) {
  const selected = connection.selectFrom('instances').where(visibleTo(viewer, 'instance'))
  const { items, total } = await listRows<InstanceRow>(selected, { fields: INSTANCE_FILTER_FIELDS, sets: SETS }, list)
  return { items: await storedInstances(connection, items), total }
}

/** The instances with these ids, of any account: the caller has checked the access. */
export async function findInstances(connection: Connection, ids: readonly number[]) {
  if (ids.length === 0) return []
  return storedInstances(connection, await connection.selectFrom('instances').selectAll().where('id', 'in', ids).execute())
}

/** An instance of the account; null if there is none with this id. */
export async function findInstanceRow(connection: Connection, accountId: number, id: number): Promise<InstanceRow | null> {
  const selected = connection.selectFrom('instances').selectAll().where('id', '=', id).where('account_id', '=', accountId)
  return (await selected.executeTakeFirst()) ?? null
}

/**
 * An instance of the account, locked until the transaction ends; null if there is none. A transaction that locks several instances, labels or
 * tags must lock the account first: otherwise two such transactions can deadlock.
 */
export async function lockInstanceRow(connection: Connection, accountId: number, id: number): Promise<InstanceRow | null> {
  // An update locks the row in every database; SQLite has no SELECT … FOR UPDATE.
  const row = await connection
    .updateTable('instances')
    .set((eb) => ({ created: eb.ref('created') }))
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/** An instance of any account, locked until the transaction ends, for jobs. */
export async function lockInstanceRowOfAnyAccount(connection: Connection, id: number): Promise<InstanceRow | null> {
  const row = await findInstanceRowOfAnyAccount(connection, id)
  return row === null ? null : lockInstanceRow(connection, row.account_id, id)
}

/** An instance of any account; null if there is none. */
export async function findInstanceRowOfAnyAccount(connection: Connection, id: number): Promise<InstanceRow | null> {
  return (await connection.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
}

/** Whether another instance of the account has the label. The account must be locked. */
export async function isLabelTaken(connection: Connection, accountId: number, label: string, id: number | null): Promise<boolean> {
  let selected = connection.selectFrom('instances').select('id').where('account_id', '=', accountId).where('label', '=', label)
  if (id !== null) selected = selected.where('id', '!=', id)
  return (await selected.executeTakeFirst()) !== undefined
}

/** Creates an instance, with a generated label if it has none. The account must be locked and the label free. */
export async function insertInstance(
  connection: Connection,
  instance: Omit<Insertable<InstancesTable>, 'label'> & { readonly label: string | null },
): Promise<InstanceRow> {
  // The generated label of the API contains the id, which is known only after the insertion. Until then, the UUID makes it unique.
  const label = instance.label ?? `linode${instance.host_uuid}`
  const row = await connection
    .insertInto('instances')
    .values({ ...instance, label })
    .returningAll()
    .executeTakeFirstOrThrow()
  if (instance.label !== null) return row
  let candidate = `linode${row.id}`
  for (let suffix = 2; await isLabelTaken(connection, row.account_id, candidate, row.id); suffix += 1)
    candidate = `linode${row.id}-${suffix}`
  return updateInstanceRow(connection, row.id, { label: candidate })
}

export const updateInstanceRow = (connection: Connection, id: number, changes: Updateable<InstancesTable>): Promise<InstanceRow> =>
  connection.updateTable('instances').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow()

/** Deletes an instance with its addresses, disks, configuration profiles and backups, and detaches its volumes. The account must be locked. */
export async function deleteInstance(connection: Connection, { id, account_id }: InstanceRow, now: string): Promise<void> {
  await setTags(connection, account_id, 'instance', id, [])
  await deleteGrants(connection, 'instance', id)
  await detachVolumes(connection, id, now)
  // Foreign keys delete its addresses, disks, profiles and backups.
  await connection.deleteFrom('instances').where('id', '=', id).execute()
}

export async function storedInstance(connection: Connection, row: InstanceRow) {
  const [stored] = await storedInstances(connection, [row])
  return stored as NonNullable<typeof stored>
}

/** Instances as responses of the API show them. */
async function storedInstances(connection: Connection, rows: readonly InstanceRow[]) {
  const ids = rows.map(({ id }) => id)
  const tags = await labelsOf(connection, 'instance', ids)
  const addresses = await addressesOf(connection, ids)
  const backups = await lastBackups(connection, ids)
  return rows.map((row) => {
    const { id, label, group, region, type, image, host_uuid, created, updated } = row
    const { disk, gpus, memory, transfer, vcpus } = specsOf(row)
    const lastSuccessful = backups.get(id) ?? null
    return {
      id,
      label,
      group,
      tags: tags.get(id) ?? [],
      region,
      type,
      image,
      ipv4: addresses.get(id) ?? [],
      ipv6: row.ipv6 === null ? null : `${row.ipv6}/128`,
      hypervisor: 'kvm',
      host_uuid,
      status: displayedStatus(row),
      created,
      updated,
      watchdog_enabled: row.watchdog_enabled === 1,
      alerts: JSON.parse(row.alerts),
      backups: {
        available: lastSuccessful !== null,
        enabled: row.backups_enabled === 1,
        last_successful: lastSuccessful,
        schedule: { day: row.backup_day, window: row.backup_window },
      },
      specs: { disk, gpus, memory, transfer, vcpus },
    }
  })
}

/** The hardware of an instance, from its type. */
export function specsOf({ type }: Pick<InstanceRow, 'type'>): InstanceType {
  const specs = findInstanceType(type)
  if (specs === null) throw new Error(`instance type ${type} is not in the catalogue; a type in use must stay there`)
  return specs
}

const isStable = ({ status }: InstanceRow): boolean => status === 'running' || status === 'offline'

const displayedStatus = (row: InstanceRow): string => (row.clones > 0 && isStable(row) ? 'cloning' : row.status)

/** Whether the instance is changing its state or being written to, so that its disks cannot be copied. */
export const isChanging = (row: InstanceRow): boolean => !isStable(row) || row.receiving === 1

/** Whether the instance is changing or being cloned, so that nothing else may change it. */
export const isBusy = (row: InstanceRow): boolean => isChanging(row) || row.clones > 0

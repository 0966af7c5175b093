/** The operations on the backups of an instance. */
import RESTORE from '../../../../schemas/service/backup-restore.json' with { type: 'json' }
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import BACKUP from '../../../../schemas/service/instance-backup.json' with { type: 'json' }
import BACKUPS from '../../../../schemas/service/instance-backups.json' with { type: 'json' }
import SNAPSHOT from '../../../../schemas/service/snapshot-create.json' with { type: 'json' }
import { createBackup, scheduleBackups } from '../../jobs/backup-jobs.ts'
import { DURATIONS, INSTANCE_RESTORED } from '../../jobs/instance-jobs.ts'
import type { Connection } from '../../store/database.ts'
import { deleteConfigProfiles, deleteDisks, listDisks, totalDiskSize } from '../../store/disk-and-profile-store.ts'
import { findPermissions } from '../../store/grant-store.ts'
import { type BackupContent, contentOf, deleteBackups, findBackup, listBackups, storedBackup } from '../../store/instance-backup-store.ts'
import { findInstanceRow, isBusy, isChanging, lockInstanceRow, specsOf, updateInstanceRow } from '../../store/instance-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import type { BackupRow, InstanceRow } from '../../store/tables/instances.ts'
import { type Moment, momentAt } from '../../timestamp.ts'
import type { Actor } from '../authenticate.ts'
import { forbidden, READ_INSTANCE, WRITE_INSTANCE } from '../grants.ts'
import { badRequest, notFound } from '../request-error.ts'
import { type Call, defineRoute } from '../route.ts'
import { addContent, spaceProblem } from './create-instance.ts'
import { instanceBusy, notValid } from './instance-input.ts'

const list = defineRoute({
  method: 'GET',
  path: '/compute/instances/{instanceId}/backups',
  summary: 'List the backups of an instance',
  scope: 'instances:read_only',
  grants: READ_INSTANCE,
  response: BACKUPS,
  handle: ({ actor, ids }, { database }) =>
    database.read(async (connection) => {
      const id = ids['instanceId'] as number
      if ((await findInstanceRow(connection, actor.accountId, id)) === null) throw notFound()
      const backups = (await listBackups(connection, id)).map(storedBackup)
      const snapshots = backups.filter(({ type }) => type === 'snapshot')
      return {
        automatic: backups.filter(({ type }) => type === 'auto'),
        snapshot: {
          current: snapshots.findLast(({ status }) => status === 'successful') ?? null,
          in_progress: snapshots.find(({ status }) => status !== 'successful') ?? null,
        },
      }
    }),
})

const snapshot = defineRoute<{ readonly label: string }>({
  method: 'POST',
  path: '/compute/instances/{instanceId}/backups',
  summary: 'Create a snapshot; once complete, it replaces the previous one',
  scope: 'instances:read_write',
  grants: WRITE_INSTANCE,
  body: SNAPSHOT,
  response: BACKUP,
  handle: async (call, service) => {
    const backup = await service.database.write(async (connection) => {
      const instance = await lockInstance(connection, call)
      if (instance.backups_enabled === 0) throw badRequest({ field: null, reason: 'Backups are not enabled for this Linode.' })
      const backups = await listBackups(connection, instance.id)
      if (isChanging(instance) || backups.some(({ type, status }) => type === 'snapshot' && status !== 'successful')) throw instanceBusy()
      return createBackup(connection, instance, 'snapshot', call.body.label, momentAt(service.clock()))
    })
    service.jobs.wake()
    return storedBackup(backup)
  },
})

const cancel = defineRoute({
  method: 'POST',
  path: '/compute/instances/{instanceId}/backups/cancel',
  summary: 'Disable backups and delete all existing ones',
  scope: 'instances:read_write',
  grants: WRITE_INSTANCE,
  response: EMPTY,
  handle: async (call, service) => {
    await service.database.write(async (connection) => {
      const instance = await lockInstance(connection, call)
      await deleteBackups(connection, instance.id)
      await scheduleBackups(connection, instance, { enabled: false, day: null, window: null }, momentAt(service.clock()))
    })
    return {}
  },
})

const enable = defineRoute({
  method: 'POST',
  path: '/compute/instances/{instanceId}/backups/enable',
  summary: 'Enable backups',
  scope: 'instances:read_write',
  grants: WRITE_INSTANCE,
  response: EMPTY,
  handle: async (call, service) => {
    await service.database.write(async (connection) => {
      const instance = await lockInstance(connection, call)
      if (instance.backups_enabled === 1) return
      const { backup_day: day, backup_window: window } = instance
      await scheduleBackups(connection, instance, { enabled: true, day, window }, momentAt(service.clock()))
    })
    service.jobs.wake()
    return {}
  },
})

const get = defineRoute({
  method: 'GET',
  path: '/compute/instances/{instanceId}/backups/{backupId}',
  summary: 'Read a backup of an instance',
  scope: 'instances:read_only',
  grants: READ_INSTANCE,
  response: BACKUP,
  handle: (call, { database }) => database.read(async (connection) => storedBackup(await find(connection, call))),
})

const restore = defineRoute<{ readonly instance_id: number; readonly overwrite?: boolean }>({
  method: 'POST',
  path: '/compute/instances/{instanceId}/backups/{backupId}/restore',
  summary: 'Restore a backup to an instance',
  scope: 'instances:read_write',
  grants: WRITE_INSTANCE,
  body: RESTORE,
  response: EMPTY,
  handle: async (call, service) => {
    const { instance_id: targetId, overwrite = false } = call.body
    await service.database.write(async (connection) => {
      const backup = await find(connection, call)
      await restoreBackup(connection, call.actor, backup, { targetId, overwrite }, momentAt(service.clock()))
    })
    service.jobs.wake()
    return {}
  },
})

export const BACKUP_ROUTES = [list, snapshot, cancel, enable, get, restore] as const

/** Locks the instance of a path; throws 404 if there is none. */
async function lockInstance(connection: Connection, { actor, ids }: Pick<Call<unknown>, 'actor' | 'ids'>): Promise<InstanceRow> {
  const instance = await lockInstanceRow(connection, actor.accountId, ids['instanceId'] as number)
  if (instance === null) throw notFound()
  return instance
}

/** The backup of a path; throws 404 if the instance has no such backup. */
async function find(connection: Connection, { actor, ids }: Pick<Call<unknown>, 'actor' | 'ids'>): Promise<BackupRow> {
  const backup = await findBackup(connection, actor.accountId, ids['backupId'] as number)
  if (backup === null || backup.instance_id !== ids['instanceId']) throw notFound()
  return backup
}

/**
 * Restores a backup to an instance. With `overwrite`, its disks and profiles are deleted first and it is offline afterwards. Otherwise those of the
 * backup are added and its state stays. Throws 400, or 403 if the user may not change the instance.
 */
async function restoreBackup(
  connection: Connection,
  actor: Actor,
  backup: BackupRow,
  { targetId, overwrite }: { readonly targetId: number; readonly overwrite: boolean },
  { now, nowText }: Moment,
): Promise<void> {
  const target = await lockRestoreTarget(connection, actor, backup, targetId)
  const content = contentOf(backup)
  await checkSpace(connection, target, content, overwrite)
  if (overwrite) {
    await deleteConfigProfiles(connection, targetId)
    await deleteDisks(connection, targetId)
  }
  await addContent(connection, targetId, content, nowText)
  const changes = overwrite ? { image: content.image, last_booted: null } : {}
  await updateInstanceRow(connection, targetId, { status: 'restoring', updated: nowText, ...changes })
  const payload = { status: overwrite ? 'offline' : target.status }
  await enqueueJob(connection, { kind: INSTANCE_RESTORED, subject: targetId, payload, due: now + DURATIONS.restore })
}

/** Locks the instance to restore to. Throws 400 if the backup cannot be restored to it, 403 if the user may not change it. */
async function lockRestoreTarget(connection: Connection, actor: Actor, backup: BackupRow, targetId: number): Promise<InstanceRow> {
  if ((await findInstanceRow(connection, actor.accountId, targetId)) === null) throw badRequest(notValid('instance_id'))
  if (actor.restricted && (await findPermissions(connection, actor, 'instance', targetId)) !== 'read_write') throw forbidden()
  if (backup.status !== 'successful') throw badRequest({ field: null, reason: 'Unable to restore pending backups.' })
  const target = await lockInstanceRow(connection, actor.accountId, targetId)
  if (target === null || isBusy(target)) throw instanceBusy()
  if (target.region !== backup.region) {
    throw badRequest({ field: 'instance_id', reason: `The backup can be restored in ${backup.region} only.` })
  }
  return target
}

/** Throws 400 if the disks of the backup do not fit on the instance. */
async function checkSpace(connection: Connection, target: InstanceRow, { disks }: BackupContent, overwrite: boolean): Promise<void> {
  const used = overwrite ? 0 : totalDiskSize(await listDisks(connection, target.id))
  const free = specsOf(target).disk - used
  const needed = totalDiskSize(disks)
  if (needed > free) throw badRequest(spaceProblem('instance_id', needed, free))
}

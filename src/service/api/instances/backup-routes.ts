/** The operations on the backups of an instance. */
import RESTORE from '../../../../schemas/service/backup-restore.json' with { type: 'json' }
import BACKUP from '../../../../schemas/service/instance-backup.json' with { type: 'json' }
import BACKUPS from '../../../../schemas/service/instance-backups.json' with { type: 'json' }
import SNAPSHOT from '../../../../schemas/service/snapshot-create.json' with { type: 'json' }
import { createBackup, DURATIONS, INSTANCE_RESTORED, scheduleBackups } from '../../jobs/jobs.ts'
import type { Connection } from '../../store/database.ts'
import { deleteConfigProfiles, deleteDisks, listDisks, totalDiskSize } from '../../store/disk-and-profile-store.ts'
import { findPermissions } from '../../store/grant-store.ts'
import {
  type BackupContent,
  contentOf,
  deleteBackups,
  findBackup,
  findInstanceRow,
  isBusy,
  isChanging,
  listBackups,
  lockInstanceRow,
  specsOf,
  storedBackup,
  updateInstanceRow,
} from '../../store/instance-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import type { BackupRow, InstanceRow } from '../../store/tables.ts'
import { type Moment, momentAt } from '../../time.ts'
import type { Actor } from '../authenticate.ts'
import { forbidden, GRANTED_INSTANCE } from '../grants.ts'
import { badRequest, orNotFound } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'
import { addContent, instanceBusy, notValid, spaceProblem } from './create-instance.ts'

const INSTANCE_BACKUPS = resource({
  path: '/compute/instances/{instanceId}/backups',
  parameter: 'backupId',
  family: 'instances',
  object: GRANTED_INSTANCE,
  schema: BACKUP,
  view: storedBackup,
})

export const BACKUP_ROUTES: readonly Route[] = [
  INSTANCE_BACKUPS.action(
    'GET',
    '/compute/instances/{instanceId}/backups',
    'List the backups of an instance',
    ({ actor, ids: { instanceId: id } }, { database }) =>
      database.read(async (connection) => {
        orNotFound(await findInstanceRow(connection, actor.accountId, id))
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
    { response: BACKUPS },
  ),
  INSTANCE_BACKUPS.create<{ readonly label: string }>(
    'Create a snapshot; once complete, it replaces the previous one',
    SNAPSHOT,
    async ({ actor, ids, body }, { database, clock, jobs }) => {
      const backup = await database.write(async (connection) => {
        const instance = orNotFound(await lockInstanceRow(connection, actor.accountId, ids.instanceId))
        if (instance.backups_enabled === 0) throw badRequest({ field: null, reason: 'Backups are not enabled for this Linode.' })
        const backups = await listBackups(connection, instance.id)
        if (isChanging(instance) || backups.some(({ type, status }) => type === 'snapshot' && status !== 'successful')) throw instanceBusy()
        return createBackup(connection, instance, 'snapshot', body.label, momentAt(clock()))
      })
      jobs.wake()
      return backup
    },
  ),
  INSTANCE_BACKUPS.action(
    'POST',
    '/compute/instances/{instanceId}/backups/cancel',
    'Disable backups and delete all existing ones',
    ({ actor, ids }, { database, clock }) =>
      database.write(async (connection) => {
        const instance = orNotFound(await lockInstanceRow(connection, actor.accountId, ids.instanceId))
        await deleteBackups(connection, instance.id)
        await scheduleBackups(connection, instance, { enabled: false, day: null, window: null }, momentAt(clock()))
      }),
  ),
  INSTANCE_BACKUPS.action(
    'POST',
    '/compute/instances/{instanceId}/backups/enable',
    'Enable backups',
    async ({ actor, ids }, { database, clock, jobs }) => {
      await database.write(async (connection) => {
        const instance = orNotFound(await lockInstanceRow(connection, actor.accountId, ids.instanceId))
        if (instance.backups_enabled === 1) return
        const { backup_day: day, backup_window: window } = instance
        await scheduleBackups(connection, instance, { enabled: true, day, window }, momentAt(clock()))
      })
      jobs.wake()
    },
  ),
  INSTANCE_BACKUPS.get('Read a backup of an instance', find),
  INSTANCE_BACKUPS.action<{ readonly instance_id: number; readonly overwrite?: boolean }>(
    'POST',
    '/compute/instances/{instanceId}/backups/{backupId}/restore',
    'Restore a backup to an instance',
    async (call, { database, clock, jobs }) => {
      const { instance_id: targetId, overwrite = false } = call.body
      await database.write(async (connection) => {
        const backup = orNotFound(await find(connection, call))
        await restoreBackup(connection, call.actor, backup, { targetId, overwrite }, momentAt(clock()))
      })
      jobs.wake()
    },
    { body: RESTORE },
  ),
]

/** The backup of a path; null if the instance has no such backup. */
async function find(
  connection: Connection,
  { actor, ids }: { readonly actor: Actor; readonly ids: Readonly<Record<'instanceId' | 'backupId', number>> },
): Promise<BackupRow | null> {
  const backup = await findBackup(connection, actor.accountId, ids.backupId)
  return backup?.instance_id === ids.instanceId ? backup : null
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

import RESTORE from '../../../../schemas/service/backup-restore.json' with { type: 'json' }
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import BACKUP from '../../../../schemas/service/instance-backup.json' with { type: 'json' }
import BACKUPS from '../../../../schemas/service/instance-backups.json' with { type: 'json' }
import SNAPSHOT from '../../../../schemas/service/snapshot-create.json' with { type: 'json' }
import { scheduleBackups, takeBackup } from '../../jobs/backup-jobs.ts'
import type { Connection } from '../../store/database.ts'
import { deleteBackups, findBackup, listBackups, storedBackup } from '../../store/instance-backup-store.ts'
import { findInstanceRow, isOccupied, lockInstanceRow } from '../../store/instance-store.ts'
import type { BackupRow, InstanceRow } from '../../store/tables/instances.ts'
import { READS_INSTANCE, WRITES_INSTANCE } from '../grants.ts'
import { invalid, notFound } from '../request-error.ts'
import { type Call, defineRoute } from '../route.ts'
import { linodeBusy } from './busy.ts'
import { momentOf } from './moment-of.ts'
import { restoreBackup } from './restore-backup.ts'

const list = defineRoute({
  method: 'GET',
  path: '/compute/instances/{instanceId}/backups',
  summary: 'List the backups of an instance',
  scope: 'instances:read_only',
  needs: READS_INSTANCE,
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
  summary: 'Make a snapshot, which takes the place of the one before when it is finished',
  scope: 'instances:read_write',
  needs: WRITES_INSTANCE,
  body: SNAPSHOT,
  response: BACKUP,
  handle: async (call, service) => {
    const backup = await service.database.write(async (connection) => {
      const instance = await hold(connection, call)
      if (instance.backups_enabled === 0) throw invalid({ field: null, reason: 'Backups are not enabled for this Linode.' })
      const backups = await listBackups(connection, instance.id)
      if (isOccupied(instance) || backups.some(({ type, status }) => type === 'snapshot' && status !== 'successful')) throw linodeBusy()
      return takeBackup(connection, instance, 'snapshot', call.body.label, momentOf(service))
    })
    service.jobs.wake()
    return storedBackup(backup)
  },
})

const cancel = defineRoute({
  method: 'POST',
  path: '/compute/instances/{instanceId}/backups/cancel',
  summary: 'Disable backups and delete those there are',
  scope: 'instances:read_write',
  needs: WRITES_INSTANCE,
  response: EMPTY,
  handle: async (call, service) => {
    await service.database.write(async (connection) => {
      const instance = await hold(connection, call)
      await deleteBackups(connection, instance.id)
      await scheduleBackups(connection, instance, { enabled: false, day: null, window: null }, momentOf(service))
    })
    return {}
  },
})

const enable = defineRoute({
  method: 'POST',
  path: '/compute/instances/{instanceId}/backups/enable',
  summary: 'Enable backups',
  scope: 'instances:read_write',
  needs: WRITES_INSTANCE,
  response: EMPTY,
  handle: async (call, service) => {
    await service.database.write(async (connection) => {
      const instance = await hold(connection, call)
      if (instance.backups_enabled === 1) return
      const { backup_day: day, backup_window: window } = instance
      await scheduleBackups(connection, instance, { enabled: true, day, window }, momentOf(service))
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
  needs: READS_INSTANCE,
  response: BACKUP,
  handle: (call, { database }) => database.read(async (connection) => storedBackup(await find(connection, call))),
})

const restore = defineRoute<{ readonly instance_id: number; readonly overwrite?: boolean }>({
  method: 'POST',
  path: '/compute/instances/{instanceId}/backups/{backupId}/restore',
  summary: 'Restore a backup to an instance',
  scope: 'instances:read_write',
  needs: WRITES_INSTANCE,
  body: RESTORE,
  response: EMPTY,
  handle: async (call, service) => {
    const { instance_id: targetId, overwrite = false } = call.body
    await service.database.write(async (connection) => {
      const backup = await find(connection, call)
      await restoreBackup(connection, call.actor, backup, { targetId, overwrite }, momentOf(service))
    })
    service.jobs.wake()
    return {}
  },
})

export const BACKUP_ROUTES = [list, snapshot, cancel, enable, get, restore] as const

/** The instance of a path, held; throws 404 where there is none. */
async function hold(connection: Connection, { actor, ids }: Pick<Call<unknown>, 'actor' | 'ids'>): Promise<InstanceRow> {
  const instance = await lockInstanceRow(connection, actor.accountId, ids['instanceId'] as number)
  if (instance === null) throw notFound()
  return instance
}

/** The backup of a path; throws 404 where there is none, or it is another instance's. */
async function find(connection: Connection, { actor, ids }: Pick<Call<unknown>, 'actor' | 'ids'>): Promise<BackupRow> {
  const backup = await findBackup(connection, actor.accountId, ids['backupId'] as number)
  if (backup === null || backup.instance_id !== ids['instanceId']) throw notFound()
  return backup
}

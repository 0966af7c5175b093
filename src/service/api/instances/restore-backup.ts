import { DURATIONS } from '../../jobs/durations.ts'
import { INSTANCE_RESTORED } from '../../jobs/instance-jobs.ts'
import type { JobMoment } from '../../jobs/job-handler.ts'
import type { Connection } from '../../store/database.ts'
import { findPermissions } from '../../store/grant-store.ts'
import { contentOf } from '../../store/instance-backup-store.ts'
import { deleteConfigs, deleteDisks, listDisks, totalSize } from '../../store/instance-content-store.ts'
import { findInstanceRow, isBusy, lockInstanceRow, specsOf, updateInstanceRow } from '../../store/instance-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import type { BackupRow } from '../../store/tables/instances.ts'
import type { Actor } from '../authenticate.ts'
import { unauthorized } from '../grants.ts'
import { invalid } from '../request-error.ts'
import { linodeBusy } from './busy.ts'
import { notValid } from './instance-input.ts'
import { spaceProblem } from './space.ts'
import { writeContent } from './write-content.ts'

/**
 * Writes a backup to an instance. With `overwrite` its disks and profiles are deleted first, and it is offline then; else it goes on as it
 * was, with those of the backup beside its own. Throws 400, or 403 where the user may not change the instance.
 */
export async function restoreBackup(
  connection: Connection,
  actor: Actor,
  backup: BackupRow,
  { targetId, overwrite }: { readonly targetId: number; readonly overwrite: boolean },
  { now, nowText }: JobMoment,
): Promise<void> {
  if ((await findInstanceRow(connection, actor.accountId, targetId)) === null) throw invalid(notValid('instance_id'))
  if (actor.restricted && (await findPermissions(connection, actor, 'instance', targetId)) !== 'read_write') throw unauthorized()
  if (backup.status !== 'successful') throw invalid({ field: null, reason: 'Unable to restore pending backups.' })
  const target = await lockInstanceRow(connection, actor.accountId, targetId)
  if (target === null || isBusy(target)) throw linodeBusy()
  if (target.region !== backup.region) {
    throw invalid({ field: 'instance_id', reason: `The backup can be restored in ${backup.region} only.` })
  }
  const content = contentOf(backup)
  const used = overwrite ? 0 : totalSize(await listDisks(connection, targetId))
  const free = specsOf(target).disk - used
  if (totalSize(content.disks) > free) throw invalid(spaceProblem('instance_id', totalSize(content.disks), free))
  if (overwrite) {
    await deleteConfigs(connection, targetId)
    await deleteDisks(connection, targetId)
  }
  await writeContent(connection, targetId, content, nowText)
  const changes = overwrite ? { image: content.image, last_booted: null } : {}
  await updateInstanceRow(connection, targetId, { status: 'restoring', updated: nowText, ...changes })
  const payload = { status: overwrite ? 'offline' : target.status }
  await enqueueJob(connection, { kind: INSTANCE_RESTORED, subject: targetId, payload, due: now + DURATIONS.restore })
}

/** What an instance is made from: an image, a script, the backup of another. Each must be there for the one who asks. */
import type { Connection } from '../../store/database.ts'
import { findPermissions } from '../../store/grant-store.ts'
import { findDeployableImage } from '../../store/image-store.ts'
import { type BackupContent, contentOf, findBackup } from '../../store/instance-backup-store.ts'
import { totalSize } from '../../store/instance-content-store.ts'
import { findScript, type StoredScript, takesImage } from '../../store/script-store.ts'
import { sshKeysOfUsers } from '../../store/ssh-key-store.ts'
import type { Actor } from '../authenticate.ts'
import { unauthorized } from '../grants.ts'
import type { RequestProblem } from '../request-error.ts'
import { readUserDefinedFields } from '../scripts/user-defined-fields.ts'
import { type InstanceOrder, notValid } from './instance-input.ts'
import { fieldProblems } from './script-data.ts'

export interface DeploySource {
  /** Null without an image. */
  readonly image: { readonly id: string; readonly label: string } | null
  readonly script: StoredScript | null
  /** Null without a backup. */
  readonly backup: BackupContent | null
}

/** Finds what an order names; what is wrong with it is added to the faults. */
export async function findSource(
  connection: Connection,
  actor: Actor,
  order: InstanceOrder,
  problems: RequestProblem[],
): Promise<DeploySource> {
  const image = order.image === null ? null : await findDeployableImage(connection, actor, order.image)
  if (order.image !== null && image === null) problems.push(notValid('image'))
  if (image !== null && image.size > order.type.disk - order.swapSize) {
    const small = image.size > order.type.disk
    problems.push(
      small
        ? { field: 'type', reason: `The image needs ${image.size} MB, and the type has ${order.type.disk} MB.` }
        : { field: 'swap_size', reason: `swap_size must be between 0 and ${order.type.disk - image.size}` },
    )
  }
  const script = order.scriptId === null ? null : await findScript(connection, actor, order.scriptId)
  if (order.scriptId !== null && script === null) problems.push(notValid('script_id'))
  if (script !== null) {
    if (image !== null && !takesImage(script, image.id)) {
      problems.push({ field: 'image', reason: 'The requested distribution is not supported by this stackscript.' })
    }
    problems.push(...fieldProblems(readUserDefinedFields(script.script), order.scriptData))
  }
  const backup = order.backupId === null ? null : await findBackupToDeploy(connection, actor, order, order.backupId, problems)
  await checkUsers(connection, actor, order.authorizedUsers, problems)
  return { image, script, backup }
}

async function findBackupToDeploy(
  connection: Connection,
  actor: Actor,
  { region, type }: InstanceOrder,
  id: number,
  problems: RequestProblem[],
): Promise<BackupContent | null> {
  const backup = await findBackup(connection, actor.accountId, id)
  if (backup === null) {
    problems.push(notValid('backup_id'))
    return null
  }
  if (actor.restricted && (await findPermissions(connection, actor, 'instance', backup.instance_id)) !== 'read_write') throw unauthorized()
  if (backup.status !== 'successful') problems.push({ field: 'backup_id', reason: 'Unable to restore pending backups.' })
  if (backup.region !== region.id) problems.push({ field: 'region', reason: `The backup can be restored in ${backup.region} only.` })
  const content = contentOf(backup)
  const needed = totalSize(content.disks)
  if (needed > type.disk) problems.push({ field: 'type', reason: `The backup needs ${needed} MB, and the type has ${type.disk} MB.` })
  return content
}

async function checkUsers(connection: Connection, actor: Actor, usernames: readonly string[], problems: RequestProblem[]): Promise<void> {
  const keys = await sshKeysOfUsers(connection, actor.accountId, usernames)
  if (usernames.some((username) => !keys.has(username))) problems.push(notValid('authorized_users'))
  else if (usernames.some((username) => keys.get(username)?.length === 0)) {
    problems.push({ field: 'authorized_users', reason: 'Every user of authorized_users must have SSH keys.' })
  }
}

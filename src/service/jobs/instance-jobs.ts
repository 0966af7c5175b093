/** Jobs that end the temporary states of instances: provisioning, booting, cloning and restoring. */
import { lockAccountRow } from '../store/account-store.ts'
import type { Connection } from '../store/database.ts'
import { markDisksReady } from '../store/disk-and-profile-store.ts'
import { findInstanceRowOfAnyAccount, lockInstanceRow, lockInstanceRowOfAnyAccount, updateInstanceRow } from '../store/instance-store.ts'
import type { InstanceStatus } from '../store/tables/instances.ts'
import type { JobHandler } from './job-runner.ts'

/** The durations of temporary states, in milliseconds of the service's clock. */
export const DURATIONS = {
  provisionImage: 10_000,
  provisionBackup: 15_000,
  boot: 5_000,
  reboot: 8_000,
  clone: 20_000,
  restore: 15_000,
  /** The backup states `pending`, `running` and `needsPostProcessing`. */
  backupPending: 3_000,
  backupRunning: 20_000,
  backupPostProcessing: 5_000,
  /** Until a day and a window for backups are chosen. */
  scheduling: 30_000,
  /** Until the next try, if an instance was busy at the time of its automatic backup. */
  backupRetry: 15 * 60_000,
} satisfies Readonly<Record<string, number>>

/** Ends `provisioning` of an instance created from an image. */
export const INSTANCE_PROVISIONED = 'instance-provisioned'

/** Ends `provisioning` of an instance created from a backup; its own kind shows that a backup is being restored. */
export const INSTANCE_PROVISIONED_FROM_BACKUP = 'instance-made-of-backup'

/** Ends `booting` or `rebooting`. */
export const INSTANCE_BOOTED = 'instance-booted'

/** Ends a clone; the subject is the source. */
export const INSTANCE_CLONED = 'instance-cloned'

/** Ends `restoring`. */
export const INSTANCE_RESTORED = 'instance-restored'

/** The payload of a job after which an instance may run. */
export interface BootPayload {
  /** The id of the profile it boots with; null leaves it offline. */
  readonly config: number | null
}

/** Ends a temporary state: the disks become ready, and the instance runs if it has booted a profile. */
async function finish(
  connection: Connection,
  id: number,
  from: readonly InstanceStatus[],
  { config }: BootPayload,
  nowText: string,
): Promise<void> {
  const instance = await lockInstanceRowOfAnyAccount(connection, id)
  if (instance === null || !from.includes(instance.status)) return
  await markDisksReady(connection, id, nowText)
  const booted =
    config === null ? undefined : await connection.selectFrom('configs').select('id').where('id', '=', config).executeTakeFirst()
  const state = config === null ? { status: 'offline' as const } : { status: 'running' as const, last_booted: booted?.id ?? null }
  await updateInstanceRow(connection, id, { ...state, updated: nowText })
}

const provisioned: JobHandler = (connection, { subject, payload }, { nowText }) =>
  finish(connection, subject, ['provisioning'], payload as unknown as BootPayload, nowText)

const booted: JobHandler = (connection, { subject, payload }, { nowText }) =>
  finish(connection, subject, ['booting', 'rebooting'], payload as unknown as BootPayload, nowText)

const cloned: JobHandler = async (connection, { subject, payload }, { nowText }) => {
  const source = await findInstanceRowOfAnyAccount(connection, subject)
  if (source === null) return
  await lockAccountRow(connection, source.account_id)
  const locked = await lockInstanceRow(connection, source.account_id, subject)
  if (locked === null) return
  await updateInstanceRow(connection, subject, { clones: Math.max(0, locked.clones - 1), updated: nowText })
  const target = await lockInstanceRowOfAnyAccount(connection, payload['target'] as number)
  if (target === null) return
  await markDisksReady(connection, target.id, nowText)
  await updateInstanceRow(connection, target.id, { receiving: 0, updated: nowText })
}

const restored: JobHandler = async (connection, { subject, payload }, { nowText }) => {
  const instance = await lockInstanceRowOfAnyAccount(connection, subject)
  if (instance === null || instance.status !== 'restoring') return
  await markDisksReady(connection, subject, nowText)
  await updateInstanceRow(connection, subject, { status: payload['status'] as InstanceStatus, updated: nowText })
}

export const INSTANCE_HANDLERS: Readonly<Record<string, JobHandler>> = {
  [INSTANCE_PROVISIONED]: provisioned,
  [INSTANCE_PROVISIONED_FROM_BACKUP]: provisioned,
  [INSTANCE_BOOTED]: booted,
  [INSTANCE_CLONED]: cloned,
  [INSTANCE_RESTORED]: restored,
}

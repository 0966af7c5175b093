import { lockAccountRow } from '../store/account-store.ts'
import type { Connection } from '../store/database.ts'
import { finishDisks } from '../store/instance-content-store.ts'
import { findAnyInstance, lockAnyInstanceRow, lockInstanceRow, updateInstanceRow } from '../store/instance-store.ts'
import type { InstanceStatus } from '../store/tables/instances.ts'
import type { JobHandler } from './job-handler.ts'

/** About an instance that is `provisioning`, from an image. */
export const INSTANCE_PROVISIONED = 'instance-provisioned'

/** The same of one that is made of a backup, so that it is known to be restoring that. */
export const INSTANCE_PROVISIONED_FROM_BACKUP = 'instance-made-of-backup'

/** About an instance that is `booting` or `rebooting`. */
export const INSTANCE_BOOTED = 'instance-booted'

/** About the source of a clone. */
export const INSTANCE_CLONED = 'instance-cloned'

/** About an instance that is `restoring`. */
export const INSTANCE_RESTORED = 'instance-restored'

/** The payload of a job that ends a state in which an instance may have been started. */
export interface BootPayload {
  /** The profile it is booted with; null leaves it offline. */
  readonly config: number | null
}

/** Ends a state of an instance, in which its disks were written; with what is given, it runs. */
async function settle(
  connection: Connection,
  id: number,
  from: readonly InstanceStatus[],
  { config }: BootPayload,
  nowText: string,
): Promise<void> {
  const instance = await lockAnyInstanceRow(connection, id)
  if (instance === null || !from.includes(instance.status)) return
  await finishDisks(connection, id, nowText)
  const booted =
    config === null ? undefined : await connection.selectFrom('configs').select('id').where('id', '=', config).executeTakeFirst()
  const state = config === null ? { status: 'offline' as const } : { status: 'running' as const, last_booted: booted?.id ?? null }
  await updateInstanceRow(connection, id, { ...state, updated: nowText })
}

const provisioned: JobHandler = (connection, { subject, payload }, { nowText }) =>
  settle(connection, subject, ['provisioning'], payload as unknown as BootPayload, nowText)

const booted: JobHandler = (connection, { subject, payload }, { nowText }) =>
  settle(connection, subject, ['booting', 'rebooting'], payload as unknown as BootPayload, nowText)

const cloned: JobHandler = async (connection, { subject, payload }, { nowText }) => {
  const source = await findAnyInstance(connection, subject)
  if (source === null) return
  await lockAccountRow(connection, source.account_id)
  const held = await lockInstanceRow(connection, source.account_id, subject)
  if (held === null) return
  await updateInstanceRow(connection, subject, { clones: Math.max(0, held.clones - 1), updated: nowText })
  const target = await lockAnyInstanceRow(connection, payload['target'] as number)
  if (target === null) return
  await finishDisks(connection, target.id, nowText)
  await updateInstanceRow(connection, target.id, { receiving: 0, updated: nowText })
}

const restored: JobHandler = async (connection, { subject, payload }, { nowText }) => {
  const instance = await lockAnyInstanceRow(connection, subject)
  if (instance === null || instance.status !== 'restoring') return
  await finishDisks(connection, subject, nowText)
  await updateInstanceRow(connection, subject, { status: payload['status'] as InstanceStatus, updated: nowText })
}

export const INSTANCE_HANDLERS: Readonly<Record<string, JobHandler>> = {
  [INSTANCE_PROVISIONED]: provisioned,
  [INSTANCE_PROVISIONED_FROM_BACKUP]: provisioned,
  [INSTANCE_BOOTED]: booted,
  [INSTANCE_CLONED]: cloned,
  [INSTANCE_RESTORED]: restored,
}

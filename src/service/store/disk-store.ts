import type { Connection } from './database.ts'
import type { DiskRow, DisksTable } from './tables/instances.ts'

/** What there is to say about a disk before it is made. */
export interface DiskContent {
  readonly label: string
  readonly filesystem: DisksTable['filesystem']
  /** MB. */
  readonly size: number
}

/** The disks of an instance in the order of their numbers. */
export const listDisks = (connection: Connection, instanceId: number): Promise<DiskRow[]> =>
  connection.selectFrom('disks').selectAll().where('instance_id', '=', instanceId).orderBy('id').execute()

export async function insertDisk(
  connection: Connection,
  instanceId: number,
  { label, filesystem, size }: DiskContent,
  now: string,
): Promise<number> {
  const { id } = await connection
    .insertInto('disks')
    .values({ instance_id: instanceId, label, filesystem, size, status: 'not ready', created: now, updated: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** All that was being written has been. */
export async function finishDisks(connection: Connection, instanceId: number, now: string): Promise<void> {
  await connection
    .updateTable('disks')
    .set({ status: 'ready', updated: now })
    .where('instance_id', '=', instanceId)
    .where('status', '=', 'not ready')
    .execute()
}

export async function deleteDisks(connection: Connection, instanceId: number): Promise<void> {
  await connection.deleteFrom('disks').where('instance_id', '=', instanceId).execute()
}

/** MB of all disks together. */
export const totalSize = (disks: readonly { readonly size: number }[]): number => disks.reduce((sum, { size }) => sum + size, 0)

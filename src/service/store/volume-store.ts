/** Volumes and load balancers. They have no operations: they are created by a seed and shown in lists of tagged objects. */
import type { Insertable } from 'kysely'
import type { Connection } from './database.ts'
import type { LoadBalancersTable, VolumesTable } from './tables.ts'
import { labelsOf, setTags } from './tag-store.ts'

/** Device path of an attached volume, without its label. */
const DEVICES = '/dev/disk/by-id/scsi-0Linode_Volume_'

/** The volumes with these ids. */
export async function findVolumes(connection: Connection, ids: readonly number[]) {
  if (ids.length === 0) return []
  const rows = await connection
    .selectFrom('volumes')
    .leftJoin('instances', 'instances.id', 'volumes.instance_id')
    .selectAll('volumes')
    .select('instances.label as instance_label')
    .where('volumes.id', 'in', ids)
    .execute()
  const tags = await labelsOf(connection, 'volume', ids)
  return rows.map(({ account_id: _, ...row }) => ({
    ...row,
    filesystem_path: `${DEVICES}${row.label}`,
    tags: tags.get(row.id) ?? [],
  }))
}

/** Creates a volume, whose label must be free. Returns its id. */
export async function insertVolume(connection: Connection, volume: Insertable<VolumesTable>, tags: readonly string[]): Promise<number> {
  const { id } = await connection.insertInto('volumes').values(volume).returning('id').executeTakeFirstOrThrow()
  await setTags(connection, volume.account_id, 'volume', id, tags)
  return id
}

/** Takes the volumes from an instance: to be called before it is deleted. They stay. */
export async function detachVolumes(connection: Connection, instanceId: number, now: string): Promise<void> {
  await connection.updateTable('volumes').set({ instance_id: null, updated: now }).where('instance_id', '=', instanceId).execute()
}

/** The load balancers with these ids. */
export async function findLoadBalancers(connection: Connection, ids: readonly number[]) {
  if (ids.length === 0) return []
  const rows = await connection.selectFrom('load_balancers').selectAll().where('id', 'in', ids).execute()
  const tags = await labelsOf(connection, 'loadbalancer', ids)
  return rows.map(({ account_id: _, transfer_in, transfer_out, transfer_total, ...row }) => ({
    ...row,
    transfer: { in: transfer_in, out: transfer_out, total: transfer_total },
    tags: tags.get(row.id) ?? [],
  }))
}

/** Creates a load balancer, whose label must be free. Returns its id. */
export async function insertLoadBalancer(
  connection: Connection,
  balancer: Insertable<LoadBalancersTable>,
  tags: readonly string[],
): Promise<number> {
  const { id } = await connection.insertInto('load_balancers').values(balancer).returning('id').executeTakeFirstOrThrow()
  await setTags(connection, balancer.account_id, 'loadbalancer', id, tags)
  return id
}

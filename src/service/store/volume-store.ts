/** Volumes and load balancers. They have no operations: they are created by a seed and shown in lists of tagged objects. */
import type { Insertable } from 'kysely'
import type { Connection } from './database.ts'
import type { LoadBalancersTable, VolumesTable } from './tables/tagged-objects.ts'
import { labelsOf, setTags } from './tag-store.ts'

export interface StoredVolume {
  readonly id: number
  readonly label: string
  readonly filesystem_path: string
  readonly hardware_type: VolumesTable['hardware_type']
  readonly instance_id: number | null
  readonly instance_label: string | null
  readonly region: string
  /** GiB. */
  readonly size: number
  readonly status: VolumesTable['status']
  readonly tags: readonly string[]
  readonly created: string
  readonly updated: string
}

/** Device path of an attached volume, without its label. */
const DEVICES = '/dev/disk/by-id/scsi-0Linode_Volume_'

/** The volumes with these ids. */
export async function findVolumes(connection: Connection, ids: readonly number[]): Promise<readonly StoredVolume[]> {
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

/** The id of the account's volume with a label; null if there is none. */
export async function findVolumeByLabel(connection: Connection, accountId: number, label: string): Promise<number | null> {
  const row = await connection
    .selectFrom('volumes')
    .select('id')
    .where('account_id', '=', accountId)
    .where('label', '=', label)
    .executeTakeFirst()
  return row?.id ?? null
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

interface StoredLoadBalancer {
  readonly id: number
  readonly label: string
  readonly hostname: string
  readonly ipv4: string
  readonly ipv6: string | null
  readonly region: string
  readonly client_conn_throttle: number
  /** MB. */
  readonly transfer: { readonly in: number | null; readonly out: number | null; readonly total: number | null }
  readonly tags: readonly string[]
  readonly created: string
}

/** The load balancers with these ids. */
export async function findLoadBalancers(connection: Connection, ids: readonly number[]): Promise<readonly StoredLoadBalancer[]> {
  if (ids.length === 0) return []
  const rows = await connection.selectFrom('load_balancers').selectAll().where('id', 'in', ids).execute()
  const tags = await labelsOf(connection, 'loadbalancer', ids)
  return rows.map(({ account_id: _, transfer_in, transfer_out, transfer_total, ...row }) => ({
    ...row,
    transfer: { in: transfer_in, out: transfer_out, total: transfer_total },
    tags: tags.get(row.id) ?? [],
  }))
}

/** The id of the account's load balancer with a label; null if there is none. */
export async function findLoadBalancerByLabel(connection: Connection, accountId: number, label: string): Promise<number | null> {
  const row = await connection
    .selectFrom('load_balancers')
    .select('id')
    .where('account_id', '=', accountId)
    .where('label', '=', label)
    .executeTakeFirst()
  return row?.id ?? null
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

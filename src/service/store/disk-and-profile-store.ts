/** The configuration profiles and disks of instances. A profile says which disk or volume is at which device. */
import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { listRows } from './rows.ts'
import type { ConfigRow, ConfigsTable, DiskRow, DisksTable } from './tables.ts'

export const SLOTS = ['sda', 'sdb', 'sdc', 'sdd', 'sde', 'sdf', 'sdg', 'sdh'] as const

export type Slot = (typeof SLOTS)[number]

/** The disk or volume at a device. Exactly one id is set. */
export interface Device {
  readonly disk_id: number | null
  readonly volume_id: number | null
}

export type Devices = Readonly<Record<Slot, Device | null>>

const HELPERS = ['devtmpfs_automount', 'distro', 'modules_dep', 'network', 'updatedb_disabled'] as const

export type Helpers = Readonly<Record<(typeof HELPERS)[number], boolean>>

/** A network interface. A public one has no label and no address. */
export interface Interface {
  readonly purpose: 'public' | 'vlan'
  /** The label of the VLAN. */
  readonly label: string | null
  /** An address with its prefix length, such as `10.0.0.1/24`; null for none. */
  readonly ipam_address: string | null
}

/** The settings of a configuration profile that its owner controls. */
export interface ConfigProfile {
  readonly label: string
  readonly comments: string | null
  readonly devices: Devices
  readonly helpers: Helpers
  readonly interfaces: readonly Interface[]
  readonly kernel: string
  /** MB; 0 for all memory of the instance. */
  readonly memory_limit: number
  readonly root_device: string
  readonly run_level: ConfigsTable['run_level']
  readonly virt_mode: ConfigsTable['virt_mode']
}

export interface StoredConfigProfile extends ConfigProfile {
  readonly id: number
  /** Exists in the API, but is never set. */
  readonly initrd: null
  readonly created: string
  readonly updated: string
}

export const CONFIG_FILTER_FIELDS = { label: { kind: 'text' } } as const satisfies FilterFields

export const NO_DEVICES: Devices = { sda: null, sdb: null, sdc: null, sdd: null, sde: null, sdf: null, sdg: null, sdh: null }

export const ALL_HELPERS: Helpers = { devtmpfs_automount: true, distro: true, modules_dep: true, network: true, updatedb_disabled: true }

export async function listConfigProfiles(
  connection: Connection,
  instanceId: number,
  list: ListQuery,
): Promise<ListSlice<StoredConfigProfile>> {
  const selected = connection.selectFrom('configs').where('instance_id', '=', instanceId)
  const { items, total } = await listRows<ConfigRow>(selected, { fields: CONFIG_FILTER_FIELDS }, list)
  return { items: items.map(storedConfig), total }
}

/** All profiles of an instance in the order of their ids. */
export async function allConfigProfiles(connection: Connection, instanceId: number): Promise<StoredConfigProfile[]> {
  const rows = await connection.selectFrom('configs').selectAll().where('instance_id', '=', instanceId).orderBy('id').execute()
  return rows.map(storedConfig)
}

export async function countConfigProfiles(connection: Connection, instanceId: number): Promise<number> {
  const { total } = await connection
    .selectFrom('configs')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('instance_id', '=', instanceId)
    .executeTakeFirstOrThrow()
  return Number(total)
}

export async function insertConfigProfile(
  connection: Connection,
  instanceId: number,
  { label, comments, devices, helpers, interfaces, kernel, memory_limit, root_device, run_level, virt_mode }: ConfigProfile,
  now: string,
): Promise<StoredConfigProfile> {
  const row = await connection
    .insertInto('configs')
    .values({
      instance_id: instanceId,
      label,
      comments,
      devices: JSON.stringify(devices),
      helpers: JSON.stringify(helpers),
      interfaces: JSON.stringify(interfaces),
      kernel,
      memory_limit,
      root_device,
      run_level,
      virt_mode,
      created: now,
      updated: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return storedConfig(row)
}

export async function deleteConfigProfiles(connection: Connection, instanceId: number): Promise<void> {
  await connection.deleteFrom('configs').where('instance_id', '=', instanceId).execute()
}

/**
 * The devices of a copied profile: each disk is replaced by its copy. A volume can be attached to only one instance, so its slot becomes empty, like
 * that of a disk without a copy.
 */
export function devicesOfCopy(devices: Devices, copies: ReadonlyMap<number, number>): Devices {
  const entries = SLOTS.map((slot): [Slot, Device | null] => {
    const disk = devices[slot]?.disk_id ?? null
    const copy = disk === null ? undefined : copies.get(disk)
    return [slot, copy === undefined ? null : { disk_id: copy, volume_id: null }]
  })
  return Object.fromEntries(entries) as unknown as Devices
}

function storedConfig({ instance_id: _, ...row }: ConfigRow): StoredConfigProfile {
  const { devices, helpers, interfaces } = row
  return { ...row, initrd: null, devices: JSON.parse(devices), helpers: JSON.parse(helpers), interfaces: JSON.parse(interfaces) }
}

/** The properties of a disk before it is created. */
export interface DiskSettings {
  readonly label: string
  readonly filesystem: DisksTable['filesystem']
  /** MB. */
  readonly size: number
}

/** The disks of an instance in the order of their ids. */
export const listDisks = (connection: Connection, instanceId: number): Promise<DiskRow[]> =>
  connection.selectFrom('disks').selectAll().where('instance_id', '=', instanceId).orderBy('id').execute()

export async function insertDisk(
  connection: Connection,
  instanceId: number,
  { label, filesystem, size }: DiskSettings,
  now: string,
): Promise<number> {
  const { id } = await connection
    .insertInto('disks')
    .values({ instance_id: instanceId, label, filesystem, size, status: 'not ready', created: now, updated: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Marks the disks that were being written as ready. */
export async function markDisksReady(connection: Connection, instanceId: number, now: string): Promise<void> {
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

/** The size of all disks, in MB. */
export const totalDiskSize = (disks: readonly { readonly size: number }[]): number => disks.reduce((sum, { size }) => sum + size, 0)

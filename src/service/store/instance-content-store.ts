import type { FilterFields, ListQuery, ListSlice } from '../filter/filter.ts'
import type { Connection } from './database.ts'
import { listRows } from './list-sql.ts'
import type { ConfigRow, ConfigsTable, DiskRow, DisksTable } from './tables/instances.ts'

export const SLOTS = ['sda', 'sdb', 'sdc', 'sdd', 'sde', 'sdf', 'sdg', 'sdh'] as const

export type Slot = (typeof SLOTS)[number]

/** The disk or volume at a device. Exactly one id is set. */
export interface Device {
  readonly disk_id: number | null
  readonly volume_id: number | null
}

export type Devices = Readonly<Record<Slot, Device | null>>

export const HELPERS = ['devtmpfs_automount', 'distro', 'modules_dep', 'network', 'updatedb_disabled'] as const

export type Helpers = Readonly<Record<(typeof HELPERS)[number], boolean>>

/** A network interface. A public one has no label and no address. */
export interface Interface {
  readonly purpose: 'public' | 'vlan'
  /** The label of the VLAN. */
  readonly label: string | null
  /** With prefix length. */
  readonly ipam_address: string | null
}

/** The settings of a configuration profile that its owner controls. */
export interface ConfigContent {
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

export interface StoredConfig extends ConfigContent {
  readonly id: number
  readonly initrd: null
  readonly created: string
  readonly updated: string
}

export const CONFIG_FILTER_FIELDS = { label: { kind: 'text' } } as const satisfies FilterFields

export const NO_DEVICES: Devices = { sda: null, sdb: null, sdc: null, sdd: null, sde: null, sdf: null, sdg: null, sdh: null }

export const ALL_HELPERS: Helpers = { devtmpfs_automount: true, distro: true, modules_dep: true, network: true, updatedb_disabled: true }

export async function listConfigs(connection: Connection, instanceId: number, list: ListQuery): Promise<ListSlice<StoredConfig>> {
  const selected = connection.selectFrom('configs').where('instance_id', '=', instanceId)
  const { items, total } = await listRows<ConfigRow>(selected, { fields: CONFIG_FILTER_FIELDS }, list)
  return { items: items.map(storedConfig), total }
}

/** All profiles of an instance in the order of their ids. */
export async function configsOf(connection: Connection, instanceId: number): Promise<StoredConfig[]> {
  const rows = await connection.selectFrom('configs').selectAll().where('instance_id', '=', instanceId).orderBy('id').execute()
  return rows.map(storedConfig)
}

export async function countConfigs(connection: Connection, instanceId: number): Promise<number> {
  const { total } = await connection
    .selectFrom('configs')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('instance_id', '=', instanceId)
    .executeTakeFirstOrThrow()
  return Number(total)
}

export async function insertConfig(
  connection: Connection,
  instanceId: number,
  { label, comments, devices, helpers, interfaces, kernel, memory_limit, root_device, run_level, virt_mode }: ConfigContent,
  now: string,
): Promise<StoredConfig> {
  const texts = { devices: JSON.stringify(devices), helpers: JSON.stringify(helpers), interfaces: JSON.stringify(interfaces) }
  const row = await connection
    .insertInto('configs')
    .values({
      ...{ instance_id: instanceId, label, comments, kernel, memory_limit, root_device, run_level, virt_mode },
      ...{ ...texts, created: now, updated: now },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return storedConfig(row)
}

export async function deleteConfigs(connection: Connection, instanceId: number): Promise<void> {
  await connection.deleteFrom('configs').where('instance_id', '=', instanceId).execute()
}

/** Maps the disks of a profile to other disks, for copies. Devices with volumes or unmapped disks become empty. */
export function remapDisks(devices: Devices, disks: ReadonlyMap<number, number>): Devices {
  const entries = SLOTS.map((slot): [Slot, Device | null] => {
    const disk = disks.get(devices[slot]?.disk_id ?? -1)
    return [slot, disk === undefined ? null : { disk_id: disk, volume_id: null }]
  })
  return Object.fromEntries(entries) as unknown as Devices
}

function storedConfig({ instance_id: _, ...row }: ConfigRow): StoredConfig {
  const { devices, helpers, interfaces } = row
  return { ...row, initrd: null, devices: JSON.parse(devices), helpers: JSON.parse(helpers), interfaces: JSON.parse(interfaces) }
}

/** The properties of a disk before it is created. */
export interface DiskContent {
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

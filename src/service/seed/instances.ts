/** The instances of a seed, with their addresses, disks, profiles and backup schedules. */
import { randomUUID } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import INSTANCE from '../../../schemas/service/seed-instances.json' with { type: 'json' }
import { deployImage } from '../api/instances/create-instance.ts'
import { defaultAlerts, labelProblem } from '../api/instances/instance-input.ts'
import { regionOfAddress, slaacAddress } from '../catalogue/address-plan.ts'
import { findInstanceType, type InstanceType } from '../catalogue/instance-types.ts'
import { findPublicImage } from '../catalogue/public-images.ts'
import { findRegion } from '../catalogue/regions.ts'
import { scheduleBackups } from '../jobs/backup-jobs.ts'
import { allocateAddress, allocateAnyAddress } from '../store/address-store.ts'
import type { Connection } from '../store/database.ts'
import { markDisksReady } from '../store/disk-and-profile-store.ts'
import { findByLabel } from '../store/grant-store.ts'
import { insertInstance, updateInstanceRow } from '../store/instance-store.ts'
import { insertWithId } from '../store/row-id.ts'
import type { AddressPool, InstanceRow } from '../store/tables/instances.ts'
import { setTags } from '../store/tag-store.ts'
import { defineSeedCollection } from './seed.ts'
import type { ReportProblem } from './seed-problems.ts'
import { parseTimestamps } from './seed-problems.ts'

interface Entry {
  readonly id?: number
  readonly label: string
  readonly region: string
  readonly type?: string
  readonly image?: string | null
  readonly group?: string
  readonly tags?: readonly string[] | null
  readonly status?: 'running' | 'offline'
  readonly ipv4?: readonly string[]
  readonly private_ipv4?: readonly string[]
  readonly ipv6?: string | null
  readonly host_uuid?: string
  readonly watchdog_enabled?: boolean
  readonly backups_enabled?: boolean
  readonly created?: string
  readonly updated?: string
}

const DEFAULT_TYPE = 'g6-nanode-1'

/** The size of the swap disk of an image, in MB. */
const SWAP_SIZE = 512

/** Instances. One whose label exists is left unchanged. */
export const INSTANCES = defineSeedCollection<Entry, Entry>({
  key: 'instances',
  schema: INSTANCE,
  unique: { owner: ['label'], file: ['id', 'ipv6'] },
  read: (entry, report) => {
    const { label, region, type = DEFAULT_TYPE, image = null, ipv4 = [], private_ipv4: own = [], ipv6 = null } = entry
    const problem = labelProblem(label)
    if (problem) report(['label'], problem.reason)
    if (findRegion(region) === null) report(['region'], `there is no region ${JSON.stringify(region)}`)
    if (findInstanceType(type) === null) report(['type'], `there is no instance type ${JSON.stringify(type)}`)
    if (image !== null && findPublicImage(image) === null) report(['image'], `there is no public image ${JSON.stringify(image)}`)
    if (ipv6 !== null && (!isIPv6(ipv6) || ipv6.includes('%'))) report(['ipv6'], `${JSON.stringify(ipv6)} is not an IPv6 address`)
    for (const [index, address] of ipv4.entries())
      checkAddress(address, region, 'public', (at, text) => report(['ipv4', index, ...at], text))
    for (const [index, address] of own.entries())
      checkAddress(address, region, 'private', (at, text) => report(['private_ipv4', index, ...at], text))
    return { ...entry, ...parseTimestamps(entry, ['created', 'updated'], report) }
  },
  create: async (connection, { accountId }, entry, now) => {
    const { id, label } = entry
    if ((await findByLabel(connection, 'instance', accountId, label)).length > 0) return
    const row = { table: 'instances', id, subject: `the instance ${label} of the seed` } as const
    const instance = await insertWithId(connection, row, () => insert(connection, accountId, entry, now))
    await setTags(connection, accountId, 'instance', instance.id, entry.tags ?? [])
    await assignAddresses(connection, instance, entry.ipv4 ?? null, 'public')
    await assignAddresses(connection, instance, entry.private_ipv4 ?? [], 'private')
    await addContent(connection, instance, entry, now)
  },
})

function checkAddress(address: string, region: string, pool: AddressPool, report: ReportProblem): void {
  const other = isIPv4(address) ? regionOfAddress(pool, address) : null
  if (!isIPv4(address)) report([], `${JSON.stringify(address)} is not an IPv4 address`)
  if (other !== null && other !== region) report([], `this address belongs to the region ${other}`)
}

async function insert(connection: Connection, accountId: number, entry: Entry, now: string): Promise<InstanceRow> {
  const { id, label, region, image = null, group = '', created = now, updated = created, host_uuid = randomUUID() } = entry
  const type = typeOf(entry)
  const inserted = await insertInstance(connection, {
    ...(id === undefined ? {} : { id }),
    ...{ account_id: accountId, label, group, region, type: type.id, image, host_uuid, script_id: null, created, updated },
    status: entry.status ?? (image === null ? 'offline' : 'running'),
    watchdog_enabled: Number(entry.watchdog_enabled ?? true),
    alerts: JSON.stringify(defaultAlerts(type)),
  })
  const ipv6 = entry.ipv6 === undefined ? slaacAddress(region, inserted.id) : entry.ipv6
  return updateInstanceRow(connection, inserted.id, { ipv6 })
}

const typeOf = ({ type = DEFAULT_TYPE }: Entry): InstanceType => findInstanceType(type) as InstanceType

/** Assigns the given addresses, or one of the region if there are none. */
async function assignAddresses(
  connection: Connection,
  { id, label, region }: InstanceRow,
  addresses: readonly string[] | null,
  pool: AddressPool,
): Promise<void> {
  if (addresses === null && (await allocateAnyAddress(connection, region, pool, id)) === null)
    throw new RangeError(`the instance ${label} of the seed cannot be created: ${region} has no addresses left`)
  // Each address is put first, so the last one assigned is the first of the list.
  for (const address of (addresses ?? []).toReversed()) {
    if (!(await allocateAddress(connection, region, pool, address, id)))
      throw new RangeError(`the instance ${label} of the seed cannot have the address ${address}, which is in use`)
  }
}

/** Adds disks, a profile that boots them, and the backup schedule. */
async function addContent(connection: Connection, instance: InstanceRow, entry: Entry, now: string): Promise<void> {
  const moment = { now: Date.parse(`${now}Z`), nowText: now }
  const image = findPublicImage(entry.image ?? '')
  if (image) {
    const spec = { type: typeOf(entry), swapSize: SWAP_SIZE, interfaces: [] }
    const config = await deployImage(connection, instance.id, image.label, spec, moment)
    await markDisksReady(connection, instance.id, now)
    if (instance.status === 'running') await updateInstanceRow(connection, instance.id, { last_booted: config })
  }
  if (entry.backups_enabled) await scheduleBackups(connection, instance, { enabled: true, day: null, window: null }, moment)
}

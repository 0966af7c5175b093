/** The lists of objects that an account of a seed may have: volumes, load balancers, images, scripts and instances. */
import { randomUUID } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import IMAGE from '../../../schemas/service/seed-images.json' with { type: 'json' }
import INSTANCE from '../../../schemas/service/seed-instances.json' with { type: 'json' }
import LOAD_BALANCER from '../../../schemas/service/seed-load-balancers.json' with { type: 'json' }
import SCRIPT from '../../../schemas/service/seed-scripts.json' with { type: 'json' }
import VOLUME from '../../../schemas/service/seed-volumes.json' with { type: 'json' }
import { defaultAlerts, deployImage, labelProblem } from '../api/instances/create-instance.ts'
import { collectProblems } from '../api/request-error.ts'
import { parseUserDefinedFields } from '../api/scripts/script-routes.ts'
import { findInstanceType, type InstanceType } from '../catalogue/instance-types.ts'
import { findPublicImage } from '../catalogue/public-images.ts'
import { findRegion } from '../catalogue/regions.ts'
import { scheduleBackups } from '../jobs/jobs.ts'
import { allocateAddress, allocateAnyAddress, regionOfAddress, slaacAddress } from '../store/address-store.ts'
import type { Connection } from '../store/database.ts'
import { markDisksReady } from '../store/disk-and-profile-store.ts'
import { findByLabel } from '../store/grant-store.ts'
import { insertImage } from '../store/image-store.ts'
import { insertInstance, updateInstanceRow } from '../store/instance-store.ts'
import { insertWithId } from '../store/rows.ts'
import { ANY_IMAGE, insertScript, type ScriptContent } from '../store/script-store.ts'
import type { AddressPool, InstanceRow, VolumesTable } from '../store/tables.ts'
import { setTags } from '../store/tag-store.ts'
import { insertLoadBalancer, insertVolume } from '../store/volume-store.ts'
import { defineSeedCollection, parseTimestamps, type ReportProblem, type SeedCollection } from './seed.ts'

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
const INSTANCES = defineSeedCollection<Entry, Entry>({
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

interface VolumeEntry {
  readonly id?: number
  readonly label: string
  readonly region: string
  readonly size?: number
  readonly hardware_type?: VolumesTable['hardware_type']
  readonly status?: VolumesTable['status']
  /** The label of an instance of the account. */
  readonly instance?: string | null
  readonly tags?: readonly string[] | null
  readonly created?: string
  readonly updated?: string
}

const DEFAULT_VOLUME_GIB = 20

/** Volumes. One whose label exists is left unchanged. */
const VOLUMES = defineSeedCollection<VolumeEntry, VolumeEntry>({
  key: 'volumes',
  schema: VOLUME,
  unique: { owner: ['label'], file: ['id'] },
  read: (entry, report) => {
    if (findRegion(entry.region) === null) report(['region'], `there is no region ${JSON.stringify(entry.region)}`)
    return { ...entry, ...parseTimestamps(entry, ['created', 'updated'], report) }
  },
  create: async (connection, { accountId }, entry, now) => {
    const { id, label, region, instance = null, tags, created = now } = entry
    if ((await findByLabel(connection, 'volume', accountId, label)).length > 0) return
    const subject = `the volume ${label} of the seed`
    const instanceId = instance === null ? null : ((await findByLabel(connection, 'instance', accountId, instance))[0] ?? null)
    if (instance !== null && instanceId === null)
      throw new RangeError(`${subject} is attached to ${instance}, but the account has no such instance`)
    const { size = DEFAULT_VOLUME_GIB, hardware_type = 'hdd', status = 'active', updated = created } = entry
    const row = { account_id: accountId, label, region, size, hardware_type, status, instance_id: instanceId, created, updated }
    const withId = id === undefined ? row : { ...row, id }
    await insertWithId(connection, { table: 'volumes', id, subject }, () => insertVolume(connection, withId, tags ?? []))
  },
})

interface LoadBalancerEntry {
  readonly id?: number
  readonly label: string
  readonly region: string
  readonly ipv4: string
  readonly ipv6?: string | null
  readonly client_conn_throttle?: number
  /** MB. */
  readonly transfer?: { readonly in?: number | null; readonly out?: number | null; readonly total?: number | null }
  readonly tags?: readonly string[] | null
  readonly created?: string
}

/** The hostname of a load balancer is its address with this suffix, under a reserved domain (RFC 2606). */
const HOSTNAME_SUFFIX = '.ip.loadbalancers.invalid'

/** Load balancers. One whose label exists is left unchanged. */
const LOAD_BALANCERS = defineSeedCollection<LoadBalancerEntry, LoadBalancerEntry>({
  key: 'load_balancers',
  schema: LOAD_BALANCER,
  unique: { owner: ['label'], file: ['id', 'ipv4', 'ipv6'] },
  read: (entry, report) => {
    const { ipv4, ipv6 = null } = entry
    if (findRegion(entry.region) === null) report(['region'], `there is no region ${JSON.stringify(entry.region)}`)
    if (!isIPv4(ipv4)) report(['ipv4'], `${JSON.stringify(ipv4)} is not an IPv4 address`)
    if (ipv6 !== null && (!isIPv6(ipv6) || ipv6.includes('%'))) report(['ipv6'], `${JSON.stringify(ipv6)} is not an IPv6 address`)
    return { ...entry, ...parseTimestamps(entry, ['created'], report) }
  },
  create: async (connection, { accountId }, entry, now) => {
    const { id, label, region, ipv4, ipv6 = null, client_conn_throttle = 0, transfer = {}, tags, created = now } = entry
    if ((await findByLabel(connection, 'loadbalancer', accountId, label)).length > 0) return
    const row = {
      ...(id === undefined ? {} : { id }),
      account_id: accountId,
      label,
      hostname: `${ipv4}${HOSTNAME_SUFFIX}`,
      ipv4,
      ipv6,
      region,
      client_conn_throttle,
      transfer_in: transfer.in ?? null,
      transfer_out: transfer.out ?? null,
      transfer_total: transfer.total ?? null,
      created,
    }
    const subject = `the load balancer ${label} of the seed`
    await insertWithId(connection, { table: 'load_balancers', id, subject }, () => insertLoadBalancer(connection, row, tags ?? []))
  },
})

interface ImageEntry {
  readonly label: string
  readonly description?: string | null
  /** MB. */
  readonly size?: number
  readonly created?: string
}

const DEFAULT_IMAGE_MB = 1500

/** Available private images, created by the account's first user. One whose label exists is left unchanged. */
const IMAGES = defineSeedCollection<ImageEntry, ImageEntry>({
  key: 'images',
  schema: IMAGE,
  unique: { owner: ['label'] },
  read: (entry, report) => ({ ...entry, ...parseTimestamps(entry, ['created'], report) }),
  create: async (connection, { accountId, username }, { label, description = null, size = DEFAULT_IMAGE_MB, created }, now) => {
    if ((await findByLabel(connection, 'image', accountId, label)).length > 0) return
    const image = { account_id: accountId, label, description, created_by: username, size, status: 'available', type: 'manual' } as const
    await insertImage(connection, { ...image, expiry: null, upload_hash: null, upload_until: null }, created ?? now)
  },
})

type ScriptEntry = Pick<ScriptContent, 'label' | 'script'> & Partial<ScriptContent>

/** Provisioning scripts, created by the account's first user. One whose label exists is left unchanged. */
const SCRIPTS = defineSeedCollection<ScriptEntry, ScriptContent>({
  key: 'scripts',
  schema: SCRIPT,
  unique: { owner: ['label'] },
  read: (entry, report) => {
    for (const { reason } of collectProblems(() => parseUserDefinedFields(entry.script))) report(['script'], reason)
    return { description: '', images: [ANY_IMAGE], is_public: false, rev_note: '', ...entry }
  },
  create: async (connection, { accountId, userId }, content, now) => {
    if ((await findByLabel(connection, 'script', accountId, content.label)).length > 0) return
    await insertScript(connection, { accountId, userId, restricted: false }, content, now)
  },
})

/** The lists that an account of a seed may have besides users and domains, in the order they are created. */
export const ACCOUNT_COLLECTIONS: readonly SeedCollection[] = [INSTANCES, VOLUMES, LOAD_BALANCERS, IMAGES, SCRIPTS]

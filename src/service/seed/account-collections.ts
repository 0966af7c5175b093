/** The lists of objects that an account of a seed may have: volumes, load balancers, images and scripts; instances are in `instances.ts`. */
import { isIPv4, isIPv6 } from 'node:net'
import IMAGE from '../../../schemas/service/seed-images.json' with { type: 'json' }
import LOAD_BALANCER from '../../../schemas/service/seed-load-balancers.json' with { type: 'json' }
import SCRIPT from '../../../schemas/service/seed-scripts.json' with { type: 'json' }
import VOLUME from '../../../schemas/service/seed-volumes.json' with { type: 'json' }
import { collectProblems } from '../api/request-error.ts'
import { parseUserDefinedFields } from '../api/scripts/user-defined-fields.ts'
import { findRegion } from '../catalogue/regions.ts'
import { findByLabel } from '../store/grant-store.ts'
import { insertImage } from '../store/image-store.ts'
import { insertWithId } from '../store/row-id.ts'
import { ANY_IMAGE, insertScript, type ScriptContent } from '../store/script-store.ts'
import type { VolumesTable } from '../store/tables/tagged-objects.ts'
import { findLoadBalancerByLabel, findVolumeByLabel, insertLoadBalancer, insertVolume } from '../store/volume-store.ts'
import { INSTANCES } from './instances.ts'
import { defineSeedCollection, type SeedCollection } from './seed.ts'
import { parseTimestamps } from './seed-problems.ts'

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
    if ((await findVolumeByLabel(connection, accountId, label)) !== null) return
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
    if ((await findLoadBalancerByLabel(connection, accountId, label)) !== null) return
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

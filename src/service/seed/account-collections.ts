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
import { isIdFree, reserveId } from '../store/row-id.ts'
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

/** The default size of a volume, in GiB. */
const VOLUME_SIZE = 20

/** Volumes, identified by label. */
const VOLUMES = defineSeedCollection<VolumeEntry, VolumeEntry>({
  key: 'volumes',
  schema: VOLUME,
  unique: { owner: ['label'], file: ['id'] },
  read: (entry, report) => {
    if (findRegion(entry.region) === null) report(['region'], 'region is not valid')
    return { ...entry, ...parseTimestamps(entry, ['created', 'updated'], report) }
  },
  create: async (connection, { accountId }, entry, now) => {
    const { id, label, region, instance = null, tags, created = now } = entry
    if ((await findVolumeByLabel(connection, accountId, label)) !== null) return
    if (id !== undefined && !(await isIdFree(connection, 'volumes', id)))
      throw new RangeError(`the volume ${label} of the seed cannot have the id ${id}, which is in use`)
    const [instanceId = null] = instance === null ? [] : await findByLabel(connection, 'instance', accountId, instance)
    if (instance !== null && instanceId === null)
      throw new RangeError(`the volume ${label} of the seed is attached to ${instance}, but the account has no such instance`)
    const { size = VOLUME_SIZE, hardware_type = 'hdd', status = 'active', updated = created } = entry
    const row = { account_id: accountId, label, region, size, hardware_type, status, instance_id: instanceId, created, updated }
    const given = id === undefined ? {} : { id }
    await insertVolume(connection, { ...row, ...given }, tags ?? [])
    if (id !== undefined) await reserveId(connection, 'volumes', id)
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

/** The suffix after the address in the hostname of a load balancer, under a reserved domain (RFC 2606). */
const SUFFIX = '.ip.loadbalancers.invalid'

/** Load balancers, identified by label. */
const LOAD_BALANCERS = defineSeedCollection<LoadBalancerEntry, LoadBalancerEntry>({
  key: 'load_balancers',
  schema: LOAD_BALANCER,
  unique: { owner: ['label'], file: ['id', 'ipv4', 'ipv6'] },
  read: (entry, report) => {
    const { ipv4, ipv6 = null } = entry
    if (findRegion(entry.region) === null) report(['region'], 'region is not valid')
    if (!isIPv4(ipv4)) report(['ipv4'], 'not an IPv4 address')
    if (ipv6 !== null && (!isIPv6(ipv6) || ipv6.includes('%'))) report(['ipv6'], 'not an IPv6 address')
    return { ...entry, ...parseTimestamps(entry, ['created'], report) }
  },
  create: async (connection, { accountId }, entry, now) => {
    const { id, label, region, ipv4, ipv6 = null, client_conn_throttle = 0, transfer = {}, tags, created = now } = entry
    if ((await findLoadBalancerByLabel(connection, accountId, label)) !== null) return
    if (id !== undefined && !(await isIdFree(connection, 'load_balancers', id)))
      throw new RangeError(`the load balancer ${label} of the seed cannot have the id ${id}, which is in use`)
    const counted = { transfer_in: transfer.in ?? null, transfer_out: transfer.out ?? null, transfer_total: transfer.total ?? null }
    const row = { account_id: accountId, label, hostname: `${ipv4}${SUFFIX}`, ipv4, ipv6, region, client_conn_throttle, created }
    await insertLoadBalancer(connection, { ...row, ...counted, ...(id === undefined ? {} : { id }) }, tags ?? [])
    if (id !== undefined) await reserveId(connection, 'load_balancers', id)
  },
})

interface ImageEntry {
  readonly label: string
  readonly description?: string | null
  /** MB. */
  readonly size?: number
  readonly created?: string
}

/** The default size of an image, in MB. */
const IMAGE_SIZE = 1500

/** Available private images, identified by label; their creator is the account's first user. */
const IMAGES = defineSeedCollection<ImageEntry, ImageEntry>({
  key: 'images',
  schema: IMAGE,
  unique: { owner: ['label'] },
  read: (entry, report) => ({ ...entry, ...parseTimestamps(entry, ['created'], report) }),
  create: async (connection, { accountId, username }, { label, description = null, size = IMAGE_SIZE, created }, now) => {
    if ((await findByLabel(connection, 'image', accountId, label)).length > 0) return
    const image = { account_id: accountId, label, description, created_by: username, size, status: 'available', type: 'manual' } as const
    await insertImage(connection, { ...image, expiry: null, upload_hash: null, upload_until: null }, created ?? now)
  },
})

type ScriptEntry = Pick<ScriptContent, 'label' | 'script'> & Partial<ScriptContent>

/** Provisioning scripts, identified by label; their creator is the account's first user. */
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

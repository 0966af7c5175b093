/** Creates an instance from an image, from a backup or empty, and adds disks and profiles to instances. */
import { randomUUID } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { findInstanceType, type InstanceType } from '../../catalogue/instance-types.ts'
import { findRegion, type Region } from '../../catalogue/regions.ts'
import { type BootPayload, DURATIONS, INSTANCE_PROVISIONED, INSTANCE_PROVISIONED_FROM_BACKUP, scheduleBackups } from '../../jobs/jobs.ts'
import { lockAccountRow } from '../../store/account-store.ts'
import { allocateAnyAddress, slaacAddress } from '../../store/address-store.ts'
import type { Connection } from '../../store/database.ts'
import {
  ALL_HELPERS,
  countConfigProfiles,
  devicesOfCopy,
  type Interface,
  insertConfigProfile,
  insertDisk,
  NO_DEVICES,
  totalDiskSize,
} from '../../store/disk-and-profile-store.ts'
import { findPermissions } from '../../store/grant-store.ts'
import { findDeployableImage, type SharedImages } from '../../store/image-store.ts'
import {
  type Alerts,
  type BackupContent,
  contentOf,
  findBackup,
  insertInstance,
  isLabelTaken,
  updateInstanceRow,
} from '../../store/instance-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import { countDeployment, findScript, type StoredScript, takesImage } from '../../store/script-store.ts'
import { sshKeysOfUsers } from '../../store/ssh-key-store.ts'
import type { InstanceRow } from '../../store/tables.ts'
import { setTags } from '../../store/tag-store.ts'
import type { Moment } from '../../time.ts'
import type { Actor } from '../authenticate.ts'
import { forbidden, grantToCreator } from '../grants.ts'
import { parseSshKey } from '../profile/ssh-key-routes.ts'
import { badRequest, type RequestError, type RequestProblem } from '../request-error.ts'
import { fieldValueProblems, parseUserDefinedFields, scriptDataProblem } from '../scripts/script-routes.ts'

/** The body of a create request that its schema has accepted. */
export interface InstanceBody {
  readonly region: string
  readonly type: string
  readonly label?: string
  readonly group?: string
  readonly tags?: readonly string[] | null
  readonly image?: string | null
  readonly root_pass?: string
  readonly authorized_keys?: readonly string[] | null
  readonly authorized_users?: readonly string[] | null
  readonly script_id?: number | null
  readonly script_data?: Readonly<Record<string, unknown>> | null
  readonly backup_id?: number | null
  readonly backups_enabled?: boolean
  readonly booted?: boolean
  readonly swap_size?: number | null
  readonly private_ip?: boolean
  readonly interfaces?: readonly InterfaceBody[] | null
}

/** A requested instance, parsed without the database. */
interface InstanceSpec {
  readonly region: Region
  readonly type: InstanceType
  readonly label: string | null
  readonly group: string
  readonly tags: readonly string[]
  readonly image: string | null
  readonly authorizedUsers: readonly string[]
  readonly scriptId: number | null
  readonly scriptData: Readonly<Record<string, unknown>>
  readonly backupId: number | null
  readonly backupsEnabled: boolean
  readonly booted: boolean
  /** MB. */
  readonly swapSize: number
  readonly privateIp: boolean
  readonly interfaces: readonly Interface[]
}

/** The default size of an image's swap disk, in MB. */
const SWAP_SIZE = 512

/** Returns the instance that a create asks for. Throws 400 with every error. */
export function instanceToCreate(body: InstanceBody): InstanceSpec {
  const problems: RequestProblem[] = []
  const region = findRegion(body.region)
  const type = findInstanceType(body.type)
  const interfaces = parseInterfaces(body.interfaces, region, problems)
  problems.push(...valueProblems(body, region, type))
  if (region === null || type === null || problems.length > 0) throw badRequest(...problems)
  return {
    ...{ region, type, interfaces, label: body.label ?? null, group: body.group ?? '', tags: body.tags ?? [] },
    image: body.image ?? null,
    authorizedUsers: body.authorized_users ?? [],
    scriptId: body.script_id ?? null,
    scriptData: body.script_data ?? {},
    backupId: body.backup_id ?? null,
    backupsEnabled: body.backups_enabled ?? false,
    booted: body.booted ?? true,
    swapSize: body.swap_size ?? SWAP_SIZE,
    privateIp: body.private_ip ?? false,
  }
}

/** The semantic errors of a create body that may lack any field. */
export function problemsOfCreate(body: Partial<InstanceBody>): readonly RequestProblem[] {
  const problems: RequestProblem[] = []
  const region = body.region === undefined ? null : findRegion(body.region)
  parseInterfaces(body.interfaces, region, problems)
  return [...problems, ...valueProblems(body, region, body.type === undefined ? null : findInstanceType(body.type))]
}

function valueProblems(body: Partial<InstanceBody>, region: Region | null, type: InstanceType | null): RequestProblem[] {
  const problems: (RequestProblem | null)[] = []
  const { image = null, script_id = null, backup_id = null } = body
  if (body.region !== undefined && region === null) problems.push(notValid('region'))
  if (body.type !== undefined && type === null) problems.push(notValid('type'))
  if (body.label !== undefined) problems.push(labelProblem(body.label))
  if (body.root_pass === undefined) {
    if (image !== null || script_id !== null) problems.push({ field: 'root_pass', reason: 'root_pass is required' })
  } else if (COMMON_PASSWORDS.has(body.root_pass.toLowerCase())) {
    problems.push({ field: 'root_pass', reason: 'Password does not meet strength requirement' })
  }
  if (backup_id !== null && image !== null) problems.push({ field: 'image', reason: 'image cannot be used together with backup_id' })
  if (backup_id !== null && script_id !== null)
    problems.push({ field: 'script_id', reason: 'script_id cannot be used together with backup_id' })
  else if (script_id !== null && image === null) problems.push({ field: 'image', reason: 'image is required' })
  if (body.authorized_keys?.some((key) => parseSshKey(key) === null)) problems.push(notValid('authorized_keys'))
  if (body.script_data) problems.push(scriptDataProblem(body.script_data))
  return problems.filter((problem) => problem !== null)
}

export const notValid = (field: string): RequestProblem => ({ field, reason: `${field} is not valid` })

/** Passwords that attackers try first and that are long enough for the schema. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set([
  ...['password', 'password1', 'password123', 'passw0rd', 'p@ssw0rd', 'p@ssword', 'qwertyuiop', 'qwerty123', 'letmein1', 'welcome1'],
  ...['1234567', '12345678', '123456789', '1234567890', '11111111', '00000000', 'abcd1234', 'iloveyou', 'changeme', 'adminadmin'],
])

/** The body of an update request that its schema has accepted. */
export interface InstanceChanges {
  readonly label?: string
  readonly group?: string
  readonly tags?: readonly string[] | null
  readonly watchdog_enabled?: boolean
  readonly alerts?: Partial<Alerts>
  readonly backups?: { readonly schedule?: { readonly day?: string | null; readonly window?: string | null } }
}

/** The alert thresholds of a new instance. */
export const defaultAlerts = ({ vcpus }: InstanceType): Alerts => ({
  cpu: 90 * vcpus,
  io: 10_000,
  network_in: 10,
  network_out: 10,
  transfer_quota: 80,
})

/** A network interface in a request. */
export interface InterfaceBody {
  readonly purpose: Interface['purpose']
  readonly label?: string | null
  readonly ipam_address?: string | null
}

/** Whether a region supports VLANs. */
export const hasVlans = ({ capabilities }: Region): boolean => capabilities.includes('Vlans')

/** Parses the interfaces of a request and adds their problems. `region` is null if it is itself invalid. */
export function parseInterfaces(
  bodies: readonly InterfaceBody[] | null | undefined,
  region: Region | null,
  problems: RequestProblem[],
): readonly Interface[] {
  const interfaces = (bodies ?? []).map(({ purpose, label, ipam_address }): Interface => {
    const [name, address] = [label || null, ipam_address || null]
    if (purpose === 'public') {
      if (name !== null) problems.push({ field: 'interfaces.label', reason: 'A public interface cannot have a label.' })
      if (address !== null) problems.push({ field: 'interfaces.ipam_address', reason: 'A public interface cannot have an ipam_address.' })
    } else {
      if (name === null) problems.push({ field: 'interfaces.label', reason: 'interfaces.label is required' })
      else if (!isVlanLabel(name)) problems.push({ field: 'interfaces.label', reason: VLAN_LABEL })
      if (address !== null && !isCidr(address))
        problems.push({ field: 'interfaces.ipam_address', reason: 'interfaces.ipam_address is not valid' })
    }
    return { purpose, label: name, ipam_address: address }
  })
  if (region && !hasVlans(region) && interfaces.some(({ purpose }) => purpose === 'vlan')) problems.push(noVlans('interfaces'))
  return interfaces
}

export const noVlans = (field: string): RequestProblem => ({
  field,
  reason: "This Linode's region does not support VLANs at this time.",
})

const VLAN_LABEL = 'The name of a VLAN must have 1 to 64 letters, digits and single hyphens.'

const isVlanLabel = (text: string): boolean => /^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/.test(text)

/** Whether a text is an address with a prefix length (RFC 4632 section 3.1; RFC 4291 section 2.3). */
function isCidr(text: string): boolean {
  const [, address = '', length = ''] = /^([^/%]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  if (length === '') return false
  return isIPv4(address) ? Number(length) <= 32 : isIPv6(address) && Number(length) <= 128
}

/** Checks an instance label except for its length (API, Instance); null if it is valid. */
export function labelProblem(label: string): RequestProblem | null {
  if (/[^A-Za-z0-9._-]/.test(label)) return problem('Only letters, digits, hyphens, underscores and dots can be in a label.')
  if (!/^[A-Za-z0-9].*[A-Za-z0-9]$/.test(label)) return problem('A label must begin and end with a letter or digit.')
  if (/--|__|\.\./.test(label)) return problem('A label cannot have two hyphens, underscores or dots in a row.')
  return null
}

export const labelTaken = (): RequestProblem => problem('Label must be unique among your linodes')

const problem = (reason: string): RequestProblem => ({ field: 'label', reason })

/** 400 with exactly this text: clients such as linodego retry on it. */
export const instanceBusy = (): RequestError => badRequest({ field: null, reason: 'Linode busy.' })

/** Creates an instance and starts its provisioning, unless it is empty. Throws 400 with every error, 403 if the user may not create it. */
export async function createInstance(
  connection: Connection,
  actor: Actor,
  spec: InstanceSpec,
  moment: Moment,
  images: SharedImages,
): Promise<InstanceRow> {
  if (actor.restricted && spec.tags.length > 0) throw forbidden()
  await lockAccountRow(connection, actor.accountId)
  const problems: RequestProblem[] = []
  if (spec.label !== null && (await isLabelTaken(connection, actor.accountId, spec.label, null))) problems.push(labelTaken())
  const { image, script, backup } = await findSource(connection, actor, spec, problems, images)
  if (problems.length > 0) throw badRequest(...problems)
  const isEmpty = image === null && backup === null
  const instance = await addInstance(
    connection,
    actor,
    {
      ...{ label: spec.label, group: spec.group, region: spec.region.id, type: spec.type, privateIp: spec.privateIp },
      image: image?.id ?? backup?.image ?? null,
      scriptId: script?.id ?? null,
      status: isEmpty ? 'offline' : 'provisioning',
      // An image's profile gets the interfaces; an empty instance keeps them for its first profile.
      interfaces: isEmpty ? spec.interfaces : [],
      tags: spec.tags,
    },
    moment,
  )
  if (script) await countDeployment(connection, script.id)
  const config = image
    ? await deployImage(connection, instance.id, image.label, spec, moment)
    : await deployBackup(connection, instance.id, backup, moment)
  const enabled = spec.backupsEnabled
  const scheduled = enabled ? await scheduleBackups(connection, instance, { enabled, day: null, window: null }, moment) : instance
  if (isEmpty) return scheduled
  const boot: BootPayload = { config: spec.booted ? config : null }
  const kind = image ? INSTANCE_PROVISIONED : INSTANCE_PROVISIONED_FROM_BACKUP
  const due = moment.now + (image ? DURATIONS.provisionImage : DURATIONS.provisionBackup)
  await enqueueJob(connection, { kind, subject: instance.id, payload: { ...boot }, due })
  return scheduled
}

/** The properties of a new instance. */
interface NewInstance {
  readonly label: string | null
  readonly group: string
  readonly region: string
  readonly type: InstanceType
  readonly image: string | null
  readonly scriptId: number | null
  readonly status: InstanceRow['status']
  readonly interfaces: readonly Interface[]
  readonly tags: readonly string[]
  readonly privateIp: boolean
}

/** Inserts an instance with its addresses. Requires a locked account and an unused label. Throws 400 if the region has no addresses left. */
export async function addInstance(
  connection: Connection,
  actor: Actor,
  { type, scriptId, interfaces, tags, privateIp, ...instance }: NewInstance,
  { nowText }: Moment,
): Promise<InstanceRow> {
  const { region } = instance
  const inserted = await insertInstance(connection, {
    ...instance,
    ...{ account_id: actor.accountId, type: type.id, script_id: scriptId, host_uuid: randomUUID() },
    ...{ alerts: JSON.stringify(defaultAlerts(type)), interfaces: JSON.stringify(interfaces), created: nowText, updated: nowText },
  })
  const row = await updateInstanceRow(connection, inserted.id, { ipv6: slaacAddress(region, inserted.id) })
  await grantToCreator(connection, actor, 'instance', row.id)
  await setTags(connection, actor.accountId, 'instance', row.id, tags)
  for (const pool of ['public', ...(privateIp ? (['private'] as const) : [])] as const) {
    if ((await allocateAnyAddress(connection, region, pool, row.id)) === null) {
      throw badRequest({ field: 'region', reason: `The region ${region} has no ${pool} IPv4 addresses left.` })
    }
  }
  return row
}

/** Adds a root disk, a swap disk and a profile that boots them; returns the id of the profile. */
export async function deployImage(
  connection: Connection,
  instanceId: number,
  label: string,
  { type, swapSize, interfaces }: Pick<InstanceSpec, 'type' | 'swapSize' | 'interfaces'>,
  { nowText }: Moment,
): Promise<number> {
  const add = (name: string, filesystem: 'ext4' | 'swap', size: number): Promise<number> =>
    insertDisk(connection, instanceId, { label: shorten(name), filesystem, size }, nowText)
  const root = await add(`${label} Disk`, 'ext4', type.disk - swapSize)
  const swap = swapSize === 0 ? null : await add(`${swapSize} MB Swap Image`, 'swap', swapSize)
  const at = (disk: number | null) => (disk === null ? null : { disk_id: disk, volume_id: null })
  const config = await insertConfigProfile(
    connection,
    instanceId,
    {
      ...{ label: shorten(`My ${label} Disk Profile`), comments: '', kernel: 'linode/grub2', memory_limit: 0 },
      ...{ devices: { ...NO_DEVICES, sda: at(root), sdb: at(swap) }, helpers: ALL_HELPERS, interfaces },
      ...{ root_device: '/dev/sda', run_level: 'default', virt_mode: 'paravirt' },
    },
    nowText,
  )
  return config.id
}

/** Shortens a label of a disk or profile to 48 characters. */
const shorten = (label: string): string => [...label].slice(0, 48).join('')

/** Adds the disks and profiles of a backup; returns the id of the first profile, null if there is none. */
async function deployBackup(
  connection: Connection,
  instanceId: number,
  backup: BackupContent | null,
  { nowText }: Moment,
): Promise<number | null> {
  if (backup === null) return null
  const [first] = await addContent(connection, instanceId, backup, nowText)
  return first ?? null
}

/** The sources of a new instance. */
interface DeploySource {
  /** Null without an image. */
  readonly image: { readonly id: string; readonly label: string } | null
  readonly script: StoredScript | null
  /** Null without a backup. */
  readonly backup: BackupContent | null
}

/** Finds the image, script and backup that a spec names, and checks that they fit; adds to the problems. */
async function findSource(
  connection: Connection,
  actor: Actor,
  spec: InstanceSpec,
  problems: RequestProblem[],
  images: SharedImages,
): Promise<DeploySource> {
  const image = spec.image === null ? null : (images.get(spec.image) ?? (await findDeployableImage(connection, actor, spec.image)))
  if (spec.image !== null && image === null) problems.push(notValid('image'))
  if (image !== null && image.size > spec.type.disk - spec.swapSize) {
    const isTypeTooSmall = image.size > spec.type.disk
    problems.push(
      isTypeTooSmall
        ? { field: 'type', reason: `The image needs ${image.size} MB, and the type has ${spec.type.disk} MB.` }
        : { field: 'swap_size', reason: `swap_size must be between 0 and ${spec.type.disk - image.size}` },
    )
  }
  const script = spec.scriptId === null ? null : await findScript(connection, actor, spec.scriptId)
  if (spec.scriptId !== null && script === null) problems.push(notValid('script_id'))
  if (script !== null) {
    if (image !== null && !takesImage(script, image.id)) {
      problems.push({ field: 'image', reason: 'The requested distribution is not supported by this stackscript.' })
    }
    problems.push(...fieldValueProblems(parseUserDefinedFields(script.script), spec.scriptData))
  }
  const backup = spec.backupId === null ? null : await findBackupToDeploy(connection, actor, spec, spec.backupId, problems)
  await checkUsers(connection, actor, spec.authorizedUsers, problems)
  return { image, script, backup }
}

async function findBackupToDeploy(
  connection: Connection,
  actor: Actor,
  { region, type }: InstanceSpec,
  id: number,
  problems: RequestProblem[],
): Promise<BackupContent | null> {
  const backup = await findBackup(connection, actor.accountId, id)
  if (backup === null) {
    problems.push(notValid('backup_id'))
    return null
  }
  if (actor.restricted && (await findPermissions(connection, actor, 'instance', backup.instance_id)) !== 'read_write') throw forbidden()
  if (backup.status !== 'successful') problems.push({ field: 'backup_id', reason: 'Unable to restore pending backups.' })
  if (backup.region !== region.id) problems.push({ field: 'region', reason: `The backup can be restored in ${backup.region} only.` })
  const content = contentOf(backup)
  const needed = totalDiskSize(content.disks)
  if (needed > type.disk) problems.push({ field: 'type', reason: `The backup needs ${needed} MB, and the type has ${type.disk} MB.` })
  return content
}

async function checkUsers(connection: Connection, actor: Actor, usernames: readonly string[], problems: RequestProblem[]): Promise<void> {
  const keys = await sshKeysOfUsers(connection, actor.accountId, usernames)
  if (usernames.some((username) => !keys.has(username))) problems.push(notValid('authorized_users'))
  else if (usernames.some((username) => keys.get(username)?.length === 0)) {
    problems.push({ field: 'authorized_users', reason: 'Every user of authorized_users must have SSH keys.' })
  }
}

/**
 * Adds copies of disks and configuration profiles to an instance, for a restored backup or a clone. The new profiles refer to the new disks;
 * volumes are not copied. Returns the ids of the profiles. Throws 400 if there would be too many.
 */
export async function addContent(
  connection: Connection,
  instanceId: number,
  { disks, configs }: Pick<BackupContent, 'disks' | 'configs'>,
  now: string,
): Promise<readonly number[]> {
  await checkConfigLimit(connection, instanceId, configs.length)
  const copies = new Map<number, number>()
  for (const disk of disks) copies.set(disk.id, await insertDisk(connection, instanceId, disk, now))
  const ids: number[] = []
  for (const config of configs) {
    const devices = devicesOfCopy(config.devices, copies)
    ids.push((await insertConfigProfile(connection, instanceId, { ...config, devices }, now)).id)
  }
  return ids
}

/** The error for disks that need more space than is free, in MB. */
export const spaceProblem = (field: string | null, needed: number, free: number): RequestProblem => ({
  field,
  reason: `There is insufficient space: the disks need ${needed} MB, and ${Math.max(0, free)} MB are free.`,
})

/** Maximum number of profiles of an instance. */
const MAX_CONFIGS = 200

/** Throws 400 if `added` more profiles would be too many. Requires a locked instance. */
export async function checkConfigLimit(connection: Connection, instanceId: number, added: number): Promise<void> {
  if ((await countConfigProfiles(connection, instanceId)) + added <= MAX_CONFIGS) return
  throw badRequest({ field: null, reason: `An instance can have at most ${MAX_CONFIGS} configuration profiles.` })
}

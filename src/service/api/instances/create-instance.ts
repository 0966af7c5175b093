import { randomUUID } from 'node:crypto'
import { slaacAddress } from '../../catalogue/address-plan.ts'
import type { InstanceType } from '../../catalogue/instance-types.ts'
import { scheduleBackups } from '../../jobs/backup-jobs.ts'
import { DURATIONS } from '../../jobs/durations.ts'
import { INSTANCE_MADE_OF_BACKUP, INSTANCE_PROVISIONED, type Started } from '../../jobs/instance-jobs.ts'
import type { JobMoment } from '../../jobs/job-handler.ts'
import { lockAccountRow } from '../../store/account-store.ts'
import { allocateAnyAddress } from '../../store/address-store.ts'
import type { Connection } from '../../store/database.ts'
import type { BackupContent } from '../../store/instance-backup-store.ts'
import { ALL_HELPERS, type Interface, insertConfig, insertDisk, NO_DEVICES } from '../../store/instance-content-store.ts'
import { insertInstance, isLabelTaken, updateInstanceRow } from '../../store/instance-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import { countDeployment } from '../../store/script-store.ts'
import type { InstanceRow } from '../../store/tables/instances.ts'
import { setTags } from '../../store/tag-store.ts'
import type { Actor } from '../authenticate.ts'
import { grantToCreator, unauthorized } from '../grants.ts'
import { invalid, type RequestProblem } from '../request-error.ts'
import { findSource } from './deploy-source.ts'
import { defaultAlerts, type InstanceOrder } from './instance-input.ts'
import { labelTaken } from './label-input.ts'
import { writeContent } from './write-content.ts'

/** Makes the instance of an order and has it provisioned, unless there is nothing to write to it. Throws 400 with every fault, 403 where the user may not do it. */
export async function createInstance(connection: Connection, actor: Actor, order: InstanceOrder, moment: JobMoment): Promise<InstanceRow> {
  if (actor.restricted && order.tags.length > 0) throw unauthorized()
  await lockAccountRow(connection, actor.accountId)
  const problems: RequestProblem[] = []
  if (order.label !== null && (await isLabelTaken(connection, actor.accountId, order.label, null))) problems.push(labelTaken())
  const { image, script, backup } = await findSource(connection, actor, order, problems)
  if (problems.length > 0) throw invalid(...problems)
  const isEmpty = image === null && backup === null
  const instance = await addInstance(
    connection,
    actor,
    {
      ...{ label: order.label, group: order.group, region: order.region.id, type: order.type, privateIp: order.privateIp },
      image: image?.id ?? backup?.image ?? null,
      scriptId: script?.id ?? null,
      status: isEmpty ? 'offline' : 'provisioning',
      // They go to the profile that is made of the image, or to the first that its owner makes.
      interfaces: isEmpty ? order.interfaces : [],
      tags: order.tags,
    },
    moment,
  )
  if (script) await countDeployment(connection, script.id)
  const config = image
    ? await deployImage(connection, instance.id, image.label, order, moment)
    : await deployBackup(connection, instance.id, backup, moment)
  const enabled = order.backupsEnabled
  const scheduled = enabled ? await scheduleBackups(connection, instance, { enabled, day: null, window: null }, moment) : instance
  if (isEmpty) return scheduled
  const started: Started = { config: order.booted ? config : null }
  const kind = image ? INSTANCE_PROVISIONED : INSTANCE_MADE_OF_BACKUP
  const due = moment.now + (image ? DURATIONS.provisionImage : DURATIONS.provisionBackup)
  await enqueueJob(connection, { kind, subject: instance.id, payload: { ...started }, due })
  return scheduled
}

/** What an instance is made with. */
export interface NewInstance {
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

/** Makes an instance with its addresses. The account is held, and the label free. Throws 400 where the region has no addresses left. */
export async function addInstance(
  connection: Connection,
  actor: Actor,
  { type, scriptId, interfaces, tags, privateIp, ...instance }: NewInstance,
  { nowText }: JobMoment,
): Promise<InstanceRow> {
  const { region } = instance
  const made = await insertInstance(connection, {
    ...instance,
    ...{ account_id: actor.accountId, type: type.id, script_id: scriptId, host_uuid: randomUUID() },
    ...{ alerts: JSON.stringify(defaultAlerts(type)), interfaces: JSON.stringify(interfaces), created: nowText, updated: nowText },
  })
  const row = await updateInstanceRow(connection, made.id, { ipv6: slaacAddress(region, made.id) })
  await grantToCreator(connection, actor, 'instance', row.id)
  await setTags(connection, actor.accountId, 'instance', row.id, tags)
  for (const pool of ['public', ...(privateIp ? (['private'] as const) : [])] as const) {
    if ((await allocateAnyAddress(connection, region, pool, row.id)) === null) {
      throw invalid({ field: 'region', reason: `The region ${region} has no ${pool} IPv4 addresses left.` })
    }
  }
  return row
}

/** Two disks, the second for swap, and the profile they are booted with: its number. */
export async function deployImage(
  connection: Connection,
  instanceId: number,
  label: string,
  { type, swapSize, interfaces }: Pick<InstanceOrder, 'type' | 'swapSize' | 'interfaces'>,
  { nowText }: JobMoment,
): Promise<number> {
  const add = (name: string, filesystem: 'ext4' | 'swap', size: number): Promise<number> =>
    insertDisk(connection, instanceId, { label: shortened(name), filesystem, size }, nowText)
  const root = await add(`${label} Disk`, 'ext4', type.disk - swapSize)
  const swap = swapSize === 0 ? null : await add(`${swapSize} MB Swap Image`, 'swap', swapSize)
  const at = (disk: number | null) => (disk === null ? null : { disk_id: disk, volume_id: null })
  const config = await insertConfig(
    connection,
    instanceId,
    {
      ...{ label: shortened(`My ${label} Disk Profile`), comments: '', kernel: 'linode/grub2', memory_limit: 0 },
      ...{ devices: { ...NO_DEVICES, sda: at(root), sdb: at(swap) }, helpers: ALL_HELPERS, interfaces },
      ...{ root_device: '/dev/sda', run_level: 'default', virt_mode: 'paravirt' },
    },
    nowText,
  )
  return config.id
}

/** Labels of disks and profiles have at most 48 characters. */
const shortened = (label: string): string => [...label].slice(0, 48).join('')

/** The disks and profiles of a backup; the number of the first profile, null where it has none. */
async function deployBackup(
  connection: Connection,
  instanceId: number,
  backup: BackupContent | null,
  { nowText }: JobMoment,
): Promise<number | null> {
  if (backup === null) return null
  const [first] = await writeContent(connection, instanceId, backup, nowText)
  return first ?? null
}

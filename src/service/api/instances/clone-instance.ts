/** The operation that clones an instance to a new or an existing one. */
import INSTANCE from '../../../../schemas/service/instance.json' with { type: 'json' }
import INSTANCE_CLONE from '../../../../schemas/service/instance-clone.json' with { type: 'json' }
import { findInstanceType } from '../../catalogue/instance-types.ts'
import { findRegion } from '../../catalogue/regions.ts'
import { DURATIONS, INSTANCE_CLONED, scheduleBackups } from '../../jobs/jobs.ts'
import { lockAccountRow } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import {
  allConfigProfiles,
  type Interface,
  listDisks,
  type StoredConfigProfile,
  totalDiskSize,
} from '../../store/disk-and-profile-store.ts'
import { findPermissions } from '../../store/grant-store.ts'
import {
  findInstanceRow,
  isBusy,
  isChanging,
  isLabelTaken,
  lockInstanceRow,
  specsOf,
  storedInstance,
  updateInstanceRow,
} from '../../store/instance-store.ts'
import { enqueueJob } from '../../store/job-store.ts'
import type { DiskRow, InstanceRow } from '../../store/tables.ts'
import { foldLabel, labelsOf, MAX_TAGS, setTags } from '../../store/tag-store.ts'
import { type Moment, momentAt } from '../../time.ts'
import type { Actor } from '../authenticate.ts'
import { checkQuota } from '../check-quota.ts'
import { forbidden } from '../grants.ts'
import { badRequest, notFound, type RequestProblem } from '../request-error.ts'
import {
  addContent,
  addInstance,
  hasVlans,
  type InstanceBody,
  instanceBusy,
  labelProblem,
  labelTaken,
  notValid,
  noVlans,
  spaceProblem,
} from './create-instance.ts'
import { INSTANCES } from './instance-routes.ts'

/** The body of a clone request that its schema has accepted. */
export interface CloneBody extends Partial<Pick<InstanceBody, 'region' | 'type' | 'label' | 'group' | 'backups_enabled' | 'private_ip'>> {
  readonly instance_id?: number | null
  readonly disks?: readonly number[] | null
  readonly configs?: readonly number[] | null
}

/** Maximum number of concurrent clones of one source (API, Limits). */
const MAX_CLONES = 5

/** The semantic errors of a clone body that need no look-up. */
function problemsOfClone({ region, type, label }: CloneBody): readonly RequestProblem[] {
  const problems: (RequestProblem | null)[] = []
  if (region !== undefined && findRegion(region) === null) problems.push(notValid('region'))
  if (type !== undefined && findInstanceType(type) === null) problems.push(notValid('type'))
  if (label !== undefined) problems.push(labelProblem(label))
  return problems.filter((problem) => problem !== null)
}

/** Starts to clone an instance; returns the target. Throws 400, 403, or 404 without a source. */
async function cloneInstance(
  connection: Connection,
  actor: Actor,
  sourceId: number,
  body: CloneBody,
  moment: Moment,
): Promise<InstanceRow> {
  const problems = [...problemsOfClone(body)]
  if (problems.length > 0) throw badRequest(...problems)
  await lockAccountRow(connection, actor.accountId)
  const source = await lockInstanceRow(connection, actor.accountId, sourceId)
  if (source === null) throw notFound()
  const { configs, disks } = await partsToClone(connection, sourceId, body)
  if (isChanging(source)) throw instanceBusy()
  if (source.clones >= MAX_CLONES) {
    throw badRequest({ field: null, reason: `At most ${MAX_CLONES} clones of an instance can run at a time.` })
  }
  const instanceId = body.instance_id ?? null
  const target =
    instanceId === null
      ? await newTarget(connection, actor, source, body, { configs, disks }, moment)
      : await existingTarget(connection, actor, source, instanceId, { configs, disks })
  await addContent(connection, target.id, { disks, configs }, moment.nowText)
  await updateInstanceRow(connection, sourceId, { clones: source.clones + 1 })
  const payload = { target: target.id }
  await enqueueJob(connection, { kind: INSTANCE_CLONED, subject: sourceId, payload, due: moment.now + DURATIONS.clone })
  return updateInstanceRow(connection, target.id, { receiving: 1, updated: moment.nowText })
}

interface ClonedParts {
  readonly configs: readonly StoredConfigProfile[]
  readonly disks: readonly DiskRow[]
}

/** The requested profiles (all by default) with their disks, and the requested additional disks. */
async function partsToClone(connection: Connection, sourceId: number, body: CloneBody): Promise<ClonedParts> {
  const [allConfigs, allDisks] = [await allConfigProfiles(connection, sourceId), await listDisks(connection, sourceId)]
  const [configIds, diskIds] = [new Set(body.configs ?? allConfigs.map(({ id }) => id)), new Set(body.disks ?? [])]
  const configs = allConfigs.filter(({ id }) => configIds.has(id))
  const problems: RequestProblem[] = []
  if (configs.length < configIds.size) problems.push(notValid('configs'))
  if (allDisks.filter(({ id }) => diskIds.has(id)).length < diskIds.size) problems.push(notValid('disks'))
  if (problems.length > 0) throw badRequest(...problems)
  for (const { devices } of configs) for (const device of Object.values(devices)) if (device?.disk_id) diskIds.add(device.disk_id)
  return { configs, disks: allDisks.filter(({ id }) => diskIds.has(id)) }
}

async function newTarget(
  connection: Connection,
  actor: Actor,
  source: InstanceRow,
  body: CloneBody,
  { configs, disks }: ClonedParts,
  moment: Moment,
): Promise<InstanceRow> {
  const region = findRegion(body.region ?? source.region)
  const type = findInstanceType(body.type ?? source.type)
  if (region === null || type === null) throw badRequest(notValid(region === null ? 'region' : 'type'))
  const problems: RequestProblem[] = []
  if (body.label !== undefined && (await isLabelTaken(connection, actor.accountId, body.label, null))) problems.push(labelTaken())
  // Interfaces that the source keeps for its first profile are kept for that of the clone, too.
  const pending: readonly Interface[] = body.configs ? [] : JSON.parse(source.interfaces)
  if (!hasVlans(region) && usesVlan([...configs, { interfaces: pending }])) problems.push(noVlans('region'))
  if (totalDiskSize(disks) > type.disk) problems.push(spaceProblem('type', totalDiskSize(disks), type.disk))
  if (problems.length > 0) throw badRequest(...problems)
  const instance = await addInstance(
    connection,
    actor,
    {
      ...{ label: body.label ?? null, group: body.group ?? source.group, region: region.id, type, image: source.image, scriptId: null },
      ...{ status: 'offline', interfaces: pending, privateIp: body.private_ip ?? false },
      tags: (await labelsOf(connection, 'instance', [source.id])).get(source.id) ?? [],
    },
    moment,
  )
  if (body.backups_enabled) await scheduleBackups(connection, instance, { enabled: true, day: null, window: null }, moment)
  return instance
}

/** Checks and locks an existing target, which must be idle and have enough space, and adds the source's tags to it. */
async function existingTarget(
  connection: Connection,
  actor: Actor,
  source: InstanceRow,
  id: number,
  { configs, disks }: ClonedParts,
): Promise<InstanceRow> {
  const target = id === source.id ? null : await findInstanceRow(connection, actor.accountId, id)
  if (target === null) throw badRequest(notValid('instance_id'))
  if (actor.restricted && (await findPermissions(connection, actor, 'instance', id)) !== 'read_write') throw forbidden()
  const locked = await lockInstanceRow(connection, actor.accountId, id)
  if (locked === null || isBusy(locked)) throw instanceBusy()
  const region = findRegion(locked.region)
  if (region !== null && !hasVlans(region) && usesVlan(configs)) throw badRequest(noVlans('instance_id'))
  const free = specsOf(locked).disk - totalDiskSize(await listDisks(connection, id))
  if (totalDiskSize(disks) > free) throw badRequest(spaceProblem('instance_id', totalDiskSize(disks), free))
  const labels = await labelsOf(connection, 'instance', [source.id, id])
  const tags = new Map([...(labels.get(id) ?? []), ...(labels.get(source.id) ?? [])].map((label) => [foldLabel(label), label]))
  if (tags.size > MAX_TAGS) throw badRequest({ field: 'instance_id', reason: `An instance can have at most ${MAX_TAGS} tags.` })
  await setTags(connection, actor.accountId, 'instance', id, [...tags.values()])
  return locked
}

const usesVlan = (configs: readonly Pick<StoredConfigProfile, 'interfaces'>[]): boolean =>
  configs.some(({ interfaces }) => interfaces.some(({ purpose }) => purpose === 'vlan'))

export const CLONE_ROUTE = INSTANCES.action<CloneBody>(
  'POST',
  '/compute/instances/{instanceId}/clone',
  'Clone an instance, to a new or an existing one',
  async ({ actor, ids, body }, { database, quotas, clock, jobs }) => {
    const instance = await database.write(async (connection) => {
      if (!body.instance_id) await checkQuota(connection, actor, 'instances', quotas)
      return storedInstance(connection, await cloneInstance(connection, actor, ids.instanceId, body, momentAt(clock())))
    })
    jobs.wake()
    return instance
  },
  { body: INSTANCE_CLONE, response: INSTANCE, global: 'add_instances', valueProblems: async ({ body }) => problemsOfClone(body) },
)

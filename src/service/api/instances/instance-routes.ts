/** The operations on instances. Cloning and backups are in their own files. */
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import INSTANCE from '../../../../schemas/service/instance.json' with { type: 'json' }
import INSTANCE_BOOT from '../../../../schemas/service/instance-boot.json' with { type: 'json' }
import INSTANCE_CREATE from '../../../../schemas/service/instance-create.json' with { type: 'json' }
import INSTANCE_UPDATE from '../../../../schemas/service/instance-update.json' with { type: 'json' }
import { cancelBackupJobs, scheduleBackups } from '../../jobs/backup-jobs.ts'
import { DURATIONS, INSTANCE_BOOTED, INSTANCE_PROVISIONED_FROM_BACKUP } from '../../jobs/instance-jobs.ts'
import { lockAccountRow } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import { allConfigProfiles } from '../../store/disk-and-profile-store.ts'
import {
  deleteInstance,
  findInstanceRow,
  INSTANCE_FILTER_FIELDS,
  isBusy,
  isLabelTaken,
  listInstances,
  lockInstanceRow,
  storedInstance,
  updateInstanceRow,
} from '../../store/instance-store.ts'
import { countJobs, enqueueJob } from '../../store/job-store.ts'
import type { InstanceRow } from '../../store/tables/instances.ts'
import { foldLabel, labelsOf, setTags } from '../../store/tag-store.ts'
import { type Moment, momentAt } from '../../timestamp.ts'
import type { Actor } from '../authenticate.ts'
import { checkQuota, withinTagQuota } from '../check-quota.ts'
import { forbidden, READ_INSTANCE, WRITE_INSTANCE } from '../grants.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { badRequest, notFound } from '../request-error.ts'
import { defineRoute } from '../route.ts'
import { createInstance } from './create-instance.ts'
import {
  type InstanceBody,
  type InstanceChanges,
  instanceBusy,
  instanceToCreate,
  labelProblem,
  labelTaken,
  notValid,
  problemsOfCreate,
} from './instance-input.ts'

const list = defineRoute({
  method: 'GET',
  path: '/compute/instances',
  summary: 'List instances',
  scope: 'instances:read_only',
  grants: null,
  filter: INSTANCE_FILTER_FIELDS,
  response: pageSchema(INSTANCE),
  handle: async ({ actor, query }, { database }) =>
    pageOf(query, await database.read((connection) => listInstances(connection, actor, query))),
})

const create = defineRoute<InstanceBody>({
  method: 'POST',
  path: '/compute/instances',
  summary: 'Create an instance',
  scope: 'instances:read_write',
  grants: { global: 'add_instances' },
  rate: { requests: 10, seconds: 30 },
  body: INSTANCE_CREATE,
  response: INSTANCE,
  valueProblems: async ({ body }) => problemsOfCreate(body),
  handle: async ({ actor, body }, service) => {
    const order = instanceToCreate(body)
    const { quotas } = service
    const instance = await service.database.write(async (connection) => {
      await checkQuota(connection, actor, 'instances', quotas)
      const make = () => createInstance(connection, actor, order, momentAt(service.clock()), service.images)
      return storedInstance(connection, await withinTagQuota(connection, actor, quotas, order.tags, make))
    })
    service.jobs.wake()
    return instance
  },
})

const get = defineRoute({
  method: 'GET',
  path: '/compute/instances/{instanceId}',
  summary: 'Read an instance',
  scope: 'instances:read_only',
  grants: READ_INSTANCE,
  response: INSTANCE,
  handle: ({ actor, ids }, { database }) =>
    database.read(async (connection) => {
      const row = await findInstanceRow(connection, actor.accountId, ids['instanceId'] as number)
      if (row === null) throw notFound()
      return storedInstance(connection, row)
    }),
})

const update = defineRoute<InstanceChanges>({
  method: 'PUT',
  path: '/compute/instances/{instanceId}',
  summary: 'Update an instance',
  scope: 'instances:read_write',
  grants: WRITE_INSTANCE,
  body: INSTANCE_UPDATE,
  response: INSTANCE,
  valueProblems: async ({ body: { label } }) => [label === undefined ? null : labelProblem(label)].filter((problem) => problem !== null),
  handle: async ({ actor, ids, body }, service) => {
    const instance = await service.database.write(async (connection) => {
      const change = () => updateInstance(connection, actor, ids['instanceId'] as number, body, momentAt(service.clock()))
      return storedInstance(connection, await withinTagQuota(connection, actor, service.quotas, body.tags, change))
    })
    service.jobs.wake()
    return instance
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/compute/instances/{instanceId}',
  summary: 'Delete an instance with its disks, configuration profiles and backups',
  errors: ['400'],
  scope: 'instances:read_write',
  grants: WRITE_INSTANCE,
  response: EMPTY,
  handle: async ({ actor, ids }, { database, now }) => {
    await database.write(async (connection) => {
      await lockAccountRow(connection, actor.accountId)
      const instance = await lockInstanceRow(connection, actor.accountId, ids['instanceId'] as number)
      if (instance === null) throw notFound()
      if (await isRestoring(connection, instance)) {
        const reason = 'Linode is restoring a backup. Please wait for restore to finish before deleting.'
        throw badRequest({ field: null, reason })
      }
      if (instance.clones > 0 || instance.receiving === 1) {
        throw badRequest({ field: null, reason: 'Linode is cloning. Please wait for cloning to finish before deleting.' })
      }
      await cancelBackupJobs(connection, instance.id)
      await deleteInstance(connection, instance, now())
    })
    return {}
  },
})

/** Whether a backup is being restored to an existing or a new instance. */
const isRestoring = async (connection: Connection, { id, status }: InstanceRow): Promise<boolean> =>
  status === 'restoring' || (status === 'provisioning' && (await countJobs(connection, INSTANCE_PROVISIONED_FROM_BACKUP, id)) > 0)

interface BootBody {
  readonly config_id?: number | null
}

/** Boots an instance, or reboots a running one, with the chosen profile. */
const boot = defineRoute<BootBody>({
  method: 'POST',
  path: '/compute/instances/{instanceId}/boot',
  summary: 'Boot an instance',
  scope: 'instances:read_write',
  grants: WRITE_INSTANCE,
  body: INSTANCE_BOOT,
  response: EMPTY,
  handle: async ({ actor, ids, body }, service) => {
    const id = ids['instanceId'] as number
    const moment = momentAt(service.clock())
    await service.database.write(async (connection) => {
      const instance = await lockInstanceRow(connection, actor.accountId, id)
      if (instance === null) throw notFound()
      const configs = (await allConfigProfiles(connection, id)).map((config) => config.id)
      const config = chooseConfig(configs, body.config_id ?? null, instance.last_booted)
      if (isBusy(instance)) throw instanceBusy()
      const reboots = instance.status === 'running'
      await updateInstanceRow(connection, id, { status: reboots ? 'rebooting' : 'booting', updated: moment.nowText })
      const due = moment.now + (reboots ? DURATIONS.reboot : DURATIONS.boot)
      await enqueueJob(connection, { kind: INSTANCE_BOOTED, subject: id, payload: { config }, due })
    })
    service.jobs.wake()
    return {}
  },
})

export const INSTANCE_ROUTES = [list, create, get, update, remove, boot] as const

/** Chooses the profile to boot with (API, Boot config choice). Throws 400 if the choice is ambiguous. */
function chooseConfig(configs: readonly number[], requested: number | null, lastBooted: number | null): number {
  if (requested !== null) {
    if (!configs.includes(requested)) throw badRequest(notValid('config_id'))
    return requested
  }
  const [only, ...others] = configs
  if (only === undefined) throw badRequest({ field: null, reason: 'The instance has no configuration profile to boot with.' })
  if (others.length === 0) return only
  if (lastBooted !== null && configs.includes(lastBooted)) return lastBooted
  const reason = 'config_id is required: the instance has several configuration profiles and was last booted with none of them.'
  throw badRequest({ field: 'config_id', reason })
}

/** Updates the fields that a request names. Throws 400, 403 if the user may not change the tags, 404 without an instance. */
async function updateInstance(
  connection: Connection,
  actor: Actor,
  id: number,
  { label, group, tags, watchdog_enabled, alerts, backups }: InstanceChanges,
  moment: Moment,
): Promise<InstanceRow> {
  const { accountId } = actor
  if (tags || label !== undefined) await lockAccountRow(connection, accountId)
  const existing = await lockInstanceRow(connection, accountId, id)
  if (existing === null) throw notFound()
  if (tags) {
    const current = (await labelsOf(connection, 'instance', [id])).get(id) ?? []
    if (actor.restricted && !haveSameTags(tags, current)) throw forbidden()
  }
  if (label !== undefined && label !== existing.label) {
    const problem = labelProblem(label)
    if (problem) throw badRequest(problem)
    if (await isLabelTaken(connection, accountId, label, id)) throw badRequest(labelTaken())
  }
  if (tags) await setTags(connection, accountId, 'instance', id, tags)
  if (backups?.schedule) {
    const { day = existing.backup_day, window = existing.backup_window } = backups.schedule
    if (day !== existing.backup_day || window !== existing.backup_window) {
      const enabled = existing.backups_enabled === 1
      await scheduleBackups(connection, existing, { enabled, day, window }, moment)
    }
  }
  return updateInstanceRow(connection, id, {
    label: label ?? existing.label,
    group: group ?? existing.group,
    watchdog_enabled: watchdog_enabled === undefined ? existing.watchdog_enabled : Number(watchdog_enabled),
    alerts: JSON.stringify({ ...JSON.parse(existing.alerts), ...alerts }),
    updated: moment.nowText,
  })
}

function haveSameTags(tags: readonly string[], current: readonly string[]): boolean {
  const folded = new Set(tags.map(foldLabel))
  return folded.size === current.length && current.every((label) => folded.has(foldLabel(label)))
}

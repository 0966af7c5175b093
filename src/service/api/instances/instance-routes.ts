/** The operations on instances. Cloning and backups are in their own files. */
import INSTANCE from '../../../../schemas/service/instance.json' with { type: 'json' }
import INSTANCE_BOOT from '../../../../schemas/service/instance-boot.json' with { type: 'json' }
import INSTANCE_CREATE from '../../../../schemas/service/instance-create.json' with { type: 'json' }
import INSTANCE_UPDATE from '../../../../schemas/service/instance-update.json' with { type: 'json' }
import { cancelBackupJobs, DURATIONS, INSTANCE_BOOTED, INSTANCE_PROVISIONED_FROM_BACKUP, scheduleBackups } from '../../jobs/jobs.ts'
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
import type { InstanceRow } from '../../store/tables.ts'
import { foldLabel, labelsOf, setTags } from '../../store/tag-store.ts'
import { type Moment, momentAt } from '../../time.ts'
import type { Actor } from '../authenticate.ts'
import { checkQuota, withinTagQuota } from '../check-quota.ts'
import { forbidden, GRANTED_INSTANCE } from '../grants.ts'
import { badRequest, orNotFound } from '../request-error.ts'
import { resource } from '../resource.ts'
import type { Route } from '../route.ts'
import {
  createInstance,
  type InstanceBody,
  type InstanceChanges,
  instanceBusy,
  instanceToCreate,
  labelProblem,
  labelTaken,
  notValid,
  problemsOfCreate,
} from './create-instance.ts'

export const INSTANCES = resource({
  path: '/compute/instances',
  parameter: 'instanceId',
  family: 'instances',
  object: GRANTED_INSTANCE,
  schema: INSTANCE,
  filter: INSTANCE_FILTER_FIELDS,
})

export const INSTANCE_ROUTES: readonly Route[] = [
  INSTANCES.list('List instances', (connection, { actor, query }) => listInstances(connection, actor, query)),
  INSTANCES.create<InstanceBody>(
    'Create an instance',
    INSTANCE_CREATE,
    async ({ actor, body }, service) => {
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
    { global: 'add_instances', rate: { requests: 10, seconds: 30 }, valueProblems: async ({ body }) => problemsOfCreate(body) },
  ),
  INSTANCES.get('Read an instance', async (connection, { actor, ids }) => {
    const row = await findInstanceRow(connection, actor.accountId, ids.instanceId)
    return row && storedInstance(connection, row)
  }),
  INSTANCES.update<InstanceChanges>(
    'Update an instance',
    INSTANCE_UPDATE,
    async ({ actor, ids, body }, service) => {
      const instance = await service.database.write(async (connection) => {
        const change = () => updateInstance(connection, actor, ids.instanceId, body, momentAt(service.clock()))
        return storedInstance(connection, await withinTagQuota(connection, actor, service.quotas, body.tags, change))
      })
      service.jobs.wake()
      return instance
    },
    {
      valueProblems: async ({ body: { label } }) =>
        [label === undefined ? null : labelProblem(label)].filter((problem) => problem !== null),
    },
  ),
  INSTANCES.remove(
    'Delete an instance with its disks, configuration profiles and backups',
    async (connection, { actor, ids }, { now }) => {
      await lockAccountRow(connection, actor.accountId)
      const instance = orNotFound(await lockInstanceRow(connection, actor.accountId, ids.instanceId))
      if (await isRestoring(connection, instance)) {
        const reason = 'Linode is restoring a backup. Please wait for restore to finish before deleting.'
        throw badRequest({ field: null, reason })
      }
      if (instance.clones > 0 || instance.receiving === 1) {
        throw badRequest({ field: null, reason: 'Linode is cloning. Please wait for cloning to finish before deleting.' })
      }
      await cancelBackupJobs(connection, instance.id)
      await deleteInstance(connection, instance, now())
      return true
    },
    { errors: ['400'] },
  ),
  // Boots an instance, or reboots a running one, with the chosen profile.
  INSTANCES.action<{ readonly config_id?: number | null }>(
    'POST',
    '/compute/instances/{instanceId}/boot',
    'Boot an instance',
    async ({ actor, ids: { instanceId: id }, body }, service) => {
      const moment = momentAt(service.clock())
      await service.database.write(async (connection) => {
        const instance = orNotFound(await lockInstanceRow(connection, actor.accountId, id))
        const configs = (await allConfigProfiles(connection, id)).map((config) => config.id)
        const config = chooseConfig(configs, body.config_id ?? null, instance.last_booted)
        if (isBusy(instance)) throw instanceBusy()
        const reboots = instance.status === 'running'
        await updateInstanceRow(connection, id, { status: reboots ? 'rebooting' : 'booting', updated: moment.nowText })
        const due = moment.now + (reboots ? DURATIONS.reboot : DURATIONS.boot)
        await enqueueJob(connection, { kind: INSTANCE_BOOTED, subject: id, payload: { config }, due })
      })
      service.jobs.wake()
    },
    { body: INSTANCE_BOOT },
  ),
]

/** Whether a backup is being restored to an existing or a new instance. */
const isRestoring = async (connection: Connection, { id, status }: InstanceRow): Promise<boolean> =>
  status === 'restoring' || (status === 'provisioning' && (await countJobs(connection, INSTANCE_PROVISIONED_FROM_BACKUP, id)) > 0)

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
  const existing = orNotFound(await lockInstanceRow(connection, accountId, id))
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

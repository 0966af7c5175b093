import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import INSTANCE from '../../../../schemas/service/instance.json' with { type: 'json' }
import INSTANCE_CREATE from '../../../../schemas/service/instance-create.json' with { type: 'json' }
import INSTANCE_UPDATE from '../../../../schemas/service/instance-update.json' with { type: 'json' }
import { cancelBackupJobs } from '../../jobs/backup-jobs.ts'
import { INSTANCE_MADE_OF_BACKUP } from '../../jobs/instance-jobs.ts'
import { lockAccountRow } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import {
  deleteInstance,
  findInstanceRow,
  INSTANCE_FILTER_FIELDS,
  listInstances,
  lockInstanceRow,
  storedInstance,
} from '../../store/instance-store.ts'
import { countJobs } from '../../store/job-store.ts'
import type { InstanceRow } from '../../store/tables/instances.ts'
import { checkQuota, withinTagQuota } from '../check-quota.ts'
import { READS_INSTANCE, WRITES_INSTANCE } from '../grants.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
import { invalid, notFound } from '../request-error.ts'
import { defineRoute } from '../route.ts'
import { createInstance } from './create-instance.ts'
import { type InstanceBody, type InstanceChanges, instanceToCreate, problemsOfCreate } from './instance-input.ts'
import { labelProblem } from './label-input.ts'
import { momentOf } from './moment-of.ts'
import { updateInstance } from './update-instance.ts'

const list = defineRoute({
  method: 'GET',
  path: '/compute/instances',
  summary: 'List instances',
  scope: 'instances:read_only',
  needs: null,
  filter: INSTANCE_FILTER_FIELDS,
  response: pageSchema(INSTANCE),
  handle: async ({ actor, paging, filter }, { database }) => {
    const query = { filter, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read((connection) => listInstances(connection, actor, query))
    return pageOf(paging, total, items)
  },
})

const create = defineRoute<InstanceBody>({
  method: 'POST',
  path: '/compute/instances',
  summary: 'Create an instance',
  scope: 'instances:read_write',
  needs: { global: 'add_instances' },
  rate: { requests: 10, seconds: 30 },
  body: INSTANCE_CREATE,
  response: INSTANCE,
  valueProblems: async ({ body }) => problemsOfCreate(body),
  handle: async ({ actor, body }, service) => {
    const order = instanceToCreate(body)
    const { quotas } = service
    const instance = await service.database.write(async (connection) => {
      await checkQuota(connection, actor, 'instances', quotas)
      const make = () => createInstance(connection, actor, order, momentOf(service))
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
  needs: READS_INSTANCE,
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
  needs: WRITES_INSTANCE,
  body: INSTANCE_UPDATE,
  response: INSTANCE,
  valueProblems: async ({ body: { label } }) => [label === undefined ? null : labelProblem(label)].filter((problem) => problem !== null),
  handle: async ({ actor, ids, body }, service) => {
    const instance = await service.database.write(async (connection) => {
      const change = () => updateInstance(connection, actor, ids['instanceId'] as number, body, momentOf(service))
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
  scope: 'instances:read_write',
  needs: WRITES_INSTANCE,
  response: EMPTY,
  handle: async ({ actor, ids }, { database, now }) => {
    await database.write(async (connection) => {
      await lockAccountRow(connection, actor.accountId)
      const instance = await lockInstanceRow(connection, actor.accountId, ids['instanceId'] as number)
      if (instance === null) throw notFound()
      if (await isRestoring(connection, instance)) {
        const reason = 'Linode is restoring a backup. Please wait for restore to finish before deleting.'
        throw invalid({ field: null, reason })
      }
      if (instance.clones > 0 || instance.receiving === 1) {
        throw invalid({ field: null, reason: 'Linode is cloning. Please wait for cloning to finish before deleting.' })
      }
      await cancelBackupJobs(connection, instance.id)
      await deleteInstance(connection, instance, now())
    })
    return {}
  },
})

/** Whether a backup is written to an instance, be it a new one. */
const isRestoring = async (connection: Connection, { id, status }: InstanceRow): Promise<boolean> =>
  status === 'restoring' || (status === 'provisioning' && (await countJobs(connection, INSTANCE_MADE_OF_BACKUP, id)) > 0)

export const INSTANCE_ROUTES = [list, create, get, update, remove] as const

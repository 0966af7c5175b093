import INSTANCE from '../../../../schemas/service/instance.json' with { type: 'json' }
import INSTANCE_CLONE from '../../../../schemas/service/instance-clone.json' with { type: 'json' }
import { storedInstance } from '../../store/instance-store.ts'
import { checkQuota } from '../check-quota.ts'
import { WRITES_INSTANCE } from '../grants.ts'
import { defineRoute } from '../route.ts'
import { type CloneBody, cloneInstance, problemsOfClone } from './clone-instance.ts'
import { momentOf } from './moment-of.ts'

export const CLONE_ROUTE = defineRoute<CloneBody>({
  method: 'POST',
  path: '/compute/instances/{instanceId}/clone',
  summary: 'Clone an instance, to a new or an existing one',
  scope: 'instances:read_write',
  needs: { ...WRITES_INSTANCE, global: 'add_instances' },
  body: INSTANCE_CLONE,
  response: INSTANCE,
  valueProblems: async ({ body }) => problemsOfClone(body),
  handle: async ({ actor, ids, body }, service) => {
    const instance = await service.database.write(async (connection) => {
      if (!body.instance_id) await checkQuota(connection, actor, 'instances', service.quotas)
      return storedInstance(connection, await cloneInstance(connection, actor, ids['instanceId'] as number, body, momentOf(service)))
    })
    service.jobs.wake()
    return instance
  },
})

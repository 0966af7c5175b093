import CONFIG from '../../../../schemas/service/config.json' with { type: 'json' }
import CONFIG_CREATE from '../../../../schemas/service/config-create.json' with { type: 'json' }
import type { Connection } from '../../store/database.ts'
import { CONFIG_FILTER_FIELDS, insertConfig, listConfigs, listDisks } from '../../store/instance-content-store.ts'
import { findInstanceRow, lockInstanceRow, specsOf, updateInstanceRow } from '../../store/instance-store.ts'
import type { InstanceRow } from '../../store/tables/instances.ts'
import type { Actor } from '../authenticate.ts'
import { READS_INSTANCE, WRITES_INSTANCE } from '../grants.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
import { notFound, problemsOf } from '../request-error.ts'
import { defineRoute } from '../route.ts'
import { type ConfigBody, type ConfigSurroundings, configToCreate } from './config-input.ts'
import { checkConfigLimit } from './config-limit.ts'

const list = defineRoute({
  method: 'GET',
  path: '/compute/instances/{instanceId}/configs',
  summary: 'List the configuration profiles of an instance',
  scope: 'instances:read_only',
  needs: READS_INSTANCE,
  filter: CONFIG_FILTER_FIELDS,
  response: pageSchema(CONFIG),
  handle: async ({ actor, ids, paging, filter }, { database }) => {
    const query = { filter, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read(async (connection) => {
      const instance = await findInstanceRow(connection, actor.accountId, ids['instanceId'] as number)
      if (instance === null) throw notFound()
      return listConfigs(connection, instance.id, query)
    })
    return pageOf(paging, total, items)
  },
})

const create = defineRoute<ConfigBody>({
  method: 'POST',
  path: '/compute/instances/{instanceId}/configs',
  summary: 'Create a configuration profile',
  scope: 'instances:read_write',
  needs: WRITES_INSTANCE,
  body: CONFIG_CREATE,
  response: CONFIG,
  valueProblems: async ({ actor, ids, body }, { database }) => {
    const around = await database.read(async (connection) => {
      const instance = await findInstanceRow(connection, actor.accountId, ids['instanceId'] as number)
      return instance === null ? null : surroundings(connection, actor, instance)
    })
    return around === null ? [] : problemsOf(() => configToCreate({ label: '', devices: {}, ...body }, around))
  },
  handle: ({ actor, ids, body }, { database, now }) =>
    database.write(async (connection) => {
      const instance = await lockInstanceRow(connection, actor.accountId, ids['instanceId'] as number)
      if (instance === null) throw notFound()
      const config = configToCreate(body, await surroundings(connection, actor, instance))
      await checkConfigLimit(connection, instance.id, 1)
      await updateInstanceRow(connection, instance.id, { updated: now(), ...(body.interfaces ? {} : { interfaces: '[]' }) })
      return insertConfig(connection, instance.id, config, now())
    }),
})

export const CONFIG_ROUTES = [list, create] as const

/** Volumes that the user may not change are none. */
async function surroundings(connection: Connection, actor: Actor, instance: InstanceRow): Promise<ConfigSurroundings> {
  const inRegion = connection
    .selectFrom('volumes')
    .select('volumes.id')
    .where('volumes.account_id', '=', instance.account_id)
    .where('volumes.region', '=', instance.region)
  const granted = inRegion
    .innerJoin('grants', 'grants.entity_id', 'volumes.id')
    .where('grants.kind', '=', 'volume')
    .where('grants.user_id', '=', actor.userId)
    .where('grants.permissions', '=', 'read_write')
  const volumes = await (actor.restricted ? granted : inRegion).execute()
  const disks = await listDisks(connection, instance.id)
  const numbers = (rows: readonly { readonly id: number }[]): ReadonlySet<number> => new Set(rows.map(({ id }) => id))
  return { instance, specs: specsOf(instance), disks: numbers(disks), volumes: numbers(volumes) }
}

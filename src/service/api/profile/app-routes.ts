import APP from '../../../../schemas/service/authorized-app.json' with { type: 'json' }
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import { APP_FILTER_FIELDS, deleteApp, findApp, listApps } from '../../store/access-store.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
import { notFound, orNotFound } from '../request-error.ts'
import { defineRoute } from '../route.ts'

const list = defineRoute({
  method: 'GET',
  path: '/profile/apps',
  summary: 'List the apps that the user lets act',
  scope: 'account:read_only',
  needs: null,
  filter: APP_FILTER_FIELDS,
  response: pageSchema(APP),
  handle: async ({ actor, paging, filter }, { database, now }) => {
    const query = { filter, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read((connection) => listApps(connection, actor.userId, now(), query))
    return pageOf(paging, total, items)
  },
})

const get = defineRoute({
  method: 'GET',
  path: '/profile/apps/{appId}',
  summary: 'Read what an app may do',
  scope: 'account:read_only',
  needs: null,
  response: APP,
  handle: async ({ actor, ids }, { database, now }) =>
    orNotFound(await database.read((connection) => findApp(connection, actor.userId, ids['appId'] as number, now()))),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/profile/apps/{appId}',
  summary: 'Take away the access of an app: its tokens are invalid at once',
  scope: 'account:read_write',
  needs: null,
  response: EMPTY,
  handle: async ({ actor, ids }, { database, now }) => {
    if (!(await database.write((connection) => deleteApp(connection, actor.userId, ids['appId'] as number, now())))) throw notFound()
    return {}
  },
})

export const APP_ROUTES = [list, get, remove] as const

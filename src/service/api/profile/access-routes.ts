/** The operations on the user's authorized apps, trusted devices and logins. */
import APP from '../../../../schemas/service/authorized-app.json' with { type: 'json' }
import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import LOGIN from '../../../../schemas/service/login.json' with { type: 'json' }
import DEVICE from '../../../../schemas/service/trusted-device.json' with { type: 'json' }
import {
  APP_FILTER_FIELDS,
  deleteApp,
  deleteDevice,
  findApp,
  findDevice,
  findLogin,
  LOGIN_DAYS,
  listApps,
  listDevices,
  listLogins,
  type StoredLogin,
} from '../../store/access-store.ts'
import { formatTimestamp } from '../../timestamp.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { notFound, orNotFound } from '../request-error.ts'
import { defineRoute, type Route, type Service } from '../route.ts'

const listAppsRoute = defineRoute({
  method: 'GET',
  path: '/profile/apps',
  summary: 'List the apps that the user has authorized',
  scope: 'account:read_only',
  grants: null,
  filter: APP_FILTER_FIELDS,
  response: pageSchema(APP),
  handle: async ({ actor, query }, { database, now }) =>
    pageOf(query, await database.read((connection) => listApps(connection, actor.userId, now(), query))),
})

const getAppRoute = defineRoute({
  method: 'GET',
  path: '/profile/apps/{appId}',
  summary: 'Read an authorized app',
  scope: 'account:read_only',
  grants: null,
  response: APP,
  handle: async ({ actor, ids }, { database, now }) =>
    orNotFound(await database.read((connection) => findApp(connection, actor.userId, ids['appId'] as number, now()))),
})

const removeAppRoute = defineRoute({
  method: 'DELETE',
  path: '/profile/apps/{appId}',
  summary: 'Revoke the access of an app; its tokens are invalid at once',
  scope: 'account:read_write',
  grants: null,
  response: EMPTY,
  handle: async ({ actor, ids }, { database, now }) => {
    if (!(await database.write((connection) => deleteApp(connection, actor.userId, ids['appId'] as number, now())))) throw notFound()
    return {}
  },
})

const listDevicesRoute = defineRoute({
  method: 'GET',
  path: '/profile/devices',
  summary: 'List the trusted devices, which log in without a second factor',
  scope: 'account:read_only',
  grants: null,
  filter: {},
  response: pageSchema(DEVICE),
  handle: async ({ actor, query }, { database, now }) =>
    pageOf(query, await database.read((connection) => listDevices(connection, actor.userId, now(), query))),
})

const getDeviceRoute = defineRoute({
  method: 'GET',
  path: '/profile/devices/{deviceId}',
  summary: 'Read a trusted device',
  scope: 'account:read_only',
  grants: null,
  response: DEVICE,
  handle: async ({ actor, ids }, { database, now }) =>
    orNotFound(await database.read((connection) => findDevice(connection, actor.userId, ids['deviceId'] as number, now()))),
})

const removeDeviceRoute = defineRoute({
  method: 'DELETE',
  path: '/profile/devices/{deviceId}',
  summary: 'Stop trusting a device; it needs the second factor at its next login',
  scope: 'account:read_write',
  grants: null,
  response: EMPTY,
  handle: async ({ actor, ids }, { database, now }) => {
    if (!(await database.write((connection) => deleteDevice(connection, actor.userId, ids['deviceId'] as number, now())))) throw notFound()
    return {}
  },
})

const listLoginsRoute = defineRoute({
  method: 'GET',
  path: '/profile/logins',
  summary: "List the user's logins of the last 90 days",
  scope: 'account:read_only',
  grants: null,
  filter: {},
  response: pageSchema(LOGIN),
  handle: async ({ actor, query }, { database, clock }) => {
    const { items, total } = await database.read((connection) => listLogins(connection, actor.userId, oldestShown(clock), query))
    return pageOf(query, { total, items: items.map(responseOf) })
  },
})

const getLoginRoute = defineRoute({
  method: 'GET',
  path: '/profile/logins/{loginId}',
  summary: 'Read a login of the last 90 days',
  scope: 'account:read_only',
  grants: null,
  response: LOGIN,
  handle: async ({ actor, ids }, { database, clock }) => {
    const id = ids['loginId'] as number
    return responseOf(orNotFound(await database.read((connection) => findLogin(connection, actor.userId, id, oldestShown(clock)))))
  },
})

export const ACCESS_ROUTES: readonly Route[] = [
  listAppsRoute,
  getAppRoute,
  removeAppRoute,
  listDevicesRoute,
  getDeviceRoute,
  removeDeviceRoute,
  listLoginsRoute,
  getLoginRoute,
]

const oldestShown = (clock: Service['clock']): string => formatTimestamp(clock() - LOGIN_DAYS * 86_400_000)

const responseOf = ({ restricted, ...login }: StoredLogin): object => ({ ...login, restricted: restricted !== 0 })

/** The operations on the user's authorized apps, trusted devices and logins. */
import APP from '../../../../schemas/service/authorized-app.json' with { type: 'json' }
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
import { resource } from '../resource.ts'
import type { Route, Service } from '../route.ts'

const APPS = resource({ path: '/profile/apps', parameter: 'appId', family: 'account', schema: APP, filter: APP_FILTER_FIELDS })

const DEVICES = resource({ path: '/profile/devices', parameter: 'deviceId', family: 'account', schema: DEVICE })

const LOGINS = resource({
  path: '/profile/logins',
  parameter: 'loginId',
  family: 'account',
  schema: LOGIN,
  view: ({ restricted, ...login }: StoredLogin) => ({ ...login, restricted: restricted !== 0 }),
})

export const ACCESS_ROUTES: readonly Route[] = [
  APPS.list('List the apps that the user has authorized', (connection, { actor, query }, { now }) =>
    listApps(connection, actor.userId, now(), query),
  ),
  APPS.get('Read an authorized app', (connection, { actor, ids }, { now }) => findApp(connection, actor.userId, ids.appId, now())),
  APPS.remove('Revoke the access of an app; its tokens are invalid at once', (connection, { actor, ids }, { now }) =>
    deleteApp(connection, actor.userId, ids.appId, now()),
  ),
  DEVICES.list('List the trusted devices, which log in without a second factor', (connection, { actor, query }, { now }) =>
    listDevices(connection, actor.userId, now(), query),
  ),
  DEVICES.get('Read a trusted device', (connection, { actor, ids }, { now }) => findDevice(connection, actor.userId, ids.deviceId, now())),
  DEVICES.remove('Stop trusting a device; it needs the second factor at its next login', (connection, { actor, ids }, { now }) =>
    deleteDevice(connection, actor.userId, ids.deviceId, now()),
  ),
  LOGINS.list("List the user's logins of the last 90 days", (connection, { actor, query }, { clock }) =>
    listLogins(connection, actor.userId, oldestShown(clock), query),
  ),
  LOGINS.get('Read a login of the last 90 days', (connection, { actor, ids }, { clock }) =>
    findLogin(connection, actor.userId, ids.loginId, oldestShown(clock)),
  ),
]

const oldestShown = (clock: Service['clock']): string => formatTimestamp(clock() - LOGIN_DAYS * 86_400_000)

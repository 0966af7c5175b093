/** The operations on the user's authorized apps, trusted devices and logins. */
import APP_SCHEMA from '../../../../schemas/service/authorized-app.json' with { type: 'json' }
import LOGIN_SCHEMA from '../../../../schemas/service/login.json' with { type: 'json' }
import DEVICE_SCHEMA from '../../../../schemas/service/trusted-device.json' with { type: 'json' }
import { APP_FILTER_FIELDS, APPS, DEVICES, LOGIN_DAYS, LOGINS } from '../../store/access-store.ts'
import { formatTimestamp } from '../../time.ts'
import { resource } from '../resource.ts'
import type { Route, Service } from '../route.ts'

const APP = resource({ path: '/profile/apps', parameter: 'appId', family: 'account', schema: APP_SCHEMA, filter: APP_FILTER_FIELDS })

const DEVICE = resource({ path: '/profile/devices', parameter: 'deviceId', family: 'account', schema: DEVICE_SCHEMA })

const LOGIN = resource({
  path: '/profile/logins',
  parameter: 'loginId',
  family: 'account',
  schema: LOGIN_SCHEMA,
  view: ({ restricted, ...login }: { readonly restricted: number }) => ({ ...login, restricted: restricted !== 0 }),
})

export const ACCESS_ROUTES: readonly Route[] = [
  APP.list('List the apps that the user has authorized', (connection, { actor, query }, { now }) =>
    APPS.list(connection, query, actor.userId, now()),
  ),
  APP.get('Read an authorized app', (connection, { actor, ids }, { now }) => APPS.find(connection, ids.appId, actor.userId, now())),
  APP.remove('Revoke the access of an app; its tokens are invalid at once', (connection, { actor, ids }, { now }) =>
    APPS.remove(connection, ids.appId, actor.userId, now()),
  ),
  DEVICE.list('List the trusted devices, which log in without a second factor', (connection, { actor, query }, { now }) =>
    DEVICES.list(connection, query, actor.userId, now()),
  ),
  DEVICE.get('Read a trusted device', (connection, { actor, ids }, { now }) => DEVICES.find(connection, ids.deviceId, actor.userId, now())),
  DEVICE.remove('Stop trusting a device; it needs the second factor at its next login', (connection, { actor, ids }, { now }) =>
    DEVICES.remove(connection, ids.deviceId, actor.userId, now()),
  ),
  LOGIN.list("List the user's logins of the last 90 days", (connection, { actor, query }, { clock }) =>
    LOGINS.list(connection, query, actor.userId, oldestShown(clock)),
  ),
  LOGIN.get('Read a login of the last 90 days', (connection, { actor, ids }, { clock }) =>
    LOGINS.find(connection, ids.loginId, actor.userId, oldestShown(clock)),
  ),
]

const oldestShown = (clock: Service['clock']): string => formatTimestamp(clock() - LOGIN_DAYS * 86_400_000)

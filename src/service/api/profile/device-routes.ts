import EMPTY from '../../../../schemas/service/empty.json' with { type: 'json' }
import DEVICE from '../../../../schemas/service/trusted-device.json' with { type: 'json' }
import { deleteDevice, findDevice, listDevices } from '../../store/access-store.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
import { notFound, orNotFound } from '../request-error.ts'
import { defineRoute } from '../route.ts'

const list = defineRoute({
  method: 'GET',
  path: '/profile/devices',
  summary: 'List the devices that are asked for no second factor',
  scope: 'account:read_only',
  needs: null,
  filter: {},
  response: pageSchema(DEVICE),
  handle: async ({ actor, paging, filter }, { database, now }) => {
    const query = { filter, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = await database.read((connection) => listDevices(connection, actor.userId, now(), query))
    return pageOf(paging, total, items)
  },
})

const get = defineRoute({
  method: 'GET',
  path: '/profile/devices/{deviceId}',
  summary: 'Read a trusted device',
  scope: 'account:read_only',
  needs: null,
  response: DEVICE,
  handle: async ({ actor, ids }, { database, now }) =>
    orNotFound(await database.read((connection) => findDevice(connection, actor.userId, ids['deviceId'] as number, now()))),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/profile/devices/{deviceId}',
  summary: 'Trust a device no more: it must log in again',
  scope: 'account:read_write',
  needs: null,
  response: EMPTY,
  handle: async ({ actor, ids }, { database, now }) => {
    if (!(await database.write((connection) => deleteDevice(connection, actor.userId, ids['deviceId'] as number, now())))) throw notFound()
    return {}
  },
})

export const DEVICE_ROUTES = [list, get, remove] as const

import REGION from '../../../../schemas/service/region.json' with { type: 'json' }
import type { Region } from '../../catalogue/regions.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
import { notFound } from '../request-error.ts'
import { defineOpenRoute, type Route } from '../route.ts'

const list = defineOpenRoute({
  method: 'GET',
  path: '/regions',
  summary: 'List regions',
  scope: null,
  grants: null,
  filter: {},
  response: pageSchema(REGION),
  handle: async ({ paging }, { regions }) => {
    const offset = offsetOf(paging)
    return pageOf(paging, regions.length, regions.slice(offset, offset + paging.pageSize).map(responseOf))
  },
})

const get = defineOpenRoute({
  method: 'GET',
  path: '/regions/{regionId}',
  textParameters: ['regionId'],
  summary: 'Read a region',
  scope: null,
  grants: null,
  response: REGION,
  handle: async ({ texts }, { regions }) => {
    const region = regions.find(({ id }) => id === texts['regionId'])
    if (region === undefined) throw notFound()
    return responseOf(region)
  },
})

/** The Regions section of the API. */
export const REGION_ROUTES: readonly Route[] = [list, get]

/** A region in a response: one text per address family, separated by commas. */
const responseOf = ({ resolvers: { ipv4, ipv6 }, ...region }: Region) => ({
  ...region,
  resolvers: { ipv4: ipv4.join(','), ipv6: ipv6.join(',') },
})

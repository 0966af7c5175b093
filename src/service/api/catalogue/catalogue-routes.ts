/** Lists of the catalogue, the same for every account: kernels and regions. */
import KERNEL from '../../../../schemas/service/kernel.json' with { type: 'json' }
import REGION from '../../../../schemas/service/region.json' with { type: 'json' }
import { KERNELS } from '../../catalogue/kernels.ts'
import type { Region } from '../../catalogue/regions.ts'
import type { FilterFields } from '../../filter/filter.ts'
import { selectItems } from '../../filter/filter.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { notFound } from '../request-error.ts'
import { defineOpenRoute, type Route } from '../route.ts'

/** All fields except `id` and `built`, as in the hosting service. */
export const KERNEL_FILTER_FIELDS = {
  label: { kind: 'text' },
  version: { kind: 'text' },
  architecture: { kind: 'text' },
  deprecated: { kind: 'boolean' },
  kvm: { kind: 'boolean' },
  pvops: { kind: 'boolean' },
} as const satisfies FilterFields

const listKernels = defineOpenRoute({
  method: 'GET',
  path: '/compute/kernels',
  summary: 'List kernels',
  scope: null,
  grants: null,
  filter: KERNEL_FILTER_FIELDS,
  response: pageSchema(KERNEL),
  handle: async ({ query }) => {
    const { items, total } = selectItems(KERNELS, query, KERNEL_FILTER_FIELDS)
    return pageOf(query, { items, total })
  },
})

/** The Kernels section of the API. */
export const KERNEL_ROUTES: readonly Route[] = [listKernels]

const listRegions = defineOpenRoute({
  method: 'GET',
  path: '/regions',
  summary: 'List regions',
  scope: null,
  grants: null,
  filter: {},
  response: pageSchema(REGION),
  handle: async ({ query }, { regions }) => {
    const { items, total } = selectItems(regions, query, {})
    return pageOf(query, { total, items: items.map(regionResponse) })
  },
})

const getRegion = defineOpenRoute({
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
    return regionResponse(region)
  },
})

/** The Regions section of the API. */
export const REGION_ROUTES: readonly Route[] = [listRegions, getRegion]

/** A region in a response: one text per address family, separated by commas. */
const regionResponse = ({ resolvers: { ipv4, ipv6 }, ...region }: Region) => ({
  ...region,
  resolvers: { ipv4: ipv4.join(','), ipv6: ipv6.join(',') },
})

/** Lists of the catalogue, the same for every account: instance types, kernels and regions. */
import INSTANCE_TYPE from '../../../../schemas/service/instance-type.json' with { type: 'json' }
import KERNEL from '../../../../schemas/service/kernel.json' with { type: 'json' }
import REGION from '../../../../schemas/service/region.json' with { type: 'json' }
import { findInstanceType, INSTANCE_TYPES } from '../../catalogue/instance-types.ts'
import { findKernel, KERNELS } from '../../catalogue/kernels.ts'
import type { Region } from '../../catalogue/regions.ts'
import type { FilterFields } from '../../filter/filter.ts'
import { selectItems } from '../../filter/filter.ts'
import { pageOf, pageSchema } from '../paging.ts'
import { notFound, orNotFound } from '../request-error.ts'
import { defineOpenRoute, type Route } from '../route.ts'

/** The fields that clients of the hosting service filter by. */
const TYPE_FILTER_FIELDS = {
  label: { kind: 'text' },
  class: { kind: 'text' },
  disk: { kind: 'number' },
  gpus: { kind: 'number' },
  memory: { kind: 'number' },
  network_out: { kind: 'number' },
  transfer: { kind: 'number' },
  vcpus: { kind: 'number' },
} as const satisfies FilterFields

const listTypes = defineOpenRoute({
  method: 'GET',
  path: '/compute/types',
  summary: 'List instance types',
  scope: null,
  grants: null,
  filter: TYPE_FILTER_FIELDS,
  response: pageSchema(INSTANCE_TYPE),
  handle: async ({ query }) => pageOf(query, selectItems(INSTANCE_TYPES, query, TYPE_FILTER_FIELDS)),
})

const getType = defineOpenRoute({
  method: 'GET',
  path: '/compute/types/{typeId}',
  textParameters: ['typeId'],
  summary: 'Read an instance type',
  scope: null,
  grants: null,
  response: INSTANCE_TYPE,
  handle: async ({ texts }) => orNotFound(findInstanceType(texts['typeId'] as string)),
})

/** The Types section of the API. */
export const TYPE_ROUTES: readonly Route[] = [listTypes, getType]

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
  handle: async ({ query }) => pageOf(query, selectItems(KERNELS, query, KERNEL_FILTER_FIELDS)),
})

const getKernel = defineOpenRoute({
  method: 'GET',
  path: '/compute/kernels/{kernelId}',
  textParameters: ['kernelId'],
  wildcard: 'kernelId',
  summary: 'Read a kernel',
  scope: null,
  grants: null,
  response: KERNEL,
  handle: async ({ texts }) => orNotFound(findKernel(texts['kernelId'] as string)),
})

/** The Kernels section of the API. */
export const KERNEL_ROUTES: readonly Route[] = [listKernels, getKernel]

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

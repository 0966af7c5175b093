/** Lists of the catalogue, the same for every account: instance types, kernels and regions. */
import INSTANCE_TYPE from '../../../../schemas/service/instance-type.json' with { type: 'json' }
import KERNEL from '../../../../schemas/service/kernel.json' with { type: 'json' }
import REGION from '../../../../schemas/service/region.json' with { type: 'json' }
import { INSTANCE_TYPES } from '../../catalogue/instance-types.ts'
import { KERNELS } from '../../catalogue/kernels.ts'
import { type FilterFields, selectItems } from '../../filter/filter.ts'
import { orNotFound } from '../request-error.ts'
import { pageOf, pageSchema } from '../resource.ts'
import { defineRoute, type Route, type Service } from '../route.ts'
import type { Scope } from '../scopes.ts'

interface Catalogue<Item> {
  readonly path: string
  /** The parameter with the id of an item. */
  readonly parameter: string
  /** Ids contain slashes. */
  readonly wildcard?: true
  /** The summaries of the operations. */
  readonly list: string
  readonly get: string
  /** Without a scope, the operations need no token. */
  readonly scope?: Scope
  readonly filter?: FilterFields
  /** The JSON Schema of an item in a response. */
  readonly schema: object
  readonly items: (service: Service) => readonly Item[]
  /** The form of an item in a response, if it is another one. */
  readonly view?: (item: Item) => unknown
}

/** The operations that list and read items in memory. */
export function catalogueRoutes<Item extends { readonly id: string }>(catalogue: Catalogue<Item>): readonly Route[] {
  const { path, parameter, wildcard, list, get, scope, filter = {}, schema, items, view = (item: Item): unknown => item } = catalogue
  const shared = { method: 'GET', scope: scope ?? null, grants: null, ...(scope ? {} : { open: true as const }) } as const
  return [
    defineRoute({
      ...shared,
      path,
      summary: list,
      filter,
      response: pageSchema(schema),
      handle: async ({ query }, service) => {
        const selected = selectItems(items(service), query, filter)
        return pageOf(query, { ...selected, items: selected.items.map(view) })
      },
    }),
    defineRoute({
      ...shared,
      path: `${path}/{${parameter}}`,
      textParameters: [parameter],
      ...(wildcard ? { wildcard: parameter } : {}),
      summary: get,
      response: schema,
      handle: async ({ texts }, service) => view(orNotFound(items(service).find(({ id }) => id === texts[parameter]) ?? null)),
    }),
  ]
}

/** The Types section of the API, with the fields that clients of the hosting service filter by. */
export const TYPE_ROUTES = catalogueRoutes({
  path: '/compute/types',
  parameter: 'typeId',
  list: 'List instance types',
  get: 'Read an instance type',
  schema: INSTANCE_TYPE,
  filter: {
    label: { kind: 'text' },
    class: { kind: 'text' },
    disk: { kind: 'number' },
    gpus: { kind: 'number' },
    memory: { kind: 'number' },
    network_out: { kind: 'number' },
    transfer: { kind: 'number' },
    vcpus: { kind: 'number' },
  },
  items: () => INSTANCE_TYPES,
})

/** The Kernels section of the API. Filters know all fields except `id` and `built`, as in the hosting service. */
export const KERNEL_ROUTES = catalogueRoutes({
  path: '/compute/kernels',
  parameter: 'kernelId',
  wildcard: true,
  list: 'List kernels',
  get: 'Read a kernel',
  schema: KERNEL,
  filter: {
    label: { kind: 'text' },
    version: { kind: 'text' },
    architecture: { kind: 'text' },
    deprecated: { kind: 'boolean' },
    kvm: { kind: 'boolean' },
    pvops: { kind: 'boolean' },
  },
  items: () => KERNELS,
})

/** The Regions section of the API. A response has one text of resolvers per address family, separated by commas. */
export const REGION_ROUTES = catalogueRoutes({
  path: '/regions',
  parameter: 'regionId',
  list: 'List regions',
  get: 'Read a region',
  schema: REGION,
  items: ({ regions }) => regions,
  view: ({ resolvers: { ipv4, ipv6 }, ...region }) => ({ ...region, resolvers: { ipv4: ipv4.join(','), ipv6: ipv6.join(',') } }),
})

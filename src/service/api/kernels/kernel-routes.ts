import KERNEL from '../../../../schemas/service/kernel.json' with { type: 'json' }
import { KERNELS } from '../../catalogue/kernels.ts'
import type { FilterFields } from '../../filter/filter.ts'
import { selectItems } from '../../filter/select-items.ts'
import { offsetOf, pageOf, pageSchema } from '../paging.ts'
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

const list = defineOpenRoute({
  method: 'GET',
  path: '/compute/kernels',
  summary: 'List kernels',
  scope: null,
  grants: null,
  filter: KERNEL_FILTER_FIELDS,
  response: pageSchema(KERNEL),
  handle: async ({ paging, filter }) => {
    const query = { filter, offset: offsetOf(paging), limit: paging.pageSize }
    const { items, total } = selectItems(KERNELS, query, KERNEL_FILTER_FIELDS)
    return pageOf(paging, total, items)
  },
})

/** The Kernels section of the API. */
export const KERNEL_ROUTES: readonly Route[] = [list]

/** Pages of lists, in requests and responses. */
import type { Filter, ListQuery, ListSlice } from '../filter/filter.ts'

/** A page of a list in a response. */
export interface Page<T> {
  readonly data: readonly T[]
  readonly page: number
  readonly pages: number
  readonly results: number
}

const DEFAULT_PAGE_SIZE = 100

export const PAGE_QUERY_SCHEMA = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, default: 1 },
    page_size: { type: 'integer', minimum: 25, maximum: 500, default: DEFAULT_PAGE_SIZE },
  },
} as const

/** The schema of a page of items. */
export const pageSchema = (item: object): object => ({
  type: 'object',
  required: ['data', 'page', 'pages', 'results'],
  properties: {
    data: { type: 'array', items: item },
    page: { type: 'integer' },
    pages: { type: 'integer' },
    results: { type: 'integer' },
  },
})

/** The part of a list that a query string and a filter request. */
export function listQueryOf(
  { page = 1, page_size: limit = DEFAULT_PAGE_SIZE }: { readonly page?: number; readonly page_size?: number },
  filter: Filter | null,
): ListQuery {
  // Limits the page number, so that the offset is a safe integer. Such a page is empty in any case.
  const index = Math.min(page, Math.floor(2 ** 52 / limit)) - 1
  return { filter, offset: index * limit, limit }
}

/** The response with one page of a list. An empty list has one empty page. */
export const pageOf = <T>({ offset, limit }: ListQuery, { items, total }: ListSlice<T>): Page<T> => ({
  data: items,
  page: offset / limit + 1,
  pages: Math.max(1, Math.ceil(total / limit)),
  results: total,
})

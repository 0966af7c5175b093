/** The requested part of a list. */
export interface Paging {
  readonly page: number
  readonly pageSize: number
}

/** A page of a list in a response. */
export interface Page<T> {
  readonly data: readonly T[]
  readonly page: number
  readonly pages: number
  readonly results: number
}

export const PAGE_QUERY_SCHEMA = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, default: 1 },
    page_size: { type: 'integer', minimum: 25, maximum: 500, default: 100 },
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

export function pagingOf(query: { readonly page?: number; readonly page_size?: number }): Paging {
  const pageSize = query.page_size ?? 100
  // Page numbers that would overflow the offset become the last page that does not; it is empty.
  return { page: Math.min(query.page ?? 1, Math.floor(2 ** 52 / pageSize)), pageSize }
}

export const offsetOf = ({ page, pageSize }: Paging): number => (page - 1) * pageSize

/** An empty list has one page; a page after the last is empty. */
export const pageOf = <T>({ page, pageSize }: Paging, results: number, data: readonly T[]): Page<T> => ({
  data,
  page,
  pages: Math.max(1, Math.ceil(results / pageSize)),
  results,
})

/** Like `pageOf`, but an empty list is page 0 of 0, as clients of the image list expect. */
export const pageFromZero = <T>(paging: Paging, results: number, data: readonly T[]): Page<T> =>
  results === 0 ? { data, page: 0, pages: 0, results } : pageOf(paging, results, data)

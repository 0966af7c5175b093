/** A client of the cloud API: requests with retries, checked responses, and complete lists. */
import { counted } from '../../report/english.ts'
import { sleep } from '../../transport/retry.ts'
import { type ApiConnection, type ApiResponse, createJsonApi, type SendAndCheck } from '../json-api.ts'
import { ProviderError } from '../provider.ts'
import type { ApiRequest } from '../send-request.ts'
import { CLOUD_DIALECT } from './api-errors.ts'
import { type ApiPage, pageShape } from './api-responses.ts'

export interface CloudApi {
  readonly request: SendAndCheck
  /** Reads all items of a list: pages after the first in parallel, and all again if the list changed. `filter` is an `X-Filter`. */
  list<T extends { readonly id: number | string }>(
    request: ApiRequest & { readonly filter?: unknown },
    shape: (item: unknown) => T,
  ): Promise<ApiResponse<T[]>>
  close(): Promise<void>
}

/** Creates a client of the API. It retries requests that are safe to repeat, checks every response, and throws `ProviderError`. */
export function createCloudApi(connection: ApiConnection): CloudApi {
  const { provider, token } = connection
  const { request, close } = createJsonApi(connection, { authorization: `Bearer ${token}` }, CLOUD_DIALECT)
  return {
    request,
    list: ({ filter, ...call }, shape) =>
      readList(request, provider, filter === undefined ? call : { ...call, headers: { 'x-filter': asciiJson(filter) } }, shape),
    close,
  }
}

/** JSON for a header (RFC 9110 section 5.5): all but printable ASCII is escaped (RFC 8259 section 7). */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Items per page: the maximum of the API. */
const PAGE_SIZE = 500
/** Maximum pages of a list: a million items. */
const MAX_PAGES = 2000
/** Attempts to read a list that changes during the read. */
const LIST_ATTEMPTS = 4
/** Milliseconds before the second attempt to read a list; each further pause is longer by as much. */
const LIST_PAUSE = 50

/**
 * Reads page 1 of a list, then the others in parallel. Accepts the result only if all pages state the same total and no item is missing or double. Otherwise
 * the list changed meanwhile, and is read again.
 */
async function readList<T extends { readonly id: number | string }>(
  request: SendAndCheck,
  provider: string,
  call: ApiRequest,
  shape: (item: unknown) => T,
): Promise<ApiResponse<T[]>> {
  const page = (number: number): Promise<ApiResponse<ApiPage<T>>> =>
    request({ ...call, query: { ...call.query, page: number, page_size: PAGE_SIZE } }, (body) => pageShape(body, shape))
  let contradiction: string | null = null
  for (let attempt = 1; attempt <= LIST_ATTEMPTS; attempt += 1) {
    if (attempt > 1) await sleep(LIST_PAUSE * (attempt - 1))
    const first = await page(1)
    if (first.value.pages > MAX_PAGES) {
      throw new ProviderError(
        'provider-garbled',
        `${provider}: ${call.what}: the list has ${first.value.pages} pages; at most ${MAX_PAGES} are read`,
      )
    }
    if (!hasConsistentTotals(first.value)) {
      contradiction = contradictionOf(first.value)
      continue
    }
    contradiction = null
    const rest = await Promise.all(Array.from({ length: Math.max(0, first.value.pages - 1) }, (_, index) => page(index + 2)))
    const pages = [first, ...rest].map((response) => response.value)
    const items = pages.flatMap((one) => one.data)
    const distinct = new Set(items.map((item) => item.id)).size
    const isConsistent =
      pages.every((one) => one.results === first.value.results) && distinct === first.value.results && items.length === distinct
    if (isConsistent) return { ...first, value: items }
  }
  if (contradiction !== null) throw new ProviderError('provider-garbled', `${provider}: ${call.what}: ${contradiction}`)
  throw new ProviderError('provider-garbled', `${provider}: ${call.what}: the list changed during each of ${LIST_ATTEMPTS} reads`, {
    hint: 'another client is changing it; try again later',
  })
}

const contradictionOf = ({ data, pages, results }: ApiPage<unknown>): string =>
  `the first page of the list has ${data.length} items and states ${results} items on ${counted(pages, 'page')}`

/** Whether the number of items on the first page fits the stated totals. A server may return fewer items per page than requested. */
const hasConsistentTotals = ({ data, pages, results }: ApiPage<unknown>): boolean =>
  pages <= 1 ? data.length === results : data.length > 0 && Math.ceil(results / data.length) === pages

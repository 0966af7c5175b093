/** A client of the cloud API: requests with retries, checked responses, and complete lists. */
import { type ApiConnection, createJsonApi, type ResponseHead, type SendAndCheck } from '../json-api.ts'
import { readPages } from '../read-pages.ts'
import type { ApiRequest } from '../send-request.ts'
import { CLOUD_DIALECT } from './api-errors.ts'
import { pageShape } from './api-responses.ts'

/** The items of a list, and what the response with the first page says. */
interface ListedItems<T> extends ResponseHead {
  readonly value: T[]
}

export interface CloudApi {
  readonly request: SendAndCheck
  /** Reads all items of a list: pages after the first in parallel, and all again if the list changed. `filter` is an `X-Filter`. */
  list<T extends { readonly id: number | string }>(
    request: ApiRequest & { readonly filter?: unknown },
    shape: (item: unknown) => T,
  ): Promise<ListedItems<T>>
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

async function readList<T extends { readonly id: number | string }>(
  request: SendAndCheck,
  provider: string,
  call: ApiRequest,
  shape: (item: unknown) => T,
): Promise<ListedItems<T>> {
  let first: ResponseHead | null = null
  const value = await readPages(
    `${provider}: ${call.what}`,
    (page) =>
      request({ ...call, query: { ...call.query, page, page_size: PAGE_SIZE } }, (body, head) => {
        if (page === 1) first = head
        const { data, pages, results } = pageShape(body, shape)
        return { items: data, pages, total: results }
      }),
    ({ id }) => id,
  )
  return { ...(first as unknown as ResponseHead), value }
}

import { sleep } from '../../transport/retry.ts'
import { ProviderError } from '../provider.ts'
import type { Answer, ApiRequest, SendAndCheck } from './api-request.ts'
import { type ApiPage, pageShape } from './api-shapes.ts'

/** Items on a page: the most the interface gives (conventions, 4). */
const PAGE_SIZE = 500
/** Pages of the longest list that is read: a million items. */
const MAX_PAGES = 2000
/** Times a list is read anew when it shifts while it is read. */
const LIST_TRIES = 4
/** Milliseconds before a list is read anew; more each time. */
const SHIFT_PAUSE = 50

/** Every item of a list: all pages after the first in parallel, read anew where the list shifted meanwhile. */
export async function readList<T extends { readonly id: number | string }>(
  request: SendAndCheck,
  provider: string,
  call: ApiRequest,
  shape: (item: unknown) => T,
): Promise<Answer<T[]>> {
  const page = (number: number): Promise<Answer<ApiPage<T>>> =>
    request({ ...call, query: { ...call.query, page: number, page_size: PAGE_SIZE } }, (body) => pageShape(body, shape))
  for (let attempt = 1; attempt <= LIST_TRIES; attempt += 1) {
    if (attempt > 1) await sleep(SHIFT_PAUSE * (attempt - 1))
    const first = await page(1)
    if (first.value.pages > MAX_PAGES) {
      throw new ProviderError('provider-garbled', `${provider}: ${call.what}: a list of ${first.value.pages} pages is longer than any`)
    }
    if (!isPlausible(first.value)) continue
    const rest = await Promise.all(Array.from({ length: Math.max(0, first.value.pages - 1) }, (_, index) => page(index + 2)))
    const pages = [first, ...rest].map((answer) => answer.value)
    const items = pages.flatMap((one) => one.data)
    const distinct = new Set(items.map((item) => item.id)).size
    const steady =
      pages.every((one) => one.results === first.value.results) && distinct === first.value.results && items.length === distinct
    if (steady) return { ...first, value: items }
  }
  throw new ProviderError('provider-garbled', `${provider}: ${call.what}: the list changed each of the ${LIST_TRIES} times it was read`, {
    hint: 'somebody else is changing it; try again when they are done',
  })
}

/** Whether the first page can be that of a list with as many pages and items as it says. A server may give fewer on a page than it was asked for. */
const isPlausible = ({ data, pages, results }: ApiPage<unknown>): boolean =>
  pages <= 1 ? data.length === results : data.length > 0 && Math.ceil(results / data.length) === pages

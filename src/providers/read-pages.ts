/** Reads lists that an API returns in pages. */
import { counted } from '../base/english.ts'
import { sleep } from '../transport/retry.ts'
import type { ResponseHead, SendAndCheck } from './json-api.ts'
import { type Fields, fieldsOf, listOf } from './json-shape.ts'
import { ProviderError } from './provider.ts'
import type { ApiRequest } from './send-request.ts'

/** Maximum pages of a list. */
const MAX_PAGES = 2000
/** Attempts to read a list that changes during the read, and milliseconds before the second; each further pause is longer by as much. */
const LIST_ATTEMPTS = 4
const LIST_PAUSE = 50

export interface Page<T> {
  readonly items: readonly T[]
  /** The number of pages. */
  readonly pages: number
  /** The number of items on all pages. */
  readonly total: number
}

/**
 * Reads page 1, then the others in parallel. If the pages do not agree, or an item is missing or double, the list changed and is read again. `what` names the
 * list for messages, with the provider. Throws `ProviderError`.
 */
export async function readPages<T>(what: string, page: (number: number) => Promise<Page<T>>, keyOf: (item: T) => unknown): Promise<T[]> {
  let contradiction: string | null = null
  for (let attempt = 1; attempt <= LIST_ATTEMPTS; attempt += 1) {
    if (attempt > 1) await sleep(LIST_PAUSE * (attempt - 1))
    const first = await page(1)
    const { pages, total } = first
    if (pages > MAX_PAGES)
      throw new ProviderError('provider-garbled', `${what}: the list has ${pages} pages; at most ${MAX_PAGES} are read`)
    contradiction = fitsTotals(first)
      ? null
      : `the first page of the list has ${first.items.length} items and states ${total} items on ${counted(pages, 'page')}`
    if (contradiction !== null) continue
    const rest = await Promise.all(Array.from({ length: Math.max(0, pages - 1) }, (_, index) => page(index + 2)))
    const items = [first, ...rest].flatMap((one) => one.items)
    const isConsistent = rest.every((one) => one.total === total) && items.length === total
    if (isConsistent && new Set(items.map(keyOf)).size === items.length) return items
  }
  if (contradiction !== null) throw new ProviderError('provider-garbled', `${what}: ${contradiction}`)
  throw alwaysChanging(what)
}

const alwaysChanging = (what: string): ProviderError =>
  new ProviderError('provider-garbled', `${what}: the list changed during each of ${LIST_ATTEMPTS} reads`, {
    hint: 'another client is changing it; try again later',
  })

/** A list of an API. */
export interface ApiList<T> {
  /** The key of the items in a response; absent if the response is the list. */
  readonly key?: string
  readonly perPage: number
  readonly shape: (item: unknown) => T
  /** What tells the items apart. */
  readonly idOf: (item: T) => unknown
}

/** Reads all pages of a list. */
type ReadList = <T>(call: ApiRequest, list: ApiList<T>) => Promise<T[]>

/** Reads lists whose pages have numbers. `totalsOf` finds the numbers of all items and pages in a response with this many items. */
export const numberedLists =
  (
    provider: string,
    request: SendAndCheck,
    totalsOf: (response: Fields, count: number, head: ResponseHead) => { readonly total: number; readonly pages: number },
    sizeKey = 'per_page',
  ): ReadList =>
  (call, { key, perPage, shape, idOf }) =>
    readPages(
      `${provider}: ${call.what}`,
      (page) =>
        request({ ...call, query: { ...call.query, page, [sizeKey]: perPage } }, (body, head) => {
          const list = key === undefined ? body : fieldsOf(body, 'the response')[key]
          const items = listOf(list, key ?? 'the response').map(shape)
          return { items, ...totalsOf(body as Fields, items.length, head) }
        }),
      idOf,
    )

/** The totals of a list that states its number of items, and whose pages may have fewer than were requested. */
export const totalsOf = (total: number, count: number) => ({ total, pages: count === 0 ? 0 : Math.ceil(total / count) })

/** Whether the number of items on the first page fits the stated totals. A server may return fewer items per page than requested. */
const fitsTotals = ({ items, pages, total }: Page<unknown>): boolean =>
  pages <= 1 ? items.length === total : items.length > 0 && Math.ceil(total / items.length) === pages

/** Reads a list whose pages each lead to the next one; null leads to the first page, and from the last. Throws `ProviderError` if the list has no end. */
export async function readLinkedPages<T, Next>(
  what: string,
  page: (start: Next | null) => Promise<{ readonly items: readonly T[]; readonly next: Next | null }>,
): Promise<T[]> {
  const items: T[] = []
  const seen = new Set<string>()
  let start: Next | null = null
  do {
    const read: { readonly items: readonly T[]; readonly next: Next | null } = await page(start)
    for (const item of read.items) items.push(item)
    start = read.next
    const text = JSON.stringify(start)
    if (seen.has(text) || seen.size === MAX_PAGES) throw new ProviderError('provider-garbled', `${what}: the list has no end`)
    seen.add(text)
  } while (start !== null)
  return items
}

/**
 * Reads lists whose pages lead to the next one by a cursor. `linkOf` finds the cursor in a response, null on the last page, and the number of all items. If an
 * item is missing or double, the list changed and is read again.
 */
export const cursorLists =
  (
    provider: string,
    request: SendAndCheck,
    linkOf: (response: Fields) => { readonly next: string | null; readonly total: number },
  ): ReadList =>
  async (call, { key = '', perPage, shape, idOf }) => {
    const what = `${provider}: ${call.what}`
    for (let attempt = 1; attempt <= LIST_ATTEMPTS; attempt += 1) {
      if (attempt > 1) await sleep(LIST_PAUSE * (attempt - 1))
      let stated = 0
      const items = await readLinkedPages(what, (cursor: string | null) =>
        request({ ...call, query: { ...call.query, per_page: perPage, ...(cursor !== null && { cursor }) } }, (body) => {
          const fields = fieldsOf(body, 'the response')
          const { next, total } = linkOf(fields)
          stated = total
          return { items: listOf(fields[key], key).map(shape), next }
        }),
      )
      if (items.length === stated && new Set(items.map(idOf)).size === stated) return items
    }
    throw alwaysChanging(what)
  }

/** Reads lists that an API returns in numbered pages. */
import { sleep } from '../transport/retry.ts'
import { ProviderError } from './provider.ts'

/** Maximum pages of a list. */
const MAX_PAGES = 1000
/** Attempts to read a list that changes during the read, and milliseconds between two. */
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
  for (let attempt = 1; attempt <= LIST_ATTEMPTS; attempt += 1) {
    if (attempt > 1) await sleep(LIST_PAUSE * attempt)
    const first = await page(1)
    if (first.pages > MAX_PAGES)
      throw new ProviderError('provider-garbled', `${what}: the list has ${first.pages} pages; at most ${MAX_PAGES} are read`)
    const rest = await Promise.all(Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) => page(index + 2)))
    const items = [first, ...rest].flatMap((one) => one.items)
    const isConsistent = rest.every(({ total }) => total === first.total) && items.length === first.total
    if (isConsistent && new Set(items.map(keyOf)).size === items.length) return items
  }
  throw new ProviderError('provider-garbled', `${what}: the list changed during each of ${LIST_ATTEMPTS} reads`, {
    hint: 'another client is changing it; try again later',
  })
}

/** Requests and lists of the scripted Hetzner. */
import type { ScriptedRequest } from '../scripted-server.ts'
import { type Fields, type HetznerRrset, invalidInput, Refusal } from './rrsets.ts'

const MAX_PER_PAGE = { zones: 50, rrsets: 100 }
const USUAL_PER_PAGE = 25

export type Result = { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: object }

/** The fields of a request. */
export function fieldsOf(body: string): Fields {
  try {
    const fields: unknown = JSON.parse(body)
    if (typeof fields === 'object' && fields !== null) return fields as Fields
  } catch {
    // Refused below.
  }
  throw new Refusal(400, 'json_error', 'Invalid JSON input in your request')
}

/** Ordered by type and name. */
export function found(rrsets: Iterable<HetznerRrset>, query: URLSearchParams): HetznerRrset[] {
  const [types, name] = [query.getAll('type'), query.get('name')]
  const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
  return [...rrsets]
    .filter((rrset) => (types.length === 0 || types.includes(rrset.type)) && (name === null || rrset.name === name))
    .sort((a, b) => compare(a.type, b.type) || compare(a.name, b.name))
}

/** One page of a list, with links to others. */
export function page<T>(
  { path, query }: Pick<ScriptedRequest, 'path' | 'query'>,
  key: string,
  items: readonly T[],
  body: (item: T) => object = (item) => item as object,
): Result {
  const whole = (name: string, usual: number): number => {
    const value = Number(query.get(name) ?? usual)
    if (Number.isInteger(value) && value >= 1) return value
    throw invalidInput(name, 'must be a positive number')
  }
  const number = whole('page', 1)
  const perPage = Math.min(whole('per_page', USUAL_PER_PAGE), key === 'rrsets' ? MAX_PER_PAGE.rrsets : MAX_PER_PAGE.zones)
  const lastPage = Math.max(1, Math.ceil(items.length / perPage))
  const pagination = {
    page: number,
    per_page: perPage,
    previous_page: number > 1 ? number - 1 : null,
    next_page: number < lastPage ? number + 1 : null,
    last_page: lastPage,
    total_entries: items.length,
  }
  const links = [
    ['prev', pagination.previous_page],
    ['next', pagination.next_page],
    ['last', lastPage],
  ] as const
  const link = links
    .flatMap(([rel, to]) => (to === null ? [] : [`<https://api.hetzner.cloud${path}?page=${to}&per_page=${perPage}>; rel="${rel}"`]))
    .join(', ')
  return { headers: { link }, body: { meta: { pagination }, [key]: items.slice((number - 1) * perPage, number * perPage).map(body) } }
}

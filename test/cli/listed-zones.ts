import type { Script } from './recording-proxy.ts'

/** A domain as another installation of the API lists it; missing fields have the defaults of a master. */
export type ListedDomain = { id: number; domain: string; records?: readonly object[]; [field: string]: unknown }

/** Replies like another installation of the API, with data that the service here would refuse. */
export function holding(domains: readonly ListedDomain[]): Script {
  const listed = (items: readonly object[]) => ({ body: JSON.stringify({ data: items, page: 1, pages: 1, results: items.length }) })
  return ({ method, path }) => {
    if (method !== 'GET') return null
    const [, id, part] = /^\/v4\/domains(?:\/([0-9]+)\/(records|zone-file))?(?:\?|$)/.exec(path) ?? []
    if (path.split('?')[0] === '/v4/domains')
      return listed(domains.map(({ records: _, ...domain }) => ({ type: 'master', soa_email: 'hostmaster@example.com', ...domain })))
    const held = domains.find((domain) => String(domain.id) === id)
    if (held === undefined) return null
    if (part === 'zone-file') return { body: '{"zone_file": []}' }
    return listed((held.records ?? []).map((record, index) => ({ id: index + 1, ...record })))
  }
}

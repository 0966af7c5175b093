import type { Script } from './front.ts'

/** A domain as an installation of the API lists it. What is left out has the value of a master that nobody set anything of. */
export interface HeldDomain {
  readonly id: number
  readonly domain: string
  readonly records?: readonly object[]
  readonly [field: string]: unknown
}

/** Answers like an installation of the API that holds what the service here would not take in: older data, or another instance's rules. */
export function holding(domains: readonly HeldDomain[]): Script {
  const listed = (items: readonly object[]) => ({
    body: JSON.stringify({ data: items, page: 1, pages: 1, results: items.length }),
  })
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

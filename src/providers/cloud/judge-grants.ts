import type { DomainName } from '../../dns/domain-name.ts'
import type { Finding, ProviderUsage } from '../../dns/finding.ts'
import type { ZoneReference } from '../provider.ts'
import type { ApiGrants, ApiProfile } from './api-shapes.ts'
import { listed } from './listed.ts'

/**
 * Whether a restricted user may do what is wanted; `grants` is null for one who is not restricted, `found` where the zones could not be
 * looked up. A zone that is not granted is not shown either, so that it looks like one that is not there.
 */
export function judgeGrants(
  grants: ApiGrants | null,
  { zones }: ProviderUsage,
  found: ReadonlyMap<DomainName, ZoneReference> | null,
): Finding[] {
  if (grants === null) return []
  const findings: Finding[] = []
  const writable = new Set(grants.domains.filter(({ permissions }) => permissions === 'read_write').map(({ id }) => id))
  const closed = zones.filter((name) => {
    const reference = found?.get(name)
    return reference !== undefined && !writable.has(Number(reference.id))
  })
  const missing = found === null ? [] : zones.filter((name) => !found.has(name))
  if (closed.length > 0) {
    const message = `the user may not change ${listed(closed)}`
    findings.push({ status: 'error', check: 'grants', message, hint: 'have read_write granted on the domain' })
  }
  if (missing.length > 0 && !grants.addDomains) {
    const message = `the user sees no ${listed(missing)}, and may not create domains`
    const hint = 'have the domain granted, or add_domains if it is to be created'
    findings.push({ status: 'error', check: 'grants', message, hint })
  }
  if (findings.length === 0) findings.push({ status: 'ok', check: 'grants', message: 'every zone is granted' })
  return findings
}

/** An inventory that shows a part only cannot be told from a small one: addresses would be missing, and nobody would say so. */
export function judgeInventory({ restricted }: ApiProfile, { inventory }: ProviderUsage): Finding[] {
  if (!restricted || inventory.size === 0) return []
  const message = 'addresses come from inventory, of which the user sees only what is granted: the rest is taken for not there'
  return [{ status: 'warning', check: 'inventory', message, hint: 'use a token of an unrestricted user, or have every object granted' }]
}

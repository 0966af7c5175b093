import type { DomainName } from '../dns/domain-name.ts'
import type { Finding, ProviderUsage } from '../dns/finding.ts'
import type { InventoryKind } from '../dns/inventory.ts'
import type { Provider } from '../providers/provider.ts'
import { queryDns } from '../transport/dns-client.ts'
import type { DnsServer } from '../transport/dns-exchange.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import type { ZoneJob } from './zone-job.ts'

/** What the jobs need of a provider: their zones that go to it, and the inventories that are asked of it. */
export function providerUsage(provider: string, jobs: readonly ZoneJob[]): ProviderUsage {
  const zones = new Set<DomainName>()
  const inventory = new Set<InventoryKind>()
  for (const { desired, target } of jobs) {
    if (target === provider && !desired.absent) zones.add(desired.name)
    for (const { query } of desired.inventory ?? []) if ((query.provider ?? target) === provider) inventory.add(query.kind)
  }
  return { zones: [...zones].sort(), inventory }
}

/** How a provider stands; one that cannot be examined is asked for its zones. */
export async function examineProvider(provider: Provider, jobs: readonly ZoneJob[], now: Date): Promise<readonly Finding[]> {
  const wants = providerUsage(provider.name, jobs)
  if (provider.examine) return provider.examine(wants, now)
  try {
    const found = await provider.findZones(wants.zones)
    return [
      { status: 'ok', check: 'connection', message: `${provider.address} answers; ${found.size} of ${wants.zones.length} zones are there` },
    ]
  } catch (error) {
    return [{ status: 'error', check: 'connection', message: error instanceof Error ? error.message : String(error) }]
  }
}

/** Whether a name server answers for one of its zones. */
export async function examineNameServer(server: DnsServer, zone: DomainName): Promise<Finding> {
  try {
    const { rcode, authoritative } = await queryDns(server, { name: zone, type: 'SOA' })
    if (rcode === 'NOERROR' && authoritative) return { status: 'ok', check: 'nameserver', message: `answers for ${zone}` }
    const message = rcode === 'NOERROR' ? `answers for ${zone} without authority` : `says ${rcode} to ${zone}`
    return { status: 'warning', check: 'nameserver', message, hint: 'it may not have the zone yet; "verify" asks it about every record' }
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    return { status: 'error', check: 'nameserver', message: error.message, hint: '"verify" cannot ask it' }
  }
}

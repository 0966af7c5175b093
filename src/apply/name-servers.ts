import { parseServerAddress } from '../dns/server-address.ts'
import type { DnsServer } from '../transport/dns-exchange.ts'
import type { PlannedZone } from './plan-zones.ts'

export { isServerAddress } from '../dns/server-address.ts'

const DNS_PORT = 53

/** The servers to ask about a zone: the configured ones, else those its apex NS records name, as far as they are known. */
export function nameServersOf(planned: PlannedZone, configured: readonly string[] | null): DnsServer[] {
  if (configured !== null) return configured.map(parseServerAddress)
  const listed = (planned.existing?.records ?? []).filter((record) => record.type === 'NS' && record.name === planned.plan.zone)
  const names = new Set([...(planned.rendered.servedApexNs ?? []), ...listed.map((record) => record.data)])
  return [...names].sort().map((name) => ({ host: name.replace(/\.$/, ''), port: DNS_PORT }))
}

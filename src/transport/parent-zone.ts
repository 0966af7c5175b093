/** What the servers of the parent zone say about a zone: its delegation and its DS records. */
import { type DomainName, isAtOrBelow, parentOf } from '../dns/domain-name.ts'
import type { ResourceRecord } from '../dns/record.ts'
import { queryDns, systemResolvers } from './dns-client.ts'
import { type DnsServer, dnsFailure, formatServer, isDnsFailure } from './dns-exchange.ts'

/** What one server of the parent says. */
export interface Delegation {
  readonly server: string
  /** The names of the name servers, sorted; empty if the zone is not delegated. */
  readonly nameservers: readonly string[]
  /** The number of DS records. */
  readonly ds: number
  /** The longest TTL in seconds of both. */
  readonly ttl: number
}

export type DelegationResult =
  | { readonly ok: true; readonly delegations: readonly Delegation[] }
  /** In words that follow the zone's name. */
  | { readonly ok: false; readonly message: string }

const DNS_PORT = 53

/**
 * Asks every server of the parent (RFC 1034 section 4.2.1). It is a failure if one does not answer, or answers with neither the records nor a proof that there are
 * none: it may have the previous delegation.
 */
export async function askParent(zone: DomainName, servers: readonly DnsServer[]): Promise<DelegationResult> {
  try {
    return { ok: true, delegations: await Promise.all(servers.map((server) => delegationAt(server, zone))) }
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    return { ok: false, message: `the delegation in the parent zone is unknown: ${error.message}` }
  }
}

async function delegationAt(server: DnsServer, zone: DomainName): Promise<Delegation> {
  const [ns, ds] = await Promise.all([recordsAt(server, zone, 'NS'), recordsAt(server, zone, 'DS')])
  return {
    server: formatServer(server),
    nameservers: [...new Set(ns.map(({ data }) => data))].sort(),
    ds: ds.length,
    ttl: Math.max(0, ...[...ns, ...ds].map(({ ttl }) => ttl ?? 0)),
  }
}

/**
 * The NS or DS records of a zone at a server of its parent. NS records are in a referral, or in the answer if the server has both zones. That there are none is only
 * believed with the SOA record of a zone above (RFC 2308 section 2): the zone itself has no DS records (RFC 4035 section 3.1.4.1). Rejects with a `DnsFailure`.
 */
async function recordsAt(server: DnsServer, zone: DomainName, type: 'NS' | 'DS'): Promise<readonly ResourceRecord[]> {
  const { rcode, authoritative, answers, authorities } = await queryDns(server, { name: zone, type })
  const records = [...(authoritative ? answers : []), ...(type === 'NS' ? authorities : [])].filter(
    (record) => record.type === type && record.name === zone,
  )
  if (rcode === 'NOERROR' && records.length > 0) return records
  const isProof = authorities.some((record) => record.type === 'SOA' && record.name !== zone && isAtOrBelow(zone, record.name))
  if ((rcode === 'NOERROR' || rcode === 'NXDOMAIN') && authoritative && isProof) return []
  const problem = rcode === 'NOERROR' || rcode === 'NXDOMAIN' ? 'not as a server of the parent zone does' : `with ${rcode}`
  throw dnsFailure('failed', `${formatServer(server)} answers the query for its ${type} records ${problem}`)
}

/** Finds the name servers of the zone above, by the resolvers of this machine unless others are given. Null if no ancestor's servers can be found. */
export async function parentServers(
  zone: DomainName,
  resolvers: readonly DnsServer[] = systemResolvers(),
): Promise<readonly DnsServer[] | null> {
  for (let name = parentOf(zone); ; name = parentOf(name)) {
    for (const resolver of resolvers) {
      const found = await queryDns(resolver, { name, type: 'NS', recursion: true }).catch((error: unknown) => {
        if (isDnsFailure(error)) return null
        throw error
      })
      const hosts = (found?.answers ?? []).filter((record) => record.type === 'NS' && record.name === name).map(({ data }) => data)
      if (hosts.length > 0) return [...new Set(hosts)].sort().map((host) => ({ host: host.replace(/(?<=.)\.$/, ''), port: DNS_PORT }))
    }
    if (name === '.') return null
  }
}

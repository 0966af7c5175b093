/** What the servers of the parent zone say about a zone: its delegation and its DS records. */
import { getServers } from 'node:dns'
import { type DomainName, parentOf } from '../dns/domain-name.ts'
import { parseServerAddress } from '../dns/server-address.ts'
import { queryDns } from './dns-client.ts'
import { type DnsServer, formatServer, isDnsFailure } from './dns-exchange.ts'

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

/** Asks every server of the parent (RFC 1034 section 4.2.1). One that does not answer is a failure: it may have the former delegation. */
export async function askParent(zone: DomainName, servers: readonly DnsServer[]): Promise<DelegationResult> {
  try {
    return { ok: true, delegations: await Promise.all(servers.map((server) => delegationAt(server, zone))) }
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    return { ok: false, message: `the servers of the parent zone could not be asked: ${error.message}` }
  }
}

async function delegationAt(server: DnsServer, zone: DomainName): Promise<Delegation> {
  const [referral, signed] = await Promise.all([queryDns(server, { name: zone, type: 'NS' }), queryDns(server, { name: zone, type: 'DS' })])
  const ns = [...referral.authorities, ...referral.answers].filter(({ name, type }) => name === zone && type === 'NS')
  const ds = signed.answers.filter(({ name, type }) => name === zone && type === 'DS')
  return {
    server: formatServer(server),
    nameservers: [...new Set(ns.map(({ data }) => data))].sort(),
    ds: ds.length,
    ttl: Math.max(0, ...[...ns, ...ds].map(({ ttl }) => ttl ?? 0)),
  }
}

/** Finds the name servers of the zone above, by the resolvers of this machine. Null if no ancestor's servers can be found. */
export async function parentServers(zone: DomainName): Promise<readonly DnsServer[] | null> {
  const resolvers = getServers().map(parseServerAddress)
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

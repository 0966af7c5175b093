import type { Diagnostic } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { parseServerAddress } from '../dns/server-address.ts'
import type { Provider } from '../providers/provider.ts'
import { diagnosticOf } from '../providers/provider.ts'
import type { HostPolicy } from '../transport/allowed-hosts.ts'
import { refusedServer } from '../transport/allowed-hosts.ts'
import { queryDns } from '../transport/dns-client.ts'
import type { DnsServer } from '../transport/dns-exchange.ts'
import { isDnsFailure } from '../transport/dns-exchange.ts'
import type { AskedServer } from './ask-server.ts'

export interface RegionResolvers {
  /** By the name of the provider. */
  readonly resolvers: ReadonlyMap<string, readonly AskedServer[]>
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * The resolvers that each of the providers has in the region, those that answer; each is asked once about a zone of its provider. That
 * some do not answer is a warning, as IPv6 may not reach that far. That none does, that there is no such region, that it has no
 * resolvers or that the policy refuses one is an error.
 */
export async function findRegionResolvers(
  region: string,
  zoneOf: ReadonlyMap<Provider, DomainName>,
  policy: HostPolicy,
  signal?: AbortSignal,
): Promise<RegionResolvers> {
  const resolvers = new Map<string, readonly AskedServer[]>()
  const diagnostics: Diagnostic[] = []
  await Promise.all(
    [...zoneOf].map(async ([provider, zone]) => {
      const refuse = (problem: string): void => {
        diagnostics.push({ severity: 'error', code: 'region-unknown', message: `${provider.name} ${problem}` })
      }
      if (!provider.findResolvers) return refuse('has no regions whose resolvers could be asked')
      try {
        const found = await provider.findResolvers(region, { signal })
        if (found === null) return refuse(`has no region ${JSON.stringify(region)}`)
        if (found.length === 0) return refuse(`names no resolvers of the region ${region}`)
        const refused = found.flatMap(
          (address) => refusedServer(policy, `${provider.name}: region ${region}`, parseServerAddress(address)) ?? [],
        )
        diagnostics.push(...refused)
        if (refused.length > 0) return
        const { usable, failures } = await tryAll(found, zone)
        if (failures.length > 0) diagnostics.push(unusable(provider.name, region, usable.length, failures))
        resolvers.set(
          provider.name,
          usable.map((server) => ({ server, role: 'resolver' })),
        )
      } catch (error) {
        diagnostics.push(diagnosticOf(error))
      }
    }),
  )
  return { resolvers, diagnostics }
}

async function tryAll(
  addresses: readonly string[],
  zone: DomainName,
): Promise<{ usable: readonly DnsServer[]; failures: readonly string[] }> {
  const tried = await Promise.all(
    addresses.map(async (address) => {
      const server = parseServerAddress(address)
      return { server, failure: await failureOf(server, zone) }
    }),
  )
  return {
    usable: tried.filter(({ failure }) => failure === null).map(({ server }) => server),
    failures: tried.flatMap(({ failure }) => failure ?? []),
  }
}

/** Why the resolver cannot be asked; null where it can. Any answer will do that is not a refusal. */
async function failureOf(server: DnsServer, zone: DomainName): Promise<string | null> {
  try {
    const { rcode } = await queryDns(server, { name: zone, type: 'SOA', recursion: true })
    return rcode === 'REFUSED' ? `${server.host} answers REFUSED` : null
  } catch (error) {
    if (!isDnsFailure(error)) throw error
    return error.message
  }
}

function unusable(provider: string, region: string, usable: number, failures: readonly string[]): Diagnostic {
  const [first, ...others] = failures
  const why = others.length === 0 ? first : `${first}, and ${others.length} more`
  const all = usable + failures.length
  const how =
    usable === 0
      ? `none of the ${all} resolvers of the region ${region} can be asked`
      : `${failures.length} of the ${all} resolvers of the region ${region} are not asked`
  return {
    severity: usable === 0 ? 'error' : 'warning',
    code: 'resolver-failed',
    message: `${provider}: ${how}: ${why}`,
    hint: 'resolvers may answer the machines of their region alone, and those with an IPv6 address only where there is IPv6',
  }
}

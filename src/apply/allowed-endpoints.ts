import type { Config } from '../definition/config/config.ts'
import type { Diagnostic } from '../dns/diagnostic.ts'
import { parseServerAddress } from '../dns/server-address.ts'
import { endpointsOf, refusedEndpoints } from '../providers/registry.ts'
import { endpointOfServer, type HostPolicy, hostEntry, refusedServer } from '../transport/allowed-hosts.ts'

/** An error for each host that the config names and the policy refuses: those of all providers and name servers, used in this run or not. */
export function refusedHosts(config: Config, policy: HostPolicy): Diagnostic[] {
  if (policy.diagnostics.length > 0) return [...policy.diagnostics]
  const at = config.file === null ? undefined : { file: config.file, line: 1, column: 1 }
  const servers = [{ nameservers: config.nameservers, at }, ...config.rules]
  return [
    ...[...config.providers.values()].flatMap((provider) => refusedEndpoints(provider, policy)),
    ...servers.flatMap(({ nameservers, at: place }) =>
      (nameservers ?? []).flatMap((server) => refusedServer(policy, 'nameservers', parseServerAddress(server), place ?? undefined) ?? []),
    ),
  ]
}

/** The entries of ZONEWRIGHT_ALLOWED_HOSTS that a run with the config needs. */
export function hostEntries({ providers, nameservers, rules }: Config): readonly string[] {
  const servers = [nameservers, ...rules.map((rule) => rule.nameservers)].flatMap((list) => list ?? [])
  const endpoints = [
    ...[...providers.values()].flatMap((provider) => endpointsOf(provider).map(({ endpoint }) => endpoint)),
    ...servers.map((server) => endpointOfServer(parseServerAddress(server))),
  ]
  return [...new Set(endpoints.map(hostEntry))]
}

import type { Config } from '../definitions/config.ts'
import { endpointOfServer, type HostPolicy } from '../model/allowed-hosts.ts'
import type { Diagnostic, SourcePosition } from '../model/diagnostic.ts'
import { parseServerAddress, type ServerAddress } from '../model/server-address.ts'
import { refusedEndpoints } from '../providers/registry.ts'

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

/** Why a name server must not be asked; null if it may be. `what` says where it comes from. */
export const refusedServer = (policy: HostPolicy, what: string, server: ServerAddress, at?: SourcePosition): Diagnostic | null =>
  policy.check(what, endpointOfServer(server), at)

/** What the parts of the provider share. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { AliasZones } from './alias-targets.ts'
import type { ZoneMemory } from './live-zone.ts'
import type { Route53Api } from './route53-api.ts'

export interface Route53Options {
  /** Whether the private zones are managed instead of the public ones. */
  readonly isPrivate: boolean
  /** The zones to use of those with the same name. */
  readonly zoneIds: ReadonlyMap<DomainName, string>
  /** The reusable delegation set of new zones; null for name servers that Route 53 chooses. */
  readonly delegationSet: string | null
  /** The VPC of new private zones; null if none are created. */
  readonly vpc: { readonly id: string; readonly region: string } | null
  readonly aliasZones: AliasZones
  /** Whether a call ends when all name servers have its changes. */
  readonly waits: boolean
}

export interface Route53 extends Route53Options {
  readonly api: Route53Api
  /** By the identifier of the zone. */
  readonly memories: Map<string, ZoneMemory>
}

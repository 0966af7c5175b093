/** What the parts of the provider share. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { AliasZones } from './alias-targets.ts'
import type { ApiSet } from './live-zone.ts'
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

/** What is remembered of a zone that was read, and of the changes since. */
export interface ZoneMemory {
  /**
   * The record sets by the `rrsetKey` of plans whose text at the API does not follow from plans: aliases, and values that other clients wrote otherwise. Route 53
   * deletes a record set only if the request has its very values.
   */
  readonly originals: Map<string, readonly ApiSet[]>
  /** `rrsetKey` of all record sets of type A and AAAA, with routing policies too: what an alias of the zone can lead to. */
  readonly addresses: Set<string>
}

export interface Route53 extends Route53Options {
  readonly api: Route53Api
  /** By the identifier of the zone. */
  readonly memories: Map<string, ZoneMemory>
}

/** The alias record sets that make an ALIAS of a plan. */
import type { DomainName } from '../../dns/domain-name.ts'
import { rrsetKey } from '../../dns/record.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import { ProviderError, type ZoneReference } from '../provider.ts'
import { type AddressType, aliasZoneOf, BOTH_TYPES } from './alias-targets.ts'
import { type ApiSet, addressTypes, type ZoneMemory } from './live-zone.ts'
import { nameToApi } from './rdata-format.ts'
import type { Route53 } from './route53.ts'

/** The RRsets of a call, and the addresses of the zone before it. */
interface CallContext extends Pick<ZoneMemory, 'addresses'> {
  readonly rrsets: readonly RrsetChange[]
}

/** Maximum aliases from one name of the zone to the next. */
const MAX_STEPS = 16

/**
 * One alias per address type: those of the ALIAS before, as far as the target has them, or else all that the target has. `EvaluateTargetHealth` stays. Throws a
 * `ProviderError` if the target has none.
 */
export function aliasSets(
  { api, aliasZones }: Route53,
  zone: ZoneReference,
  { name, desired }: RrsetChange,
  { rrsets, addresses }: CallContext,
  before: readonly ApiSet[],
): readonly ApiSet[] {
  const refused = (why: string, hint?: string): ProviderError =>
    new ProviderError('provider-rejected', `${api.provider}: ${name} ALIAS: ${why}`, { notSent: true, hint })
  const target = (desired?.data[0] ?? '') as DomainName
  const known = aliasZoneOf(target, zone.name, String(zone.id), aliasZones)
  if (known === null) throw refused(`the hosted zone of ${target} is not known`)
  const possible = known.types ?? typesAt(target, 1)
  if (possible.length === 0)
    throw refused(
      `${target} has no addresses in the zone`,
      'an alias of Route 53 needs A or AAAA records at its target; define them, or use a CNAME',
    )
  const former = addressTypes(before).filter((type) => possible.includes(type))
  const health = before.some(({ AliasTarget }) => AliasTarget?.EvaluateTargetHealth === true)
  return (former.length > 0 ? former : possible).map((type) => ({
    Name: nameToApi(name),
    Type: type,
    AliasTarget: { HostedZoneId: known.hostedZoneId, DNSName: nameToApi(target), EvaluateTargetHealth: health },
  }))

  /** The address types of a name of the zone after the call. An ALIAS there that the call makes is followed. */
  function typesAt(owner: DomainName, steps: number): readonly AddressType[] {
    const changed = new Map(rrsets.flatMap((rrset) => (rrset.name === owner ? [[rrset.type, rrset.desired] as const] : [])))
    const alias = changed.get('ALIAS')
    if (alias) {
      const next = alias.data[0] as DomainName
      return aliasZoneOf(next, zone.name, '', aliasZones)?.types ?? (steps < MAX_STEPS ? typesAt(next, steps + 1) : [])
    }
    // Addresses take the place of an ALIAS that the call removes.
    const isCleared = changed.has('ALIAS')
    return BOTH_TYPES.filter((type) =>
      changed.has(type) ? changed.get(type) !== null : !isCleared && addresses.has(rrsetKey({ name: owner, type })),
    )
  }
}

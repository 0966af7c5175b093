/** The alias record sets that make an ALIAS of a plan. */
import type { DomainName } from '../../dns/domain-name.ts'
import type { RrsetChange } from '../../plan/changesets.ts'
import { type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { type AddressType, aliasZoneOf, BOTH_TYPES } from './alias-targets.ts'
import { type ApiSet, addressTypes, readSets } from './live-zone.ts'
import { nameToApi } from './rdata-format.ts'
import type { Route53 } from './route53.ts'

/**
 * One alias per address type: those of the ALIAS before, as far as the target has them, or else all that the target has. `rrsets`: those of the whole call.
 * `EvaluateTargetHealth` stays.
 */
export async function aliasSets(
  { api, aliasZones }: Route53,
  zone: ZoneReference,
  { name, desired }: RrsetChange,
  rrsets: readonly RrsetChange[],
  before: readonly ApiSet[],
  options?: ProviderCallOptions,
): Promise<readonly ApiSet[]> {
  const target = (desired?.data[0] ?? '') as DomainName
  const known = aliasZoneOf(target, zone.name, String(zone.id), aliasZones)
  if (known === null)
    throw new ProviderError('provider-rejected', `${api.provider}: ${name} ALIAS: the hosted zone of ${target} is not known`)
  const possible = known.types ?? (await typesAt(target))
  if (possible.length === 0)
    throw new ProviderError('provider-rejected', `${api.provider}: ${name} ALIAS: ${target} has no addresses in the zone`, {
      hint: 'an alias of Route 53 needs A or AAAA records at its target; define them, or use a CNAME',
    })
  const former = addressTypes(before).filter((type) => possible.includes(type))
  const health = before.some(({ AliasTarget }) => AliasTarget?.EvaluateTargetHealth === true)
  return (former.length > 0 ? former : possible).map((type) => ({
    Name: nameToApi(name),
    Type: type,
    AliasTarget: { HostedZoneId: known.hostedZoneId, DNSName: nameToApi(target), EvaluateTargetHealth: health },
  }))

  /** The address types of a name of the zone after the call. An ALIAS there that the call makes is followed. */
  async function typesAt(owner: DomainName, depth = 0): Promise<readonly AddressType[]> {
    const changed = new Map(rrsets.flatMap((rrset) => (rrset.name === owner ? [[rrset.type, rrset.desired] as const] : [])))
    const alias = changed.get('ALIAS')
    if (alias && depth < 8) {
      const next = alias.data[0] as DomainName
      return aliasZoneOf(next, zone.name, '', aliasZones)?.types ?? typesAt(next, depth + 1)
    }
    const added = BOTH_TYPES.filter((type) => changed.get(type))
    if (added.length > 0 && BOTH_TYPES.every((type) => changed.has(type))) return added
    const existing = await readSets(api, zone, options, { from: owner, wanted: (set) => set.name === owner && set.type <= 'AAAA' })
    const isKept = ({ type, api: set }: { readonly type: string; readonly api: ApiSet }): boolean =>
      set.AliasTarget && changed.has('ALIAS') ? false : changed.get(type) !== null
    return BOTH_TYPES.filter((type) => added.includes(type) || existing.some((set) => set.type === type && isKept(set)))
  }
}

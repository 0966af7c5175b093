/** Record sets of the API in the terms of plans. */
import { compareText } from '../../base/text.ts'
import { type DomainName, isAtOrBelow } from '../../dns/domain-name.ts'
import { type ExistingRecord, rrsetKey } from '../../dns/record.ts'
import type { UnplannedRecord } from '../../dns/zone.ts'
import { compareRrsets } from '../../plan/changesets.ts'
import { apiRecord, ownerOf } from '../api-records.ts'
import { type Fields, fieldsOf, listOf, textOf, wholeNumberOf } from '../json-shape.ts'
import { type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { readLinkedPages } from '../read-pages.ts'
import { type AddressType, type AliasZones, aliasZoneOf } from './alias-targets.ts'
import { ALIAS_TTL, isPlannedType } from './capabilities.ts'
import { nameFromApi, nameToApi, rdataFromApi, rdataToApi } from './rdata-format.ts'
import type { Route53Api } from './route53-api.ts'

/** A record set as the API takes and returns it. */
export interface ApiSet {
  readonly Name: string
  readonly Type: string
  readonly TTL?: number | undefined
  readonly ResourceRecords?: readonly { readonly Value: string }[] | undefined
  readonly AliasTarget?: ApiAlias | undefined
}

export interface ApiAlias {
  readonly HostedZoneId: string
  readonly DNSName: string
  readonly EvaluateTargetHealth: boolean
}

/** A record set with its owner, and why plans cannot contain it. */
export interface LiveSet {
  readonly name: DomainName
  readonly type: string
  readonly api: ApiSet
  /** In words that follow owner and type; null if plans can contain it. */
  readonly problem: string | null
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

export interface LiveZone {
  readonly records: readonly ExistingRecord[]
  readonly unplanned: readonly UnplannedRecord[]
  readonly memory: ZoneMemory
}

/** Record sets per page: the maximum of the API. */
const PAGE_SIZE = 300

/** Reads all record sets of a zone, or those from a name on as long as `wanted` says. */
export async function readSets(
  api: Route53Api,
  { id, name }: Pick<ZoneReference, 'id' | 'name'>,
  options?: ProviderCallOptions,
  { from, wanted = () => true }: { readonly from?: DomainName; readonly wanted?: (set: LiveSet) => boolean } = {},
): Promise<LiveSet[]> {
  const what = `reading the records of ${name}`
  const sets = await readLinkedPages(`${api.provider}: ${what}`, (next: Fields | null) => {
    const start = next ?? (from === undefined ? {} : { StartRecordName: nameToApi(from) })
    const input = { HostedZoneId: String(id), MaxItems: from === undefined ? PAGE_SIZE : 10, ...start }
    return api.send({
      what,
      command: (sdk) => new sdk.ListResourceRecordSetsCommand(input),
      shape: (output) => {
        const items = listOf(output['ResourceRecordSets'], 'ResourceRecordSets').map(liveSet)
        return { items, next: items.every(wanted) ? nextPage(output) : null }
      },
      ...options,
    })
  })
  const keys = sets.map((set) => `${rrsetKey(set)} ${String((set.api as unknown as Fields)['SetIdentifier'] ?? '')}`)
  const twice = new Set(keys).size === keys.length ? undefined : keys.find((key, at) => keys.indexOf(key) < at)
  if (twice === undefined) return sets.filter(wanted)
  throw new ProviderError('provider-garbled', `${api.provider}: ${what}: the record set ${twice.trim()} is listed twice`)
}

function nextPage(output: Fields): Fields | null {
  if (output['IsTruncated'] !== true) return null
  return {
    StartRecordName: textOf(output, 'NextRecordName', 'the page'),
    StartRecordType: textOf(output, 'NextRecordType', 'the page'),
    StartRecordIdentifier: output['NextRecordIdentifier'],
  }
}

/** The elements of a routing policy, and the others that make a record set more than its records. */
const POLICIES: readonly (readonly [element: string, words: string])[] = [
  ['TrafficPolicyInstanceId', 'belongs to a traffic policy'],
  ['Weight', 'has the weighted routing policy'],
  ['GeoLocation', 'has the geolocation routing policy'],
  ['GeoProximityLocation', 'has the geoproximity routing policy'],
  ['Failover', 'has the failover routing policy'],
  ['MultiValueAnswer', 'has the multivalue answer routing policy'],
  ['CidrRoutingConfig', 'has the IP-based routing policy'],
  ['Region', 'has the latency routing policy'],
  ['SetIdentifier', 'has a routing policy'],
  ['HealthCheckId', 'has a health check'],
]

export function liveSet(item: unknown): LiveSet {
  const fields = fieldsOf(item, 'a record set')
  const apiName = textOf(fields, 'Name', 'a record set')
  const name = ownerOf(apiName, nameFromApi(apiName), 'a record set')
  const type = textOf(fields, 'Type', 'a record set')
  const what = `${name} ${type.slice(0, 20)}`
  const alias = fields['AliasTarget'] == null ? undefined : fieldsOf(fields['AliasTarget'], `the alias of ${what}`)
  const policy = POLICIES.find(([element]) => fields[element] != null)
  const values = (fields['ResourceRecords'] == null ? [] : listOf(fields['ResourceRecords'], `the values of ${what}`)).map((value) => ({
    Value: textOf(fieldsOf(value, `a value of ${what}`), 'Value', `a value of ${what}`),
  }))
  const content: Pick<ApiSet, 'TTL' | 'ResourceRecords' | 'AliasTarget'> = alias
    ? {
        AliasTarget: {
          HostedZoneId: textOf(alias, 'HostedZoneId', `the alias of ${what}`),
          DNSName: textOf(alias, 'DNSName', `the alias of ${what}`),
          EvaluateTargetHealth: alias['EvaluateTargetHealth'] === true,
        },
      }
    : { TTL: policy?.[0] === 'TrafficPolicyInstanceId' ? undefined : wholeNumberOf(fields, 'TTL', what), ResourceRecords: values }
  const api: ApiSet = { ...(fields as object), Name: apiName, Type: type, ...content }
  const problem = policy?.[1] ?? (type !== 'SOA' && !isPlannedType(type) ? 'has a type that plans do not know' : null)
  return { name, type, api, problem }
}

/** The zone for plans. */
export function liveZone(sets: readonly LiveSet[], zone: DomainName, zoneId: string, aliasZones: AliasZones): LiveZone {
  const records: ExistingRecord[] = []
  const unplanned: UnplannedRecord[] = []
  const originals = new Map<string, readonly ApiSet[]>()
  const addressSets = sets.filter(({ type }) => type === 'A' || type === 'AAAA')
  const allAddresses = new Set(addressSets.map(rrsetKey))
  // An ALIAS of plans has no addresses beside it. Without such addresses the alias would be one, so both are left alone.
  const plainAddresses = new Set(addressSets.filter(({ api, problem }) => problem === null && !api.AliasTarget).map(({ name }) => name))
  const mixed = new Set(addressSets.filter(({ api, name }) => api.AliasTarget && plainAddresses.has(name)).map(({ name }) => name))
  const aliases = new Map<DomainName, LiveSet[]>()
  const leave = ({ name, type, api }: LiveSet, reason: string): void => {
    for (const data of api.AliasTarget ? [`alias of ${api.AliasTarget.DNSName}`] : (api.ResourceRecords ?? []).map(({ Value }) => Value))
      unplanned.push({ name, type, data, reason, holdsRrset: true })
  }
  for (const set of sets) {
    const { name, type, api, problem } = set
    if (problem !== null) leave(set, problem)
    else if (mixed.has(name) && (type === 'A' || type === 'AAAA'))
      leave(set, api.AliasTarget ? 'is an alias beside addresses of the other type' : 'is beside an alias of the other type')
    else if (api.AliasTarget && type !== 'A' && type !== 'AAAA') leave(set, 'is an alias')
    else if (api.AliasTarget) aliases.set(name, [...(aliases.get(name) ?? []), set])
    else if (type !== 'SOA') {
      const own = (api.ResourceRecords ?? []).map(({ Value }) => apiRecord(name, type, api.TTL ?? 0, Value, rdataFromApi(type, Value)))
      records.push(...own)
      const isOurs =
        nameToApi(name) === api.Name.toLowerCase() &&
        own.every(({ data }, at) => rdataToApi(type, data) === api.ResourceRecords?.[at]?.Value)
      if (!isOurs) originals.set(rrsetKey(set), [api])
    }
  }
  for (const [name, atName] of aliases) {
    const target = aliasTarget(atName, zone, zoneId, aliasZones)
    if (target.problem !== null) for (const set of atName) leave(set, target.problem)
    else {
      const record = { name, type: 'ALIAS', ttl: ALIAS_TTL, data: target.name }
      records.push(record)
      originals.set(
        rrsetKey(record),
        atName.map(({ api }) => api),
      )
    }
  }
  return {
    records,
    unplanned: unplanned.sort((a, b) => compareRrsets(a, b) || compareText(a.data, b.data)),
    memory: { originals, addresses: allAddresses },
  }
}

/** The identifier of the zone as its aliases to its own names have it; empty if there are none, or if they differ. */
export function zoneIdOf(sets: readonly LiveSet[], zone: DomainName): string {
  const own = sets.flatMap(({ api: { AliasTarget } }) => {
    const target = nameFromApi(AliasTarget?.DNSName ?? '')
    return AliasTarget && target.ok && isAtOrBelow(target.value, zone) ? [AliasTarget.HostedZoneId] : []
  })
  return new Set(own).size === 1 ? (own[0] ?? '') : ''
}

/** The common target of the aliases at a name, if they are an ALIAS in the terms of plans. */
function aliasTarget(
  sets: readonly LiveSet[],
  zone: DomainName,
  zoneId: string,
  aliasZones: AliasZones,
): { readonly name: DomainName; readonly problem: null } | { readonly problem: string } {
  const names = sets.map(({ api }) => nameFromApi(api.AliasTarget?.DNSName ?? ''))
  const [first] = names
  if (first === undefined || !first.ok) return { problem: 'is an alias of a malformed name' }
  if (names.some((one) => !one.ok || one.value !== first.value))
    return { problem: 'is an alias, and the other type at this name leads elsewhere' }
  const known = aliasZoneOf(first.value, zone, zoneId, aliasZones)
  const ids = new Set(sets.map(({ api }) => api.AliasTarget?.HostedZoneId))
  if (known === null || ids.size !== 1 || !ids.has(known.hostedZoneId))
    return { problem: `is an alias of the hosted zone ${[...ids].join(', ')}, which alias_zones does not name` }
  return { name: first.value, problem: null }
}

/** The type of a set as an alias of addresses. */
export const addressTypes = (sets: readonly ApiSet[]): AddressType[] =>
  sets.map(({ Type }) => Type).filter((type): type is AddressType => type === 'A' || type === 'AAAA')

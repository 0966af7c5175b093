/** Finds, creates and deletes hosted zones. Several zones may have one name: public and private ones, and private ones of several VPCs. */
import { randomUUID } from 'node:crypto'
import type { DomainName } from '../../dns/domain-name.ts'
import { checkZoneName, type Fields, fieldsOf, listOf, textOf } from '../json-shape.ts'
import { type AppliedCall, type ProviderCall, type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { readLinkedPages } from '../read-pages.ts'
import { type ListOptions, masterZone, zoneListOf } from '../zone-lists.ts'
import { sendBatch } from './change-records.ts'
import type { LiveSet } from './live-zone.ts'
import { nameFromApi, nameToApi } from './rdata-format.ts'
import type { Route53 } from './route53.ts'

/** Zones per page: the maximum of the API. */
const PAGE_SIZE = 100
const parsed = (name: string): DomainName | null => {
  const result = nameFromApi(name)
  return result.ok ? result.value : null
}

/** Reads all zones, or those with one name. */
export async function readZones({ api }: Route53, options?: ProviderCallOptions, only?: DomainName): Promise<ApiZone[]> {
  const what = only === undefined ? 'listing zones' : `looking up ${only}`
  const isWanted = ({ name }: ApiZone): boolean => only === undefined || parsed(name) === only
  const zones = await readLinkedPages(`${api.provider}: ${what}`, (next: Fields | null) => {
    const start = next ?? (only === undefined ? {} : { DNSName: nameToApi(only) })
    return api.send({
      what,
      command: (sdk) => new sdk.ListHostedZonesByNameCommand({ MaxItems: only === undefined ? PAGE_SIZE : 5, ...start }),
      shape: (output) => {
        const items = listOf(output['HostedZones'], 'HostedZones').map(zoneShape)
        // They are sorted by name.
        if (output['IsTruncated'] !== true || !items.every(isWanted)) return { items, next: null }
        const [DNSName, HostedZoneId] = ['NextDNSName', 'NextHostedZoneId'].map((key) => textOf(output, key, 'the page'))
        return { items, next: { DNSName, HostedZoneId } }
      },
      ...options,
    })
  })
  return zones.filter(isWanted)
}

export type ApiZone = ReturnType<typeof zoneShape>

function zoneShape(item: unknown) {
  const fields = fieldsOf(item, 'a hosted zone')
  const config = fields['Config'] == null ? {} : fieldsOf(fields['Config'], 'the configuration of a hosted zone')
  const linked = fields['LinkedService'] == null ? null : fieldsOf(fields['LinkedService'], 'the service of a hosted zone')
  return {
    /** Without `/hostedzone/`. */
    id: textOf(fields, 'Id', 'a hosted zone').replace(/^\/hostedzone\//, ''),
    name: textOf(fields, 'Name', 'a hosted zone'),
    isPrivate: config['PrivateZone'] === true,
    /** The AWS service that manages the zone; null if none does. */
    service: linked === null ? null : String(linked['ServicePrincipal'] ?? linked['Description'] ?? 'another service').slice(0, 200),
  }
}

/** A zone of `zone_ids` has that id. Of the others, those of the type of the settings are listed. */
export const listingOf = ({ zoneIds, isPrivate }: Pick<Route53, 'zoneIds' | 'isPrivate'>): ListOptions<ApiZone> => ({
  parse: nameFromApi,
  isShown(zone, name) {
    const chosen = name === null ? undefined : zoneIds.get(name)
    return chosen === undefined ? zone.isPrivate === isPrivate : zone.id === chosen
  },
  problemOf: ({ service }, name) =>
    name === '.' ? 'the root cannot be managed as a zone' : service === null ? null : `is managed by ${service}`,
  ambiguous: () => 'exists several times; choose one under zone_ids',
})

/**
 * Creates a zone. Route 53 would create a second one of the same name, so the name is looked up immediately before. The reference of the caller is new in each
 * call, and Route 53 refuses a second zone with it.
 */
export async function createZone(
  route53: Route53,
  name: DomainName,
  { changes }: ProviderCall,
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api, delegationSet, vpc } = route53
  const { zones, unusable } = zoneListOf(await readZones(route53, options, name), referenceTo, listingOf(route53))
  if (zones.length + unusable.length > 0)
    throw new ProviderError('provider-conflict', `${api.provider}: ${name} exists already`, { hint: 'plan again to see it' })
  const input = {
    Name: nameToApi(name),
    CallerReference: `zonewright ${randomUUID()}`,
    ...(delegationSet !== null && { DelegationSetId: delegationSet }),
    ...(vpc !== null && { VPC: { VPCId: vpc.id, VPCRegion: vpc.region as 'us-east-1' }, HostedZoneConfig: { PrivateZone: true } }),
  }
  const zone = await api.send({
    what: `creating ${name}`,
    changes: true,
    command: (sdk) => new sdk.CreateHostedZoneCommand(input),
    shape: (output) => {
      const created = zoneShape(output['HostedZone'])
      checkZoneName(name, created.name)
      return created
    },
    ...options,
  })
  route53.memories.set(zone.id, { originals: new Map(), addresses: new Set() })
  return { changes: changes.map(({ subject }) => (subject === 'domain' ? { id: zone.id } : {})), zone: referenceTo(zone, name) }
}

export const referenceTo = ({ id }: ApiZone, name: DomainName): ZoneReference => masterZone(name, id)

/** Deletes the record sets of a zone in batches, and then the zone, which Route 53 deletes only if it is empty. */
export async function deleteZone(
  route53: Route53,
  zone: ZoneReference,
  sets: readonly LiveSet[],
  options?: ProviderCallOptions,
): Promise<AppliedCall> {
  const { api } = route53
  const removable = sets.filter(({ name, type }) => name !== zone.name || (type !== 'NS' && type !== 'SOA'))
  let isEmptied = false
  try {
    for (const batch of batchesOf(removable)) {
      const deletions = batch.map((set) => ({ Action: 'DELETE' as const, ResourceRecordSet: set.api }))
      await sendBatch(route53, zone, deletions, `deleting the records of ${zone.name}`, options)
      isEmptied = true
    }
    await api.send({
      what: `deleting ${zone.name}`,
      changes: true,
      command: (sdk) => new sdk.DeleteHostedZoneCommand({ Id: String(zone.id) }),
      shape: () => null,
      ...options,
    })
  } catch (error) {
    if (!(error instanceof ProviderError) || !isEmptied) throw error
    // Records were deleted before.
    throw error.with({ ambiguous: true })
  }
  return {}
}

/** Records and characters in one batch. */
const MAX_RECORDS = 1000
const MAX_CHARACTERS = 32_000

/** Aliases come first, because their targets are deleted too. */
function batchesOf(sets: readonly LiveSet[]): LiveSet[][] {
  const batches: LiveSet[][] = []
  let records = 0
  let characters = 0
  const isAlias = ({ api }: LiveSet): number => Number(api.AliasTarget !== undefined)
  for (const set of sets.toSorted((a, b) => isAlias(b) - isAlias(a))) {
    const values = set.api.ResourceRecords ?? []
    const length = values.reduce((sum, { Value }) => sum + Value.length, 0)
    const last = batches.at(-1)
    if (
      last === undefined ||
      records + values.length > MAX_RECORDS ||
      characters + length > MAX_CHARACTERS ||
      last.length === MAX_RECORDS
    ) {
      batches.push([set])
      records = 0
      characters = 0
    } else last.push(set)
    records += values.length
    characters += length
  }
  return batches
}

/**
 * Makes one call: a batch, which Route 53 carries out as a whole. An RRset is changed by a DELETE of its record set and a CREATE of the new one. Route 53 refuses
 * the batch if a record set to delete has other values, or one to create exists: so another client's change is never overwritten.
 */
import type { Change } from '@aws-sdk/client-route-53'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { compareText } from '../../base/text.ts'
import type { DomainName } from '../../dns/domain-name.ts'
import { isApexNs, rrsetKey } from '../../dns/record.ts'
import { MAX_TTL, type Ttl } from '../../dns/ttl.ts'
import { type RrsetChange, type RrsetImage, sameImage } from '../../plan/changesets.ts'
import { sleep } from '../../transport/retry.ts'
import { conflict } from '../changed-rrsets.ts'
import { fieldsOf, textOf } from '../json-shape.ts'
import { type ProviderCallOptions, ProviderError, type ZoneReference } from '../provider.ts'
import { type AddressType, aliasZoneOf, BOTH_TYPES } from './alias-targets.ts'
import { ALIAS_TTL } from './capabilities.ts'
import { type ApiSet, addressTypes, liveZone, readSets, type ZoneMemory } from './live-zone.ts'
import { nameFromApi, nameToApi, rdataFromApi, rdataToApi } from './rdata-format.ts'
import type { Route53 } from './route53.ts'
import type { Route53Api } from './route53-api.ts'

interface BatchChange {
  readonly Action: 'CREATE' | 'DELETE' | 'UPSERT'
  readonly ResourceRecordSet: ApiSet
}

export async function changeRecords(
  route53: Route53,
  zone: ZoneReference,
  rrsets: readonly RrsetChange[],
  options?: ProviderCallOptions,
): Promise<readonly Diagnostic[]> {
  const { originals, addresses } = await memoryOf(route53, zone, options)
  const removed: BatchChange[] = []
  const replaced: BatchChange[] = []
  const added: BatchChange[] = []
  const written = new Map<string, readonly ApiSet[]>()
  for (const rrset of rrsets) {
    const { name, type, existing, desired } = rrset
    if (type === 'NS' && name === zone.name) {
      replaced.push(...(await apexNsChange(route53, zone, rrset, options)))
      continue
    }
    const before = existing === null ? [] : existingSets(route53, rrset, existing, originals.get(rrsetKey(rrset)))
    const after =
      desired === null
        ? []
        : type === 'ALIAS'
          ? aliasSets(route53, zone, rrset, { rrsets, addresses }, before)
          : [plainSet(name, type, desired)]
    removed.push(...before.map((set) => ({ Action: 'DELETE' as const, ResourceRecordSet: set })))
    added.push(...after.map((set) => ({ Action: 'CREATE' as const, ResourceRecordSet: set })))
    written.set(rrsetKey(rrset), after)
  }
  // Aliases are deleted before their targets, and created after them.
  const changes = [...removed.sort(aliasesFirst), ...replaced, ...added.sort((a, b) => aliasesFirst(b, a))]
  if (changes.length === 0) return []
  const id = await sendBatch(route53, zone, changes, `changing records of ${zone.name}`, options)
  for (const { ResourceRecordSet: set } of removed) addresses.delete(addressKey(set))
  for (const { ResourceRecordSet: set } of added) if (set.Type === 'A' || set.Type === 'AAAA') addresses.add(addressKey(set))
  for (const [key, sets] of written) {
    if (sets.some(({ AliasTarget }) => AliasTarget)) originals.set(key, sets)
    else originals.delete(key)
  }
  return route53.waits ? waitForSync(route53.api, id, zone.name, options) : []
}

const addressKey = ({ Name, Type }: ApiSet): string => {
  const name = nameFromApi(Name)
  return name.ok ? rrsetKey({ name: name.value, type: Type }) : ''
}

/** A zone that was not read yet is read now. */
async function memoryOf({ api, aliasZones, memories }: Route53, zone: ZoneReference, options?: ProviderCallOptions): Promise<ZoneMemory> {
  const known = memories.get(String(zone.id))
  if (known !== undefined) return known
  const { memory } = liveZone(await readSets(api, zone, options), zone.name, String(zone.id), aliasZones)
  memories.set(String(zone.id), memory)
  return memory
}

/** Sends one batch. Returns the identifier of the change. */
export function sendBatch(
  { api }: Pick<Route53, 'api'>,
  { id }: Pick<ZoneReference, 'id'>,
  changes: readonly BatchChange[],
  what: string,
  options?: ProviderCallOptions,
): Promise<string> {
  return api.send({
    what,
    changes: true,
    command: (sdk) =>
      new sdk.ChangeResourceRecordSetsCommand({ HostedZoneId: String(id), ChangeBatch: { Changes: changes as unknown as Change[] } }),
    shape: (output) => textOf(fieldsOf(output['ChangeInfo'], 'the change'), 'Id', 'the change'),
    ...options,
  })
}

const aliasesFirst = (a: BatchChange, b: BatchChange): number =>
  Number(b.ResourceRecordSet.AliasTarget !== undefined) - Number(a.ResourceRecordSet.AliasTarget !== undefined)

const plainSet = (name: DomainName, type: string, { ttl, data }: RrsetImage): ApiSet => ({
  Name: nameToApi(name),
  Type: type,
  TTL: ttl ?? 0,
  ResourceRecords: data.map((one) => ({ Value: rdataToApi(type, one) })),
})

/** The record sets of an existing RRset with the values that Route 53 has. */
function existingSets(
  { api }: Route53,
  { name, type }: RrsetChange,
  existing: RrsetImage,
  originals: readonly ApiSet[] | undefined,
): readonly ApiSet[] {
  if (originals === undefined && type !== 'ALIAS') return [plainSet(name, type, existing)]
  if (originals?.every((set) => sameImage(imageOf(type, set), existing))) return originals
  throw conflict(api.provider, `${name} ALIAS`)
}

/** The image of a record set, or of one of the aliases of an ALIAS. */
function imageOf(type: string, { TTL, ResourceRecords = [], AliasTarget }: ApiSet): RrsetImage {
  const alias = AliasTarget === undefined ? null : nameFromApi(AliasTarget.DNSName)
  const values = alias ? [alias] : ResourceRecords.map(({ Value }) => rdataFromApi(type, Value))
  const data = values.map((one, index) => (one.ok ? one.value : (ResourceRecords[index]?.Value ?? '')))
  return { ttl: alias ? ALIAS_TTL : (Math.min(TTL ?? 0, MAX_TTL) as Ttl), hasOtherTtls: false, data: [...new Set(data)].sort(compareText) }
}

/**
 * Route 53 wants NS records at the apex at every moment, so they are replaced by an UPSERT. It cannot state what it expects to find: the record set is read
 * immediately before. A new zone has those of Route 53.
 */
async function apexNsChange(
  { api, aliasZones }: Route53,
  zone: ZoneReference,
  { name, type, existing, desired }: RrsetChange,
  options?: ProviderCallOptions,
): Promise<BatchChange[]> {
  const sets = await readSets(api, zone, options, { from: name, wanted: (set) => set.name === name && set.type <= 'NS' })
  const { records } = liveZone(sets, zone.name, String(zone.id), aliasZones)
  const now = records.filter((record) => isApexNs(record, zone.name))
  const [first] = now
  const image = first === undefined ? null : { ttl: first.ttl, hasOtherTtls: false, data: now.map(({ data }) => data).sort() }
  const isExpected = existing === null || sameImage(image, existing) || sameImage(image, desired)
  if (!isExpected) throw conflict(api.provider, `${name} NS is ${now.map(({ data }) => data).join(', ')}`)
  if (desired === null)
    throw new ProviderError('provider-rejected', `${api.provider}: Route 53 wants NS records at the apex of ${zone.name}`, {
      hint: 'keep them, or leave the apex NS records out of the definition',
    })
  return sameImage(image, desired) ? [] : [{ Action: 'UPSERT', ResourceRecordSet: plainSet(name, type, desired) }]
}

/** Milliseconds between two questions, and the maximum of all. Changes usually reach all servers within a minute. */
const PAUSE = 2000
const MAX_WAIT = 300_000

/** Returns a warning if that takes too long, the change cannot be read, or the run is stopped. The change was made in any case. */
async function waitForSync(api: Route53Api, id: string, zone: DomainName, options?: ProviderCallOptions): Promise<readonly Diagnostic[]> {
  const stop = options?.stop ?? options?.signal
  for (let waited = 0; waited < MAX_WAIT; waited += PAUSE) {
    try {
      const status = await api.send({
        what: `waiting for the change of ${zone}`,
        command: (sdk) => new sdk.GetChangeCommand({ Id: id }),
        shape: (output) => textOf(fieldsOf(output['ChangeInfo'], 'the change'), 'Status', 'the change'),
        ...options,
      })
      if (status === 'INSYNC') return []
    } catch (error) {
      if (error instanceof ProviderError) return [unfinished(zone, error.message)]
      throw error
    }
    await sleep(PAUSE, stop).catch(() => undefined)
    if (stop?.aborted) return [unfinished(zone, 'the run was stopped')]
  }
  return [unfinished(zone, `it took more than ${MAX_WAIT / 1000} seconds`)]
}

const unfinished = (zone: DomainName, why: string): Diagnostic => ({
  severity: 'warning',
  code: 'apply-incomplete',
  message: `the records of ${zone} were changed, but it is not known whether all name servers of Route 53 have them: ${why}`,
})

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
function aliasSets(
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

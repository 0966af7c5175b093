/** Reads the sources that definitions name, once per query and run. A failure is a result: the plan leaves the record sets concerned as they are. */
import type { Diagnostic } from '../../base/diagnostic.ts'
import { agreeing, listed } from '../../base/english.ts'
import { type DomainName, isAtOrBelow, parseDomainName, relativeName } from '../../dns/domain-name.ts'
import { ownershipOf } from '../../dns/ownership.ts'
import { type DefinedRecord, groupRrsets, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import {
  DEFAULT_QUARANTINE,
  describeSource,
  type InventoryObject,
  type InventoryQuery,
  type SourcedRrset,
  type ZonePattern,
  type ZoneQuery,
} from '../../dns/zone-source.ts'
import { excludedRrsets } from '../../plan/fit-to-target.ts'
import type { ZoneJob } from '../../plan/planned-zone.ts'
import type { SourceVersion } from '../../plan/source-state.ts'
import type { GoodReading, SourceReading } from '../../plan/sourced-sets.ts'
import { diagnosticOf, type Provider, ProviderError } from '../../providers/provider.ts'
import { type OpenedZones, openZones } from './open-zones.ts'

/** A zone at a provider as a source. */
export interface SourceZone {
  readonly records: readonly ResourceRecord[]
  /** By `rrsetKey`: many record sets of a definition may name one zone. */
  readonly rrsets: ReadonlyMap<string, readonly ResourceRecord[]>
  readonly version: SourceVersion | null
}

export interface SourceReader {
  /** Reads the sources of a zone at a target. */
  read(job: Pick<ZoneJob, 'desired' | 'target'>): Promise<SourcesOfZone>
  /** Reads a zone at a provider. Throws `ProviderError`. */
  readZone(place: Pick<ZoneQuery, 'provider' | 'zone'>): Promise<SourceZone>
}

export interface SourcesOfZone {
  readonly readings: readonly SourceReading[]
  /** Warnings about what was read. */
  readonly diagnostics: readonly Diagnostic[]
}

/** Whether a zone has sources that a run reads. */
export const hasSources = ({ sourced, sources, absent }: DesiredZone): boolean =>
  !absent && (sourced !== undefined || sources !== undefined)

/** Creates a reader for the sources of the jobs of a run. It sends each query once, when it is first needed. */
export function createSourceReader(
  jobs: readonly Pick<ZoneJob, 'desired'>[],
  providers: ReadonlyMap<string, Provider>,
  signal?: AbortSignal,
): SourceReader {
  const readInventory = inventoryReader(providers, signal)
  const readZone = zoneReader(zonesOfSources(jobs), providers, signal)
  const placeOf = (query: SourcedRrset['query'] | ZonePattern, target: string): Pick<SourceReading, 'source' | 'place' | 'selection'> => {
    const source = describeSource(query, target)
    const address = providers.get(query.provider ?? target)?.address ?? ''
    return { source, place: `${source} (${address})`, selection: 'kind' in query && query.kind === 'zone' ? query.name : '' }
  }
  return {
    readZone,
    async read({ desired, target }) {
      const excluded = excludedRrsets(desired, target)
      const wanted = (desired.sourced ?? []).filter((set) => !excluded.has(rrsetKey(set)))
      const sets = wanted.map(async (set): Promise<SourcesOfZone> => {
        const { query } = set
        const good = () => (query.kind === 'zone' ? setFromZone(set, query, readZone) : setFromInventory(set, query, target, readInventory))
        return readingOf(set, placeOf(query, target), { kind: 'rrset', name: set.name, type: set.type }, good)
      })
      const patterns = (desired.sources ?? []).map((pattern) => {
        const { name, type } = pattern
        return readingOf(pattern, placeOf(pattern, target), { kind: 'pattern', name, type }, () =>
          fromPattern(pattern, desired.name, readZone),
        )
      })
      const read = await Promise.all([...sets, ...patterns])
      return { readings: read.flatMap(({ readings }) => readings), diagnostics: read.flatMap(({ diagnostics }) => diagnostics) }
    },
  }
}

type Good = GoodReading & { readonly diagnostics?: readonly Diagnostic[] }

async function readingOf(
  source: SourcedRrset | ZonePattern,
  place: Pick<SourceReading, 'source' | 'place' | 'selection'>,
  scope: SourceReading['scope'],
  read: () => Promise<Good>,
): Promise<SourcesOfZone> {
  const { at } = source
  const reading = { ...place, scope, at, rule: { ...DEFAULT_QUARANTINE, ...source.quarantine } }
  try {
    const { diagnostics = [], ...result } = await read()
    return { readings: [{ ...reading, result }], diagnostics }
  } catch (error) {
    const { message, hint } = diagnosticOf(error)
    const code =
      scope.kind === 'pattern' || !('query' in source) || source.query.kind === 'zone' ? 'source-unreadable' : 'inventory-unreadable'
    return {
      readings: [{ ...reading, result: { state: 'failed', problem: { severity: 'warning', code, message, hint } } }],
      diagnostics: [],
    }
  }
}

type ReadInventory = (query: InventoryQuery, target: string) => Promise<readonly InventoryObject[]>

function inventoryReader(providers: ReadonlyMap<string, Provider>, signal: AbortSignal | undefined): ReadInventory {
  const requested = new Map<string, Promise<readonly InventoryObject[]>>()
  return (query, target) => {
    const name = query.provider ?? target
    const provider = providers.get(name)
    if (!provider?.readInventory) {
      const hint = query.provider === null ? 'name the provider: from: {provider: NAME, …}' : undefined
      return Promise.reject(new ProviderError('inventory-unreadable', `${name} has no inventory`, { hint }))
    }
    const key = JSON.stringify([name, query.kind, query.label, query.tag, query.region, query.group])
    const objects = requested.get(key) ?? provider.readInventory(query, { signal })
    requested.set(key, objects)
    return objects
  }
}

/** The zones that the jobs read, by provider. */
export function zonesOfSources(jobs: readonly Pick<ZoneJob, 'desired'>[]): ReadonlyMap<string, ReadonlySet<DomainName>> {
  const zones = new Map<string, Set<DomainName>>()
  const add = ({ provider, zone }: Pick<ZoneQuery, 'provider' | 'zone'>): void =>
    void zones.set(provider, (zones.get(provider) ?? new Set()).add(zone))
  for (const { desired } of jobs) {
    if (!hasSources(desired)) continue
    for (const { query } of desired.sourced ?? []) if (query.kind === 'zone') add(query)
    for (const pattern of desired.sources ?? []) add(pattern)
  }
  return zones
}

function zoneReader(
  known: ReadonlyMap<string, ReadonlySet<DomainName>>,
  providers: ReadonlyMap<string, Provider>,
  signal: AbortSignal | undefined,
): SourceReader['readZone'] {
  const opened = new Map<string, Promise<OpenedZones>>()
  const read = new Map<string, Promise<SourceZone>>()
  const open = (provider: Provider, zone: DomainName): Promise<OpenedZones> => {
    const names = known.get(provider.name)
    if (names === undefined || !names.has(zone)) return openZones(provider, [zone], { signal })
    const all = opened.get(provider.name) ?? openZones(provider, [...names], { signal })
    opened.set(provider.name, all)
    return all
  }
  const readOne = async (name: string, zone: DomainName): Promise<SourceZone> => {
    const provider = providers.get(name)
    if (provider === undefined) throw new ProviderError('provider-unknown', `there is no provider ${name} in this run`)
    const { existing, reference } = await (await open(provider, zone)).read(zone, { signal })
    if (existing === null) throw new ProviderError('provider-not-found', `${name} has no zone ${zone}`)
    const { records, settings, serial = null } = existing
    if (settings.type === 'slave' && records.length === 0)
      throw new ProviderError('source-unreadable', `${zone} is a slave zone at ${name}, which does not show its records`)
    const updated = reference?.updated ?? null
    const version = serial === null && updated === null ? null : { serial, updated }
    return { records, rrsets: groupRrsets(records), version }
  }
  return ({ provider, zone }) => {
    const key = `${zone} ${provider}`
    const found = read.get(key) ?? readOne(provider, zone)
    read.set(key, found)
    return found
  }
}

async function setFromInventory(set: SourcedRrset, query: InventoryQuery, target: string, read: ReadInventory): Promise<Good> {
  const { name, type, ttl, at } = set
  const subject = `${name} ${type}`
  const objects = await read(query, target)
  const addressesOf = ({ ipv4, ipv6 }: InventoryObject): readonly string[] => (type === 'A' ? ipv4 : ipv6)
  const records = objects
    .flatMap((object) =>
      addressesOf(object).map((data): DefinedRecord => ({ name, type, ttl, data, at, source: object.source, ...commonOf(set) })),
    )
    .sort((a, b) => (a.data < b.data ? -1 : a.data > b.data ? 1 : 0))
  const kind = `public ${type === 'A' ? 'IPv4' : 'IPv6'} address`
  const what = describeSource(query, target).slice('the '.length)
  const empty = objects.length === 0 ? `there are no ${what}` : `none of the ${objects.length} ${what} has a ${kind}`
  const emptiness: Diagnostic = {
    severity: 'warning',
    code: 'inventory-empty',
    message: `${subject} is not created: ${empty}`,
    at,
    hint: 'remove the record from the definition if that is intended',
  }
  const good: GoodReading = { state: 'read', records, version: null, emptiness: records.length === 0 ? emptiness : null }
  const without = objects.filter((object) => addressesOf(object).length === 0).map(({ source }) => source)
  if (records.length === 0 || without.length === 0) return good
  const message = `${subject}: without ${listed(without, LISTED)}, which ${agreeing(without.length, 'has', 'have')} no ${kind}`
  return { ...good, diagnostics: [{ severity: 'warning', code: 'inventory-partial', message, at }] }
}

/** What the definition says of the records besides their data. */
const commonOf = (set: SourcedRrset): Pick<DefinedRecord, 'owner' | 'expires' | 'ignore'> => ({
  ...ownershipOf(set),
  ...(set.ignore !== undefined && { ignore: set.ignore }),
})

/** Maximum objects in one message. */
const LISTED = 5

async function setFromZone(set: SourcedRrset, query: ZoneQuery, readZone: SourceReader['readZone']): Promise<Good> {
  const { name, type, ttl, at } = set
  const common = commonOf(set)
  const { rrsets, version } = await readZone(query)
  const source = describeSource(query, '')
  const found = (rrsets.get(rrsetKey({ name: query.name, type })) ?? []).map(
    (record): DefinedRecord => ({ name, type, ttl: ttl ?? record.ttl, data: record.data, at, source, ...common }),
  )
  const emptiness: Diagnostic = {
    severity: 'warning',
    code: 'source-empty',
    message: `${name} ${type} is not created: ${source} has no ${query.name} ${type}`,
    at,
    hint: 'remove the record from the definition if that is intended',
  }
  return { state: 'read', records: found, version, emptiness: found.length === 0 ? emptiness : null }
}

/** The records of the source under the same names relative to the zone. A plan chooses those that the pattern selects. */
async function fromPattern(pattern: ZonePattern, zone: DomainName, readZone: SourceReader['readZone']): Promise<Good> {
  const { records, version } = await readZone(pattern)
  const source = describeSource(pattern, '')
  const moved = records.flatMap(({ name, type, ttl, data }): DefinedRecord[] => {
    if (!isAtOrBelow(name, pattern.zone) || (pattern.type !== undefined && pattern.type !== type)) return []
    return [{ name: movedName(name, pattern.zone, zone), type, ttl, data, at: pattern.at, source }]
  })
  return { state: 'read', records: moved, version, emptiness: null }
}

function movedName(name: DomainName, from: DomainName, to: DomainName): DomainName {
  if (from === to) return name
  const relative = relativeName(name, from)
  const moved = relative === '' ? to : parseDomainName(`${relative}.${to}`)
  if (typeof moved === 'string') return moved
  if (!moved.ok) throw new ProviderError('source-unreadable', `${name} is too long a name in ${to}`)
  return moved.value
}

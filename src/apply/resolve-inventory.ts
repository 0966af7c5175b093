/**
 * Addresses from live inventory, read when a zone is planned, once per query and run. A zone whose inventory cannot be read, or leaves a record set empty,
 * is not planned, so that an inventory outage cannot empty record sets.
 */

import { checkZone } from '../definition/rules/rules.ts'
import { compareDiagnostics, type Diagnostic, hasErrors, isError } from '../dns/diagnostic.ts'
import { describeInventoryQuery, type InventoryObject, type InventoryQuery, type InventoryRrset } from '../dns/inventory.ts'
import { ownershipOf } from '../dns/ownership.ts'
import { type DefinedRecord, recordKey, rrsetKey } from '../dns/record.ts'
import type { DesiredZone } from '../dns/zone.ts'
import { excludedRrsets } from '../plan/fit-to-target.ts'
import { diagnosticOf, type Provider, ProviderError } from '../providers/provider.ts'
import { agreeing, listed } from '../report/english.ts'
import type { ZoneJob } from './run-context.ts'

export interface ResolvedJobs {
  /** Without the jobs whose addresses could not be read. */
  readonly jobs: readonly ZoneJob[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Adds to every job the records of its inventories. */
export async function resolveInventory(
  jobs: readonly ZoneJob[],
  providers: ReadonlyMap<string, Provider>,
  signal?: AbortSignal,
): Promise<ResolvedJobs> {
  if (jobs.every(({ desired }) => desired.inventory === undefined)) return { jobs, diagnostics: [] }
  const read = createInventoryReader(providers, signal)
  const diagnostics: Diagnostic[] = []
  const resolved = await Promise.all(
    jobs.map(async (job) => {
      const { desired, target } = job
      if (desired.inventory === undefined || desired.absent) return job
      const excluded = excludedRrsets(desired, target)
      const wanted = desired.inventory.filter((set) => !excluded.has(rrsetKey(set)))
      const sets = await Promise.all(wanted.map((set) => resolveSet(set, target, read)))
      const found = sets.flatMap((set) => set.diagnostics)
      const zone = withRecords(
        desired,
        sets.flatMap((set) => set.records),
      )
      const problems = hasErrors(found) ? [] : checkZone(zone).filter(isError)
      diagnostics.push(...found, ...problems)
      return hasErrors(found) || problems.length > 0 ? null : { ...job, desired: zone }
    }),
  )
  return { jobs: resolved.filter((job) => job !== null), diagnostics: withoutRepeats(diagnostics) }
}

/** A zone with several targets reports the same problems for each. */
function withoutRepeats(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const sorted = [...diagnostics].sort(compareDiagnostics)
  return sorted.filter((one, index) => index === 0 || compareDiagnostics(one, sorted[index - 1] as Diagnostic) !== 0)
}

type ReadInventory = (query: InventoryQuery, target: string) => Promise<readonly InventoryObject[]>

/** Creates a reader of inventories that sends each query once. */
function createInventoryReader(providers: ReadonlyMap<string, Provider>, signal: AbortSignal | undefined): ReadInventory {
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

interface ResolvedSet {
  readonly records: readonly DefinedRecord[]
  readonly diagnostics: readonly Diagnostic[]
}

async function resolveSet(set: InventoryRrset, target: string, read: ReadInventory): Promise<ResolvedSet> {
  const { name, type, ttl, query, at } = set
  const subject = `${name} ${type}`
  const what = describeInventoryQuery(query)
  let objects: readonly InventoryObject[]
  try {
    objects = await read(query, target)
  } catch (error) {
    const { message, hint } = diagnosticOf(error)
    return { records: [], diagnostics: [{ severity: 'error', code: 'inventory-unreadable', message: `${subject}: ${message}`, at, hint }] }
  }
  const addressesOf = ({ ipv4, ipv6 }: InventoryObject): readonly string[] => (type === 'A' ? ipv4 : ipv6)
  const records = objects
    .flatMap((object) =>
      addressesOf(object).map((data): DefinedRecord => ({ name, type, ttl, data, at, source: object.source, ...ownershipOf(set) })),
    )
    .sort((a, b) => (a.data < b.data ? -1 : a.data > b.data ? 1 : 0))
  const kind = `public ${type === 'A' ? 'IPv4' : 'IPv6'} address`
  if (records.length === 0) {
    const problem = objects.length === 0 ? `there are no ${what}` : `none of the ${objects.length} ${what} has a ${kind}`
    const hint = 'the record set is not changed; remove the record from the definition if that is intended'
    return { records: [], diagnostics: [{ severity: 'error', code: 'inventory-empty', message: `${subject}: ${problem}`, at, hint }] }
  }
  const without = objects.filter((object) => addressesOf(object).length === 0).map(({ source }) => source)
  if (without.length === 0) return { records, diagnostics: [] }
  const message = `${subject}: without ${listed(without, LISTED)}, which ${agreeing(without.length, 'has', 'have')} no ${kind}`
  return { records, diagnostics: [{ severity: 'warning', code: 'inventory-partial', message, at }] }
}

/** Maximum objects in one message. */
const LISTED = 5

/** Adds records, without duplicates of each other or of the definition. */
function withRecords(zone: DesiredZone, records: readonly DefinedRecord[]): DesiredZone {
  const seen = new Set(zone.records.map(recordKey))
  const added = records.filter((record) => {
    const key = recordKey(record)
    return !seen.has(key) && seen.add(key)
  })
  return { ...zone, inventory: undefined, records: [...zone.records, ...added] }
}

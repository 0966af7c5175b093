/**
 * The recent differences of zones, for incremental transfers (RFC 1995). They are kept in memory and start with the version that was loaded at
 * startup, so a secondary that has that version never needs a full transfer. Each process keeps the differences between the versions that it has
 * served; a secondary with any other version gets the full zone.
 *
 * A difference compares two versions exactly as they are transferred, so applying it to one gives the other. Consecutive differences are
 * condensed into one (RFC 1995 section 6): a record that one adds and a later one removes is in neither list.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { isNewerSerial, serialNumber } from '../../dns/serial-number.ts'
import type { NamedRrset } from './answer.ts'
import { createRrsetFinder, type Rrset, type ZoneData, type ZoneNode } from './zone-data.ts'

/** The changes from one version of a zone to a later one. The lists do not include the SOA records. */
export interface ZoneDifference {
  /** The SOA of the earlier version. */
  readonly from: Rrset
  readonly removed: readonly NamedRrset[]
  readonly added: readonly NamedRrset[]
}

export interface HistoryLimits {
  /** Maximum number of differences per zone. */
  readonly differences: number
  /** Approximate maximum memory in octets per zone. */
  readonly zoneOctets: number
  /** Approximate maximum memory in octets for all zones. */
  readonly octets: number
}

export const HISTORY_LIMITS: HistoryLimits = { differences: 100, zoneOctets: 4 * 1024 * 1024, octets: 64 * 1024 * 1024 }

export interface ZoneHistory {
  /** Records the difference between a version of a zone and its successor. */
  record(existing: ZoneData, zone: ZoneData): void
  /**
   * The difference from the version with this serial to the zone. Null if it is unknown, if it is not smaller than the zone, or if it has to be
   * computed from more than `maxRecords` records.
   */
  since(zone: ZoneData, serial: number, maxRecords?: number): ZoneDifference | null
  forget(name: DomainName): void
}

interface Step extends ZoneDifference {
  readonly fromSerial: number
  readonly zone: DomainName
  readonly octets: number
  /** Number of records without the SOA records. */
  readonly count: number
}

/** Up to this many records, steps are condensed even if the zone has fewer. With more, a full transfer is cheaper. */
const MAX_CONDENSED_RECORDS = 5_000

export function createZoneHistory(limits: HistoryLimits): ZoneHistory {
  /** The steps of each zone in order: each starts with the version at which the previous one ends. */
  const steps = new Map<DomainName, Step[]>()
  /** All steps, oldest first. */
  const all = new Set<Step>()
  let octets = 0

  const dropFirst = (zoneSteps: Step[]): void => {
    const step = zoneSteps.shift()
    if (step === undefined || !all.delete(step)) return
    octets -= step.octets
    if (zoneSteps.length === 0) steps.delete(step.zone)
  }

  const forget = (name: DomainName): void => {
    const zoneSteps = steps.get(name) ?? []
    while (zoneSteps.length > 0) dropFirst(zoneSteps)
  }

  const add = (step: Step): void => {
    const zoneSteps = steps.get(step.zone) ?? []
    steps.set(step.zone, zoneSteps)
    zoneSteps.push(step)
    all.add(step)
    octets += step.octets
    let zoneOctets = zoneSteps.reduce((sum, other) => sum + other.octets, 0)
    while (zoneSteps.length > limits.differences || zoneOctets > limits.zoneOctets) {
      zoneOctets -= zoneSteps[0]?.octets ?? 0
      dropFirst(zoneSteps)
    }
    // The oldest step overall is also the oldest of its zone.
    for (const oldest of all) {
      if (octets <= limits.octets) break
      dropFirst(steps.get(oldest.zone) ?? [])
    }
  }

  return {
    record: (existing, zone) => {
      const difference = copyData(differenceOf(existing, zone))
      const isEmpty = difference.removed.length === 0 && difference.added.length === 0
      if (existing.serial === zone.serial && isEmpty) return
      // Secondaries ignore a version that is not newer, and one serial must not mean two versions.
      if (!isNewerSerial(serialNumber(zone.serial), serialNumber(existing.serial))) return forget(zone.name)
      add({ ...difference, fromSerial: existing.serial, zone: zone.name, octets: octetsOf(difference), count: countOf(difference) })
    },
    since: (zone, serial, maxRecords = Number.POSITIVE_INFINITY) => {
      const zoneSteps = steps.get(zone.name) ?? []
      const first = zoneSteps.findIndex(({ fromSerial }) => fromSerial === serial)
      if (first === -1) return null
      const missing = zoneSteps.slice(first)
      const count = missing.reduce((sum, step) => sum + step.count, 0)
      // Check before the work, because a client can ask very often.
      if (count > maxRecords || (count > MAX_CONDENSED_RECORDS && !isSmallerThan(count, zone))) return null
      const difference = condense(missing)
      return isSmallerThan(countOf(difference), zone) ? difference : null
    },
    forget,
  }
}

function differenceOf(existing: ZoneData, zone: ZoneData): ZoneDifference {
  const removed: NamedRrset[] = []
  const added: NamedRrset[] = []
  const isSoa = (rrset: Rrset): boolean => rrset === existing.soa || rrset === zone.soa
  for (const node of zone.nodes.values()) compareNode(existing.nodes.get(node.name), node, isSoa, removed, added)
  for (const node of existing.nodes.values()) {
    if (!zone.nodes.has(node.name)) for (const rrset of node.rrsets) removed.push({ name: node.name, rrset })
  }
  return { from: existing.soa, removed, added }
}

function compareNode(
  existing: ZoneNode | undefined,
  { name, rrsets }: ZoneNode,
  isSoa: (rrset: Rrset) => boolean,
  removed: NamedRrset[],
  added: NamedRrset[],
): void {
  const existingRrsets = existing?.rrsets ?? []
  const [findBefore, findNow] = [createRrsetFinder(existingRrsets), createRrsetFinder(rrsets)]
  for (const rrset of rrsets) {
    const before = isSoa(rrset) ? rrset : findBefore(rrset)
    if (before === undefined) added.push({ name, rrset })
    else if (before !== rrset) compareRrsets(name, before, rrset, removed, added)
  }
  for (const rrset of existingRrsets) if (!isSoa(rrset) && findNow(rrset) === undefined) removed.push({ name, rrset })
}

function compareRrsets(name: DomainName, existing: Rrset, rrset: Rrset, removed: NamedRrset[], added: NamedRrset[]): void {
  if (existing.ttl !== rrset.ttl || existing.writtenOwner !== rrset.writtenOwner) {
    removed.push({ name, rrset: existing })
    added.push({ name, rrset })
    return
  }
  const isEqual = existing.data.length === rrset.data.length && existing.data.every((data, i) => data === rrset.data[i])
  if (isEqual) return
  const [before, after] = [new Set(existing.data), new Set(rrset.data)]
  const dataRemoved = existing.data.filter((data) => !after.has(data))
  const dataAdded = rrset.data.filter((data) => !before.has(data))
  if (dataRemoved.length > 0) removed.push({ name, rrset: { ...existing, data: dataRemoved, octets: null } })
  if (dataAdded.length > 0) added.push({ name, rrset: { ...rrset, data: dataAdded, octets: null } })
}

/** Copies the data of a difference. Strings parsed from a zone's text are slices of it, so without copies each difference would keep the whole text in memory. */
function copyData({ from, removed, added }: ZoneDifference): ZoneDifference {
  const copyText = (text: string): string => Buffer.from(text).toString()
  const copy = (rrset: Rrset): Rrset => {
    const writtenOwner = rrset.writtenOwner && copyText(rrset.writtenOwner)
    return { ...rrset, writtenOwner, data: rrset.data.map(copyText), octets: null }
  }
  const copies = (sections: readonly NamedRrset[]): NamedRrset[] => sections.map(({ name, rrset }) => ({ name, rrset: copy(rrset) }))
  return { from: copy(from), removed: copies(removed), added: copies(added) }
}

/** Approximate memory in octets of a record without its name and data. */
const RECORD_OCTETS = 100

const octetsOf = ({ removed, added }: ZoneDifference): number => {
  let octets = RECORD_OCTETS
  for (const { name, rrset } of [...removed, ...added]) for (const data of rrset.data) octets += RECORD_OCTETS + name.length + data.length
  return octets
}

/** Combines consecutive differences into one. */
function condense(steps: readonly Step[]): ZoneDifference {
  const [first] = steps as [Step, ...Step[]]
  if (steps.length === 1) return first
  const removed = new Map<string, NamedRrset>()
  const added = new Map<string, NamedRrset>()
  for (const step of steps) {
    for (const [key, record] of singleRecords(step.removed)) if (!added.delete(key)) removed.set(key, record)
    for (const [key, record] of singleRecords(step.added)) if (!removed.delete(key)) added.set(key, record)
  }
  return { from: first.from, removed: [...removed.values()], added: [...added.values()] }
}

function* singleRecords(sections: readonly NamedRrset[]): Generator<[string, NamedRrset], void> {
  for (const { name, rrset } of sections) {
    for (const data of rrset.data) {
      yield [`${rrset.writtenOwner ?? name} ${rrset.code} ${rrset.ttl} ${data}`, { name, rrset: { ...rrset, data: [data], octets: null } }]
    }
  }
}

/** The number of records in a difference, without the SOA records. */
const countOf = ({ removed, added }: ZoneDifference): number =>
  [...removed, ...added].reduce((sum, { rrset }) => sum + rrset.data.length, 0)

/** Whether a difference of `count` records has fewer records than the zone, SOA records included. */
function isSmallerThan(count: number, zone: ZoneData): boolean {
  let remaining = count + 2
  for (const { rrsets } of zone.nodes.values()) {
    for (const { data } of rrsets) remaining -= data.length
    if (remaining < 0) return true
  }
  return false
}

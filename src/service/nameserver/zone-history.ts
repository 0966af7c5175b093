/**
 * The latest differences of zones, for incremental transfers (RFC 1995). They are in memory: after a start the first one begins at the
 * version that was loaded, so a secondary that had that version needs no whole transfer. Each process that serves a zone keeps its own, between
 * the versions it has served itself; a secondary with another version gets the whole zone.
 *
 * A difference is taken between two versions as they are transferred, so that applying it to the one gives the other exactly. Several in a row
 * are condensed into one (RFC 1995 section 6): a record that is added by one and removed by a later one is in neither list.
 */
import type { DomainName } from '../../dns/domain-name.ts'
import { isNewerSerial, serialNumber } from '../../dns/serial-number.ts'
import type { NamedRrset } from './answer.ts'
import { createRrsetFinder, type Rrset, type ZoneData, type ZoneNode } from './zone-data.ts'

/** What turns one version of a zone into a later one. The SOA records are not in the lists. */
export interface ZoneDifference {
  /** The SOA of the version it begins with. */
  readonly from: Rrset
  readonly removed: readonly NamedRrset[]
  readonly added: readonly NamedRrset[]
}

export interface HistoryLimits {
  /** Differences of one zone. */
  readonly differences: number
  /** Octets of the differences of one zone, roughly. */
  readonly zoneOctets: number
  /** Octets of all differences, roughly. */
  readonly octets: number
}

export const HISTORY_LIMITS: HistoryLimits = { differences: 100, zoneOctets: 4 * 1024 * 1024, octets: 64 * 1024 * 1024 }

export interface ZoneHistory {
  /** Notes that a version of a zone has been replaced by another. */
  record(existing: ZoneData, zone: ZoneData): void
  /**
   * The difference from the version of this serial to the zone. Null if it is not known, if it has as many records as the zone, or if it would be
   * made of more than `most` records: `most` is for answers that have room for few.
   */
  since(zone: ZoneData, serial: number, most?: number): ZoneDifference | null
  forget(name: DomainName): void
}

interface Step extends ZoneDifference {
  readonly fromSerial: number
  readonly zone: DomainName
  readonly octets: number
  /** Records, without the SOA records. */
  readonly count: number
}

/** Records of several steps that are condensed even if the zone has fewer: more cost more time than the whole zone. */
const MAX_CONDENSED_RECORDS = 5_000

export function createZoneHistory(limits: HistoryLimits): ZoneHistory {
  /** The steps of each zone, each beginning with the version that the one before it leads to. */
  const steps = new Map<DomainName, Step[]>()
  /** All steps, the oldest first. */
  const all = new Set<Step>()
  let octets = 0

  const dropFirst = (ofZone: Step[]): void => {
    const step = ofZone.shift()
    if (step === undefined || !all.delete(step)) return
    octets -= step.octets
    if (ofZone.length === 0) steps.delete(step.zone)
  }

  const forget = (name: DomainName): void => {
    const ofZone = steps.get(name) ?? []
    while (ofZone.length > 0) dropFirst(ofZone)
  }

  const add = (step: Step): void => {
    const ofZone = steps.get(step.zone) ?? []
    steps.set(step.zone, ofZone)
    ofZone.push(step)
    all.add(step)
    octets += step.octets
    let zoneOctets = ofZone.reduce((sum, other) => sum + other.octets, 0)
    while (ofZone.length > limits.differences || zoneOctets > limits.zoneOctets) {
      zoneOctets -= ofZone[0]?.octets ?? 0
      dropFirst(ofZone)
    }
    // The oldest of all is the oldest of its zone.
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
      // Secondaries take no version that is not newer, and one serial must not stand for two versions.
      if (!isNewerSerial(serialNumber(zone.serial), serialNumber(existing.serial))) return forget(zone.name)
      add({ ...difference, fromSerial: existing.serial, zone: zone.name, octets: octetsOf(difference), count: countOf(difference) })
    },
    since: (zone, serial, most = Number.POSITIVE_INFINITY) => {
      const ofZone = steps.get(zone.name) ?? []
      const first = ofZone.findIndex(({ fromSerial }) => fromSerial === serial)
      if (first === -1) return null
      const missed = ofZone.slice(first)
      const count = missed.reduce((sum, step) => sum + step.count, 0)
      // Known before the work: whoever may ask can ask very often.
      if (count > most || (count > MAX_CONDENSED_RECORDS && !isSmallerThan(count, zone))) return null
      const difference = condense(missed)
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
  const formers = existing?.rrsets ?? []
  const [findFormer, findNow] = [createRrsetFinder(formers), createRrsetFinder(rrsets)]
  for (const rrset of rrsets) {
    const former = isSoa(rrset) ? rrset : findFormer(rrset)
    if (former === undefined) added.push({ name, rrset })
    else if (former !== rrset) compareRrsets(name, former, rrset, removed, added)
  }
  for (const rrset of formers) if (!isSoa(rrset) && findNow(rrset) === undefined) removed.push({ name, rrset })
}

function compareRrsets(name: DomainName, existing: Rrset, rrset: Rrset, removed: NamedRrset[], added: NamedRrset[]): void {
  if (existing.ttl !== rrset.ttl) {
    removed.push({ name, rrset: existing })
    added.push({ name, rrset })
    return
  }
  const isEqual = existing.data.length === rrset.data.length && existing.data.every((data, i) => data === rrset.data[i])
  if (isEqual) return
  const [before, after] = [new Set(existing.data), new Set(rrset.data)]
  const gone = existing.data.filter((data) => !after.has(data))
  const come = rrset.data.filter((data) => !before.has(data))
  if (gone.length > 0) removed.push({ name, rrset: { ...existing, data: gone, octets: null } })
  if (come.length > 0) added.push({ name, rrset: { ...rrset, data: come, octets: null } })
}

/**
 * The same difference with its own copy of all data. Data that was read from the text of a zone is a part of that string: kept as it is, each
 * difference would keep the whole text in memory.
 */
function copyData({ from, removed, added }: ZoneDifference): ZoneDifference {
  const copy = (rrset: Rrset): Rrset => ({ ...rrset, data: rrset.data.map((data) => Buffer.from(data).toString()), octets: null })
  const copies = (sections: readonly NamedRrset[]): NamedRrset[] => sections.map(({ name, rrset }) => ({ name, rrset: copy(rrset) }))
  return { from: copy(from), removed: copies(removed), added: copies(added) }
}

/** Octets that a record takes in memory beside its name and data. */
const RECORD_OCTETS = 100

const octetsOf = ({ removed, added }: ZoneDifference): number => {
  let octets = RECORD_OCTETS
  for (const { name, rrset } of [...removed, ...added]) for (const data of rrset.data) octets += RECORD_OCTETS + name.length + data.length
  return octets
}

/** One difference for several in a row. */
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
      yield [`${name} ${rrset.code} ${rrset.ttl} ${data}`, { name, rrset: { ...rrset, data: [data], octets: null } }]
    }
  }
}

/** Records of a difference, without the SOA records. */
const countOf = ({ removed, added }: ZoneDifference): number =>
  [...removed, ...added].reduce((sum, { rrset }) => sum + rrset.data.length, 0)

/** Whether a difference of so many records is less than the zone, SOA records included. */
function isSmallerThan(count: number, zone: ZoneData): boolean {
  let left = count + 2
  for (const { rrsets } of zone.nodes.values()) {
    for (const { data } of rrsets) left -= data.length
    if (left < 0) return true
  }
  return false
}

/** What the change of an RRset takes in a call, at most. */
import type { DomainName } from '../dns/domain-name.ts'
import { rdataOctets } from '../dns/rdata/rdata-codec.ts'
import type { CallRules } from './capabilities.ts'
import type { RrsetChange, RrsetImage } from './changesets.ts'

export interface CallSize {
  readonly units: number
  readonly octets: number
  /** Records before and after the change. */
  readonly values: number
  /** Characters of the data of those records. */
  readonly characters: number
}

export const NO_SIZE: CallSize = { units: 0, octets: 0, values: 0, characters: 0 }

export const addSizes = (a: CallSize, b: CallSize): CallSize => ({
  units: a.units + b.units,
  octets: a.octets + b.octets,
  values: a.values + b.values,
  characters: a.characters + b.characters,
})

export const isWithin = ({ units, octets, values, characters }: CallSize, { maxUnits, maxOctets, maxValues }: CallRules): boolean =>
  (maxUnits === null || units <= maxUnits) &&
  (maxOctets === null || octets <= maxOctets) &&
  (maxValues === undefined || (values <= maxValues.count && characters <= maxValues.characters))

export function sizeOf(rrset: RrsetChange, rules: CallRules, zone: DomainName): CallSize {
  const data = [...(rrset.existing?.data ?? []), ...(rrset.desired?.data ?? [])]
  const lengthOf = rules.maxValues?.lengthOf ?? ((_, one) => one.length)
  const characters = rules.maxValues === undefined ? 0 : data.reduce((sum, one) => sum + lengthOf(rrset.type, one), 0)
  return { units: 1, octets: rules.maxOctets === null ? 0 : octetsOf(rrset, rules, zone), values: data.length, characters }
}

/** Type, class, TTL and length (RFC 1035 section 4.1.3). */
const RECORD_HEADER = 10

/** A pointer to the zone's name, which every message has at its beginning (RFC 1035 section 4.1.4). */
const POINTER = 2

/** More octets than the rdata of any type has beyond its text: AAAA and LOC have 16 in as few as three characters. */
const RDATA_MARGIN = 32

/**
 * Each existing record once as expected and once as deleted, each desired one once. In an UPDATE message (RFC 2136) one record says that the RRset is to be
 * deleted or does not exist; NS records of the apex are deleted one by one.
 */
export function octetsOf(
  { name, type, existing, desired }: RrsetChange,
  { isDnsMessage, countsRdataOnly }: CallRules,
  zone: DomainName,
): number {
  if (countsRdataOnly) return [...(existing?.data ?? []), ...(desired?.data ?? [])].reduce((sum, data) => sum + data.length, 0)
  if (!isDnsMessage) {
    const size = (image: RrsetImage | null): number =>
      (image?.data ?? []).reduce((sum, data) => sum + name.length + 1 + RECORD_HEADER + data.length + RDATA_MARGIN, 0)
    return 2 * (name.length + 1 + RECORD_HEADER) + 2 * size(existing) + size(desired)
  }
  // Text is never shorter than the labels that it stands for.
  const bare = (name === zone ? 0 : name.length - zone.length) + POINTER + RECORD_HEADER
  const size = (image: RrsetImage | null): number => (image?.data ?? []).reduce((sum, data) => sum + bare + rdataSize(type, data), 0)
  return bare + size(existing) + (type === 'NS' && name === zone ? size(existing) : 0) + size(desired)
}

/** A type without a wire form is refused elsewhere. */
function rdataSize(type: string, data: string): number {
  try {
    return rdataOctets(type, data).length
  } catch {
    return data.length + RDATA_MARGIN
  }
}

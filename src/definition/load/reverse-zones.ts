/** The reverse zones of a set of definitions, and which of them hold the PTR record of an address. */
import { type DomainName, parentOf, ROOT } from '../../dns/domain-name.ts'
import { append } from '../../dns/group-by.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import { classlessBlock, isReverseName, reverseName } from '../../dns/reverse-name.ts'
import { highestCut, indexZone, type ZoneIndex } from '../rules/zone-index.ts'
import type { LoadedZone } from './configured-zone.ts'

/** A reverse zone with the name at which it holds the PTR record of an address. */
export interface PtrPlace {
  readonly reverse: LoadedZone
  readonly owner: DomainName
  /** The targets of the PTR record; null for all targets of the reverse zone. */
  readonly targets: readonly string[] | null
}

/** The zone that an address belongs to, as far as it matters for its PTR record. */
export interface AddressOrigin {
  /** Empty if unknown. */
  readonly targets: readonly string[]
  /** Whether the reverse zone must have a target in common, as with split horizon. */
  readonly isSplit: boolean
}

export interface ReverseZones {
  /** The places for the PTR record of an address; empty if there is no reverse zone, or if it delegates the address. Linear in the length of the name. */
  readonly placesOf: (address: string, origin: AddressOrigin) => readonly PtrPlace[]
  readonly indexOf: (reverse: LoadedZone) => ZoneIndex
  /** The definitions of a reverse zone. */
  readonly named: (zone: DomainName) => readonly LoadedZone[]
}

interface BlockZone {
  readonly zone: DomainName
  readonly first: number
  readonly last: number
}

/** Indexes the reverse zones among `zones`. Those that are to be deleted, or that are transferred from other servers, hold no records. */
export function indexReverseZones(zones: readonly LoadedZone[]): ReverseZones {
  const byName = new Map<DomainName, LoadedZone[]>()
  const blocks = new Map<DomainName, BlockZone[]>()
  for (const loaded of zones) {
    const { name, absent, settings } = loaded.zone
    if (!isReverseName(name) || absent || settings.type === 'slave') continue
    const block = byName.has(name) ? null : classlessBlock(name)
    append(byName, name, loaded)
    if (block !== null) append(blocks, block.parent, { ...block, zone: name })
  }
  for (const list of blocks.values()) list.sort((a, b) => a.last - a.first - (b.last - b.first) || (a.zone < b.zone ? -1 : 1))
  const indexes = new Map<LoadedZone, ZoneIndex>()
  const indexOf = (loaded: LoadedZone): ZoneIndex => {
    const index = indexes.get(loaded) ?? indexZone(loaded.zone)
    indexes.set(loaded, index)
    return index
  }
  const named = (zone: DomainName): readonly LoadedZone[] => byName.get(zone) ?? []
  const placesOf: ReverseZones['placesOf'] = (address, origin) => {
    for (const { zone, owner } of candidatesOf(reverseName(address), byName, blocks)) {
      const definitions = named(zone)
      const places = definitions.flatMap((reverse) => placeIn(reverse, owner, origin, definitions.length > 1) ?? [])
      if (places.length > 0) return places.filter(({ reverse }) => cutAbove(indexOf(reverse), owner) === undefined)
    }
    return []
  }
  return { placesOf, indexOf, named }
}

/** The reverse zones that contain a name of the reverse tree, the most specific first. */
function* candidatesOf(
  name: DomainName,
  byName: ReadonlyMap<DomainName, unknown>,
  blocks: ReadonlyMap<DomainName, readonly BlockZone[]>,
): Iterable<{ readonly zone: DomainName; readonly owner: DomainName }> {
  if (byName.has(name)) yield { zone: name, owner: name }
  const parent = parentOf(name)
  const label = name.slice(0, -parent.length - 1)
  for (const { zone, first, last } of blocks.get(parent) ?? [])
    if (first <= Number(label) && Number(label) <= last) yield { zone, owner: `${label}.${zone}` as DomainName }
  for (let zone = parent; zone !== ROOT; zone = parentOf(zone)) if (byName.has(zone)) yield { zone, owner: name }
}

/** The place in a reverse zone; null if split horizon keeps the address out of it. */
function placeIn(reverse: LoadedZone, owner: DomainName, { targets, isSplit }: AddressOrigin, hasVariants: boolean): PtrPlace | null {
  if (!(isSplit || hasVariants) || targets.length === 0 || reverse.targets.length === 0) return { reverse, owner, targets: null }
  const shared = reverse.targets.filter((target) => targets.includes(target))
  if (shared.length === 0) return null
  return { reverse, owner, targets: shared.length === reverse.targets.length ? null : shared }
}

/** The delegation or DNAME record that hides a name; undefined if there is none. */
export const cutAbove = ({ zone, delegations, redirections }: ZoneIndex, name: DomainName): DefinedRecord | undefined =>
  highestCut(delegations, name, zone.name) ?? (name === zone.name ? undefined : highestCut(redirections, parentOf(name), zone.name))

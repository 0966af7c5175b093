/**
 * What a plan must not interrupt.
 *
 * 1. An RRset that exists before and after the plan is never empty in between.
 * 2. The target of a pointer (CNAME, DNAME, ALIAS, NS, MX, SRV) exists while the pointer points at it, in two cases: the target exists before and after
 *    the plan; or the pointer's RRset does, and then a target that exists before is kept for an old pointer, one that exists after for a new pointer.
 *
 * A CNAME or DNAME needs any record at its target, the others need an address, an ALIAS or a CNAME. Names outside the zone are out of reach.
 *
 * When not everything can be preserved, RRsets that exist before and after, and pointers in them, come first: they are in use. A pointer that is new,
 * or removed with its RRset, yields to them.
 */
import type { DomainName } from '../dns/domain-name.ts'
import { targetName } from '../dns/rdata/canonical.ts'
import { type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { ZoneDifference } from './compare-zones.ts'

/** What wins if a plan cannot have both: no interruption, or the fewest calls. */
export type Preference = 'continuity' | 'calls'

/** What a pointer needs at its target: any record, or one that leads to an address. */
export type Need = 'any' | 'address'

export const NEEDS: readonly Need[] = ['any', 'address']

const ADDRESS_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'ALIAS'])
const NEED_BY_TYPE: Readonly<Record<string, Need>> = {
  CNAME: 'any',
  DNAME: 'any',
  ALIAS: 'address',
  NS: 'address',
  MX: 'address',
  SRV: 'address',
}

/** The name that a record points at and what it needs there; null for a record that points nowhere. */
export function pointerOf(record: ResourceRecord): { readonly target: string; readonly need: Need } | null {
  const need = NEED_BY_TYPE[record.type]
  if (need === undefined) return null
  const target = targetName(record.type, record.data)
  return target === null || target === '.' ? null : { target, need }
}

/** Whether a record of this type at a name satisfies a pointer with this need. */
export const satisfies = (type: string, need: Need): boolean => need === 'any' || ADDRESS_TYPES.has(type)

export const needKey = (name: string, need: Need): string => `${need} ${name}`

/** How many records each RRset has, and how many records at each name satisfy each need. */
export interface Presence {
  readonly sets: Map<string, number>
  readonly names: Map<string, number>
}

export function addPresence(presence: Presence, record: ResourceRecord, count: 1 | -1): void {
  const add = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + count)
  add(presence.sets, rrsetKey(record))
  for (const need of NEEDS) if (satisfies(record.type, need)) add(presence.names, needKey(record.name, need))
}

export const has = (map: ReadonlyMap<string, number>, key: string): boolean => (map.get(key) ?? 0) > 0

/** Whether a record exists before the plan only, after it only, or before and after. */
export type Side = 'before' | 'after' | 'both'

/**
 * The weight of an RRset, or a pointer in one, that exists before and after. It exceeds the weight of all other pointers together, which is 1 each:
 * nobody relies on those yet, or soon nobody will.
 */
export const WEIGHT_IN_USE = 2 ** 20

export interface Continuity {
  /** Keys of the RRsets that exist before and after. */
  readonly continuing: ReadonlySet<string>
  /** Records before the first change. */
  readonly before: Presence
  /** Records that stay as they are. */
  readonly unchanged: Presence
  /** Pointers that stay as they are. */
  readonly unchangedPointers: readonly ResourceRecord[]
  /** Whether the record is a pointer whose target must not be missing. */
  isGuarded(record: ResourceRecord, side: Side): boolean
  /** The weight of one guarded pointer whose target is missing for a moment. */
  weightOf(pointer: ResourceRecord): number
  /**
   * Whether the target of a guarded pointer is certain to be missing for a moment, so that no order can spare the pointer. A name that turns from a CNAME
   * into something else, or back, is empty in between. A pointer that stays misses it; a CNAME that changes in place does so on one side of the gap.
   */
  cannotBePreserved(record: ResourceRecord, side: Side): boolean
}

export function analyseContinuity(difference: ZoneDifference): Continuity {
  const kept = [...difference.kept, ...difference.unmanaged]
  const unchanged = presenceOf(kept)
  const before = presenceOf(difference.removed, unchanged)
  const after = presenceOf(difference.added, unchanged)
  const continuing = new Set([...before.sets.keys()].filter((key) => has(after.sets, key)))
  const hasCname = (presence: Presence, name: string): boolean => has(presence.sets, rrsetKey({ name: name as DomainName, type: 'CNAME' }))
  const turnsIntoOrFromCname = (name: string): boolean => hasCname(after, name) !== hasCname(before, name)
  const cnameTargets = new Map<string, string | undefined>()
  for (const record of difference.removed) if (record.type === 'CNAME') cnameTargets.set(record.name, pointerOf(record)?.target)
  const isGuarded = (record: ResourceRecord, side: Side): boolean => {
    const pointer = pointerOf(record)
    if (pointer === null) return false
    const key = needKey(pointer.target, pointer.need)
    const [existed, willExist] = [has(before.names, key), has(after.names, key)]
    if (existed && willExist) return true
    if (side === 'both' || !continuing.has(rrsetKey(record))) return false
    return side === 'before' ? existed : willExist
  }
  return {
    continuing,
    before,
    unchanged,
    unchangedPointers: kept.filter((record) => isGuarded(record, 'both')),
    isGuarded,
    weightOf: (pointer) => (continuing.has(rrsetKey(pointer)) ? WEIGHT_IN_USE : 1),
    cannotBePreserved(record, side) {
      const target = side === 'before' || !isGuarded(record, side) ? undefined : pointerOf(record)?.target
      if (target === undefined || !turnsIntoOrFromCname(target)) return false
      return side === 'both' || (record.type === 'CNAME' && cnameTargets.get(record.name) === target && isGuarded(record, 'before'))
    },
  }
}

const NOTHING: Presence = { sets: new Map(), names: new Map() }

/** The presence of records beside those of `others`, which stays as it is. */
function presenceOf(records: Iterable<ResourceRecord>, others: Presence = NOTHING): Presence {
  const presence: Presence = { sets: new Map(others.sets), names: new Map(others.names) }
  for (const record of records) addPresence(presence, record, 1)
  return presence
}

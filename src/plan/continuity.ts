/**
 * What must not be interrupted while a zone changes. An RRset that is there before and after is never empty in between. What a record points at exists
 * while it is pointed at, in two cases:
 * - it is there before and after: then at every moment at which any record points at it, one that stays, one that the plan brings, one that it takes away;
 * - the pointer's RRset is there before and after: then an earlier target that is there before, as long as it is pointed at, and a later one that is there
 *   after. What works before and after works in between, also where it moves from one target to another.
 *
 * A CNAME needs anything at its target, NS, MX and SRV need an address or a CNAME there. Names outside the zone are nobody's to keep.
 *
 * Where not everything can be kept whole, RRsets that are there before and after come first, with their pointers: they are in use. A pointer that comes or
 * goes with its RRset yields to them.
 */
import type { DomainName } from '../model/domain-name.ts'
import { targetName } from '../model/rdata/canonical.ts'
import { type ResourceRecord, rrsetKey } from '../model/record.ts'
import type { ZoneDifference } from './diff-zone.ts'

/** What a pointer needs at its target: any record, or one that leads to an address. */
export type Need = 'any' | 'address'

const ADDRESS_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'ALIAS'])
const NEED_BY_TYPE: Readonly<Record<string, Need>> = {
  CNAME: 'any',
  DNAME: 'any',
  ALIAS: 'address',
  NS: 'address',
  MX: 'address',
  SRV: 'address',
}

/** What a record points at and needs there; null for a record that points nowhere. */
export function pointerOf(record: ResourceRecord): { readonly target: string; readonly need: Need } | null {
  const need = NEED_BY_TYPE[record.type]
  if (need === undefined) return null
  const target = targetName(record.type, record.data)
  return target === null || target === '.' ? null : { target, need }
}

/** Whether records of a type point at names. */
export const isPointerType = (type: string): boolean => NEED_BY_TYPE[type] !== undefined

/** Whether a record at a name makes the name such that a pointer with this need works. */
export const satisfies = (record: ResourceRecord, need: Need): boolean => satisfiesType(record.type, need)

export const satisfiesType = (type: string, need: Need): boolean => need === 'any' || ADDRESS_TYPES.has(type)

export const needKey = (name: string, need: Need): string => `${need} ${name}`

export const NEEDS: readonly Need[] = ['any', 'address']

/** How many records there are of each RRset and at each name, by need. */
export interface Presence {
  readonly sets: Map<string, number>
  readonly names: Map<string, number>
}

export interface Continuity {
  /** RRsets that are there before and after. */
  readonly continuing: ReadonlySet<string>
  /** Presence before the first change. */
  readonly before: Presence
  readonly after: Presence
  /** Records that stay throughout. */
  readonly standing: Presence
  /** Whether a record of the zone before (or after) the changes is a pointer whose target must not go missing. */
  isGuarded(record: ResourceRecord, side: Side): boolean
  /** What it counts where not everything can be kept whole that one such pointer misses its target. */
  weightOf(pointer: ResourceRecord): number
  /**
   * Whether a guarded pointer is sure to miss its target, so that nothing is gained by sparing it. A name that turns from a CNAME to something else, or
   * back, is empty in between. Who points at it all the while misses it; a CNAME that changes meanwhile does so on one side of the gap.
   */
  isHopeless(record: ResourceRecord, side: Side): boolean
  /** What a name turns to that is empty in between: to a CNAME, or from one to something else; null where it need not be empty. */
  turnsTo(name: string): 'CNAME' | 'other' | null
}

/** Whether a record is there before the changes only, after them only, or throughout. */
export type Side = 'before' | 'after' | 'standing'

/**
 * What is in use before and after, an RRset or a pointer in one, counts more than all pointers together that come or go with their RRset: nobody relies
 * on them yet, or will.
 */
export const WEIGHT_IN_USE = 2 ** 20

const NOTHING: Presence = { sets: new Map(), names: new Map() }

/** The presence of records beside those of `others`, which stays as it is. */
function presenceOf(records: Iterable<ResourceRecord>, others: Presence = NOTHING): Presence {
  const presence: Presence = { sets: new Map(others.sets), names: new Map(others.names) }
  for (const record of records) addPresence(presence, record, 1)
  return presence
}

export function addPresence(presence: Presence, record: ResourceRecord, count: 1 | -1): void {
  const add = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + count)
  add(presence.sets, rrsetKey(record))
  for (const need of NEEDS) if (satisfies(record, need)) add(presence.names, needKey(record.name, need))
}

export const has = (map: ReadonlyMap<string, number>, key: string): boolean => (map.get(key) ?? 0) > 0

export function analyseContinuity(difference: ZoneDifference): Continuity {
  const standing = presenceOf([...difference.kept, ...difference.unmanaged])
  const before = presenceOf(difference.removed, standing)
  const after = presenceOf(difference.added, standing)
  const continuing = new Set([...before.sets.keys()].filter((key) => has(after.sets, key)))
  const exists = (presence: Presence, pointer: { target: string; need: Need }): boolean =>
    has(presence.names, needKey(pointer.target, pointer.need))
  const isCname = (presence: Presence, name: string): boolean => has(presence.sets, rrsetKey({ name: name as DomainName, type: 'CNAME' }))
  const turnsTo = (name: string): 'CNAME' | 'other' | null => {
    const isAfter = isCname(after, name)
    return isAfter === isCname(before, name) ? null : isAfter ? 'CNAME' : 'other'
  }
  const targetsBefore = new Map<string, string | undefined>()
  for (const record of difference.removed) if (record.type === 'CNAME') targetsBefore.set(record.name, pointerOf(record)?.target)
  const isGuarded = (record: ResourceRecord, side: Side): boolean => {
    const pointer = pointerOf(record)
    if (pointer === null) return false
    const [existed, willExist] = [exists(before, pointer), exists(after, pointer)]
    if (existed && willExist) return true
    if (side === 'standing' || !continuing.has(rrsetKey(record))) return false
    return side === 'before' ? existed : willExist
  }
  return {
    continuing,
    before,
    after,
    standing,
    isGuarded,
    turnsTo,
    weightOf: (pointer) => (continuing.has(rrsetKey(pointer)) ? WEIGHT_IN_USE : 1),
    isHopeless(record, side) {
      const target = side === 'before' || !isGuarded(record, side) ? undefined : pointerOf(record)?.target
      if (target === undefined || turnsTo(target) === null) return false
      return side === 'standing' || (record.type === 'CNAME' && targetsBefore.get(record.name) === target && isGuarded(record, 'before'))
    },
  }
}

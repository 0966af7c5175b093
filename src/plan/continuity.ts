/**
 * What must not be interrupted while a zone changes. An RRset that is there before and after is never empty in between; and what a
 * record of such an RRset points at exists while it is pointed at, if its earlier target did before and its later target does after. A
 * CNAME needs anything at its target, NS, MX and SRV need an address or a CNAME there. Names outside the zone are nobody's to keep.
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

/** Whether a record at a name makes the name such that a pointer with this need works. */
export const satisfies = (record: ResourceRecord, need: Need): boolean => satisfiesType(record.type, need)

export const satisfiesType = (type: string, need: Need): boolean => need === 'any' || ADDRESS_TYPES.has(type)

export const needKey = (name: string, need: Need): string => `${need} ${name}`

const NEEDS: readonly Need[] = ['any', 'address']

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
  isGuarded(record: ResourceRecord, side: 'before' | 'after' | 'standing'): boolean
  /**
   * Whether a guarded pointer is sure to miss its target, so that nothing is gained by sparing it. A name that turns from a CNAME to something else, or
   * back, is empty in between. Who points at it all the while misses it; a CNAME that changes meanwhile does so on one side of the gap.
   */
  isHopeless(record: ResourceRecord, side: 'before' | 'after' | 'standing'): boolean
}

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
  const turns = (name: string): boolean => isCname(before, name) !== isCname(after, name)
  const targetsBefore = new Map<string, string | undefined>()
  for (const record of difference.removed) if (record.type === 'CNAME') targetsBefore.set(record.name, pointerOf(record)?.target)
  const isGuarded = (record: ResourceRecord, side: 'before' | 'after' | 'standing'): boolean => {
    const pointer = pointerOf(record)
    if (pointer === null || !continuing.has(rrsetKey(record))) return false
    if (side === 'before') return exists(before, pointer)
    if (side === 'after') return exists(after, pointer)
    return exists(before, pointer) && exists(after, pointer)
  }
  return {
    continuing,
    before,
    after,
    standing,
    isGuarded,
    isHopeless(record, side) {
      const target = side === 'before' || !isGuarded(record, side) ? undefined : pointerOf(record)?.target
      if (target === undefined || !turns(target)) return false
      return side === 'standing' || (record.type === 'CNAME' && targetsBefore.get(record.name) === target && isGuarded(record, 'before'))
    },
  }
}

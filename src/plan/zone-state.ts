/** A zone in the middle of its changes: which call the target accepts now, and which would interrupt something that need not be. */
import { type ResourceRecord, rrsetKey } from '../model/record.ts'
import { addPresence, type Continuity, has, needKey, type Presence, pointerOf } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'

/** A call as it changes the set of records: what goes, what comes. */
export interface Move {
  readonly existing: ResourceRecord | null
  readonly desired: ResourceRecord | null
}

export interface ZoneState {
  /** Whether the target accepts the move now. */
  isAccepted(move: Move): boolean
  /** Whether nothing that must not be interrupted is, once the move is made. */
  isContinuous(move: Move): boolean
  /** Whether the target takes no more records than there are. */
  isFull(): boolean
  /** Whether the target has room for the move; for one that adds no record there always is. */
  hasRoomFor(move: Move): boolean
  make(move: Move): void
  undo(move: Move): void
}

const isNullMx = (record: ResourceRecord): boolean => record.type === 'MX' && record.data === '0 .'

/** The state before the first change, where the target takes `headroom` more records; below 0, it holds too many already. */
export function zoneState(difference: ZoneDifference, continuity: Continuity, headroom = Number.POSITIVE_INFINITY): ZoneState {
  let room = headroom
  const present: Presence = { sets: new Map(continuity.before.sets), names: new Map(continuity.before.names) }
  const nullMx = new Map<string, number>()
  const guarded = new Map<string, number>()
  const count = (map: Map<string, number>, key: string, by: 1 | -1): void => void map.set(key, (map.get(key) ?? 0) + by)

  const note = (record: ResourceRecord, side: 'before' | 'after' | 'standing', by: 1 | -1): void => {
    if (isNullMx(record)) count(nullMx, record.name, by)
    if (!continuity.isGuarded(record, side)) return
    const pointer = pointerOf(record)
    if (pointer) count(guarded, needKey(pointer.target, pointer.need), by)
  }
  for (const record of difference.kept) note(record, 'standing', 1)
  for (const record of difference.unmanaged) note(record, 'standing', 1)
  for (const record of difference.removed) note(record, 'before', 1)

  const change = ({ existing, desired }: Move, by: 1 | -1): void => {
    if (existing) {
      room += by
      addPresence(present, existing, by === 1 ? -1 : 1)
      note(existing, 'before', by === 1 ? -1 : 1)
    }
    if (desired) {
      room -= by
      addPresence(present, desired, by)
      note(desired, 'after', by)
    }
  }
  const setSize = (record: ResourceRecord, type = record.type): number => present.sets.get(rrsetKey({ name: record.name, type })) ?? 0

  const isAccepted = ({ existing, desired }: Move): boolean => {
    if (desired === null) return true
    const leaves = existing !== null && existing.name === desired.name ? existing : null
    const others = (present.names.get(needKey(desired.name, 'any')) ?? 0) - (leaves ? 1 : 0)
    if (desired.type === 'CNAME') return others === 0
    if (setSize(desired, 'CNAME') - (leaves?.type === 'CNAME' ? 1 : 0) > 0) return false
    if (desired.type !== 'MX') return true
    const nulls = (nullMx.get(desired.name) ?? 0) - (leaves && isNullMx(leaves) ? 1 : 0)
    const mx = setSize(desired) - (leaves ? 1 : 0)
    return isNullMx(desired) ? mx === nulls : nulls === 0
  }

  const isMissed = (name: string): boolean =>
    (['any', 'address'] as const).some((need) => has(guarded, needKey(name, need)) && !has(present.names, needKey(name, need)))

  return {
    isAccepted,
    isContinuous(move) {
      change(move, 1)
      const { existing, desired } = move
      const emptied = existing !== null && continuity.continuing.has(rrsetKey(existing)) && setSize(existing) === 0
      const target = desired && pointerOf(desired)?.target
      const broken = emptied || (existing !== null && isMissed(existing.name)) || (target != null && isMissed(target))
      change(move, -1)
      return !broken
    },
    isFull: () => room <= 0,
    hasRoomFor: ({ existing, desired }) => existing !== null || desired === null || room > 0,
    make: (move) => change(move, 1),
    undo: (move) => change(move, -1),
  }
}

/** A zone in the middle of its changes: which call the target accepts now, and which would interrupt something that need not be. */
import type { DomainName } from '../model/domain-name.ts'
import { type DefinedRecord, type ExistingRecord, type ResourceRecord, rrsetKey } from '../model/record.ts'
import {
  addPresence,
  type Continuity,
  has,
  NEEDS,
  needKey,
  type Presence,
  pointerOf,
  type Side,
  satisfies,
  WEIGHT_IN_USE,
} from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'

/** A call as it changes the set of records: what goes, what comes. */
export interface Move {
  readonly existing: ResourceRecord | null
  readonly desired: ResourceRecord | null
}

/** One thing not to be interrupted: while any bit of `during` is there (always, for 0), a bit of `oneOf` is. */
export interface BitNeed {
  readonly during: number
  readonly oneOf: number
  /** How much the RRsets and pointers count that need just this. */
  readonly weight: number
}

export interface ZoneState {
  /** Whether the target accepts the move now. */
  isAccepted(move: Move): boolean
  /** Whether nothing that must not be interrupted is, once the move is made. */
  isContinuous(move: Move): boolean
  /** Records that the target takes more; below 0, it holds too many already. */
  room(): number
  /** What records to go, all there now, and to come, none there yet, may interrupt while others stay as they are: those to go have the low bits. */
  needsOf(goes: readonly ExistingRecord[], comes: readonly DefinedRecord[]): readonly BitNeed[]
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
  /** By need, how much the pointers count that are there. */
  const guarded = new Map<string, number>()
  const count = (map: Map<string, number>, key: string, by: number): void => void map.set(key, (map.get(key) ?? 0) + by)

  const note = (record: ResourceRecord, side: Side, by: 1 | -1): void => {
    if (isNullMx(record)) count(nullMx, record.name, by)
    if (!continuity.isGuarded(record, side) || continuity.isHopeless(record, side)) return
    const pointer = pointerOf(record)
    if (pointer) count(guarded, needKey(pointer.target, pointer.need), by * continuity.weightOf(record))
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
  const setSize = (record: { name: DomainName; type: string }, type = record.type): number =>
    present.sets.get(rrsetKey({ name: record.name, type })) ?? 0

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
    NEEDS.some((need) => has(guarded, needKey(name, need)) && !has(present.names, needKey(name, need)))

  /** Whether a pointer comes to a name that is yet to turn, and so is sure to find it empty. */
  const comesTooEarly = (record: ResourceRecord): boolean => {
    if (!continuity.isGuarded(record, 'after') || continuity.isHopeless(record, 'after')) return false
    const name = pointerOf(record)?.target as DomainName
    const turnsTo = continuity.turnsTo(name)
    return turnsTo !== null && (setSize({ name, type: 'CNAME' }) > 0 ? 'CNAME' : 'other') !== turnsTo
  }

  const needsOf = (goes: readonly ExistingRecord[], comes: readonly DefinedRecord[]): readonly BitNeed[] => {
    const records: readonly ResourceRecord[] = [...goes, ...comes]
    const maskOf = (test: (record: ResourceRecord) => boolean): number =>
      records.reduce((mask, record, bit) => (test(record) ? mask | (1 << bit) : mask), 0)
    const needs = new Map<string, BitNeed>()
    const add = (during: number, oneOf: number, weight: number): void => {
      const key = `${during} ${oneOf}`
      needs.set(key, { during, oneOf, weight: weight + (needs.get(key)?.weight ?? 0) })
    }
    const goesOf = (test: (record: ResourceRecord) => boolean): number => goes.filter(test).length
    for (const key of new Set(goes.map(rrsetKey))) {
      const isOfSet = (record: ResourceRecord): boolean => rrsetKey(record) === key
      if (continuity.continuing.has(key) && (present.sets.get(key) ?? 0) === goesOf(isOfSet)) add(0, maskOf(isOfSet), WEIGHT_IN_USE)
    }
    const pointers = records.map((record, bit) =>
      continuity.isGuarded(record, bit < goes.length ? 'before' : 'after') ? pointerOf(record) : null,
    )
    const targets = [...new Set(records.map(({ name }) => name))].flatMap((name) => NEEDS.map((need) => ({ name, need })))
    for (const { name, need } of targets) {
      const key = needKey(name, need)
      const isMeeting = (record: ResourceRecord): boolean => record.name === name && satisfies(record, need)
      if ((present.names.get(key) ?? 0) > goesOf(isMeeting)) continue
      const oneOf = maskOf(isMeeting)
      let others = guarded.get(key) ?? 0
      pointers.forEach((pointer, bit) => {
        if (pointer?.target !== name || pointer.need !== need) return
        const weight = continuity.weightOf(records[bit] as ResourceRecord)
        add(1 << bit, oneOf, weight)
        if (bit < goes.length) others -= weight
      })
      if (others > 0) add(0, oneOf, others)
    }
    return [...needs.values()]
  }

  return {
    isAccepted,
    needsOf,
    room: () => room,
    isContinuous(move) {
      change(move, 1)
      const { existing, desired } = move
      const emptied = existing !== null && continuity.continuing.has(rrsetKey(existing)) && setSize(existing) === 0
      const target = desired && pointerOf(desired)?.target
      const broken =
        emptied ||
        (existing !== null && isMissed(existing.name)) ||
        (target != null && (isMissed(target) || comesTooEarly(desired as ResourceRecord)))
      change(move, -1)
      return !broken
    },
    isFull: () => room <= 0,
    hasRoomFor: ({ existing, desired }) => existing !== null || desired === null || room > 0,
    make: (move) => change(move, 1),
    undo: (move) => change(move, -1),
  }
}

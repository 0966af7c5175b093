/** A zone while its changes are applied: what it holds, and what a few further changes to it may interrupt. */
import type { DomainName } from '../dns/domain-name.ts'
import { type DefinedRecord, type ExistingRecord, type ResourceRecord, rrsetKey } from '../dns/record.ts'
import type { ZoneDifference } from './compare-zones.ts'
import {
  addPresence,
  type Continuity,
  NEEDS,
  needKey,
  type Presence,
  pointerOf,
  type Side,
  satisfies,
  WEIGHT_IN_USE,
} from './continuity.ts'
import type { Call } from './pair-records.ts'
import { isNullMx } from './record-conflicts.ts'

/** One thing to preserve among a few records, which are bits: while any bit of `during` is set (always, for 0), a bit of `oneOf` is. */
export interface BitNeed {
  readonly during: number
  readonly oneOf: number
  /** The weight of the RRsets and pointers with exactly this need. */
  readonly weight: number
}

export interface ZoneState {
  apply(call: Call): void
  /** Takes back a call that was applied. */
  undo(call: Call): void
  /** Whether a record that stays while `removed` are gone keeps the provider from accepting this one. */
  isBlocked(desired: DefinedRecord, removed: readonly ExistingRecord[]): boolean
  /** The needs that changing these records may miss while all others stay as they are. `removed` exist now and have the low bits; `added` do not. */
  needsOf(removed: readonly ExistingRecord[], added: readonly DefinedRecord[]): readonly BitNeed[]
}

/** The zone before its first change. */
export function zoneBefore({ removed, kept, unmanaged }: ZoneDifference, continuity: Continuity): ZoneState {
  const present: Presence = { sets: new Map(continuity.before.sets), names: new Map(continuity.before.names) }
  const nullMx = new Map<string, number>()
  const countNullMx = (record: ResourceRecord, by: 1 | -1): void => {
    if (isNullMx(record)) nullMx.set(record.name, (nullMx.get(record.name) ?? 0) + by)
  }
  for (const records of [kept, unmanaged, removed]) for (const record of records) countNullMx(record, 1)
  /** The weight of the pointers that exist now, by need. */
  const pointing = new Map<string, number>()
  const notePointer = (record: ResourceRecord, side: Side, by: 1 | -1): void => {
    const pointer = pointerOf(record)
    if (pointer === null || !continuity.isGuarded(record, side) || continuity.cannotBePreserved(record, side)) return
    const key = needKey(pointer.target, pointer.need)
    pointing.set(key, (pointing.get(key) ?? 0) + by * continuity.weightOf(record))
  }
  for (const record of continuity.unchangedPointers) notePointer(record, 'both', 1)
  for (const record of removed) notePointer(record, 'before', 1)

  const change = (record: ResourceRecord, side: Side, by: 1 | -1): void => {
    addPresence(present, record, by)
    notePointer(record, side, by)
    countNullMx(record, by)
  }
  const sizeOf = (name: DomainName, type: string): number => present.sets.get(rrsetKey({ name, type })) ?? 0

  return {
    apply({ existing, desired }) {
      if (existing) change(existing, 'before', -1)
      if (desired) change(desired, 'after', 1)
    },
    undo({ existing, desired }) {
      if (desired) change(desired, 'after', -1)
      if (existing) change(existing, 'before', 1)
    },
    isBlocked({ name, type, data }, gone) {
      const goneAt = gone.filter((record) => record.name === name)
      const staying = (count: number, isCounted: (record: ResourceRecord) => boolean): boolean => count > goneAt.filter(isCounted).length
      if (type === 'CNAME') return staying(present.names.get(needKey(name, 'any')) ?? 0, () => true)
      if (staying(sizeOf(name, 'CNAME'), (record) => record.type === 'CNAME')) return true
      if (type !== 'MX') return false
      const nulls = nullMx.get(name) ?? 0
      return isNullMx({ type, data }) ? staying(sizeOf(name, 'MX'), (record) => record.type === 'MX') : staying(nulls, isNullMx)
    },
    needsOf(gone, added) {
      const records: readonly ResourceRecord[] = [...gone, ...added]
      const maskOf = (isMember: (record: ResourceRecord) => boolean): number =>
        records.reduce((mask, record, bit) => (isMember(record) ? mask | (1 << bit) : mask), 0)
      const needs = new Map<string, BitNeed>()
      const add = (during: number, oneOf: number, weight: number): void => {
        const key = `${during} ${oneOf}`
        needs.set(key, { during, oneOf, weight: weight + (needs.get(key)?.weight ?? 0) })
      }
      const stays = (count: number | undefined, isMember: (record: ResourceRecord) => boolean): boolean =>
        (count ?? 0) > gone.filter(isMember).length
      for (const key of new Set(gone.map(rrsetKey))) {
        const isMember = (record: ResourceRecord): boolean => rrsetKey(record) === key
        if (continuity.continuing.has(key) && !stays(present.sets.get(key), isMember)) add(0, maskOf(isMember), WEIGHT_IN_USE)
      }
      const pointers = records.map((record, bit) =>
        continuity.isGuarded(record, bit < gone.length ? 'before' : 'after') ? pointerOf(record) : null,
      )
      for (const name of new Set(records.map((record) => record.name))) {
        for (const need of NEEDS) {
          const key = needKey(name, need)
          const isMember = (record: ResourceRecord): boolean => record.name === name && satisfies(record.type, need)
          if (stays(present.names.get(key), isMember)) continue
          const oneOf = maskOf(isMember)
          let others = pointing.get(key) ?? 0
          pointers.forEach((pointer, bit) => {
            if (pointer?.target !== name || pointer.need !== need) return
            const weight = continuity.weightOf(records[bit] as ResourceRecord)
            add(1 << bit, oneOf, weight)
            if (bit < gone.length) others -= weight
          })
          if (others > 0) add(0, oneOf, others)
        }
      }
      return [...needs.values()]
    },
  }
}

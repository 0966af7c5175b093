/**
 * Records to go and to come while they are done one call after another, and which of them can be done now. A call changes that for records at its
 * names and at the names these point at, and for what points at its names; only those are looked at again, one of each kind: records of one type at one
 * name that point at the same can be done at the same moments.
 */
import { type DefinedRecord, type ExistingRecord, type ResourceRecord, rrsetKey } from '../model/record.ts'
import { pointerOf } from './continuity.ts'
import { type Call, pairRecords } from './pair-records.ts'
import { type Kind, recordKinds } from './record-kinds.ts'
import { clash } from './standing-conflicts.ts'
import type { Move } from './zone-state.ts'

/** The records still to go and to come, and which of them can be done now. */
export interface Pool {
  size(): number
  take(call: Call): void
  goes(): ExistingRecord[]
  comes(): DefinedRecord[]
  /** One of those to come; there must be one. */
  nextCome(): DefinedRecord
  isAnybodyWaiting(): boolean
  /** Updates in place that cannot be taken apart and are safe now. */
  readonly readyInPlace: ReadonlySet<Call>
  /** By type, what can be done now; the urgent ones have others waiting for them. */
  readonly readyGoes: ReadonlyMap<string, ReadonlySet<ExistingRecord>>
  readonly readyComes: ReadonlyMap<string, ReadonlySet<DefinedRecord>>
  readonly urgentGoes: ReadonlyMap<string, ReadonlySet<ExistingRecord>>
  readonly urgentComes: ReadonlyMap<string, ReadonlySet<DefinedRecord>>
  /** How many records are let in by one that goes now. */
  letsIn(record: ExistingRecord): number
  /** How many of a type are to go, less those to come. */
  surplus(type: string): number
}

export function createPool(
  removed: readonly ExistingRecord[],
  added: readonly DefinedRecord[],
  isSafe: (move: Move) => boolean,
  isInseparable: (call: Call) => boolean = mayNotBeSplit,
): Pool {
  const inPlace = new Set(pairRecords(removed, added).filter(isInseparable))
  const bound = new Set<ResourceRecord>(
    [...inPlace].flatMap(({ existing, desired }) => [existing as ResourceRecord, desired as ResourceRecord]),
  )
  const goes = new Set<ExistingRecord>()
  const comes = new Set<DefinedRecord>()
  const moving = new Set<string>([...removed, ...added].map((record) => record.name))
  /** The target of a pointer, where it is a name that records come to or go from. */
  const targetOf = (record: ResourceRecord | null): string | undefined => {
    const target = record === null ? undefined : pointerOf(record)?.target
    return target !== undefined && moving.has(target) ? target : undefined
  }
  const goKinds = recordKinds<ExistingRecord>(targetOf)
  const comeKinds = recordKinds<DefinedRecord>(targetOf)
  const goesAt = new Groups<ExistingRecord>()
  const comesAt = new Groups<DefinedRecord>()
  const inPlaceAt = new Groups<Call>()
  const inPlacePointingAt = new Groups<Call>()
  const balance = new Map<string, number>()
  const addGo = (record: ExistingRecord): void => {
    goes.add(record)
    goesAt.add(record.name, record)
    goKinds.add(record)
    balance.set(record.type, (balance.get(record.type) ?? 0) + 1)
  }
  const addCome = (record: DefinedRecord): void => {
    comes.add(record)
    comesAt.add(record.name, record)
    comeKinds.add(record)
    balance.set(record.type, (balance.get(record.type) ?? 0) - 1)
  }
  for (const record of removed) if (!bound.has(record)) addGo(record)
  for (const record of added) if (!bound.has(record)) addCome(record)
  const inPlaceOf = new Map<ResourceRecord, Call>()
  for (const call of inPlace) {
    inPlaceAt.add(call.desired?.name, call)
    inPlacePointingAt.add(targetOf(call.desired), call)
    for (const record of [call.existing, call.desired]) if (record) inPlaceOf.set(record, call)
  }
  const readyInPlace = new Set<Call>()
  const readyGoes = new Groups<ExistingRecord>()
  const readyComes = new Groups<DefinedRecord>()
  const urgentGoes = new Groups<ExistingRecord>()
  const urgentComes = new Groups<DefinedRecord>()
  /** Records to go that others wait for, ready or not. */
  const waitedFor = new Set<ExistingRecord>()

  const isEmpty = (items: Iterable<unknown>): boolean => items[Symbol.iterator]().next().done === true
  const refreshGoes = (kind: Kind<ExistingRecord>): void => {
    const one = anyOf(kind)
    const isUrgent = [...comeKinds.at(one.name)].some((other) => clash(one, anyOf(other))) || goesAt.of(targetOf(one)).size > 0
    const isReady = isSafe({ existing: one, desired: null })
    if (!isNews(kind, isReady, isUrgent)) return
    for (const record of kind.members) {
      setMember(waitedFor, record, isUrgent)
      readyGoes.put(record.type, record, isReady)
      urgentGoes.put(record.type, record, isReady && isUrgent)
    }
  }
  const refreshComes = (kind: Kind<DefinedRecord>): void => {
    const one = anyOf(kind)
    const isPointedAt = !isEmpty(comeKinds.pointingAt(one.name)) || inPlacePointingAt.of(one.name).size > 0
    const isUrgent = isPointedAt || goesAt.of(one.name).size > 0
    const isReady = isSafe({ existing: null, desired: one })
    if (!isNews(kind, isReady, isUrgent)) return
    for (const record of kind.members) {
      readyComes.put(record.type, record, isReady)
      urgentComes.put(record.type, record, isReady && isUrgent)
    }
  }
  /** What comes to a name and goes from it, where that or what points at it has changed. */
  const refreshAt = (name: string | undefined): void => {
    for (const kind of goKinds.at(name)) refreshGoes(kind)
    for (const kind of comeKinds.at(name)) refreshComes(kind)
    for (const call of inPlaceAt.of(name)) setMember(readyInPlace, call, isSafe(call))
  }
  /** What points at a name, where the name has changed. */
  const refreshPointers = (name: string | undefined): void => {
    for (const kind of goKinds.pointingAt(name)) refreshGoes(kind)
    for (const kind of comeKinds.pointingAt(name)) refreshComes(kind)
    for (const call of inPlacePointingAt.of(name)) setMember(readyInPlace, call, isSafe(call))
  }
  for (const name of moving) {
    refreshAt(name)
    refreshPointers(name)
  }

  return {
    size: () => goes.size + comes.size + inPlace.size,
    goes: () => [...goes, ...[...inPlace].map((call) => call.existing as ExistingRecord)],
    comes: () => [...comes, ...[...inPlace].map((call) => call.desired as DefinedRecord)],
    nextCome() {
      for (const record of comes) return record
      for (const { desired } of inPlace) return desired as DefinedRecord
      throw new Error('nothing is left to come')
    },
    isAnybodyWaiting: () => inPlace.size > 0 || waitedFor.size > 0,
    readyInPlace,
    readyGoes: readyGoes.map,
    readyComes: readyComes.map,
    urgentGoes: urgentGoes.map,
    urgentComes: urgentComes.map,
    letsIn: ({ name }) => (goesAt.of(name).size === 1 ? comesAt.of(name).size : 0),
    surplus: (type) => balance.get(type) ?? 0,
    take({ existing, desired }) {
      // Who takes one half of an update in place leaves the other half on its own.
      for (const record of [existing, desired]) {
        const pair = record === null ? undefined : inPlaceOf.get(record)
        if (!pair || !inPlace.delete(pair)) continue
        readyInPlace.delete(pair)
        inPlaceAt.put(pair.desired?.name, pair, false)
        inPlacePointingAt.put(targetOf(pair.desired), pair, false)
        if (pair.existing && pair.existing !== existing) addGo(pair.existing)
        if (pair.desired && pair.desired !== desired) addCome(pair.desired)
      }
      if (existing && goes.delete(existing)) {
        balance.set(existing.type, (balance.get(existing.type) ?? 0) - 1)
        for (const group of [readyGoes, urgentGoes]) group.put(existing.type, existing, false)
        waitedFor.delete(existing)
        goesAt.put(existing.name, existing, false)
        goKinds.delete(existing)
      }
      if (desired && comes.delete(desired)) {
        balance.set(desired.type, (balance.get(desired.type) ?? 0) + 1)
        for (const group of [readyComes, urgentComes]) group.put(desired.type, desired, false)
        comesAt.put(desired.name, desired, false)
        comeKinds.delete(desired)
      }
      const names = new Set<string | undefined>([existing?.name, desired?.name])
      for (const name of names) refreshPointers(name)
      for (const name of names.add(targetOf(existing)).add(targetOf(desired))) refreshAt(name)
    },
  }
}

/** An update whose halves cannot stand side by side and of which neither may be missing: a CNAME, a null MX. */
const mayNotBeSplit = ({ existing, desired }: Call): boolean =>
  existing !== null && desired !== null && rrsetKey(existing) === rrsetKey(desired) && clash(existing, desired)

const anyOf = <R>({ members }: Kind<R>): R => {
  for (const one of members) return one
  throw new Error('a kind without members')
}

/** Notes what is found of a kind; whether that was not known of all its members. */
function isNews<R>(kind: Kind<R>, isReady: boolean, isUrgent: boolean): boolean {
  const state = isReady ? (isUrgent ? 'urgent' : 'ready') : isUrgent ? 'waited for' : 'neither'
  if (kind.state === state) return false
  kind.state = state
  return true
}

/** Sets by a key. */
class Groups<T> {
  readonly map = new Map<string, Set<T>>()
  add(key: string | undefined, value: T): void {
    if (key !== undefined) this.put(key, value, true)
  }
  put(key: string | undefined, value: T, present: boolean): void {
    if (key === undefined) return
    const set = this.map.get(key)
    if (set) setMember(set, value, present)
    else if (present) this.map.set(key, new Set([value]))
  }
  of(key: string | undefined): ReadonlySet<T> {
    return (key === undefined ? undefined : this.map.get(key)) ?? NOTHING
  }
}

const NOTHING: ReadonlySet<never> = new Set<never>()

const setMember = <T>(set: Set<T>, value: T, present: boolean): void => void (present ? set.add(value) : set.delete(value))

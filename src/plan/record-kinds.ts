/** Records in kinds: of one type at one name, pointing at the same name. What can be done with one of a kind now can be done with any. */
import type { ResourceRecord } from '../model/record.ts'

export interface Kind<R> {
  /** At least one. */
  readonly members: Set<R>
  /** What was last found of its members; null where that is not known of all. */
  state: 'ready' | 'urgent' | 'waited for' | 'neither' | null
}

export interface Kinds<R> {
  add(record: R): void
  delete(record: R): void
  /** Kinds of records at a name. */
  at(name: string | undefined): Iterable<Kind<R>>
  /** Kinds of records that point at a name. */
  pointingAt(name: string | undefined): Iterable<Kind<R>>
}

/** `targetOf` gives what a record points at; undefined where that makes no difference. */
export function recordKinds<R extends ResourceRecord>(targetOf: (record: R) => string | undefined): Kinds<R> {
  const byName = new Map<string, Map<string, Kind<R>>>()
  const byTarget = new Map<string, Set<Kind<R>>>()
  // A null MX stands beside no other MX, so that it is of a kind of its own.
  const keyOf = (record: R): string => `${record.type} ${record.type === 'MX' && record.data === '0 .'} ${targetOf(record) ?? ''}`
  return {
    add(record) {
      const kinds = byName.get(record.name) ?? new Map<string, Kind<R>>()
      byName.set(record.name, kinds)
      const key = keyOf(record)
      const kind = kinds.get(key) ?? { members: new Set<R>(), state: null }
      kinds.set(key, kind)
      kind.members.add(record)
      kind.state = null
      const target = targetOf(record)
      if (target === undefined) return
      const pointing = byTarget.get(target) ?? new Set<Kind<R>>()
      byTarget.set(target, pointing.add(kind))
    },
    delete(record) {
      const kinds = byName.get(record.name)
      const kind = kinds?.get(keyOf(record))
      if (!kind?.members.delete(record) || kind.members.size > 0) return
      kinds?.delete(keyOf(record))
      byTarget.get(targetOf(record) ?? '')?.delete(kind)
    },
    at: (name) => byName.get(name ?? '')?.values() ?? [],
    pointingAt: (name) => byTarget.get(name ?? '') ?? [],
  }
}

import { type ExistingRecord, type ResourceRecord, recordKey } from '../dns/record.ts'
import type { Change } from './change.ts'

/** The records a zone has once all changes are made. Existing records are told apart by identifier, without one by their content. */
export function finalRecords(existing: readonly ExistingRecord[], changes: readonly Change[]): ResourceRecord[] {
  const gone = new Map<string, number>()
  const come: ResourceRecord[] = []
  for (const change of changes) {
    if (change.subject !== 'record') continue
    if (change.existing) {
      const key = identity({ ...change.existing, id: change.id ?? undefined })
      gone.set(key, (gone.get(key) ?? 0) + 1)
    }
    if (change.desired) come.push(change.desired)
  }
  const stay = existing.filter((record) => {
    const key = identity(record)
    const count = gone.get(key) ?? 0
    if (count === 0) return true
    gone.set(key, count - 1)
    return false
  })
  return [...stay, ...come]
}

const identity = (record: ExistingRecord): string => (record.id === undefined ? `${recordKey(record)} ${record.ttl}` : `#${record.id}`)

import type { ResourceRecord } from '../../dns/record.ts'
import type { RecordEdit } from './read-record-edit.ts'

/** Differences that are told. */
const TOLD = 5

/**
 * What an edit would do beside what it is meant to, in words; empty where records change as they should. A new record without a TTL of its
 * own has whatever the file gives it.
 */
export function unexpectedChanges(
  edit: RecordEdit,
  before: readonly ResourceRecord[],
  after: readonly ResourceRecord[],
  wanted: readonly string[],
): string[] {
  const isOwn = ({ name, type }: ResourceRecord): boolean => name === edit.name && type === edit.type
  const [beside, besideAfter] = [before.filter((record) => !isOwn(record)), after.filter((record) => !isOwn(record))]
  // They mostly stand in one order too.
  const others = areSame(beside, besideAfter) ? [] : countDifferences(beside, besideAfter)
  const ttls = new Map(before.filter(isOwn).map(({ data, ttl }) => [data, ttl]))
  const own = countDifferences(
    wanted.map((data) => ({ ...edit, data, ttl: edit.ttl ?? ttls.get(data) ?? null })),
    after.filter(isOwn).map((record) => (edit.ttl === null && !ttls.has(record.data) ? { ...record, ttl: null } : record)),
  )
  return [...others, ...own].slice(0, TOLD)
}

/** Whether lists of records are the same, in the same order. */
export const areSame = (records: readonly ResourceRecord[], others: readonly ResourceRecord[]): boolean =>
  records.length === others.length &&
  records.every((record, index) => {
    const other = others[index] as ResourceRecord
    return record.name === other.name && record.type === other.type && record.ttl === other.ttl && record.data === other.data
  })

function countDifferences(expected: readonly ResourceRecord[], found: readonly ResourceRecord[]): string[] {
  const counts = new Map<string, number>()
  for (const [records, by] of [[expected, 1] as const, [found, -1] as const]) {
    for (const { name, ttl, type, data } of records) {
      const key = `${name} ${ttl ?? 'no TTL'} ${type} ${data}`
      counts.set(key, (counts.get(key) ?? 0) + by)
    }
  }
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(([key, count]) => (count > 0 ? `there would be no ${key}` : `there would be ${key}`))
}

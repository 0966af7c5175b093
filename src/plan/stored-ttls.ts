/** The TTLs that a target stores in place of others: limits that only the target knows, such as the longest TTL of a zone or the least TTL of a tariff. */
import type { Diagnostic } from '../base/diagnostic.ts'
import { listed } from '../base/english.ts'
import { type ExistingRecord, groupRrsets, type ResourceRecord, recordKey, rrsetKey } from '../dns/record.ts'
import type { Ttl } from '../dns/ttl.ts'
import { lowestTtl } from './changesets.ts'
import type { FittedZone } from './fit-to-target.ts'

/** By the TTL that was sent, in seconds; the same TTL if the target stores it. */
export type StoredTtls = ReadonlyMap<number, number>

/** What a target stores for the TTLs of records that were sent. A TTL that it stores in several forms is left out: another client may have changed a record. */
export function storedTtls(sent: readonly ResourceRecord[], live: readonly ExistingRecord[]): StoredTtls {
  const found = new Map(live.map((record) => [recordKey(record), record.ttl]))
  const pairs = sent.flatMap((record): [number, number][] => {
    const ttl = found.get(recordKey(record)) ?? null
    return record.ttl === null || ttl === null ? [] : [[record.ttl, ttl]]
  })
  const ttls = new Map(pairs)
  for (const [ttl, stored] of pairs) if (ttls.get(ttl) !== stored) ttls.delete(ttl)
  return ttls
}

/** The record with the TTL that the target stores. */
export function withStoredTtl<Kind extends ResourceRecord>(record: Kind, ttls: StoredTtls): Kind {
  const ttl = record.ttl === null ? undefined : ttls.get(record.ttl)
  return ttl === undefined || ttl === record.ttl ? record : { ...record, ttl: ttl as Ttl }
}

/** One warning for each TTL in place of which the target stores another one. `subject`: the zone and the target. */
export function storedTtlWarnings(subject: string, sent: readonly ResourceRecord[], ttls: StoredTtls): Diagnostic[] {
  return [...ttls].flatMap(([ttl, stored]): Diagnostic[] => {
    if (stored === ttl) return []
    const names = [...new Set(sent.flatMap((record) => (record.ttl === ttl ? [`${record.name} ${record.type}`] : [])))]
    const message = `${subject}: the server stores TTL ${stored}, not ${ttl}, for ${listed(names, 5)}`
    const hint = `a limit of the server, such as "max-zone-ttl" of BIND or the least TTL of a tariff: write TTL ${stored} in the definition; plans leave these record sets alone while it has TTL ${ttl}`
    return [{ severity: 'warning', code: 'apply-altered', message, hint }]
  })
}

/**
 * The records with the TTL that the target has stored in place of the defined one, where their live RRset still has it. If any live RRset has the defined TTL, the
 * limit is gone.
 */
export function withStoredTtls(fitted: FittedZone, existing: readonly ExistingRecord[], target: string, ttls: StoredTtls): FittedZone {
  if (ttls.size === 0) return fitted
  const live = groupRrsets(existing)
  const liveTtl = (record: ResourceRecord): number | null => lowestTtl(live.get(rrsetKey(record)) ?? [])
  const lifted = new Set(fitted.records.map(liveTtl))
  const notices = new Map<string, Diagnostic>()
  const records = fitted.records.map((record) => {
    const stored = withStoredTtl(record, ttls)
    if (stored === record || liveTtl(record) !== stored.ttl || lifted.has(record.ttl)) return record
    const why = `${target} stores TTL ${stored.ttl}, not ${record.ttl}`
    const message = `${why}, for ${record.name} ${record.type}: a limit of the server that an earlier run has found`
    notices.set(rrsetKey(record), {
      severity: 'notice',
      code: 'ttl-rounded',
      message,
      at: record.at,
      cause: { subject: 'record set', message: why },
    })
    return stored
  })
  return { ...fitted, records, diagnostics: [...fitted.diagnostics, ...notices.values()] }
}

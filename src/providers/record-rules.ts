/** The rules of targets for single records, from what they refuse and which TTLs they store. */
import type { DefinedRecord } from '../dns/record.ts'
import type { Ttl } from '../dns/ttl.ts'
import type { RecordRule } from '../plan/capabilities.ts'

/** Why a target cannot hold a record. */
export type Refusal = readonly [code: 'type-unsupported' | 'record-unsupported' | 'limit-exceeded', why: string]

/** A rule that refuses the records for which the function has a reason. */
export const refuseIf =
  (refusalOf: (...args: Parameters<RecordRule>) => Refusal | null): RecordRule =>
  (record, zone) => {
    const refusal = refusalOf(record, zone)
    if (refusal === null) return { record, diagnostics: [] }
    const [code, why] = refusal
    return { record: null, diagnostics: [{ severity: 'error', code, message: `${record.name} ${record.type}: ${why}`, at: record.at }] }
  }

/** The record with a TTL within the range, which is in seconds. Plans report the difference. */
export function fitTtlRange(record: DefinedRecord, lowest: number, highest: number): DefinedRecord {
  const { ttl } = record
  return ttl === null || (ttl >= lowest && ttl <= highest) ? record : { ...record, ttl: Math.min(Math.max(ttl, lowest), highest) as Ttl }
}

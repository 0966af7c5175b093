/** Records that no definition could describe at a target. Plans leave them alone: neither a definition nor a rollback could bring them back. */
import { type DomainName, isAtOrBelow } from '../dns/domain-name.ts'
import { isGenericForm, parseRdata } from '../dns/rdata/canonical.ts'
import { presentationTokens } from '../dns/rdata/field.ts'
import { parseGenericForm } from '../dns/rdata/generic-form.ts'
import { RDATA_TYPES } from '../dns/rdata/rdata-types.ts'
import type { ExistingRecord, ResourceRecord } from '../dns/record.ts'
import type { Capabilities } from './capabilities.ts'
import { withoutSubject } from './misfits.ts'

/** Follows the name, type and data of a record without `hasDefinableData`. */
export const MALFORMED = 'has data that no definition can have'

/** Whether the data has the canonical form of its type. Malformed data of a provider does not. */
export function hasDefinableData({ type, data }: ResourceRecord): boolean {
  const tokens = presentationTokens(data)
  const isGeneric = tokens.ok && isGenericForm(tokens.value) && RDATA_TYPES.has(type)
  const canonical = isGeneric ? parseGenericForm(type, tokens.value) : parseRdata(type, data)
  return canonical.ok && canonical.value === data
}

/** Why no definition could describe the record, in words that follow its name, type and data; null if one could. */
export function undescribableReason(record: ExistingRecord, zone: DomainName, { types, rules }: Capabilities): string | null {
  const { name, type, ttl, data } = record
  if (types !== null && !types.has(type)) return 'has a type that is not managed'
  if (!isAtOrBelow(name, zone)) return 'is outside the zone'
  if (!hasDefinableData(record)) return MALFORMED
  // Settings and TTLs are not part of the record: a definition states others.
  const bare = { name, type, ttl, data, at: { file: '', line: 1, column: 1 } }
  const refusal = rules.map((rule) => rule(bare, zone)).find((ruled) => ruled.record === null)
  if (refusal === undefined) return null
  return `cannot be in a definition (${withoutSubject(refusal.diagnostics[0]?.message ?? '', record)})`
}

/** Records that no definition could describe at a target. Plans leave them alone: neither a definition nor a rollback could bring them back. */
import { type DomainName, isAtOrBelow, parseAbsoluteName } from '../dns/domain-name.ts'
import { canonicalRdata } from '../dns/rdata/canonical.ts'
import { presentationTokens } from '../dns/rdata/field.ts'
import type { ExistingRecord } from '../dns/record.ts'
import type { Capabilities } from './capabilities.ts'

/** Why no definition could describe the record, in words that follow its name, type and data; null if one could. */
export function undescribableReason(record: ExistingRecord, zone: DomainName, { types, rules }: Capabilities): string | null {
  const { name, type, ttl, data } = record
  if (types !== null && !types.has(type)) return 'has a type that is not managed'
  if (!isAtOrBelow(name, zone)) return 'is outside the zone'
  const tokens = presentationTokens(data)
  const canonical = tokens.ok ? canonicalRdata(type, tokens.value, parseAbsoluteName) : tokens
  if (!canonical.ok || canonical.value !== data) return 'has data that no definition can have'
  // Settings and TTLs are not part of the record: a definition states others.
  const bare = { name, type, ttl, data, at: { file: '', line: 1, column: 1 } }
  const refusal = rules.map((rule) => rule(bare, zone)).find((ruled) => ruled.record === null)
  if (refusal === undefined) return null
  const message = refusal.diagnostics[0]?.message ?? ''
  return `cannot be in a definition (${message.startsWith(`${name} ${type}: `) ? message.slice(name.length + type.length + 3) : message})`
}

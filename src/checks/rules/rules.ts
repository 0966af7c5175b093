/** All DNS rules that a zone must obey. */
import type { Diagnostic, Severity } from '../../base/diagnostic.ts'
import type { DiagnosticCode } from '../../base/diagnostic-codes.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { caaFlagsReserved, caaTagUnknown, caaValueInvalid } from './caa-rules.ts'
import { cnameAtApex, cnameLoop, cnameNotAlone } from './cname-rules.ts'
import { belowDelegation, belowDname, dsWithoutNs, wildcardNs } from './delegation-rules.ts'
import { hostNameInvalid, nameRepeatsZone, srvNameInvalid, wildcardMisplaced } from './name-rules.ts'
import {
  nullMxNotAlone,
  nullSrvNotAlone,
  recordDuplicate,
  rrsetTooLarge,
  singletonMultiple,
  soaInDefinition,
  ttlMixed,
  txtLong,
  unmanagedCollision,
} from './rrset-rules.ts'
import { targetIsAddress, targetIsCname, targetIsUrl, targetNonexistent } from './target-rules.ts'
import { digestLength, policyMultiple, signatureTimes, txtQuoted } from './value-rules.ts'
import { type Finding, indexZone, type ZoneIndex } from './zone-index.ts'

/** A rule of the DNS about the records of a zone. Its cost is linear in the records. */
type ZoneRule = (index: ZoneIndex) => Iterable<Finding>

/** All rules, with the severity and code of what they find. */
export const RULES: readonly (readonly [severity: Severity, code: DiagnosticCode, rule: ZoneRule])[] = [
  ['error', 'cname-not-alone', cnameNotAlone],
  ['error', 'cname-at-apex', cnameAtApex],
  ['warning', 'cname-loop', cnameLoop],
  ['error', 'record-duplicate', recordDuplicate],
  ['error', 'singleton-multiple', singletonMultiple],
  ['error', 'null-mx-not-alone', nullMxNotAlone],
  ['warning', 'null-srv-not-alone', nullSrvNotAlone],
  ['error', 'soa-in-definition', soaInDefinition],
  ['error', 'unmanaged-collision', unmanagedCollision],
  ['warning', 'caa-value-invalid', caaValueInvalid],
  ['warning', 'caa-tag-unknown', caaTagUnknown],
  ['warning', 'caa-flags-reserved', caaFlagsReserved],
  ['warning', 'digest-length', digestLength],
  ['warning', 'signature-times', signatureTimes],
  ['warning', 'srv-name-invalid', srvNameInvalid],
  ['warning', 'wildcard-misplaced', wildcardMisplaced],
  ['warning', 'host-name-invalid', hostNameInvalid],
  ['warning', 'name-repeats-zone', nameRepeatsZone],
  ['warning', 'target-is-cname', targetIsCname],
  ['warning', 'target-is-address', targetIsAddress],
  ['warning', 'target-is-url', targetIsUrl],
  ['warning', 'target-nonexistent', targetNonexistent],
  ['warning', 'below-delegation', belowDelegation],
  ['warning', 'below-dname', belowDname],
  ['warning', 'wildcard-ns', wildcardNs],
  ['warning', 'ds-without-ns', dsWithoutNs],
  ['warning', 'ttl-mixed', ttlMixed],
  ['warning', 'txt-long', txtLong],
  ['warning', 'txt-quoted', txtQuoted],
  ['warning', 'policy-multiple', policyMultiple],
  ['error', 'rrset-too-large', rrsetTooLarge],
]

/** The diagnostics of all rules for a zone. */
export function checkZone(zone: DesiredZone): Diagnostic[] {
  const index = indexZone(withPlaceholders(zone))
  return RULES.flatMap(([severity, code, rule]) => Array.from(rule(index), (finding) => ({ severity, code, ...finding })))
}

/** The zone with a placeholder for each address RRset whose values are read when the zone is planned. */
export function withPlaceholders(zone: DesiredZone): DesiredZone {
  const addresses = (zone.sourced ?? []).filter(({ type }) => type === 'A' || type === 'AAAA')
  if (addresses.length === 0) return zone
  const placeholders = addresses.map(
    ({ name, type, ttl, at }, index): DefinedRecord => ({
      name,
      type,
      ttl,
      data: type === 'A' ? `0.0.0.${index % 256}` : `::${index}`,
      at,
    }),
  )
  return { ...zone, records: [...zone.records, ...placeholders] }
}

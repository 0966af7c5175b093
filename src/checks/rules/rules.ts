/** All DNS rules that a zone must obey. */
import type { Diagnostic } from '../../base/diagnostic.ts'
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
import { indexZone, type ZoneIndex } from './zone-index.ts'

/** A rule of the DNS about the records of a zone. Its cost is linear in the records. */
export type ZoneRule = (index: ZoneIndex) => Diagnostic[]

/** All rules, each named after its diagnostic code. */
export const RULES: readonly ZoneRule[] = [
  cnameNotAlone,
  cnameAtApex,
  cnameLoop,
  recordDuplicate,
  singletonMultiple,
  nullMxNotAlone,
  nullSrvNotAlone,
  soaInDefinition,
  unmanagedCollision,
  caaValueInvalid,
  caaTagUnknown,
  caaFlagsReserved,
  digestLength,
  signatureTimes,
  srvNameInvalid,
  wildcardMisplaced,
  hostNameInvalid,
  nameRepeatsZone,
  targetIsCname,
  targetIsAddress,
  targetIsUrl,
  targetNonexistent,
  belowDelegation,
  belowDname,
  wildcardNs,
  dsWithoutNs,
  ttlMixed,
  txtLong,
  txtQuoted,
  policyMultiple,
  rrsetTooLarge,
]

/** The diagnostics of all rules for a zone. */
export function checkZone(zone: DesiredZone): Diagnostic[] {
  const index = indexZone(withPlaceholders(zone))
  return RULES.flatMap((rule) => rule(index))
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

import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { DefinedRecord } from '../../dns/record.ts'
import type { DesiredZone } from '../../dns/zone.ts'
import { caaFlagsReserved, caaTagUnknown, caaValueInvalid } from './caa-rules.ts'
import { cnameAtApex, cnameLoop, cnameNotAlone } from './cname-rules.ts'
import { belowDelegation, belowDname, dsWithoutNs, wildcardNs } from './delegation-rules.ts'
import { hostNameInvalid, nameRepeatsZone, srvNameInvalid } from './name-rules.ts'
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
import { targetIsAddress, targetIsCname, targetNonexistent } from './target-rules.ts'
import { digestLength, policyMultiple, txtQuoted } from './value-rules.ts'
import { indexZone, type ZoneIndex } from './zone-index.ts'

/** One rule of the DNS about the records of a zone. The cost is linear in the records. */
export type ZoneRule = (index: ZoneIndex) => Diagnostic[]

/** All rules. Each is named by the code it gives. */
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
  srvNameInvalid,
  hostNameInvalid,
  nameRepeatsZone,
  targetIsCname,
  targetIsAddress,
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

/** What the rules of the DNS say about a zone. A transferred zone has no records of its own to look at. */
export function checkZone(zone: DesiredZone): Diagnostic[] {
  const index = indexZone(withStandIns(zone))
  return RULES.flatMap((rule) => rule(index))
}

/** Where addresses come from an inventory, others stand for them, so that the rules see the record sets that will be there. */
function withStandIns(zone: DesiredZone): DesiredZone {
  const { inventory = [] } = zone
  if (inventory.length === 0) return zone
  const standIns = inventory.map(
    ({ name, type, ttl, at }, index): DefinedRecord => ({
      name,
      type,
      ttl,
      data: type === 'A' ? `0.0.0.${index % 256}` : `::${index}`,
      at,
    }),
  )
  return { ...zone, records: [...zone.records, ...standIns] }
}

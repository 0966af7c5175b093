/**
 * Gaps that other calls may close. A name that changes from a CNAME to something else, or back, misses all for a moment. A pointer that changes in place
 * points at it all the while; but where the pointer's RRset has records that point elsewhere, those may hold the RRset for that moment, the pointer
 * leaving before it and coming after.
 */

import { type ResourceRecord, rrsetKey } from '../model/record.ts'
import { staysInSet } from './call-index.ts'
import { type Continuity, pointerOf } from './continuity.ts'
import type { ZoneDifference } from './diff-zone.ts'
import type { OrderEdges } from './edge-layers.ts'
import type { Call } from './pair-records.ts'

/** The calls of all gaps for which there is a record, before, after or throughout, that can hold a pointer's RRset without missing the name. */
export function closableGaps(calls: readonly Call[], { gaps }: OrderEdges, difference: ZoneDifference, continuity: Continuity): Call[] {
  if (gaps.length === 0) return []
  const holders = new Map<string, Set<string>>()
  const note = (records: readonly ResourceRecord[], side: 'before' | 'after' | 'standing'): void => {
    for (const record of records) {
      const target = continuity.isGuarded(record, side) ? (pointerOf(record)?.target ?? '') : ''
      const key = rrsetKey(record)
      const targets = holders.get(key)
      if (targets) targets.add(target)
      else holders.set(key, new Set([target]))
    }
  }
  note(difference.removed, 'before')
  note(difference.added, 'after')
  note(difference.kept, 'standing')
  note(difference.unmanaged, 'standing')
  const isClosable = (gap: readonly number[]): boolean =>
    gap.every((at) => {
      const call = calls[at] as Call
      return call.existing === null || !staysInSet(call) || (holders.get(rrsetKey(call.existing))?.size ?? 0) > 1
    })
  return gaps.filter(isClosable).flatMap((gap) => gap.map((at) => calls[at] as Call))
}

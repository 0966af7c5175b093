import { rrsetKey } from '../dns/record.ts'
import type { Policy } from '../dns/zone.ts'
import type { ZoneDifference } from './compare-zones.ts'

/**
 * The part of a difference that a policy lets through. `upsert-only` never makes a record set disappear: records of a set of which
 * nothing is desired stay; `create-only` adds record sets and leaves every existing one as it is.
 */
export function applyPolicy(difference: ZoneDifference, policy: Policy): ZoneDifference {
  if (policy === 'sync') return difference
  const lost = new Set(difference.rrsets.lost)
  if (policy === 'upsert-only') {
    const spared = difference.removed.filter((record) => lost.has(rrsetKey(record)))
    return {
      ...difference,
      removed: difference.removed.filter((record) => !lost.has(rrsetKey(record))),
      kept: [...difference.kept, ...spared],
      rrsets: { ...difference.rrsets, lost: [] },
    }
  }
  const there = new Set([...difference.rrsets.lost, ...difference.rrsets.changed])
  return {
    ...difference,
    removed: [],
    added: difference.added.filter((record) => !there.has(rrsetKey(record))),
    kept: [...difference.kept, ...difference.removed],
    surplus: [],
    rrsets: { ...difference.rrsets, lost: [], changed: [] },
  }
}

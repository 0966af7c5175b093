/** Record sets that octoDNS accepts because they are marked `lenient`, and that no definition can contain. */
import type { ImportedZone } from '../../definition/imported-zone.ts'
import { isSoftened } from '../../definition/load/read-definition.ts'
import { checkZone } from '../../definition/rules/rules.ts'
import { isError } from '../../dns/diagnostic.ts'
import { relativeName } from '../../dns/domain-name.ts'
import { type DefinedRecord, rrsetKey } from '../../dns/record.ts'
import { DEFAULT_ZONE_OPTIONS } from '../../dns/zone.ts'
import type { UnsupportedFeature } from '../unsupported-features.ts'

export interface SplitZone {
  /** The zone without the refused record sets, each of which has a selector under `unmanaged`. */
  readonly zone: ImportedZone
  readonly dropped: readonly UnsupportedFeature[]
}

/** Takes out the lenient record sets that break a rule of the DNS, such as a CNAME beside other records. */
export function splitLenient(zone: ImportedZone): SplitZone {
  const { lenient = new Set<string>() } = zone
  const dropped: UnsupportedFeature[] = []
  let records = zone.records
  while (lenient.size > 0) {
    const defined = records.map((record, index): DefinedRecord => ({ ...record, at: { file: '', line: index + 1, column: 1 } }))
    const errors = checkZone({
      ...DEFAULT_ZONE_OPTIONS,
      name: zone.name,
      at: { file: '', line: 1, column: 1 },
      settings: {},
      records: defined,
    })
    const refused = new Map<string, string>()
    for (const found of errors.filter(isError)) {
      const record = records[(found.at?.line ?? 0) - 1]
      if (record === undefined || (isSoftened(found) && lenient.has(rrsetKey(record)))) continue
      const own = lenient.has(rrsetKey(record)) ? [record] : records.filter((one) => one.name === record.name && lenient.has(rrsetKey(one)))
      for (const one of own) if (!refused.has(rrsetKey(one))) refused.set(rrsetKey(one), found.message)
    }
    if (refused.size === 0) break
    for (const [key, message] of refused) {
      const first = records.find((record) => rrsetKey(record) === key)
      if (first === undefined) continue
      dropped.push({
        zone: zone.name,
        name: first.name,
        type: first.type,
        what: `this lenient record set: ${message}`,
        at: first.at,
        outcome: OUTCOME,
      })
    }
    records = records.filter((record) => !refused.has(rrsetKey(record)))
  }
  if (dropped.length === 0) return { zone, dropped }
  const selectors = dropped.flatMap(({ name, type }) =>
    name === null || type === null ? [] : [{ name: relativeName(name, zone.name) || '@', type }],
  )
  return { zone: { ...zone, records, unmanaged: [...(zone.unmanaged ?? []), ...selectors] }, dropped }
}

const OUTCOME = 'it is left out, and a selector under "unmanaged" leaves it alone'

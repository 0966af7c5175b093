/** Record sets that octoDNS accepts because they are marked `lenient`, and that no definition can contain. */
import { type Diagnostic, isError } from '../../base/diagnostic.ts'
import { isRestriction } from '../../checks/accepted-losses.ts'
import { checkZone } from '../../checks/rules/rules.ts'
import type { ImportedZone } from '../../definition/imported-zone.ts'
import type { ParsedDefinition } from '../../definition/parse/parse-definition.ts'
import { type DomainName, relativeName } from '../../dns/domain-name.ts'
import { type DefinedRecord, type ResourceRecord, rrsetKey } from '../../dns/record.ts'
import { unmanagedTest } from '../../dns/unmanaged.ts'
import { DEFAULT_ZONE_OPTIONS, type DesiredZone, type UnmanagedSelector } from '../../dns/zone.ts'
import { isSoftened } from '../../load/read-definition.ts'
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
      const set = records.filter((record) => rrsetKey(record) === key)
      const [first] = set
      if (first === undefined) continue
      dropped.push({
        zone: zone.name,
        name: first.name,
        type: first.type,
        what: `this lenient record set: ${message}`,
        at: first.at,
        restricts: set.some(isRestriction),
      })
    }
    records = records.filter((record) => !refused.has(rrsetKey(record)))
  }
  if (dropped.length === 0) return { zone, dropped }
  const left = leftOut(dropped, zone.name, records)
  return { zone: { ...zone, records, unmanaged: [...(zone.unmanaged ?? []), ...left.selectors] }, dropped: left.dropped }
}

/** Adds selectors for record sets that are left out, except those that would match records of the definition: `*` is a pattern there. */
function leftOut(
  refused: readonly UnsupportedFeature[],
  zone: DomainName,
  records: readonly ResourceRecord[],
): { readonly selectors: readonly UnmanagedSelector[]; readonly dropped: readonly UnsupportedFeature[] } {
  const selectors: UnmanagedSelector[] = []
  const dropped = refused.map((item) => {
    const selector = { name: relativeName(item.name ?? zone, zone) || '@', ...(item.type !== null && { type: item.type }) }
    if (selector.name.includes('*') && records.some(unmanagedTest([selector], zone))) return { ...item, outcome: INSEPARABLE }
    selectors.push(selector)
    return { ...item, outcome: OUTCOME }
  })
  return { selectors, dropped }
}

/** Takes out the lenient record sets with invalid data. Their errors become reports of dropped record sets. */
export function withoutRefusedLenient(
  zone: DesiredZone,
  { refusedLenient, diagnostics }: Pick<ParsedDefinition, 'refusedLenient' | 'diagnostics'>,
): { readonly zone: DesiredZone; readonly dropped: readonly UnsupportedFeature[]; readonly diagnostics: readonly Diagnostic[] } {
  if (refusedLenient.length === 0) return { zone, dropped: [], diagnostics }
  const refused = new Set(refusedLenient.map(rrsetKey))
  const errors = new Set(refusedLenient.flatMap((rrset) => rrset.errors))
  const dropped = refusedLenient.map(({ name, type, at, errors: [first] }) => ({
    zone: zone.name,
    name,
    type,
    what: `this lenient record set: ${first === undefined ? 'its data is invalid' : withoutSubject(first.message, name, type)}`,
    at: first?.at ?? at,
    // A text that cannot be read may be a policy.
    restricts: type === 'TXT' || isRestriction({ name, type, data: '' }),
  }))
  const records = zone.records.filter((record) => !refused.has(rrsetKey(record)))
  const left = leftOut(dropped, zone.name, records)
  return {
    zone: { ...zone, records, unmanaged: [...zone.unmanaged, ...left.selectors] },
    dropped: left.dropped,
    diagnostics: diagnostics.filter((found) => !errors.has(found)),
  }
}

const withoutSubject = (message: string, name: DomainName, type: string): string => {
  const subject = `${name} ${type}: `
  return message.startsWith(subject) ? message.slice(subject.length) : message
}

const INSEPARABLE = 'it is left out; no selector of "unmanaged" can separate it from managed records, so plans delete it'

const OUTCOME = 'it is left out, and a selector under "unmanaged" leaves it alone'

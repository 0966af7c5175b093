/** Removes the findings that definitions and config suppress. */
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { groupBy } from '../base/group-by.ts'
import type { DefinedRecord } from './record.ts'
import { isSuppressible, type Suppression } from './suppression.ts'
import { unmanagedTest } from './unmanaged.ts'
import type { DesiredZone } from './zone.ts'
import type { SourcedRrset } from './zone-source.ts'

export interface Suppressed {
  readonly kept: readonly Diagnostic[]
  /** The suppressions that matched something. */
  readonly used: ReadonlySet<Suppression>
}

type Suppressing = Pick<DesiredZone, 'name' | 'records' | 'sourced' | 'ignore'>

/**
 * Removes the diagnostics that the records, the zone and the config suppress. A diagnostic belongs to the record at its position. Errors are always kept.
 */
export function suppress(zone: Suppressing, diagnostics: readonly Diagnostic[]): Suppressed {
  const used = new Set<Suppression>()
  const ofRecords = diagnostics.length === 0 ? false : [...zone.records, ...(zone.sourced ?? [])].some(({ ignore }) => ignore !== undefined)
  if (diagnostics.length === 0 || (!ofRecords && (zone.ignore ?? []).length === 0)) return { kept: diagnostics, used }
  const codes = new Set(diagnostics.map(({ code }) => code))
  const tests = (zone.ignore ?? []).filter(({ code }) => codes.has(code)).map((one) => [one, selects(one, zone)] as const)
  const records = recordsByPlace(zone)
  const kept = diagnostics.filter(({ severity, code, message, at }) => {
    if (severity === 'error' || !isSuppressible(code)) return true
    const about = at === undefined ? [] : subjectsOf(message, records.get(placeOf(at)) ?? [])
    const matching = [
      ...about.flatMap(({ ignore = [] }) => ignore.filter((one) => one.code === code)),
      ...tests.flatMap(([one, test]) => (one.code === code && (test === null || about.some(test)) ? [one] : [])),
    ]
    for (const one of matching) used.add(one)
    return matching.length === 0
  })
  return { kept, used }
}

type Subject = DefinedRecord | SourcedRrset

/** The records that a message is about. Those of one `$GENERATE` or alias share a position; messages about one of them begin with its name. */
function subjectsOf(message: string, records: readonly Subject[]): readonly Subject[] {
  if (records.every(({ name }) => name === records[0]?.name)) return records
  const named = records.filter(({ name }) => message.startsWith(`${name} `))
  return named.length === 0 ? records : named
}

const placeOf = ({ file, line, column }: SourcePosition): string => `${file}:${line}:${column}`

function recordsByPlace({ records, sourced = [] }: Suppressing): Map<string, Subject[]> {
  return groupBy<Subject, string>([...records, ...sourced], ({ at }) => placeOf(at))
}

/** A test for the records that a suppression of a zone or config selects; null for everything in the zone. */
function selects({ name, type }: Suppression, { name: zone }: Suppressing): ((record: Subject) => boolean) | null {
  if (name === undefined && type === undefined) return null
  const test = unmanagedTest([{ name, type }], zone)
  return (record) => test({ ...record, data: 'data' in record ? record.data : '' })
}

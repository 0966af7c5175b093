/** Findings about a zone that its definition or the config accepts, each with a reason. */
import type { Diagnostic, SourcePosition } from './diagnostic.ts'
import type { DiagnosticCode } from './diagnostic-codes.ts'
import type { InventoryRrset } from './inventory.ts'
import type { DefinedRecord } from './record.ts'
import { unmanagedTest } from './unmanaged.ts'
import type { DesiredZone } from './zone.ts'

/** An entry of `ignore`. */
export interface Suppression {
  readonly code: DiagnosticCode
  readonly reason: string
  /** A glob for the name relative to the zone; absent for all names. */
  readonly name?: string | undefined
  readonly type?: string | undefined
  readonly at: SourcePosition
}

/** Lints: findings about data that is valid DNS. Each has a page `docs/lints/CODE.md`. */
export const LINT_CODES = [
  'address-private',
  'dkim-invalid',
  'dmarc-invalid',
  'dmarc-report-refused',
  'glue-missing',
  'name-similar',
  'spf-invalid',
  'spf-lookups',
  'spf-target-missing',
  'target-dangling',
  'target-takeover',
] as const satisfies readonly DiagnosticCode[]

/** Other diagnostics about valid DNS data, which have an entry in `docs/diagnostics.md`. */
const OTHER_CODES = [
  'below-delegation',
  'below-dname',
  'caa-flags-reserved',
  'caa-tag-unknown',
  'cname-loop',
  'digest-length',
  'ds-without-ns',
  'host-name-invalid',
  'name-repeats-zone',
  'null-srv-not-alone',
  'policy-multiple',
  'signature-times',
  'srv-name-invalid',
  'target-is-address',
  'target-is-cname',
  'target-is-url',
  'target-nonexistent',
  'ttl-mixed',
  'ttl-rounded',
  'txt-long',
  'txt-quoted',
  'wildcard-misplaced',
  'wildcard-ns',
] as const satisfies readonly DiagnosticCode[]

/** The suppressions of a record as a definition has them. */
export const suppressionsData = ({ ignore }: Pick<DefinedRecord, 'ignore'>): { readonly code: string; readonly reason: string }[] =>
  (ignore ?? []).map(({ code, reason }) => ({ code, reason }))

/** All codes that `ignore` can name, sorted. */
export const SUPPRESSIBLE_CODES: readonly DiagnosticCode[] = [...LINT_CODES, ...OTHER_CODES].sort()

const LINTS: ReadonlySet<string> = new Set(LINT_CODES)

export const isLint = (code: string): boolean => LINTS.has(code)

const SUPPRESSIBLE: ReadonlySet<string> = new Set(SUPPRESSIBLE_CODES)

export const isSuppressible = (code: string): code is DiagnosticCode => SUPPRESSIBLE.has(code)

export interface Suppressed {
  readonly kept: readonly Diagnostic[]
  /** The suppressions that matched something. */
  readonly used: ReadonlySet<Suppression>
}

type Suppressing = Pick<DesiredZone, 'name' | 'records' | 'inventory' | 'ignore'>

/**
 * Removes the diagnostics that the records, the zone and the config suppress. A diagnostic belongs to the record at its position. Errors are always kept.
 */
export function suppress(zone: Suppressing, diagnostics: readonly Diagnostic[]): Suppressed {
  const used = new Set<Suppression>()
  const ofRecords =
    diagnostics.length === 0 ? false : [...zone.records, ...(zone.inventory ?? [])].some(({ ignore }) => ignore !== undefined)
  if (diagnostics.length === 0 || (!ofRecords && (zone.ignore ?? []).length === 0)) return { kept: diagnostics, used }
  const codes = new Set(diagnostics.map(({ code }) => code))
  const tests = (zone.ignore ?? []).filter(({ code }) => codes.has(code)).map((one) => [one, selects(one, zone)] as const)
  const records = recordsByPlace(zone)
  const kept = diagnostics.filter(({ severity, code, at }) => {
    if (severity === 'error' || !isSuppressible(code)) return true
    const about = at === undefined ? [] : (records.get(placeOf(at)) ?? [])
    const matching = [
      ...about.flatMap(({ ignore = [] }) => ignore.filter((one) => one.code === code)),
      ...tests.flatMap(([one, test]) => (one.code === code && (test === null || about.some(test)) ? [one] : [])),
    ]
    for (const one of matching) used.add(one)
    return matching.length === 0
  })
  return { kept, used }
}

type Subject = DefinedRecord | InventoryRrset

const placeOf = ({ file, line, column }: SourcePosition): string => `${file}:${line}:${column}`

function recordsByPlace({ records, inventory = [] }: Suppressing): Map<string, Subject[]> {
  const byPlace = new Map<string, Subject[]>()
  for (const record of [...records, ...inventory]) {
    const place = placeOf(record.at)
    const known = byPlace.get(place)
    if (known) known.push(record)
    else byPlace.set(place, [record])
  }
  return byPlace
}

/** A test for the records that a suppression of a zone or config selects; null for everything in the zone. */
function selects({ name, type }: Suppression, { name: zone }: Suppressing): ((record: Subject) => boolean) | null {
  if (name === undefined && type === undefined) return null
  const test = unmanagedTest([{ name, type }], zone)
  return (record) => test({ ...record, data: 'data' in record ? record.data : '' })
}

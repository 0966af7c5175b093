/** Lints the zones of a run, and removes the findings that definitions and config suppress. */
import { type Diagnostic, isError } from '../base/diagnostic.ts'
import { listed } from '../base/english.ts'
import { groupBy } from '../base/group-by.ts'
import { createLinter } from '../checks/lints/lints.ts'
import type { LintedZone } from '../checks/lints/managed-names.ts'
import { expiryWarnings } from '../checks/rules/expiry.ts'
import type { LoadedZone } from '../config/configured-zone.ts'
import { unusedSuppression } from '../definition/parse/read-suppressions.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { FullDate } from '../dns/ownership.ts'
import { suppress } from '../dns/suppress.ts'
import type { Suppression } from '../dns/suppression.ts'
import type { DesiredZone } from '../dns/zone.ts'
import type { Capabilities } from '../plan/capabilities.ts'
import { fitToTarget } from '../plan/fit-to-target.ts'

export interface LintOptions {
  /** Whether all zones of the config are among `zones`, so that a suppression without a finding has no use. */
  readonly isComplete: boolean
  /** The day in UTC, to report what has expired. */
  readonly today?: FullDate | undefined
  /** What a target supports; null if that is unknown. If absent, records are not compared with it. */
  readonly capabilities?: CapabilityLookUp | undefined
  /** Zones that lints look into, but that are not linted. */
  readonly others?: readonly LoadedZone[]
  /** If present, zones are missing: receives the names of those that the lints look for. */
  readonly ask?: (zone: DomainName) => void
}

export type CapabilityLookUp = (target: string) => Capabilities | null

/** Returns the zones in the same order with the findings about them. */
export function lintLoaded(zones: readonly LoadedZone[], { isComplete, today, capabilities, others = [], ask }: LintOptions): LoadedZone[] {
  const all = [...zones, ...others].map(({ zone, internal, valid }) => ({ zone, internal, isIncomplete: !valid }))
  const lint = createLinter(all, ask)
  const used = new Set<string>()
  // One pass over a zone after the other: its records may be packed.
  const linted = zones.map((loaded, index): readonly [LoadedZone, readonly Suppression[]] => {
    const known = [...loaded.diagnostics, ...(today === undefined ? [] : expiryWarnings(loaded.zone, today))]
    const found = [...known, ...lint(all[index] as LintedZone), ...(capabilities ? misfits(loaded, capabilities) : [])]
    const suppressed = suppress(loaded.zone, found)
    for (const one of suppressed.used) used.add(keyOf(one))
    return [{ ...loaded, diagnostics: joinRepeated(suppressed.kept) }, suppressionsOf(loaded)]
  })
  if (!isComplete || zones.some(({ diagnostics }) => diagnostics.some(isError))) return linted.map(([loaded]) => loaded)
  return linted.map(([loaded, suppressions]) => {
    const unused = suppressions.filter(
      (one) =>
        !used.has(keyOf(one)) &&
        (one.code !== 'ttl-rounded' || capabilities !== undefined) &&
        // Zones that are missing may use those of the config.
        (ask === undefined || one.at.file === loaded.zone.at.file),
    )
    // Zones share the suppressions of the config and of included files.
    for (const one of unused) used.add(keyOf(one))
    return unused.length === 0 ? loaded : { ...loaded, diagnostics: [...loaded.diagnostics, ...unused.map(unusedSuppression)] }
  })
}

/** Lines in the hint of a finding about a file. */
const MOST_LINES = 20

/** One finding for the targets without the final dot of a file, and one for the targets of a record set with the same flaw. */
function joinRepeated(findings: readonly Diagnostic[]): Diagnostic[] {
  const groups = groupBy(findings, (one): unknown => {
    const set = /^\S+ \S+ points to /.exec(one.message)?.[0]
    return one.code === 'target-relative' ? one.at?.file : set === undefined ? one : `${one.code} ${set}`
  })
  return [...groups.values()].map(([first, ...rest]) => {
    const found = first as Diagnostic
    if (rest.length === 0) return found
    const others = rest.flatMap(({ message, at }) => (at ? [{ message, at }] : []))
    if (found.code !== 'target-relative') return { ...found, related: [...(found.related ?? []), ...others] }
    const lines = [...new Set([found, ...others].map(({ at }) => String(at?.line)))]
    const text = 'targets without the final dot were read as absolute names'
    const hint = `write the dot in the lines ${listed(lines, MOST_LINES)}`
    return { ...found, message: `${rest.length + 1} ${text}`, hint, cause: { subject: 'file', message: text } }
  })
}

const keyOf = ({ code, at: { file, line, column } }: Suppression): string => `${file}:${line}:${column} ${code}`

function suppressionsOf({ zone }: LoadedZone): Suppression[] {
  const found = new Set(zone.ignore)
  for (const { ignore } of [...zone.records, ...(zone.sourced ?? [])]) for (const one of ignore ?? []) found.add(one)
  return [...found]
}

const MISFITS: ReadonlySet<Diagnostic['code']> = new Set(['ttl-rounded', 'type-unsupported', 'record-unsupported'])

/** What a plan reports of records that a target does not support, and of the TTLs that it rounds. */
function misfits({ zone, targets, valid, diagnostics }: LoadedZone, capabilities: CapabilityLookUp): Diagnostic[] {
  if (!valid || zone.absent) return []
  const isMixed = diagnostics.some(({ code }) => code === 'ttl-mixed')
  return targets.flatMap((target) => {
    const known = capabilities(target)
    if (known === null) return []
    // Most zones fit exactly, which a sample of their records shows.
    const mayDiffer = isMixed || zone.rrsetTargets.length > 0 || fitToTarget(sampleOf(zone), target, known).diagnostics.length > 0
    return mayDiffer ? fitToTarget(zone, target, known).diagnostics.filter(({ code }) => MISFITS.has(code)) : []
  })
}

/** The zone with one record for each type and TTL, at the apex and elsewhere, and with all records that have settings at a provider. */
function sampleOf(zone: DesiredZone): DesiredZone {
  const seen = new Map<string, Set<number>>()
  const records = zone.records.filter(({ name, type, ttl, providerSettings }) => {
    if (providerSettings !== undefined) return true
    const ofType = seen.get(type) ?? new Set()
    const key = 2 * (ttl ?? -1) + (name === zone.name ? 1 : 0)
    if (ofType.has(key)) return false
    seen.set(type, ofType.add(key))
    return true
  })
  return { ...zone, records }
}

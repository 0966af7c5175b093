/** Features that a conversion cannot express, and their diagnostics. */
import type { Diagnostic, SourcePosition } from '../base/diagnostic.ts'
import { excerpt } from '../base/text.ts'
import { type AcceptedLosses, acceptsAll, acceptsLoss, isRestriction } from '../checks/accepted-losses.ts'
import type { ImportedRecord } from '../definition/imported-zone.ts'
import type { DomainName } from '../dns/domain-name.ts'
import type { DefinedRecord } from '../dns/record.ts'

/** Something that the source expresses and the destination cannot. Every one is reported. */
export interface UnsupportedFeature {
  readonly zone: DomainName | null
  /** The owner name; null if it concerns the whole zone. */
  readonly name: DomainName | null
  readonly type: string | null
  /** A few words for the message: `geo`, `the setting tags`. */
  readonly what: string
  readonly at?: SourcePosition | undefined
  /** What happens with `--lossy`; absent if the feature is just left out. */
  readonly outcome?: string | undefined
  /** Whether every record is kept nevertheless: it is a warning and needs no `--lossy`. */
  readonly keepsRecords?: boolean | undefined
  /** Whether others may do more without it: `--lossy` must name it. */
  readonly restricts?: boolean | undefined
}

/** The name of a loss for `--lossy=NAME`: a key such as `geo`, else the record type, else words of its description (`second-variant-of-a-zone`). */
function lossName({ what, type }: UnsupportedFeature): string {
  const words = what.replace(/^(?:the|an?|its) |[:;(].*$/gs, '').match(/[^\s"',]+/g) ?? []
  return /\s/.test(what) ? (type ?? words.join('-')) : what
}

/** Records of a zone file outside its zone, which name servers ignore or refuse. */
export const recordsOutside = (records: readonly DefinedRecord[], zone: DomainName): UnsupportedFeature[] =>
  records.map(({ name, type, at }) => ({ zone, name, type, what: `a record outside the zone ${zone}`, at }))

/**
 * One diagnostic per feature: errors, or warnings if `accepted` has them. A feature on which no record depends is a warning in either case. `format`
 * is the one that is exported to.
 */
export const unsupportedFeatureDiagnostics = (
  dropped: readonly UnsupportedFeature[],
  code: 'import-lossy' | 'export-lossy',
  format: string,
  accepted: AcceptedLosses,
): Diagnostic[] =>
  dropped.map((feature) => {
    const { zone, name, type, what, at, outcome, keepsRecords = false, restricts = false } = feature
    const subject = [name ?? zone, type].filter((part) => part !== null).join(' ')
    const message = `${subject === '' ? '' : `${subject}: `}${code === 'import-lossy' ? 'a definition' : format} cannot express ${what}`
    const cause = { subject: 'time', message: `${code === 'import-lossy' ? 'a definition' : format} cannot express ${withoutValue(what)}` }
    if (keepsRecords)
      return { severity: 'warning', code: code === 'import-lossy' ? 'import-aside' : code, message, at, cause, hint: outcome }
    if (acceptsLoss(accepted, lossName(feature), restricts)) return { severity: 'warning', code, message, at, cause, hint: outcome }
    const hint = hintOf(outcome, code === 'import-lossy' || restricts ? `--lossy=${lossName(feature)}` : '--lossy')
    return {
      severity: 'error',
      code,
      message,
      at,
      cause,
      hint: acceptsAll(accepted) && restricts ? `others may do more without it, so --lossy must name it: ${hint}` : hint,
    }
  })

/** `the metadata tenant ("one")` without the value, in which records differ. */
const withoutValue = (what: string): string => what.replace(/^(the (?:metadata|setting) \S+) \(.*\)$/s, '$1')

const hintOf = (outcome?: string, option = '--lossy'): string =>
  outcome === undefined ? `${option} leaves it out` : `with ${option}, ${outcome}`

/**
 * Turns warnings of `record-extra` into errors unless `--lossy` is given. A loaded zone does not contain these parts of its records
 * (`geo`, `dynamic`), so no export does either.
 */
export const extrasAsUnsupported = (diagnostics: readonly Diagnostic[], accepted: AcceptedLosses): Diagnostic[] =>
  diagnostics.map((found) =>
    found.code === 'record-extra' && !acceptsAll(accepted) ? { ...found, severity: 'error', code: 'export-lossy', hint: hintOf() } : found,
  )

/** A record that is left out. `reason` follows its data. */
export const droppedRecord = (
  zone: DomainName,
  record: Omit<ImportedRecord, 'ttl'>,
  reason: string,
  outcome?: string,
): UnsupportedFeature => ({
  zone,
  name: record.name,
  type: record.type,
  what: `${record.data === '' ? 'its empty data' : shownData(record.data)}: ${reason}`,
  at: record.at,
  outcome,
  restricts: isRestriction(record),
})

/** Record data for a message. */
export const shownData = (data: string): string => excerpt(data, 120)

/** The result of `validate`, and its document. */
import { compareDiagnostics, type Diagnostic, type Severity } from '../base/diagnostic.ts'
import { counted } from '../base/english.ts'
import { compareText, jsonText } from '../base/text.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { type DiagnosticDocument, diagnosticDocument } from './plan-document.ts'

/** How much was validated. */
export interface ValidationFigures {
  readonly files: number
  readonly zones: number
  readonly records: number
}

/** A zone that was validated. */
export interface ValidatedZone {
  readonly zone: DomainName
  /** Who is responsible for it; null for nobody. */
  readonly owner: string | null
  /** The definition, then the files that it reads. */
  readonly files: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface Validation {
  readonly figures: ValidationFigures
  readonly zones: readonly ValidatedZone[]
  /** All diagnostics, including those of the zones. */
  readonly diagnostics: readonly Diagnostic[]
}

/** `3 zones, 20 records in 4 files`. */
export const validatedText = ({ zones, records, files }: ValidationFigures): string =>
  `${counted(zones, 'zone')}, ${counted(records, 'record')} in ${counted(files, 'file')}`

/** The diagnostics that belong to no zone. */
export function diagnosticsOfNoZone({ zones, diagnostics }: Validation): Diagnostic[] {
  const inZones = new Set(zones.flatMap((zone) => zone.diagnostics))
  return diagnostics.filter((diagnostic) => !inZones.has(diagnostic))
}

export const VALIDATION_FORMAT = 'zonewright-validation'

/** The versioned document of `schemas/validation.schema.json`. Its key order is fixed. */
export interface ValidationDocument extends ValidationFigures {
  readonly format: typeof VALIDATION_FORMAT
  readonly version: 1
  readonly errors: number
  readonly warnings: number
  readonly definitions?: readonly ValidatedZoneDocument[]
  readonly diagnostics: readonly DiagnosticDocument[]
}

interface ValidatedZoneDocument extends Omit<ValidatedZone, 'diagnostics'> {
  readonly errors: number
  readonly warnings: number
  /** Positions in the list of all diagnostics. */
  readonly diagnostics?: readonly number[]
}

export function validationDocument({ diagnostics, figures: { files, zones, records }, zones: validated }: Validation): ValidationDocument {
  const sorted = [...diagnostics].sort(compareDiagnostics)
  const positions = new Map(sorted.map((diagnostic, index) => [diagnostic, index]))
  return {
    format: VALIDATION_FORMAT,
    version: 1,
    files,
    zones,
    records,
    errors: countOf(diagnostics, 'error'),
    warnings: countOf(diagnostics, 'warning'),
    definitions: [...validated]
      .sort((a, b) => compareText(a.zone, b.zone) || compareText(a.files.join(), b.files.join()))
      .map(({ zone, owner, files: own, diagnostics: some }) => ({
        zone,
        owner,
        files: own,
        errors: countOf(some, 'error'),
        warnings: countOf(some, 'warning'),
        diagnostics: some.flatMap((diagnostic) => positions.get(diagnostic) ?? []).sort((a, b) => a - b),
      })),
    diagnostics: sorted.map(diagnosticDocument),
  }
}

/** How many diagnostics have this severity. */
export const countOf = (diagnostics: readonly Diagnostic[], severity: Severity): number =>
  diagnostics.filter((one) => one.severity === severity).length

/** The document as text that ends in a newline. */
export const renderValidationJson = (validation: Validation): string => jsonText(validationDocument(validation))

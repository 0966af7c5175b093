/** The result of `validate`, and its document. */
import { compareText } from '../dns/compare-text.ts'
import { compareDiagnostics, type Diagnostic, type Severity } from '../dns/diagnostic.ts'
import type { DomainName } from '../dns/domain-name.ts'
import { counted } from './english.ts'
import { jsonText } from './escape.ts'
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
  /** The definition and the files that it includes, sorted. */
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

/** The versioned document of `schemas/validation.schema.json`. Its key order is fixed. */
interface ValidationDocument extends ValidationFigures {
  readonly format: 'zonewright-validation'
  readonly version: 1
  readonly errors: number
  readonly warnings: number
  readonly definitions: readonly (Omit<ValidatedZone, 'diagnostics'> & { readonly errors: number; readonly warnings: number })[]
  readonly diagnostics: readonly DiagnosticDocument[]
}

function validationDocument({ diagnostics, figures: { files, zones, records }, zones: validated }: Validation): ValidationDocument {
  return {
    format: 'zonewright-validation',
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
      })),
    diagnostics: [...diagnostics].sort(compareDiagnostics).map(diagnosticDocument),
  }
}

/** How many diagnostics have this severity. */
export const countOf = (diagnostics: readonly Diagnostic[], severity: Severity): number =>
  diagnostics.filter((one) => one.severity === severity).length

/** The document as text that ends in a newline. */
export const renderValidationJson = (validation: Validation): string => jsonText(validationDocument(validation))

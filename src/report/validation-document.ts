/** The machine's view of a validation: the versioned document of `schemas/validation.schema.json`. Its key order is fixed. */
import { compareDiagnostics, type Diagnostic, type Severity } from '../dns/diagnostic.ts'
import { jsonText } from './json-text.ts'
import { type DiagnosticDocument, diagnosticDocument } from './plan-document.ts'

/** How much was looked at. */
export interface ValidationFigures {
  readonly files: number
  readonly zones: number
  readonly records: number
}

export interface ValidationDocument extends ValidationFigures {
  readonly format: 'zonewright-validation'
  readonly version: 1
  readonly errors: number
  readonly warnings: number
  readonly diagnostics: readonly DiagnosticDocument[]
}

export function validationDocument(diagnostics: readonly Diagnostic[], { files, zones, records }: ValidationFigures): ValidationDocument {
  const count = (severity: Severity): number => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length
  return {
    format: 'zonewright-validation',
    version: 1,
    files,
    zones,
    records,
    errors: count('error'),
    warnings: count('warning'),
    diagnostics: [...diagnostics].sort(compareDiagnostics).map(diagnosticDocument),
  }
}

/** The document as text that ends in a newline. */
export const renderValidation = (diagnostics: readonly Diagnostic[], figures: ValidationFigures): string =>
  jsonText(validationDocument(diagnostics, figures))

import { compareDiagnostics, type Diagnostic } from '../model/diagnostic.ts'
import { diagnosticDocument } from './plan-document.ts'

export interface ValidationFigures {
  readonly files: number
  readonly zones: number
  readonly records: number
}

/** The versioned document of `validate --format json` (schemas/validation.schema.json). */
export const validationDocument = (diagnostics: readonly Diagnostic[], figures: ValidationFigures): object => ({
  format: 'zonewright-validation',
  version: 1,
  ...figures,
  errors: diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length,
  warnings: diagnostics.filter((diagnostic) => diagnostic.severity === 'warning').length,
  diagnostics: [...diagnostics].sort(compareDiagnostics).map(diagnosticDocument),
})

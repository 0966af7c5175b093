import type { Diagnostic } from '../../dns/diagnostic.ts'
import type { RecordEdit } from './read-record-edit.ts'

/** An error of an edit, with the name and type that it is of. */
export const editProblem = (edit: RecordEdit, code: Diagnostic['code'], message: string, more: Partial<Diagnostic> = {}): Diagnostic => ({
  severity: 'error',
  code,
  message: `${edit.name} ${edit.type}: ${message}`,
  ...more,
})

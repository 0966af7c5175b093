/** Limits the records of all definitions of a run together: many small files that repeat records must not exhaust the memory. */
import type { Diagnostic } from '../../dns/diagnostic.ts'
import { MAX_DATA_OCTETS, MAX_RECORDS } from '../parse/parse-state.ts'

/** Characters that a record needs in a file: those that a definition has beyond are repeated by includes, aliases or `$GENERATE`. */
const RECORD_LENGTH = 8

export interface RecordTotal {
  /** Whether the repeated records of all definitions, or their data, exceed the limits of one definition, so that no further one is read. */
  readonly isExceeded: () => boolean
  /** Counts the records of a definition whose own text has a length. Returns an error for the definition that exceeds the limit. */
  readonly count: (
    records: readonly { readonly data: string }[],
    own: { readonly length: number; readonly file: string },
  ) => Diagnostic | null
}

export function createRecordTotal(): RecordTotal {
  let repeated = 0
  let octets = 0
  const isExceeded = (): boolean => repeated > MAX_RECORDS || octets > MAX_DATA_OCTETS
  return {
    isExceeded,
    count: (records, { length, file }) => {
      if (isExceeded()) return null
      repeated += Math.max(0, records.length - length / RECORD_LENGTH)
      octets += Math.max(0, records.reduce((sum, { data }) => sum + data.length, 0) - length)
      if (!isExceeded()) return null
      const limit = repeated > MAX_RECORDS ? `${MAX_RECORDS} records` : `${MAX_DATA_OCTETS} octets of data`
      const message = `with this definition, more than ${limit} of all definitions are repeated by includes, aliases or $GENERATE; no further definition is read`
      return { severity: 'error', code: 'file-too-large', message, at: { file, line: 1, column: 1 } }
    },
  }
}

import type { Generated, Selectable } from 'kysely'

export interface JobTables {
  readonly jobs: JobsTable
}

/** What the service does by itself at a moment of its clock. */
export interface JobsTable {
  id: Generated<number>
  kind: string
  /** The number of the object it is about: of the table that its kind knows. */
  subject: number
  /** JSON. */
  payload: string
  /** Milliseconds of the service's clock; moved on where a run fails. */
  due: number
  /** Runs that failed. */
  attempts: Generated<number>
}

export type JobRow = Selectable<JobsTable>

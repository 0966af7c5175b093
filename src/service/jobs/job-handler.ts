import type { Connection } from '../store/database.ts'
import type { Job } from '../store/job-store.ts'

/** The moment a job runs at. */
export interface JobMoment {
  /** Milliseconds of the service's clock. */
  readonly now: number
  /** The same as tables hold it. */
  readonly nowText: string
}

/**
 * Does a job in the transaction that takes it away. May run more than once, of which one is committed. Jobs that are due may run in any
 * order, so that it looks at what it finds: the object may be gone, or in another state. What is to be done outside of the database it
 * returns, to be done after the commit; that is lost if the process ends between.
 */
export type JobHandler = (connection: Connection, job: Job, moment: JobMoment) => Promise<(() => Promise<void>) | void>

export type JobHandlers = Readonly<Record<string, JobHandler>>

import type { Connection } from '../store/database.ts'
import type { Job } from '../store/job-store.ts'
import type { Moment } from '../timestamp.ts'

/**
 * Does a job in the transaction that takes it away. May run more than once, of which one is committed. Jobs that are due may run in any
 * order, so that it looks at what it finds: the object may be gone, or in another state. What is to be done outside of the database it
 * returns, to be done after the commit; that is lost if the process ends between.
 */
export type JobHandler = (connection: Connection, job: Job, moment: Moment) => Promise<(() => Promise<void>) | void>

export type JobHandlers = Readonly<Record<string, JobHandler>>

/** Milliseconds of the service's clock that its objects spend in states that end by themselves. */
export const DURATIONS = {
  provisionImage: 10_000,
  provisionBackup: 15_000,
  boot: 5_000,
  reboot: 8_000,
  clone: 20_000,
  restore: 15_000,
  /** A backup: `pending`, `running`, `needsPostProcessing`. */
  backupPending: 3_000,
  backupRunning: 20_000,
  backupPostProcessing: 5_000,
  /** While a day and a window for backups are chosen. */
  scheduling: 30_000,
  /** Until an automatic backup is tried again of an instance that is being written to. */
  backupPutOff: 15 * 60_000,
} satisfies Readonly<Record<string, number>>

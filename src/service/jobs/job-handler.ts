/** The type of job handlers, and the durations of the temporary states that jobs end. */
import type { Connection } from '../store/database.ts'
import type { Job } from '../store/job-store.ts'
import type { Moment } from '../timestamp.ts'

/**
 * Runs a job in the transaction that removes it. It may run several times, but only one run is committed. Due jobs run in any order, so a handler
 * must expect that the object is deleted or in another state. A returned function runs after the commit, for work outside the database; it is not
 * repeated if the process ends first.
 */
export type JobHandler = (connection: Connection, job: Job, moment: Moment) => Promise<(() => Promise<void>) | void>

export type JobHandlers = Readonly<Record<string, JobHandler>>

/** The durations of temporary states, in milliseconds of the service's clock. */
export const DURATIONS = {
  provisionImage: 10_000,
  provisionBackup: 15_000,
  boot: 5_000,
  reboot: 8_000,
  clone: 20_000,
  restore: 15_000,
  /** The backup states `pending`, `running` and `needsPostProcessing`. */
  backupPending: 3_000,
  backupRunning: 20_000,
  backupPostProcessing: 5_000,
  /** Until a day and a window for backups are chosen. */
  scheduling: 30_000,
  /** Until the next try, if an instance was busy at the time of its automatic backup. */
  backupRetry: 15 * 60_000,
} satisfies Readonly<Record<string, number>>

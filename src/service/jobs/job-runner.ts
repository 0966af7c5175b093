/**
 * Runs jobs when they are due. The queue is in the database, which all processes share. A process runs each due job in a transaction that also
 * removes the job, so it is done exactly once, even if processes crash. Memory holds only the time of the next poll.
 */
import pLimit from 'p-limit'
import type { Log } from '../observability/log.ts'
import type { Connection, Database } from '../store/database.ts'
import { claimJob, findDueJobs, findNextDue, type Job, postponeJob } from '../store/job-store.ts'
import { formatTimestamp, type Moment, type ScheduledWork, type Timers } from '../time.ts'

/**
 * Runs a job in the transaction that removes it. It may run several times, but only one run is committed. Due jobs run in any order, so a handler
 * must expect that the object is deleted or in another state. A returned function runs after the commit, for work outside the database; it is not
 * repeated if the process ends first.
 */
export type JobHandler = (connection: Connection, job: Job, moment: Moment) => Promise<(() => Promise<void>) | void>

export type JobHandlers = Readonly<Record<string, JobHandler>>

export interface JobRunnerOptions {
  readonly database: Database
  readonly timers: Timers
  readonly handlers: JobHandlers
  readonly log: Log
  readonly onError: (error: unknown) => void
}

export interface JobRunner {
  /** Runs overdue jobs, then every job when it is due. */
  start(): void
  /** Call it after committing a job: it may be due before all others. */
  wake(): void
  /** Runs all due jobs, and those that become due through them; resolves when none is left. */
  catchUp(): Promise<void>
  /** Finishes the running jobs; the others wait for the next start. */
  close(): Promise<void>
}

/** Jobs per query. */
const BATCH = 64

/** Concurrent jobs on PostgreSQL, where each needs a connection. */
const CONCURRENCY = 4

/** Milliseconds of real time between polls, which find jobs of other processes and notice clock changes. */
const POLL = 2_000

/** Delays before a failed job runs again, in milliseconds of the service's clock: doubled each time, up to the maximum. */
const FIRST_DELAY = 5_000
const MAX_DELAY = 3_600_000

export function createJobRunner({ database, timers, handlers, log, onError }: JobRunnerOptions): JobRunner {
  const limit = pLimit(database.otherProcesses === null ? BATCH : CONCURRENCY)
  let next: ScheduledWork | null = null
  let running: Promise<void> | null = null
  let again = false
  let started = false
  let closed = false

  const runJob = async (id: number): Promise<void> => {
    if (closed) return
    const claimed: { job?: Job } = {}
    try {
      const afterCommit = await database.write(async (connection) => {
        const now = timers.now()
        const job = await claimJob(connection, id, now, database.otherProcesses !== null)
        if (job === null) return
        claimed.job = job
        const handler = Object.hasOwn(handlers, job.kind) ? handlers[job.kind] : undefined
        if (handler === undefined) throw new Error(`no handler for job kind ${job.kind}`)
        return handler(connection, job, { now, nowText: formatTimestamp(now) })
      })
      await afterCommit?.()
    } catch (error) {
      onError(error)
      if (claimed.job) await postpone(claimed.job)
    }
  }

  const postpone = async (job: Job): Promise<void> => {
    const delay = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** job.attempts)
    log.warn({ job: job.id, kind: job.kind, subject: job.subject, attempts: job.attempts + 1, delay }, 'job failed')
    await database.write((connection) => postponeJob(connection, job, timers.now() + delay))
  }

  /** Runs due jobs until none is left, or only jobs that other processes are running. */
  const runDue = async (): Promise<void> => {
    let previous = ''
    while (!closed) {
      const due = await database.readOne((connection) => findDueJobs(connection, timers.now(), BATCH))
      if (due.length === 0 || due.join() === previous) return
      previous = due.join()
      await Promise.all(due.map((id) => limit(() => runJob(id))))
    }
  }

  const run = async (): Promise<void> => {
    do {
      again = false
      let wait = POLL * timers.speed
      try {
        await runDue()
        const due = await database.readOne(findNextDue)
        // Jobs that another process is running are still due; the next poll checks them again.
        if (due !== null && due > timers.now()) wait = Math.min(wait, due - timers.now())
      } catch (error) {
        onError(error)
      }
      next?.cancel()
      if (started && !closed) next = timers.schedule(wait, wake)
    } while (again && !closed)
  }

  const begin = (): Promise<void> => {
    again = true
    running ??= run().finally(() => {
      running = null
      if (again) wake()
    })
    return running
  }

  const wake = (): void => {
    if (started && !closed) void begin()
  }

  return {
    start: () => {
      started = true
      wake()
    },
    wake,
    catchUp: async () => {
      await begin()
      while (running !== null) await running
    },
    close: async () => {
      closed = true
      next?.cancel()
      await running
    },
  }
}

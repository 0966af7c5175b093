/**
 * Runs jobs at their moments. What is due, and when, is in the database, which all processes share: each looks for jobs that are due
 * and runs each in a transaction that takes it away too, so that it is done once, whichever process ends when. Nothing is in memory but
 * the moment of the next look.
 */
import pLimit from 'p-limit'
import type { Log } from '../observability/log.ts'
import type { Database } from '../store/database.ts'
import { claimJob, findDueJobs, findNextDue, type Job, postponeJob } from '../store/job-store.ts'
import type { ScheduledWork, Timers } from '../timers.ts'
import { formatTimestamp } from '../timestamp.ts'
import type { JobHandlers } from './job-handler.ts'

export interface JobRunnerOptions {
  readonly database: Database
  readonly timers: Timers
  readonly handlers: JobHandlers
  readonly log: Log
  readonly onError: (error: unknown) => void
}

export interface JobRunner {
  /** Runs what has come due while nobody ran jobs, then each at its moment. */
  start(): void
  /** To be called when a job has been committed: it may be due before all others. */
  wake(): void
  /** Runs all that is due, also what that makes due at once; resolves when nothing is. */
  catchUp(): Promise<void>
  /** Finishes the jobs that are running; the others wait for the next start. */
  close(): Promise<void>
}

/** Jobs that are looked up at one time. */
const BATCH = 64

/** Jobs that run at one time: few, where each has a connection of its own. */
const CONCURRENT = 4

/** Milliseconds of real time between looks at what others have made due, and at a clock that has been set. */
const POLL = 2_000

/** Milliseconds of the service's clock after which a job that failed runs again: doubled each time, up to the longest. */
const FIRST_DELAY = 5_000
const LONGEST_DELAY = 3_600_000

export function createJobRunner({ database, timers, handlers, log, onError }: JobRunnerOptions): JobRunner {
  const limit = pLimit(database.otherProcesses === null ? BATCH : CONCURRENT)
  let next: ScheduledWork | null = null
  let running: Promise<void> | null = null
  let again = false
  let started = false
  let closed = false

  const runJob = async (id: number): Promise<void> => {
    if (closed) return
    const taken: { job?: Job } = {}
    try {
      const afterwards = await database.write(async (connection) => {
        const now = timers.now()
        const job = await claimJob(connection, id, now, database.otherProcesses !== null)
        if (job === null) return
        taken.job = job
        const handler = Object.hasOwn(handlers, job.kind) ? handlers[job.kind] : undefined
        if (handler === undefined) throw new Error(`there is no handler for jobs of the kind ${job.kind}`)
        return handler(connection, job, { now, nowText: formatTimestamp(now) })
      })
      await afterwards?.()
    } catch (error) {
      onError(error)
      if (taken.job) await putOff(taken.job)
    }
  }

  const putOff = async (job: Job): Promise<void> => {
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** job.attempts)
    log.warn({ job: job.id, kind: job.kind, subject: job.subject, attempts: job.attempts + 1, delay }, 'job failed')
    await database.write((connection) => postponeJob(connection, job, timers.now() + delay))
  }

  /** Runs what is due. Ends as well where nothing but jobs of other processes is. */
  const runDue = async (): Promise<void> => {
    let before = ''
    while (!closed) {
      const due = await database.readOne((connection) => findDueJobs(connection, timers.now(), BATCH))
      if (due.length === 0 || due.join() === before) return
      before = due.join()
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
        // What another process runs is due, and looked at again by the next poll.
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

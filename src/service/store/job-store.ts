/** The queue of jobs. */
import { sql } from 'kysely'
import type { Connection } from './database.ts'
import type { JobRow } from './tables.ts'

export interface NewJob {
  readonly kind: string
  /** The id of the object that the job is about. */
  readonly subject: number
  /** Milliseconds of the service's clock. */
  readonly due: number
  /** JSON data; empty by default. */
  readonly payload?: Readonly<Record<string, unknown>>
}

export interface Job extends Required<NewJob> {
  readonly id: number
  /** The number of failed runs. */
  readonly attempts: number
}

/** Schedules a job to run once, if the transaction is committed. Returns its id. */
export async function enqueueJob(connection: Connection, { kind, subject, due, payload = {} }: NewJob): Promise<number> {
  const values = { kind, subject, due, payload: JSON.stringify(payload) }
  const { id } = await connection.insertInto('jobs').values(values).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Cancels the jobs of a kind for an object. Waits for one that is running. */
export async function cancelJobs(connection: Connection, kind: string, subject: number): Promise<void> {
  await connection.deleteFrom('jobs').where('kind', '=', kind).where('subject', '=', subject).execute()
}

/** The number of pending jobs of a kind for an object. */
export async function countJobs(connection: Connection, kind: string, subject: number): Promise<number> {
  const { total } = await connection
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** The ids of due jobs, longest waiting first. */
export async function findDueJobs(connection: Connection, now: number, limit: number): Promise<number[]> {
  const rows = await connection.selectFrom('jobs').select('id').where('due', '<=', now).orderBy('due').orderBy('id').limit(limit).execute()
  return rows.map(({ id }) => id)
}

/** When the next job is due; null if there is none. */
export async function findNextDue(connection: Connection): Promise<number | null> {
  const row = await connection.selectFrom('jobs').select('due').orderBy('due').limit(1).executeTakeFirst()
  return row?.due ?? null
}

/**
 * Removes a job to run it in the same transaction; it stays if the transaction is not committed. Null if it has run, is no longer due, or another
 * process is running it. Set `skipLocked` if there can be other processes.
 */
export async function claimJob(connection: Connection, id: number, now: number, skipLocked: boolean): Promise<Job | null> {
  if (skipLocked) {
    const { rows } = await sql`select id from jobs where id = ${id} for update skip locked`.execute(connection)
    if (rows.length === 0) return null
  }
  const row = await connection.deleteFrom('jobs').where('id', '=', id).where('due', '<=', now).returningAll().executeTakeFirst()
  return row === undefined ? null : jobOf(row)
}

/** Postpones a job after a failed run. Does nothing if it has run or been postponed since. */
export async function postponeJob(connection: Connection, { id, attempts }: Job, due: number): Promise<void> {
  const values = { due, attempts: attempts + 1 }
  await connection.updateTable('jobs').set(values).where('id', '=', id).where('attempts', '=', attempts).execute()
}

const jobOf = ({ payload, ...row }: JobRow): Job => ({ ...row, payload: JSON.parse(payload) })

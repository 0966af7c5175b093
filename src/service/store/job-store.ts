import { sql } from 'kysely'
import type { Connection } from './database.ts'
import type { JobRow } from './tables/instances.ts'

export interface NewJob {
  readonly kind: string
  /** The number of the object it is about. */
  readonly subject: number
  /** Milliseconds of the service's clock. */
  readonly due: number
  /** What JSON can hold; empty unless given. */
  readonly payload?: Readonly<Record<string, unknown>>
}

export interface Job extends Required<NewJob> {
  readonly id: number
  /** Runs that failed. */
  readonly attempts: number
}

/** Has a job run once at its moment, if the transaction is committed. Returns its number. */
export async function enqueueJob(connection: Connection, { kind, subject, due, payload = {} }: NewJob): Promise<number> {
  const values = { kind, subject, due, payload: JSON.stringify(payload) }
  const { id } = await connection.insertInto('jobs').values(values).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Takes back the jobs of a kind that are about an object; one that is running is waited for, and has run. */
export async function cancelJobs(connection: Connection, kind: string, subject: number): Promise<void> {
  await connection.deleteFrom('jobs').where('kind', '=', kind).where('subject', '=', subject).execute()
}

/** Jobs of a kind that are about an object and have not run. */
export async function countJobs(connection: Connection, kind: string, subject: number): Promise<number> {
  const { total } = await connection
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** Numbers of jobs that are due, those that have waited longest first. */
export async function findDueJobs(connection: Connection, now: number, limit: number): Promise<number[]> {
  const rows = await connection.selectFrom('jobs').select('id').where('due', '<=', now).orderBy('due').orderBy('id').limit(limit).execute()
  return rows.map(({ id }) => id)
}

/** When the next job is due; null where there is none. */
export async function findNextDue(connection: Connection): Promise<number | null> {
  const row = await connection.selectFrom('jobs').select('due').orderBy('due').limit(1).executeTakeFirst()
  return row?.due ?? null
}

/**
 * Takes a job away to run it in the same transaction, so that it is there again if that is not committed. Null where it has run, is
 * not due any more, or another process runs it: `passLocked` says that there may be others.
 */
export async function claimJob(connection: Connection, id: number, now: number, skipLocked: boolean): Promise<Job | null> {
  if (skipLocked) {
    const { rows } = await sql`select id from jobs where id = ${id} for update skip locked`.execute(connection)
    if (rows.length === 0) return null
  }
  const row = await connection.deleteFrom('jobs').where('id', '=', id).where('due', '<=', now).returningAll().executeTakeFirst()
  return row === undefined ? null : jobOf(row)
}

/** Puts a job off after a run of it failed. Nothing where it has run since, or somebody else has put it off. */
export async function postponeJob(connection: Connection, { id, attempts }: Job, due: number): Promise<void> {
  const values = { due, attempts: attempts + 1 }
  await connection.updateTable('jobs').set(values).where('id', '=', id).where('attempts', '=', attempts).execute()
}

const jobOf = ({ payload, ...row }: JobRow): Job => ({ ...row, payload: JSON.parse(payload) })

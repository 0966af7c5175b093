import { sql } from 'kysely'
import { deleteExpiredApps, deleteExpiredDevices, deleteLoginsBefore, LOGIN_DAYS } from '../store/access-store.ts'
import type { Database } from '../store/database.ts'
import { cancelJobs, countJobs, enqueueJob } from '../store/job-store.ts'
import { deleteExpiredPendingSecrets, deleteExpiredPhoneCodes } from '../store/user-secret-store.ts'
import { formatTimestamp } from '../timestamp.ts'
import type { JobHandler } from './job-handler.ts'

export const SWEEP_PROFILES = 'sweep-profiles'

/** Milliseconds of the service's clock. */
const DAY = 86_400_000

/** The job concerns no object, and there is only one. */
const SUBJECT = 0

/** Once a day, deletes expired logins, devices, apps and codes. */
export const deleteExpired: JobHandler = async (connection, _job, { now, nowText }) => {
  await deleteLoginsBefore(connection, formatTimestamp(now - LOGIN_DAYS * DAY))
  await deleteExpiredDevices(connection, nowText)
  await deleteExpiredApps(connection, nowText)
  await deleteExpiredPendingSecrets(connection, nowText)
  await deleteExpiredPhoneCodes(connection, nowText, formatTimestamp(now - DAY))
  await cancelJobs(connection, SWEEP_PROFILES, SUBJECT)
  await enqueueJob(connection, { kind: SWEEP_PROFILES, subject: SUBJECT, due: now + DAY })
}

/** Queues the first sweep, once for all processes of a database. */
export async function scheduleSweep(database: Database, now: number): Promise<void> {
  await database.write(async (connection) => {
    // Other starting processes wait here.
    await sql`update accounts set created = created where id = (select min(id) from accounts)`.execute(connection)
    if ((await countJobs(connection, SWEEP_PROFILES, SUBJECT)) > 0) return
    await enqueueJob(connection, { kind: SWEEP_PROFILES, subject: SUBJECT, due: now + DAY })
  })
}

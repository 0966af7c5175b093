/** All kinds of jobs with their handlers, and the handlers of images and of the daily deletion of expired data. */
import { sql } from 'kysely'
import { deleteExpiredApps, deleteExpiredDevices, deleteLoginsBefore, LOGIN_DAYS } from '../store/access-store.ts'
import type { Database } from '../store/database.ts'
import { finishImage, IMAGE_CREATION } from '../store/image-store.ts'
import { cancelJobs, countJobs, enqueueJob } from '../store/job-store.ts'
import { expireUpload, UPLOAD_EXPIRY } from '../store/upload-store.ts'
import { deleteExpiredPendingSecrets, deleteExpiredPhoneCodes } from '../store/user-secret-store.ts'
import { formatTimestamp } from '../timestamp.ts'
import { BACKUP_HANDLERS } from './backup-jobs.ts'
import { INSTANCE_HANDLERS } from './instance-jobs.ts'
import type { JobHandler, JobHandlers } from './job-runner.ts'

const IMAGE_HANDLERS: JobHandlers = {
  /** Makes an image created from a disk available. */
  [IMAGE_CREATION]: async (connection, { subject }, { nowText }) => finishImage(connection, subject, nowText),
  /** Deletes an image whose upload is not complete at its deadline. The process that is receiving the data deletes the file. */
  [UPLOAD_EXPIRY]: async (connection, { subject }) => expireUpload(connection, subject),
}

/** Job that deletes expired data of users, once a day. */
const DELETE_EXPIRED = 'delete-expired'

/** Milliseconds of the service's clock. */
const DAY = 86_400_000

/** The job concerns no object, and there is only one. */
const SUBJECT = 0

/** Deletes expired logins, devices, apps and codes, and queues the job for the next day. */
const deleteExpired: JobHandler = async (connection, _job, { now, nowText }) => {
  await deleteLoginsBefore(connection, formatTimestamp(now - LOGIN_DAYS * DAY))
  await deleteExpiredDevices(connection, nowText)
  await deleteExpiredApps(connection, nowText)
  await deleteExpiredPendingSecrets(connection, nowText)
  await deleteExpiredPhoneCodes(connection, nowText, formatTimestamp(now - DAY))
  await cancelJobs(connection, DELETE_EXPIRED, SUBJECT)
  await enqueueJob(connection, { kind: DELETE_EXPIRED, subject: SUBJECT, due: now + DAY })
}

/** Queues the first deletion of expired data, once for all processes of a database. */
export async function scheduleDeletion(database: Database, now: number): Promise<void> {
  await database.write(async (connection) => {
    // Other starting processes wait here.
    await sql`update accounts set created = created where id = (select min(id) from accounts)`.execute(connection)
    if ((await countJobs(connection, DELETE_EXPIRED, SUBJECT)) > 0) return
    await enqueueJob(connection, { kind: DELETE_EXPIRED, subject: SUBJECT, due: now + DAY })
  })
}

/** The handlers of all jobs by kind. */
export const JOB_HANDLERS: JobHandlers = {
  ...INSTANCE_HANDLERS,
  ...BACKUP_HANDLERS,
  ...IMAGE_HANDLERS,
  [DELETE_EXPIRED]: deleteExpired,
}

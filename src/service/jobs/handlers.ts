import { finishImage, IMAGE_CREATION } from '../store/image-store.ts'
import { expireUpload, UPLOAD_EXPIRY } from '../store/upload-store.ts'
import { BACKUP_HANDLERS } from './backup-jobs.ts'
import { INSTANCE_HANDLERS } from './instance-jobs.ts'
import type { JobHandlers } from './job-handler.ts'
import { deleteExpired, SWEEP_PROFILES } from './sweep-profiles.ts'

const IMAGE_HANDLERS: JobHandlers = {
  /** An image that is being made of a disk becomes available. */
  [IMAGE_CREATION]: async (connection, { subject }, { nowText }) => finishImage(connection, subject, nowText),
  /** An image whose data has not come in time is deleted; what has come of it is removed by who receives it. */
  [UPLOAD_EXPIRY]: async (connection, { subject }) => expireUpload(connection, subject),
}

/** What the service does by itself, by the kind of the job. */
export const JOB_HANDLERS: JobHandlers = {
  ...INSTANCE_HANDLERS,
  ...BACKUP_HANDLERS,
  ...IMAGE_HANDLERS,
  [SWEEP_PROFILES]: deleteExpired,
}

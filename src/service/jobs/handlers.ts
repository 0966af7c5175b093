import { finishImage, IMAGE_CREATION } from '../store/image-store.ts'
import { expireUpload, UPLOAD_EXPIRY } from '../store/upload-store.ts'
import { BACKUP_HANDLERS } from './backup-jobs.ts'
import { INSTANCE_HANDLERS } from './instance-jobs.ts'
import type { JobHandlers } from './job-handler.ts'
import { deleteExpired, SWEEP_PROFILES } from './sweep-profiles.ts'

const IMAGE_HANDLERS: JobHandlers = {
  /** Makes an image created from a disk available. */
  [IMAGE_CREATION]: async (connection, { subject }, { nowText }) => finishImage(connection, subject, nowText),
  /** Deletes an image whose data has not arrived in time. The process that receives the data removes the file. */
  [UPLOAD_EXPIRY]: async (connection, { subject }) => expireUpload(connection, subject),
}

/** The handlers of all jobs by kind. */
export const JOB_HANDLERS: JobHandlers = {
  ...INSTANCE_HANDLERS,
  ...BACKUP_HANDLERS,
  ...IMAGE_HANDLERS,
  [SWEEP_PROFILES]: deleteExpired,
}

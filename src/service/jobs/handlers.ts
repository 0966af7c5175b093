import { BACKUP_HANDLERS } from './backup-jobs.ts'
import { IMAGE_HANDLERS } from './image-jobs.ts'
import { INSTANCE_HANDLERS } from './instance-jobs.ts'
import type { JobHandlers } from './job-handler.ts'
import { SWEEP_PROFILES, sweepProfiles } from './sweep-profiles.ts'

/** What the service does by itself, by the kind of the job. */
export const JOB_HANDLERS: JobHandlers = {
  ...INSTANCE_HANDLERS,
  ...BACKUP_HANDLERS,
  ...IMAGE_HANDLERS,
  [SWEEP_PROFILES]: sweepProfiles,
}

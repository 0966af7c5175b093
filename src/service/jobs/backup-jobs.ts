/** Jobs of backups: the steps of one backup, and the weekly schedule of an instance. */
import type { Connection } from '../store/database.ts'
import { allConfigProfiles, listDisks } from '../store/disk-and-profile-store.ts'
import { advanceBackup, deleteOldBackups, insertBackup } from '../store/instance-backup-store.ts'
import { isChanging, lockInstanceRowOfAnyAccount, updateInstanceRow } from '../store/instance-store.ts'
import { cancelJobs, enqueueJob } from '../store/job-store.ts'
import type { BackupRow, BackupStatus, InstanceRow } from '../store/tables/instances.ts'
import type { Moment } from '../timestamp.ts'
import { DURATIONS } from './instance-jobs.ts'
import type { JobHandler } from './job-runner.ts'

/** Job of a backup: moves it to its next state. */
export const BACKUP_STEP = 'backup-step'

/** Job of an instance: chooses a day and a window for its weekly backup. */
export const BACKUP_SCHEDULE = 'backup-schedule'

/** Job of an instance: creates its weekly backup. */
export const BACKUP_AUTOMATIC = 'backup-automatic'

/** Automatic backups kept per instance. */
const KEPT_BACKUPS = 3

/** The state after each state, and its duration in milliseconds. */
const STEPS: Readonly<Partial<Record<BackupStatus, readonly [next: BackupStatus, duration: number]>>> = {
  pending: ['running', DURATIONS.backupRunning],
  running: ['needsPostProcessing', DURATIONS.backupPostProcessing],
  needsPostProcessing: ['successful', 0],
}

/** Creates a backup of the current state of a locked instance. */
export async function createBackup(
  connection: Connection,
  instance: InstanceRow,
  type: BackupRow['type'],
  label: string | null,
  { now, nowText }: Moment,
): Promise<BackupRow> {
  const { id, image, region } = instance
  const disks = (await listDisks(connection, id)).map(({ id, label, filesystem, size }) => ({ id, label, filesystem, size }))
  const configs = (await allConfigProfiles(connection, id)).map(({ id: _, initrd: _i, created: _c, updated: _u, ...config }) => config)
  const backup = await insertBackup(connection, { instance_id: id, type, label, region, content: { image, disks, configs } }, nowText)
  const from = 'pending' satisfies BackupStatus
  await enqueueJob(connection, { kind: BACKUP_STEP, subject: backup.id, payload: { from }, due: now + DURATIONS.backupPending })
  return backup
}

/** Moves a backup to its next state. A finished snapshot replaces the previous one. */
const advance: JobHandler = async (connection, { subject, payload, due }, { nowText }) => {
  const from = payload['from'] as BackupStatus
  const [to, duration] = STEPS[from] ?? []
  if (to === undefined || duration === undefined) return
  const backup = await advanceBackup(connection, subject, from, to, nowText)
  if (backup === null) return
  if (to === 'successful')
    await deleteOldBackups(connection, backup.instance_id, backup.type, backup.type === 'snapshot' ? 1 : KEPT_BACKUPS)
  else await enqueueJob(connection, { kind: BACKUP_STEP, subject, payload: { from: to }, due: due + duration })
}

/**
 * Sets the backup schedule of a locked instance and queues the next job. A job chooses an open day or window later. Without `enabled` only the
 * schedule is stored.
 */
export async function scheduleBackups(
  connection: Connection,
  instance: InstanceRow,
  { enabled, day, window }: { readonly enabled: boolean; readonly day: string | null; readonly window: string | null },
  { now }: Pick<Moment, 'now'>,
): Promise<InstanceRow> {
  const { id } = instance
  await cancelBackupJobs(connection, id)
  const open = enabled ? SCHEDULING : null
  const schedule = { day: day === SCHEDULING ? open : (day ?? open), window: window === SCHEDULING ? open : (window ?? open) }
  if (enabled) await enqueueNext(connection, id, schedule, now)
  return updateInstanceRow(connection, id, { backups_enabled: Number(enabled), backup_day: schedule.day, backup_window: schedule.window })
}

/** Stops the scheduled backups of an instance. */
export async function cancelBackupJobs(connection: Connection, instanceId: number): Promise<void> {
  for (const kind of [BACKUP_SCHEDULE, BACKUP_AUTOMATIC]) await cancelJobs(connection, kind, instanceId)
}

const chooseSchedule: JobHandler = async (connection, { subject }, { now }) => {
  const instance = await lockInstanceRowOfAnyAccount(connection, subject)
  if (instance === null || instance.backups_enabled === 0) return
  const { backup_day: day, backup_window: window } = instance
  const schedule = {
    day: day === null || day === SCHEDULING ? chosenDay(subject) : day,
    window: window === null || window === SCHEDULING ? chosenWindow(subject) : window,
  }
  await scheduleBackups(connection, instance, { enabled: true, ...schedule }, { now })
}

const backUp: JobHandler = async (connection, { subject }, moment) => {
  const instance = await lockInstanceRowOfAnyAccount(connection, subject)
  if (instance === null || instance.backups_enabled === 0) return
  const { backup_day: day, backup_window: window } = instance
  const { now } = moment
  if (isChanging(instance)) {
    await enqueueJob(connection, { kind: BACKUP_AUTOMATIC, subject, due: now + DURATIONS.backupRetry })
    return
  }
  await createBackup(connection, instance, 'auto', null, moment)
  await enqueueNext(connection, subject, { day, window }, now)
}

/** Queues the next backup of an instance, or the choice of its schedule if that is open. */
async function enqueueNext(
  connection: Connection,
  instanceId: number,
  { day, window }: { readonly day: string | null; readonly window: string | null },
  now: number,
): Promise<void> {
  const chosen = day !== null && window !== null && day !== SCHEDULING && window !== SCHEDULING ? { day, window } : null
  if (chosen) await enqueueJob(connection, { kind: BACKUP_AUTOMATIC, subject: instanceId, due: nextBackup(chosen, instanceId, now) })
  else await enqueueJob(connection, { kind: BACKUP_SCHEDULE, subject: instanceId, due: now + DURATIONS.scheduling })
}

export const BACKUP_HANDLERS: Readonly<Record<string, JobHandler>> = {
  [BACKUP_STEP]: advance,
  [BACKUP_SCHEDULE]: chooseSchedule,
  [BACKUP_AUTOMATIC]: backUp,
}

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

/** Backup windows of two hours (UTC), named by their first hour. */
export const WINDOWS = ['W0', 'W2', 'W4', 'W6', 'W8', 'W10', 'W12', 'W14', 'W16', 'W18', 'W20', 'W22'] as const

/** The value of a day or window that is still to be chosen. */
const SCHEDULING = 'Scheduling'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** The default day and window, spread evenly by the instance's id. */
export const chosenDay = (instanceId: number): string => DAYS[instanceId % DAYS.length] as string
export const chosenWindow = (instanceId: number): string => WINDOWS[Math.floor(instanceId / DAYS.length) % WINDOWS.length] as string

/**
 * The time of the next backup of an instance after `now`, in milliseconds since 1970. Its id determines the minute within the window, so that not all
 * backups start together.
 */
export function nextBackup(schedule: { readonly day: string; readonly window: string }, instanceId: number, now: number): number {
  const midnight = Math.floor(now / DAY) * DAY
  const minutes = Number(schedule.window.slice(1)) * 60 + ((instanceId * 7) % 120)
  const ahead = (DAYS.indexOf(schedule.day as (typeof DAYS)[number]) - new Date(midnight).getUTCDay() + 7) % 7
  const moment = midnight + ahead * DAY + minutes * MINUTE
  return moment > now ? moment : moment + 7 * DAY
}

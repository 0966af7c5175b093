/**
 * All kinds of jobs with their handlers: those that end the temporary states of instances (provisioning, booting, cloning and restoring), the steps
 * of one backup and the weekly schedule of an instance, images, and the daily deletion of expired data.
 */
import { deleteExpiredApps, deleteExpiredDevices, deleteLoginsBefore, LOGIN_DAYS } from '../store/access-store.ts'
import { lockAccountRow, lockAdministration } from '../store/account-store.ts'
import { deleteAuditBefore } from '../store/audit.ts'
import type { Connection, Database } from '../store/database.ts'
import { allConfigProfiles, listDisks, markDisksReady } from '../store/disk-and-profile-store.ts'
import { expireUpload, finishImage, IMAGE_CREATION, UPLOAD_EXPIRY } from '../store/image-store.ts'
import {
  advanceBackup,
  deleteOldBackups,
  findInstanceRowOfAnyAccount,
  insertBackup,
  isChanging,
  lockInstanceRow,
  lockInstanceRowOfAnyAccount,
  updateInstanceRow,
} from '../store/instance-store.ts'
import { cancelJobs, countJobs, enqueueJob } from '../store/job-store.ts'
import type { BackupRow, BackupStatus, InstanceRow, InstanceStatus } from '../store/tables.ts'
import { deleteExpiredPendingSecrets, deleteExpiredPhoneCodes } from '../store/user-secret-store.ts'
import { formatTimestamp, type Moment } from '../time.ts'
import type { JobHandler, JobHandlers } from './job-runner.ts'

/** The durations of temporary states, in milliseconds of the service's clock. */
export const DURATIONS = {
  provisionImage: 10_000,
  provisionBackup: 15_000,
  boot: 5_000,
  reboot: 8_000,
  clone: 20_000,
  restore: 15_000,
  /** The backup states `pending`, `running` and `needsPostProcessing`. */
  backupPending: 3_000,
  backupRunning: 20_000,
  backupPostProcessing: 5_000,
  /** Until a day and a window for backups are chosen. */
  scheduling: 30_000,
  /** Until the next try, if an instance was busy at the time of its automatic backup. */
  backupRetry: 15 * 60_000,
} satisfies Readonly<Record<string, number>>

/** Ends `provisioning` of an instance created from an image. */
export const INSTANCE_PROVISIONED = 'instance-provisioned'

/** Ends `provisioning` of an instance created from a backup; its own kind shows that a backup is being restored. */
export const INSTANCE_PROVISIONED_FROM_BACKUP = 'instance-made-of-backup'

/** Ends `booting` or `rebooting`. */
export const INSTANCE_BOOTED = 'instance-booted'

/** Ends a clone; the subject is the source. */
export const INSTANCE_CLONED = 'instance-cloned'

/** Ends `restoring`. */
export const INSTANCE_RESTORED = 'instance-restored'

/** The payload of a job after which an instance may run. */
export interface BootPayload {
  /** The id of the profile it boots with; null leaves it offline. */
  readonly config: number | null
}

/** Ends a temporary state: the disks become ready, and the instance runs if it has booted a profile. */
async function finish(
  connection: Connection,
  id: number,
  from: readonly InstanceStatus[],
  { config }: BootPayload,
  nowText: string,
): Promise<void> {
  const instance = await lockInstanceRowOfAnyAccount(connection, id)
  if (instance === null || !from.includes(instance.status)) return
  await markDisksReady(connection, id, nowText)
  const booted =
    config === null ? undefined : await connection.selectFrom('configs').select('id').where('id', '=', config).executeTakeFirst()
  const state = config === null ? { status: 'offline' as const } : { status: 'running' as const, last_booted: booted?.id ?? null }
  await updateInstanceRow(connection, id, { ...state, updated: nowText })
}

const provisioned: JobHandler = (connection, { subject, payload }, { nowText }) =>
  finish(connection, subject, ['provisioning'], payload as unknown as BootPayload, nowText)

const booted: JobHandler = (connection, { subject, payload }, { nowText }) =>
  finish(connection, subject, ['booting', 'rebooting'], payload as unknown as BootPayload, nowText)

const cloned: JobHandler = async (connection, { subject, payload }, { nowText }) => {
  const source = await findInstanceRowOfAnyAccount(connection, subject)
  if (source === null) return
  await lockAccountRow(connection, source.account_id)
  const locked = await lockInstanceRow(connection, source.account_id, subject)
  if (locked === null) return
  await updateInstanceRow(connection, subject, { clones: Math.max(0, locked.clones - 1), updated: nowText })
  const target = await lockInstanceRowOfAnyAccount(connection, payload['target'] as number)
  if (target === null) return
  await markDisksReady(connection, target.id, nowText)
  await updateInstanceRow(connection, target.id, { receiving: 0, updated: nowText })
}

const restored: JobHandler = async (connection, { subject, payload }, { nowText }) => {
  const instance = await lockInstanceRowOfAnyAccount(connection, subject)
  if (instance === null || instance.status !== 'restoring') return
  await markDisksReady(connection, subject, nowText)
  await updateInstanceRow(connection, subject, { status: payload['status'] as InstanceStatus, updated: nowText })
}

const INSTANCE_HANDLERS: Readonly<Record<string, JobHandler>> = {
  [INSTANCE_PROVISIONED]: provisioned,
  [INSTANCE_PROVISIONED_FROM_BACKUP]: provisioned,
  [INSTANCE_BOOTED]: booted,
  [INSTANCE_CLONED]: cloned,
  [INSTANCE_RESTORED]: restored,
}

/** Job of a backup: moves it to its next state. */
const BACKUP_STEP = 'backup-step'

/** Job of an instance: chooses a day and a window for its weekly backup. */
const BACKUP_SCHEDULE = 'backup-schedule'

/** Job of an instance: creates its weekly backup. */
const BACKUP_AUTOMATIC = 'backup-automatic'

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

const BACKUP_HANDLERS: Readonly<Record<string, JobHandler>> = {
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

const IMAGE_HANDLERS: JobHandlers = {
  /** Makes an image created from a disk available. */
  [IMAGE_CREATION]: async (connection, { subject }, { nowText }) => finishImage(connection, subject, nowText),
  /** Deletes an image whose upload is not complete at its deadline. The process that is receiving the data deletes the file. */
  [UPLOAD_EXPIRY]: async (connection, { subject }) => expireUpload(connection, subject),
}

/** Job that deletes expired data of users, once a day. */
const DELETE_EXPIRED = 'delete-expired'

/** The job concerns no object, and there is only one. */
const SUBJECT = 0

/** Entries of the audit log deleted by one job. */
const AUDIT_BATCH = 20_000

/** Deletes expired logins, devices, apps, codes and entries of the audit log, and queues the job for the next day, or at once if entries are left. */
const deleteExpired =
  (auditDays: number): JobHandler =>
  async (connection, _job, { now, nowText }) => {
    await deleteLoginsBefore(connection, formatTimestamp(now - LOGIN_DAYS * DAY))
    await deleteExpiredDevices(connection, nowText)
    await deleteExpiredApps(connection, nowText)
    await deleteExpiredPendingSecrets(connection, nowText)
    await deleteExpiredPhoneCodes(connection, nowText, formatTimestamp(now - DAY))
    const deleted = await deleteAuditBefore(connection, new Date(Math.max(0, now - auditDays * DAY)).toISOString(), AUDIT_BATCH)
    await cancelJobs(connection, DELETE_EXPIRED, SUBJECT)
    await enqueueJob(connection, { kind: DELETE_EXPIRED, subject: SUBJECT, due: deleted === AUDIT_BATCH ? now : now + DAY })
  }

/** Queues the first deletion of expired data, once for all processes of a database. */
export async function scheduleDeletion(database: Database, now: number): Promise<void> {
  await database.write(async (connection) => {
    await lockAdministration(connection)
    if ((await countJobs(connection, DELETE_EXPIRED, SUBJECT)) > 0) return
    await enqueueJob(connection, { kind: DELETE_EXPIRED, subject: SUBJECT, due: now + DAY })
  })
}

/** The handlers of all jobs by kind. Entries of the audit log are kept for `auditDays`. */
export const jobHandlers = (auditDays: number): JobHandlers => ({
  ...INSTANCE_HANDLERS,
  ...BACKUP_HANDLERS,
  ...IMAGE_HANDLERS,
  [DELETE_EXPIRED]: deleteExpired(auditDays),
})

import { scheduleBackups } from '../../jobs/backup-jobs.ts'
import type { JobMoment } from '../../jobs/job-handler.ts'
import { lockAccountRow } from '../../store/account-store.ts'
import type { Connection } from '../../store/database.ts'
import { isLabelTaken, lockInstanceRow, updateInstanceRow } from '../../store/instance-store.ts'
import type { InstanceRow } from '../../store/tables/instances.ts'
import { foldLabel, labelsOf, setTags } from '../../store/tag-store.ts'
import type { Actor } from '../authenticate.ts'
import { unauthorized } from '../grants.ts'
import { invalid, notFound } from '../request-error.ts'
import type { InstanceChanges } from './instance-input.ts'
import { labelProblem, labelTaken } from './label-input.ts'

/** Changes what a request names of an instance. Throws 400, 403 where the user may not do it, 404 where there is none. */
export async function updateInstance(
  connection: Connection,
  actor: Actor,
  id: number,
  { label, group, tags, watchdog_enabled, alerts, backups }: InstanceChanges,
  moment: JobMoment,
): Promise<InstanceRow> {
  const { accountId } = actor
  if (tags || label !== undefined) await lockAccountRow(connection, accountId)
  const existing = await lockInstanceRow(connection, accountId, id)
  if (existing === null) throw notFound()
  if (tags) {
    const carried = (await labelsOf(connection, 'instance', [id])).get(id) ?? []
    if (actor.restricted && !areSame(tags, carried)) throw unauthorized()
  }
  if (label !== undefined && label !== existing.label) {
    const problem = labelProblem(label)
    if (problem) throw invalid(problem)
    if (await isLabelTaken(connection, accountId, label, id)) throw invalid(labelTaken())
  }
  if (tags) await setTags(connection, accountId, 'instance', id, tags)
  if (backups?.schedule) {
    const { day = existing.backup_day, window = existing.backup_window } = backups.schedule
    if (day !== existing.backup_day || window !== existing.backup_window) {
      const enabled = existing.backups_enabled === 1
      await scheduleBackups(connection, existing, { enabled, day, window }, moment)
    }
  }
  return updateInstanceRow(connection, id, {
    label: label ?? existing.label,
    group: group ?? existing.group,
    watchdog_enabled: watchdog_enabled === undefined ? existing.watchdog_enabled : Number(watchdog_enabled),
    alerts: JSON.stringify({ ...JSON.parse(existing.alerts), ...alerts }),
    updated: moment.nowText,
  })
}

function areSame(tags: readonly string[], carried: readonly string[]): boolean {
  const wanted = new Set(tags.map(foldLabel))
  return wanted.size === carried.length && carried.every((label) => wanted.has(foldLabel(label)))
}

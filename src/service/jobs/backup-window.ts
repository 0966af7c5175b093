/** When automatic backups are made: on one day of the week, in two hours of it (UTC). */

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

/** Named by the hour they begin at. */
export const WINDOWS = ['W0', 'W2', 'W4', 'W6', 'W8', 'W10', 'W12', 'W14', 'W16', 'W18', 'W20', 'W22'] as const

/** Stands for what is being chosen. */
export const SCHEDULING = 'Scheduling'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** What is chosen for an instance that leaves it open: spread evenly, by its number. */
export const chosenDay = (instanceId: number): string => DAYS[instanceId % DAYS.length] as string
export const chosenWindow = (instanceId: number): string => WINDOWS[Math.floor(instanceId / DAYS.length) % WINDOWS.length] as string

/**
 * The first moment after `now` (milliseconds since 1970) that is for the backup of an instance: the same minute of its window every week,
 * by its number, so that not all begin at once.
 */
export function nextBackup(schedule: { readonly day: string; readonly window: string }, instanceId: number, now: number): number {
  const midnight = Math.floor(now / DAY) * DAY
  const minutes = Number(schedule.window.slice(1)) * 60 + ((instanceId * 7) % 120)
  const ahead = (DAYS.indexOf(schedule.day as (typeof DAYS)[number]) - new Date(midnight).getUTCDay() + 7) % 7
  const moment = midnight + ahead * DAY + minutes * MINUTE
  return moment > now ? moment : moment + 7 * DAY
}

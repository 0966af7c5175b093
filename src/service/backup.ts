/** Saves all that the service keeps to a file, and fills an empty database from one. */

import type { RawStore } from './store/database.ts'
import type { WarnAboutMode } from './store/private-files.ts'
import { formatTimestamp } from './timestamp.ts'

/** The URL of a PostgreSQL database, or the directory of a SQLite one. */
export type DatabaseLocation = { readonly database: string } | { readonly dataDirectory: string }

/**
 * Writes what a database holds at one moment to a file, which a restore can read into either kind of database. The service may run
 * meanwhile. Rejects, in words for its user, if there is no such database or the file cannot be written.
 */
export async function backUpService(place: DatabaseLocation, file: string, now: number = Date.now()): Promise<{ readonly rows: number }> {
  const store = await openPlain(place)
  try {
    const { writeBackup } = await import('./store/backup/write-backup.ts')
    return await writeBackup(store, file, formatTimestamp(now))
  } finally {
    await store.close()
  }
}

/**
 * Fills an empty database, or a directory without one, with what a backup holds: all of it or nothing. No service may run on it. Rejects,
 * in words for its user, if anything is there already, or the file is damaged or of a later version.
 */
export async function restoreService(
  place: DatabaseLocation,
  file: string,
  warn?: WarnAboutMode,
): Promise<{ readonly rows: number; readonly created: string }> {
  const { restoreBackup } = await import('./store/backup/restore-backup.ts')
  if ('database' in place) {
    const store = await openPlain(place)
    try {
      return await restoreBackup(store, file)
    } finally {
      await store.close()
    }
  }
  const { createRawSqlite } = await import('./store/sqlite/open-sqlite.ts')
  const store = createRawSqlite(place.dataDirectory, warn)
  try {
    const restored = await restoreBackup(store, file)
    await store.keep()
    return restored
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openPlain(place: DatabaseLocation): Promise<RawStore> {
  if ('database' in place) return (await import('./store/postgres/open-postgres.ts')).openRawPostgres(place.database)
  return (await import('./store/sqlite/open-sqlite.ts')).openRawSqlite(place.dataDirectory)
}

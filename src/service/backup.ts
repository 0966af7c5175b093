/** Backs up the service's database to a file, and restores it from one. */
import type { RawStore } from './store/database.ts'
import type { WarnAboutMode } from './store/private-files.ts'
import { formatTimestamp } from './time.ts'

/** The URL of a PostgreSQL database, or the data folder with a SQLite database. */
export type DatabaseLocation = { readonly database: string } | { readonly dataFolder: string }

/**
 * Writes a consistent snapshot of a database to a file that can be restored into either kind of database. The service may be running. Rejects with a
 * message for the operator if the database does not exist or the file cannot be written.
 */
export async function backUpService(
  location: DatabaseLocation,
  file: string,
  now: number = Date.now(),
): Promise<{ readonly rows: number }> {
  const store = await openRaw(location)
  try {
    const { writeBackup } = await import('./store/backup.ts')
    return await writeBackup(store, file, formatTimestamp(now))
  } finally {
    await store.close()
  }
}

/**
 * Restores a backup into an empty database, or a folder without one: all rows or none. A failure may leave empty tables in PostgreSQL. No service may be running on it. Rejects with a
 * message for the operator if the target is not empty, or the file is damaged or comes from a later version.
 */
export async function restoreService(
  location: DatabaseLocation,
  file: string,
  warn?: WarnAboutMode,
): Promise<{ readonly rows: number; readonly created: string }> {
  const { restoreBackup } = await import('./store/backup.ts')
  if ('database' in location) {
    const { openRawPostgres } = await import('./store/postgres/open-postgres.ts')
    const store = await openRawPostgres(location.database)
    try {
      return await restoreBackup(store, file)
    } finally {
      await store.close()
    }
  }
  const { createRawSqlite } = await import('./store/sqlite/open-sqlite.ts')
  const store = createRawSqlite(location.dataFolder, warn)
  try {
    const restored = await restoreBackup(store, file)
    // Closes the database and gives it its final name; `close` would delete it.
    await store.commit()
    return restored
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openRaw(location: DatabaseLocation): Promise<RawStore> {
  if ('database' in location) return (await import('./store/postgres/open-postgres.ts')).openRawPostgres(location.database)
  return (await import('./store/sqlite/open-sqlite.ts')).openRawSqlite(location.dataFolder)
}

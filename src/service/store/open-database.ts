/** Opens the database of the service: PostgreSQL, SQLite, or SQLite in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from './database.ts'
import type { WarnAboutMode } from './private-files.ts'

export interface DatabasePlace {
  /** The URL of a PostgreSQL database; null for SQLite. */
  readonly url: string | null
  /** The folder of the SQLite database; null for a temporary one. */
  readonly folder: string | null
  /** Called with background errors, from which the database recovers on its own. */
  readonly onError: (error: unknown) => void
  /** Called for each file and folder that other users could read. */
  readonly warn?: WarnAboutMode
}

/** Opens the database and creates it if necessary. Loads only the driver that is used. */
export async function openDatabase({ url, folder, onError, warn }: DatabasePlace): Promise<Database> {
  if (url !== null) {
    const { openPostgres } = await import('./postgres/open-postgres.ts')
    return openPostgres({ url, onError })
  }
  const { openSqlite } = await import('./sqlite/open-sqlite.ts')
  if (folder !== null) return openSqlite(folder, warn)
  const temporary = await mkdtemp(join(tmpdir(), 'zonewright-'))
  const remove = () => rm(temporary, { recursive: true, force: true })
  try {
    const database = await openSqlite(temporary, warn)
    return { ...database, close: () => database.close().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}

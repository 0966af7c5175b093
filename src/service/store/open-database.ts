import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from './database.ts'
import type { WarnAboutMode } from './private-files.ts'

export interface DatabasePlace {
  /** The URL of a PostgreSQL database; null for one of SQLite in a directory. */
  readonly url: string | null
  /** The directory of the SQLite database; null for one that is gone when it is closed. */
  readonly directory: string | null
  /** Told of what goes wrong in the background and mends itself. */
  readonly onError: (error: unknown) => void
  /** Called for each file and folder that others could read. */
  readonly warn?: WarnAboutMode
}

/** Opens the database, made first where there is none. Each kind is loaded only if it is used. */
export async function openDatabase({ url, directory, onError, warn }: DatabasePlace): Promise<Database> {
  if (url !== null) {
    const { openPostgres } = await import('./postgres/open-postgres.ts')
    return openPostgres({ url, onError })
  }
  const { openSqlite } = await import('./sqlite/open-sqlite.ts')
  if (directory !== null) return openSqlite(directory, warn)
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

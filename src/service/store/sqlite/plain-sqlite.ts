import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, type SqliteDatabase, sql } from 'kysely'
import Libsql from 'libsql'
import type { PlainStore } from '../backup/plain-store.ts'
import { createPrivateFile, DATABASE_FILE, NO_WARNING, privateFolder, tightenServiceFiles, type WarnOfMode } from '../private-files.ts'
import { SQLITE_SCHEMA } from '../schema-dialect.ts'
import { lockDirectory } from './directory-lock.ts'
import { sqliteDialect } from './sqlite-dialect.ts'

/**
 * The database of a directory, to be read while a service may hold the directory: with write-ahead logging a reader sees one state and
 * keeps no writer waiting. Throws where there is none.
 */
export function readSqlite(directory: string): PlainStore {
  const file = join(directory, DATABASE_FILE)
  if (!existsSync(file)) throw new RangeError(`there is no database in ${directory}`)
  tightenServiceFiles(directory, NO_WARNING)
  return plainStore(file, () => undefined)
}

/**
 * A new database for a directory that has none, to be filled: it gets its name when it is closed by `keep`, and is gone when it is only
 * closed. The directory is held meanwhile. Throws where it has a database, or another process has it.
 */
export function makeSqlite(directory: string, warn: WarnOfMode = NO_WARNING): PlainStore & { keep(): Promise<void> } {
  privateFolder(directory, warn)
  tightenServiceFiles(directory, warn)
  const lock = lockDirectory(directory)
  const file = join(directory, DATABASE_FILE)
  const temporary = `${file}.part`
  const clear = (): void => {
    for (const suffix of ['', ...SIDE_FILES]) rmSync(`${temporary}${suffix}`, { force: true })
  }
  try {
    if (existsSync(file)) throw new RangeError(`${directory} has a database already`)
    clear()
    createPrivateFile(temporary)
    const store = plainStore(temporary, () => {
      clear()
      lock.release()
    })
    return {
      ...store,
      keep: async () => {
        await store.db.destroy()
        // SQLite would apply what a killed process left there for a database that has been removed since.
        for (const suffix of SIDE_FILES) rmSync(`${file}${suffix}`, { force: true })
        renameSync(temporary, file)
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** What SQLite keeps beside a database. */
const SIDE_FILES = ['-wal', '-shm', '-journal']

function plainStore(file: string, closed: () => void): PlainStore {
  const native = new Libsql(file, { timeout: 5000 })
  native.exec('pragma foreign_keys = on; pragma synchronous = full; pragma secure_delete = on')
  const db = new Kysely({ dialect: sqliteDialect(native as unknown as SqliteDatabase) })
  return {
    db,
    dialect: SQLITE_SCHEMA,
    snapshot: (work) => db.transaction().execute(work),
    lastId: async (connection, table) => {
      const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(connection)
      return rows[0]?.seq ?? 0
    },
    setLastId: async (connection, table, id) => {
      await sql`insert into sqlite_sequence (name, seq) values (${table}, ${id})`.execute(connection)
    },
    close: async () => {
      await db.destroy()
      closed()
    },
  }
}

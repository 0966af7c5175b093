import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, type SqliteDatabase } from 'kysely'
import Libsql from 'libsql'
import type { Database } from '../database.ts'
import { migrate, requireSchema } from '../migrate.ts'
import { createPrivateFile, DATABASE_FILE, NO_WARNING, privateFolder, tightenServiceFiles, type WarnOfMode } from '../private-files.ts'
import { SQLITE_SCHEMA } from '../schema-dialect.ts'
import type { Tables } from '../tables.ts'
import { lockDirectory } from './directory-lock.ts'
import { createGroupCommit } from './group-commit.ts'
import { offThread } from './off-thread.ts'
import { sqliteDialect } from './sqlite-dialect.ts'

/**
 * Opens, or makes, the SQLite database of a data directory, which one process holds at a time. With write-ahead logging,
 * reads go on beside a write; `synchronous = full` makes a commit wait until the disk has it.
 */
export async function openSqlite(directory: string, warn: WarnOfMode = NO_WARNING): Promise<Database> {
  privateFolder(directory, warn)
  tightenServiceFiles(directory, warn)
  const lock = lockDirectory(directory)
  // SQLite gives its other files the mode of the database.
  createPrivateFile(join(directory, DATABASE_FILE))
  return openFile(directory, (db) => migrate(db, SQLITE_SCHEMA), lock.release)
}

/**
 * Opens the SQLite database of a data directory while a service may run on it: writes must be short. Throws a `RangeError` if there is none of
 * the present schema.
 */
export async function openBesideService(directory: string): Promise<Database> {
  if (!existsSync(join(directory, DATABASE_FILE))) throw new RangeError(`there is no database in ${directory}`)
  tightenServiceFiles(directory, NO_WARNING)
  return openFile(
    directory,
    (db) => requireSchema(db, SQLITE_SCHEMA),
    () => undefined,
  )
}

async function openFile(directory: string, prepare: (db: Kysely<Tables>) => Promise<void>, release: () => void): Promise<Database> {
  const connections: Kysely<Tables>[] = []
  const close = async (): Promise<void> => {
    for (const connection of connections.reverse()) await connection.destroy()
    release()
  }
  try {
    const file = join(directory, DATABASE_FILE)
    const { db: writer, native } = connect(file)
    connections.push(writer)
    await prepare(writer)
    const { db: reader } = connect(file)
    connections.push(reader)
    const run = await offThread(native)
    const group = createGroupCommit(writer, run)
    return {
      read: (work) => reader.transaction().execute(work),
      readOne: (query) => query(reader),
      write: group.write,
      others: null,
      directory,
      eraseDeleted: async () => {
        await group.drained()
        await run('vacuum')
        await run('pragma wal_checkpoint(truncate)')
        // It reports no error if a reader kept it from writing the pages to the database.
        const { log } = native.prepare('pragma wal_checkpoint(passive)').get() as { readonly log: number }
        if (log !== 0) throw new Error('another process reads the database')
      },
      abandon: () => undefined,
      close: async () => {
        await group.drained()
        // The whole state is in one file afterwards, fit to be copied.
        await run('pragma wal_checkpoint(truncate)')
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Milliseconds to wait for a lock. No other process has any, but for one that looks into the file by other means. */
const LOCK_TIMEOUT = 5000

function connect(file: string): { readonly db: Kysely<Tables>; readonly native: Libsql.Database } {
  const native = new Libsql(file, { timeout: LOCK_TIMEOUT })
  // What is deleted or replaced is overwritten with zeros.
  native.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on')
  return { native, db: new Kysely<Tables>({ dialect: sqliteDialect(cachingStatements(native)) }) }
}

/** Statements kept ready on one connection. */
const MAX_STATEMENTS = 200

type Statement = ReturnType<SqliteDatabase['prepare']>

/** Prepares each text once: the service asks the same few questions over and over. */
function cachingStatements(db: Libsql.Database): SqliteDatabase {
  const statements = new Map<string, Statement>()
  return {
    prepare: (text) => {
      const known = statements.get(text)
      if (known) return known
      const statement = db.prepare(text) as unknown as Statement
      if (statements.size >= MAX_STATEMENTS) statements.delete(statements.keys().next().value as string)
      statements.set(text, statement)
      return statement
    },
    close: () => {
      statements.clear()
      db.close()
    },
  }
}

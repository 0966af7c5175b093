/**
 * Opens SQLite databases: for the service, beside a running service, and as they are for backups.
 *
 * Group commit: many writes share one transaction, because each commit waits for the disk. All writes that are queued when a transaction starts, or
 * arrive while it runs, join it, each in its own savepoint, and are acknowledged by its commit. A failed write is rolled back to its savepoint
 * without affecting the others. The commit does not block the event loop; writes that arrive during it form the next group.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Dialect, Kysely, SqliteAdapter, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import Libsql from 'libsql'
import LibsqlPromise from 'libsql/promise'
import { type Origin, SERVICE, setOrigin } from '../audit.ts'
import { type Connection, type Database, isDiskFull, type RawStore, type SchemaDialect } from '../database.ts'
import { createPrivateFile, DATABASE_FILE, NO_WARNING, privateFolder, tightenServiceFiles, type WarnAboutMode } from '../private-files.ts'
import { migrate, requireSchema } from '../schema.ts'
import type { Tables } from '../tables.ts'

export interface FolderLock {
  release(): void
}

/**
 * Locks the data folder for this process. It uses an operating system lock, by an exclusive transaction on an empty database, which ends with
 * the process in any case, so it is never stale. `service.pid` only names the owner for error messages. Throws if the folder is already
 * locked, even by this process.
 */
function lockFolder(folder: string): FolderLock {
  const pidFile = join(folder, 'service.pid')
  const lock = lockFile(join(folder, 'service.lock'), () => `the data folder ${folder} is in use${holderName(pidFile)}`)
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
  return {
    release: () => {
      rmSync(pidFile, { force: true })
      lock.release()
    },
  }
}

/** Locks the key rotation of a data folder. Throws if another process is rotating the key. The lock file gets the owner of the database. */
export const lockRotation = (folder: string): FolderLock =>
  lockFile(join(folder, 'rotation.lock'), () => `another process is changing the key of ${folder}`, join(folder, DATABASE_FILE))

function lockFile(path: string, message: () => string, ownerOf?: string): FolderLock {
  createPrivateFile(path, ownerOf)
  const holder = new Libsql(path, { timeout: 0 })
  try {
    // Without a journal, which would need space. Nothing is ever written.
    holder.exec('pragma journal_mode = off; begin exclusive')
  } catch (cause) {
    holder.close()
    throw new Error(message(), { cause })
  }
  return { release: () => holder.close() }
}

function holderName(pidFile: string): string {
  try {
    return ` by process ${Number.parseInt(readFileSync(pidFile, 'utf8'), 10)}`
  } catch {
    return ''
  }
}

/** Maximum writes per transaction. The first one waits for the last one. */
const MAX_GROUP = 64

interface QueuedWrite {
  readonly work: (connection: Connection) => Promise<unknown>
  readonly origin: Origin
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface GroupCommit {
  write: Database['write']
  /** Resolves when nothing is queued. */
  drained(): Promise<void>
}

/** `db` must have a single connection that is not used otherwise. `run` executes the statements on it that may wait. */
function createGroupCommit(db: Kysely<Tables>, run: RunOffThread): GroupCommit {
  const queue: QueuedWrite[] = []
  let running: Promise<void> | null = null

  const commitAll = async (): Promise<void> => {
    while (queue.length > 0) {
      // Yield to the event loop, so that newly received requests can join the group and consecutive groups do not block others.
      await new Promise((resolve) => setImmediate(resolve))
      try {
        await db.connection().execute((connection) => commitGroup(connection, run, queue))
      } catch (error) {
        for (const write of queue.splice(0)) write.reject(error)
      }
    }
    running = null
  }

  return {
    write: <T>(work: (connection: Connection) => Promise<T>, origin = SERVICE) =>
      new Promise<T>((resolve, reject) => {
        queue.push({ work, origin, resolve: resolve as (value: unknown) => void, reject })
        running ??= commitAll()
      }),
    drained: async () => {
      while (running !== null) await running
    },
  }
}

async function commitGroup(connection: Connection, run: RunOffThread, queue: QueuedWrite[]): Promise<void> {
  const written: { readonly write: QueuedWrite; readonly value: unknown }[] = []
  const members: QueuedWrite[] = []
  let origin: Origin = SERVICE
  try {
    await run('begin immediate')
    while (queue.length > 0 && members.length < MAX_GROUP) {
      const write = queue.shift() as QueuedWrite
      members.push(write)
      if (write.origin !== origin) await setOrigin(connection, write.origin)
      origin = write.origin
      await SAVEPOINT.execute(connection)
      try {
        const value = await write.work(connection)
        await RELEASE.execute(connection)
        written.push({ write, value })
      } catch (error) {
        await ROLLBACK_TO.execute(connection)
        await RELEASE.execute(connection)
        write.reject(error)
      }
    }
    // Other programs that change the database do not act for the last member.
    if (origin !== SERVICE) await setOrigin(connection, SERVICE)
    await run('commit')
  } catch (error) {
    // The transaction itself failed, for example on a full disk. No write of the group was committed.
    await run('rollback').catch(() => undefined)
    for (const write of members.length === 0 ? queue.splice(0) : members) write.reject(error)
    return
  }
  for (const { write, value } of written) write.resolve(value)
}

const SAVEPOINT = sql`savepoint one_write`
const RELEASE = sql`release one_write`
const ROLLBACK_TO = sql`rollback to one_write`

/** Executes a statement without results. Do not use the connection until the promise resolves. */
type RunOffThread = (statement: string) => Promise<void>

/**
 * Returns a function that executes a statement on a thread of the SQLite library. It is for statements that wait for the disk or a lock. Other
 * statements take microseconds in memory and run synchronously, which is several times faster than messages to another thread. It uses the
 * promise API of the library on a connection that was opened by the synchronous API, and checks once that this works.
 */
export async function createOffThreadRunner(db: Libsql.Database): Promise<RunOffThread> {
  const exec = LibsqlPromise.prototype.exec as unknown as (this: Libsql.Database, statement: string) => Promise<void>
  const run: RunOffThread = (statement) => exec.call(db, statement)
  await run('begin immediate')
  if (!db.inTransaction) throw new Error('the SQLite library cannot run statements of this connection in the background')
  await run('rollback')
  return run
}

/**
 * Opens or creates the SQLite database of a data folder and locks the folder for this process. Write-ahead logging lets reads continue
 * during a write; with `synchronous = full`, a commit waits until it is on disk.
 */
export async function openSqlite(folder: string, warn: WarnAboutMode = NO_WARNING): Promise<Database> {
  privateFolder(folder, warn)
  tightenServiceFiles(folder, warn)
  const lock = lockFolder(folder)
  // SQLite creates its other files with the mode of the database file.
  createPrivateFile(join(folder, DATABASE_FILE))
  return openFile(folder, (db) => migrate(db, SQLITE_SCHEMA), lock.release)
}

/**
 * Opens the SQLite database of a data folder while a service may be running on it, so writes must be short. Throws a `RangeError` unless it
 * exists and has the current schema.
 */
export async function openBesideService(folder: string): Promise<Database> {
  if (!existsSync(join(folder, DATABASE_FILE))) throw new RangeError(`there is no database in ${folder}`)
  tightenServiceFiles(folder, NO_WARNING)
  return openFile(folder, requireSchema, () => undefined)
}

async function openFile(folder: string, prepare: (db: Kysely<Tables>) => Promise<void>, release: () => void): Promise<Database> {
  const connections: Kysely<Tables>[] = []
  const close = async (): Promise<void> => {
    for (const connection of connections.reverse()) await connection.destroy()
    release()
  }
  try {
    const file = join(folder, DATABASE_FILE)
    const { db: writer, native, isAlone } = connect(file)
    connections.push(writer)
    await prepare(writer)
    const reader = isAlone ? writer : connect(file).db
    if (!isAlone) connections.push(reader)
    const run = await createOffThreadRunner(native)
    const group = createGroupCommit(writer, run)
    return {
      read: (work) => reader.transaction().execute(work),
      readOne: (query) => query(reader),
      write: group.write,
      otherProcesses: null,
      folder,
      eraseDeleted: null,
      abandon: () => undefined,
      close: async () => {
        await group.drained()
        try {
          // Afterwards all data is in one file, which can be copied. On a full disk, it stays in the log, which the next start reads.
          await run('pragma wal_checkpoint(truncate)')
        } catch (error) {
          if (!isDiskFull(error)) throw error
        } finally {
          await close()
        }
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

const SQLITE_SCHEMA: SchemaDialect = {
  idType: 'integer',
  idColumn: (column) => column.primaryKey().autoIncrement(),
  announceUpdates: async () => undefined,
}

/** Milliseconds to wait for a lock. Only tools that open the file besides the service cause such waits. */
const LOCK_TIMEOUT = 5000

/** `secure_delete` overwrites deleted and replaced data with zeros. */
const SETTINGS = 'pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on'

/** With `isAlone` no other connection can use the file. */
function connect(
  file: string,
  isAlone = false,
): { readonly db: Kysely<Tables>; readonly native: Libsql.Database; readonly isAlone: boolean } {
  const native = new Libsql(file, { timeout: LOCK_TIMEOUT })
  try {
    native.exec(isAlone ? `pragma locking_mode = exclusive; ${SETTINGS}` : SETTINGS)
  } catch (error) {
    native.close()
    if (isAlone || !isDiskFull(error)) throw error
    // There is no space for the index of the log, a file that connections share. A connection that is alone has the index in its memory.
    return connect(file, true)
  }
  return { native, isAlone, db: new Kysely<Tables>({ dialect: sqliteDialect(cachingStatements(native)) }) }
}

/** Maximum prepared statements per connection. */
const MAX_STATEMENTS = 200

type Statement = ReturnType<SqliteDatabase['prepare']>

/** Caches prepared statements by text, because the service repeats a small set of queries. */
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

/**
 * Opens the database of a folder for reading, even while a service runs on it: with write-ahead logging, a reader sees one snapshot and does
 * not block writers. Throws if there is no database.
 */
export function openRawSqlite(folder: string): RawStore {
  const file = join(folder, DATABASE_FILE)
  if (!existsSync(file)) throw new RangeError(`there is no database in ${folder}`)
  tightenServiceFiles(folder, NO_WARNING)
  return rawStore(file, () => undefined)
}

/**
 * Creates a database in a folder that has none. It gets its final name when it is closed by `commit`; `close` deletes it. The folder is locked
 * until then. Throws if the folder has a database or is locked by another process.
 */
export function createRawSqlite(folder: string, warn: WarnAboutMode = NO_WARNING): RawStore & { commit(): Promise<void> } {
  privateFolder(folder, warn)
  tightenServiceFiles(folder, warn)
  const lock = lockFolder(folder)
  const file = join(folder, DATABASE_FILE)
  const temporary = `${file}.part`
  const clear = (): void => {
    for (const suffix of ['', ...SIDE_FILES]) rmSync(`${temporary}${suffix}`, { force: true })
  }
  try {
    if (existsSync(file)) throw new RangeError(`${folder} already has a database`)
    clear()
    createPrivateFile(temporary)
    const store = rawStore(temporary, () => {
      clear()
      lock.release()
    })
    return {
      ...store,
      commit: async () => {
        await store.db.destroy()
        // SQLite would apply the log that a killed process left for an earlier, deleted database.
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

/** Suffixes of the files that SQLite creates next to a database. */
const SIDE_FILES = ['-wal', '-shm', '-journal']

function rawStore(file: string, closed: () => void): RawStore {
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

/** Enables transactional DDL, which SQLite supports but Kysely does not use. Otherwise a killed process could leave half a schema. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** A SQLite dialect with atomic migrations. */
function sqliteDialect(database: SqliteDatabase): Dialect {
  const dialect = new SqliteDialect({ database })
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
}

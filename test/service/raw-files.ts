/** Reads the files of a database without the program, like `strings`. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import pg from 'pg'
import type { Store } from './harness.ts'

/** The folders with a store's data; on PostgreSQL those of its database and of the server's transaction log. */
async function rawFolders(store: Store): Promise<string[]> {
  if (!store.database) return [store.dataFolder as string]
  const server = join(new URL(store.database.replace('@/', '@_/')).searchParams.get('host') as string, 'data')
  const oid = await numberOf(store, 'select oid as number from pg_database where datname = current_database()')
  return [join(server, 'base', String(oid)), join(server, 'global'), join(server, 'pg_wal')]
}

/** The files of a store that contain one of the texts, including transaction log and images. On PostgreSQL after a checkpoint. */
export async function filesWith(store: Store, ...texts: readonly string[]): Promise<string[]> {
  if (store.database) await runSql(store, ['checkpoint'])
  const files = (await rawFolders(store)).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return files.filter((file) => {
    // The server continues meanwhile and may delete files.
    if (file.endsWith('secrets.key') || !statSync(file, { throwIfNoEntry: false })?.isFile()) return false
    const octets = readFileSync(file)
    return texts.some((text) => octets.includes(text))
  })
}

/** The rows that a query of PostgreSQL returns, over its own connection. */
export async function queryPostgres(url: string, ...statements: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** The number that a query returns, over its own connection: a service may be running on the database. */
export async function numberOf(store: Store, query: string): Promise<number> {
  if (store.database) return Number((await queryPostgres(store.database, query))[0]?.['number'])
  const db = new Libsql(join(store.dataFolder as string, 'service.db'))
  const row = db.prepare(query).get() as { number: number }
  db.close()
  return row.number
}

/** Runs statements on a database with tools that, unlike the service, do not overwrite deleted values. */
export async function runSql(store: Store, statements: readonly string[]): Promise<void> {
  if (store.database) return void (await queryPostgres(store.database, ...statements))
  const db = new Libsql(join(store.dataFolder as string, 'service.db'))
  db.exec('pragma secure_delete = off')
  for (const statement of statements) db.exec(statement)
  db.close()
}

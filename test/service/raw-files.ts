/** Reads the files of a database without the program, like `strings`. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import Libsql from 'libsql'
import pg from 'pg'
import { expect } from 'vitest'
import type { Store } from './harness.ts'

/** The folders with a store's data; on PostgreSQL those of its database and the server's transaction log. */
async function rawFolders(store: Store): Promise<string[]> {
  if (!store.database) return [store.dataFolder as string]
  const server = join(new URL(store.database.replace('@/', '@_/')).searchParams.get('host') as string, 'data')
  const oid = await numberOf(store, 'select oid as number from pg_database where datname = current_database()')
  return [join(server, 'base', String(oid)), join(server, 'pg_wal'), join(server, 'global')]
}

/** The files of a store that contain one of the texts, including transaction log and images. On PostgreSQL after a checkpoint. */
export async function filesWith(store: Store, ...texts: readonly string[]): Promise<string[]> {
  if (store.database) await runSql(store, ['checkpoint'])
  const patterns = texts.flatMap((text) => ['-e', text])
  // The server continues meanwhile; deleted files are only mentioned on standard error.
  const { stdout, error } = spawnSync('grep', ['-rlaF', '--exclude=secrets.key', ...patterns, ...(await rawFolders(store))], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  expect(error).toBeUndefined()
  return stdout.split('\n').filter((file) => file !== '')
}

/** The number that a query returns, over its own connection: a service may be running on the database. */
export async function numberOf(store: Store, query: string): Promise<number> {
  if (store.database) {
    const client = new pg.Client({ connectionString: store.database })
    await client.connect()
    const { rows } = await client.query(query)
    await client.end()
    return Number(rows[0].number)
  }
  const db = new Libsql(join(store.dataFolder as string, 'service.db'))
  const row = db.prepare(query).get() as { number: number }
  db.close()
  return row.number
}

/** Runs statements on a database with tools that, unlike the service, do not overwrite deleted values. */
export async function runSql(store: Store, statements: readonly string[]): Promise<void> {
  if (store.database) {
    const client = new pg.Client({ connectionString: store.database })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
    return
  }
  const db = new Libsql(join(store.dataFolder as string, 'service.db'))
  db.exec('pragma secure_delete = off')
  for (const statement of statements) db.exec(statement)
  db.close()
}

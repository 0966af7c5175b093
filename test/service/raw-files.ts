/** What can be read in the files of a database without the program, as by `strings`. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import Libsql from 'libsql'
import pg from 'pg'
import { expect } from 'vitest'
import type { Store } from './harness.ts'

/** The folders that a store has its data in; on PostgreSQL those of its database, and what the server has for all: its transaction log, too. */
async function rawFolders(store: Store): Promise<string[]> {
  if (!store.database) return [store.dataDirectory as string]
  const server = join(new URL(store.database.replace('@/', '@_/')).searchParams.get('host') as string, 'data')
  const oid = await numberOf(store, 'select oid as number from pg_database where datname = current_database()')
  return [join(server, 'base', String(oid)), join(server, 'pg_wal'), join(server, 'global')]
}

/** Files of a store that have one of the texts in them, transaction log and images too. On PostgreSQL after a checkpoint. */
export async function filesWith(store: Store, ...texts: readonly string[]): Promise<string[]> {
  if (store.database) await runSql(store, ['checkpoint'])
  const patterns = texts.flatMap((text) => ['-e', text])
  // A server goes on with its files meanwhile: those that are gone are said on standard error alone.
  const { stdout, error } = spawnSync('grep', ['-rlaF', '--exclude=secrets.key', ...patterns, ...(await rawFolders(store))], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  expect(error).toBeUndefined()
  return stdout.split('\n').filter((file) => file !== '')
}

/** The number that a query gives, by a connection of its own: a service may run on the database. */
export async function numberOf(store: Store, query: string): Promise<number> {
  if (store.database) {
    const client = new pg.Client({ connectionString: store.database })
    await client.connect()
    const { rows } = await client.query(query)
    await client.end()
    return Number(rows[0].number)
  }
  const db = new Libsql(join(store.dataDirectory as string, 'service.db'))
  const row = db.prepare(query).get() as { number: number }
  db.close()
  return row.number
}

/** Runs statements on a database by other means than the program’s, which overwrite nothing that they delete. */
export async function runSql(store: Store, statements: readonly string[]): Promise<void> {
  if (store.database) {
    const client = new pg.Client({ connectionString: store.database })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
    return
  }
  const db = new Libsql(join(store.dataDirectory as string, 'service.db'))
  db.exec('pragma secure_delete = off')
  for (const statement of statements) db.exec(statement)
  db.close()
}

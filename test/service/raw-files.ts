/** What can be read in the files of a database without the program, as by `strings`. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import Libsql from 'libsql'
import pg from 'pg'
import { expect } from 'vitest'
import type { Store } from './harness.ts'

/** The folder that a store has its database in; on PostgreSQL that of the whole server. */
export const rawFolder = ({ database, dataDirectory }: Store): string =>
  database ? join(new URL(database.replace('@/', '@_/')).searchParams.get('host') as string, 'data') : (dataDirectory as string)

/** Files of a store that have a text in them, its transaction log and images too. On PostgreSQL after a checkpoint. */
export async function filesWith(store: Store, text: string): Promise<string[]> {
  if (store.database) await runSql(store, ['checkpoint'])
  const folder = rawFolder(store)
  // A server goes on with its files meanwhile: those that are gone are said on standard error alone.
  const { stdout, error } = spawnSync('grep', ['-rlaF', '--exclude=secrets.key', '--', text, folder], { encoding: 'utf8' })
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

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startService } from '../../../../src/service/index.ts'
import type { Connection, Database } from '../../../../src/service/store/database.ts'
import { openPostgres } from '../../../../src/service/store/postgres/open-postgres.ts'
import { freshDatabase, inParallel, LOOPBACK, TEST_KEY } from '../../harness.ts'
import { serviceProcesses } from '../../service-process.ts'

const serve = serviceProcesses()
const account = { created: '2026-01-01T00:00:00' }

async function during<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const errors: unknown[] = []
  const database = await openPostgres({ url: await freshDatabase(), onError: (error) => errors.push(error) })
  try {
    return await work(database)
  } finally {
    await database.close()
    expect(errors).toEqual([])
  }
}

const addAccount = (connection: Connection) => connection.insertInto('accounts').values(account).returning('id').executeTakeFirstOrThrow()

test.each<[string, (url: string) => string, RegExp]>([
  ['another URL', () => 'mysql://root:secret@db.test/x', /^the URL of the database must begin with postgres:\/\/ or postgresql:\/\/$/],
  ['a broken URL', () => 'postgres://user:secret@[::1/x', /^the URL of the database cannot be used/],
  ['no server', () => 'postgres://user:secret@127.0.0.1:1/x', /^the PostgreSQL database "x" at 127\.0\.0\.1:1 cannot be reached/],
  ['no socket', () => 'postgres://user:secret@/x?host=/nonexistent', /^the PostgreSQL database "x" at \/nonexistent cannot be reached/],
  ['no such database', (url) => url.replace(/\/test_\w+/, '/none'), /^the PostgreSQL database "none" at \S+ does not exist$/],
  ['a wrong password', (url) => url.replace('postgres@', 'guarded:secret@'), /rejects this user: password authentication failed/],
  [
    'no permission to create tables',
    (url) => url.replace('postgres@', 'guarded:right@'),
    /denies a permission that the service needs|cannot be migrated to the schema/,
  ],
])('reports %s at startup, without the password', async (_name, urlOf, message) => {
  const error = await openPostgres({ url: urlOf(await freshDatabase({ tables: false })), onError: () => undefined }).catch((why) => why)
  expect(error.message).toMatch(message)
  expect(`${error.message} ${error.cause}`).not.toContain('secret')
})

test('processes that start together on an empty database create its tables and administrator once', async () => {
  const database = await freshDatabase({ tables: false })
  const started = await Promise.all(Array.from({ length: 4 }, () => serve({ dataFolder: null, database })))
  const ours = await startService({ dataFolder: null, database, secretsKey: TEST_KEY, listen: LOOPBACK, dns: null })
  expect(ours.token).toBeNull()
  await ours.stop()
  const opened = await openPostgres({ url: database, onError: () => undefined })
  expect(await opened.read((connection) => connection.selectFrom('users').select('username').execute())).toEqual([{ username: 'admin' }])
  await opened.close()
  for (const { kill } of started) await kill()
})

test('compares text by octets with any collation of the database', () =>
  during(async (database) => {
    const { rows } = await database.read((connection) =>
      sql`select table_name, column_name from information_schema.columns
        where table_schema = 'public' and data_type = 'text' and collation_name is distinct from 'C'`.execute(connection),
    )
    expect(rows).toEqual([])
    const { rows: plain } = await database.read((connection) => sql<{ plain: boolean }>`select 'a' < 'B' as plain`.execute(connection))
    expect(plain).toEqual([{ plain: true }])
  }))

test('bigint columns are numbers, including the largest serial', () =>
  during(async (database) => {
    const serial = 2 ** 32 - 1
    await database.write((connection) =>
      connection
        .insertInto('served_zones')
        .values({ name: 'x', domain_id: 1, serial, served: 1, revision: 2 ** 52 })
        .execute(),
    )
    const row = await database.read((connection) => connection.selectFrom('served_zones').selectAll().executeTakeFirstOrThrow())
    expect(row).toEqual({ name: 'x', domain_id: 1, serial, served: 1, revision: 2 ** 52 })
  }))

test('a failed write leaves nothing, and reads see one snapshot', () =>
  during(async (database) => {
    await expect(
      database.write(async (connection) => {
        await addAccount(connection)
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    const counts = await database.read(async (connection) => {
      const count = () => connection.selectFrom('accounts').select('id').execute()
      const before = await count()
      await database.write(addAccount)
      return [before.length, (await count()).length]
    })
    expect(counts).toEqual([0, 0])
    await expect(database.read(addAccount)).rejects.toMatchObject({ code: '25006' })
  }))

test('deadlocked transactions are retried', () =>
  during(async (database) => {
    const [first, second] = [await database.write(addAccount), await database.write(addAccount)]
    let runs = 0
    const held = new Set<object>()
    const touch = (connection: Connection, { id }: { id: number }) =>
      sql`update accounts set created = created || '+' where id = ${id}`.execute(connection)
    await inParallel(4, 4, (index) =>
      database.write(async (connection) => {
        runs += 1
        for (const row of index % 2 ? [first, second] : [second, first]) {
          await touch(connection, row)
          held.add(row)
          // Each transaction locks one row and then needs the other.
          for (let wait = 0; held.size < 2 && wait < 200; wait += 1) await sleep(10)
        }
      }),
    )
    const rows = await database.read((connection) => connection.selectFrom('accounts').select('created').execute())
    expect(rows.map(({ created }) => created)).toEqual([`${account.created}${'+'.repeat(4)}`, `${account.created}${'+'.repeat(4)}`])
    expect(runs).toBeGreaterThan(4)
  }))

test('reports a duplicate key after the retries', () =>
  during(async (database) => {
    const { id } = await database.write(addAccount)
    const again = database.write((connection) =>
      connection
        .insertInto('accounts')
        .values({ ...account, id })
        .execute(),
    )
    await expect(again).rejects.toMatchObject({ code: '23505' })
  }))

test('reads do not wait for writes that wait for a row', () =>
  during(async (database) => {
    const { id } = await database.write(addAccount)
    const touch = (connection: Connection) => sql`update accounts set created = created where id = ${id}`.execute(connection)
    let letGo = (): void => undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let holds = (): void => undefined
    const holding = new Promise<void>((resolve) => {
      holds = resolve
    })
    const holder = database.write(async (connection) => {
      await touch(connection)
      holds()
      await held
    })
    await holding
    const waiting = Array.from({ length: 40 }, () => database.write(touch))
    expect(
      await inParallel(20, 5, () => database.read((connection) => connection.selectFrom('accounts').select('id').execute())),
    ).toHaveLength(20)
    letGo()
    await Promise.all([holder, ...waiting])
  }))

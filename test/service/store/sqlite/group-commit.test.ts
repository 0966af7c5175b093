import { join } from 'node:path'
import Libsql from 'libsql'
import { expect, test } from 'vitest'
import { createOffThreadRunner, openSqlite } from '../../../../src/service/store/sqlite/open-sqlite.ts'
import { inParallel, temporaryDirectory } from '../../harness.ts'

const account = { created: '2026-01-01T00:00:00' }

/** The number of turns of the event loop until the work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let done = false
  const ended = work.finally(() => {
    done = true
  })
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve))
    turns += 1
  }
  await ended
  return turns
}

test('the event loop continues during a commit', async () => {
  const db = new Libsql(join(temporaryDirectory(), 'large.db'))
  db.exec('pragma journal_mode = wal; pragma synchronous = full; create table large (octets blob)')
  const run = await createOffThreadRunner(db)
  await run('begin immediate')
  // More than the library writes before the commit on its own.
  const insert = db.prepare('insert into large values (randomblob(4000))')
  for (let index = 0; index < 5000; index += 1) insert.run()
  expect(await turnsDuring(run('commit'))).toBeGreaterThan(20)
  expect(db.prepare('select count(*) as rows from large').get()).toMatchObject({ rows: 5000 })
  db.close()
})

test('a failed commit rejects the write', async () => {
  const db = new Libsql(join(temporaryDirectory(), 'refused.db'))
  const run = await createOffThreadRunner(db)
  await expect(run('commit')).rejects.toMatchObject({ code: 'SQLITE_ERROR' })
  await expect(run('no statement')).rejects.toThrow(/syntax error/)
  db.close()
})

test('the event loop and reads continue while a write waits for a lock, and the write succeeds afterwards', async () => {
  const folder = temporaryDirectory()
  const database = await openSqlite(folder)
  const other = new Libsql(join(folder, 'service.db'))
  const add = () => database.write((connection) => connection.insertInto('accounts').values(account).returning('id').executeTakeFirst())
  await add()
  other.exec('begin immediate')
  const writes = Promise.all(Array.from({ length: 20 }, add))
  const read = () => database.read((connection) => connection.selectFrom('accounts').select('id').execute())
  // A blocked loop would have no turn until the time limit of the lock, and the writes would fail. A few turns show that it has them: more would
  // reach the limit on a busy machine.
  for (let reads = 0; reads < 5; reads += 1) {
    expect(await read()).toHaveLength(1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  other.exec('rollback')
  other.close()
  expect(new Set((await writes).map((row) => row?.id)).size).toBe(20)
  expect(await read()).toHaveLength(21)
  await database.close()
})

test('the event loop has a turn between groups of writes', async () => {
  const database = await openSqlite(temporaryDirectory())
  const add = () => database.write((connection) => connection.insertInto('accounts').values(account).execute())
  // A group has at most 64 writes.
  expect(await turnsDuring(inParallel(1000, 1000, add))).toBeGreaterThan(1000 / 64)
  await database.close()
})

test('a failed write changes nothing and does not affect others in its group', async () => {
  const database = await openSqlite(temporaryDirectory())
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) =>
      database.write(async (connection) => {
        const { id } = await connection.insertInto('accounts').values(account).returning('id').executeTakeFirstOrThrow()
        if (index % 3 === 0) throw new Error(`no ${index}`)
        // A violated SQLite constraint.
        if (index % 3 === 1)
          await connection
            .insertInto('accounts')
            .values({ ...account, id })
            .execute()
        return index
      }),
    ),
  )
  outcomes.forEach((outcome, index) => {
    if (index % 3 === 2) expect(outcome).toEqual({ status: 'fulfilled', value: index })
    else expect(outcome).toMatchObject({ status: 'rejected' })
  })
  expect(await database.read((connection) => connection.selectFrom('accounts').select('id').execute())).toHaveLength(66)
  await database.close()
})

test('a read sees one snapshot of committed writes', async () => {
  const database = await openSqlite(temporaryDirectory())
  const count = () => database.read((connection) => connection.selectFrom('accounts').selectAll().execute()).then((rows) => rows.length)
  let done = false
  const writing = inParallel(100, 10, () =>
    database.write(async (connection) => {
      await connection.insertInto('accounts').values(account).execute()
      await connection.insertInto('accounts').values(account).execute()
    }),
  ).finally(() => {
    done = true
  })
  while (!done) {
    expect((await count()) % 2).toBe(0)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await writing
  expect(await count()).toBe(200)
  await database.close()
})

test('closing finishes queued writes', async () => {
  const folder = temporaryDirectory()
  const database = await openSqlite(folder)
  const writes = Array.from({ length: 300 }, () =>
    database.write((connection) => connection.insertInto('accounts').values(account).execute()),
  )
  await database.close()
  await Promise.all(writes)
  const again = await openSqlite(folder)
  expect(await again.read((connection) => connection.selectFrom('accounts').select('id').execute())).toHaveLength(300)
  await again.close()
  await expect(again.write(async () => 1)).rejects.toThrow()
})

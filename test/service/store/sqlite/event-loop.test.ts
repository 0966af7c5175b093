import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import Libsql from 'libsql'
import { expect, test } from 'vitest'
import { createOffThreadRunner } from '../../../../src/service/store/sqlite/group-commit.ts'
import { openSqlite } from '../../../../src/service/store/sqlite/open-sqlite.ts'
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
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const writes = Promise.all(Array.from({ length: 20 }, add))
  const read = () => database.read((connection) => connection.selectFrom('accounts').select('id').execute())
  const until = performance.now() + 4_000
  let reads = 0
  while (performance.now() < until) {
    expect(await read()).toHaveLength(1)
    reads += 1
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  delay.disable()
  other.exec('rollback')
  other.close()
  expect(new Set((await writes).map((row) => row?.id)).size).toBe(20)
  expect(reads).toBeGreaterThan(20)
  // In milliseconds: a blocked loop would have stopped for all of the 4,000.
  expect(delay.max / 1e6).toBeLessThan(2_000)
  expect(await read()).toHaveLength(21)
  await database.close()
})

test('thousands of writes leave the event loop free most of the time', async () => {
  const database = await openSqlite(temporaryDirectory())
  const delay = monitorEventLoopDelay({ resolution: 2 })
  delay.enable()
  await inParallel(5000, 64, () => database.write((connection) => connection.insertInto('accounts').values(account).execute()))
  delay.disable()
  expect(delay.percentile(95) / 1e6).toBeLessThan(50)
  await database.close()
})

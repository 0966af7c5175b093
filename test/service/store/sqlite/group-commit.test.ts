import { expect, test } from 'vitest'
import { openSqlite } from '../../../../src/service/store/sqlite/open-sqlite.ts'
import { inParallel, temporaryDirectory } from '../../harness.ts'

const account = { created: '2026-01-01T00:00:00' }

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

import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { findSchema, migrate, SCHEMAS } from '../../../src/service/store/migrate.ts'
import { createRawSqlite } from '../../../src/service/store/sqlite/open-sqlite.ts'
import { temporaryDirectory } from '../harness.ts'

test('an interrupted migration changes nothing and can be repeated', async () => {
  const { db, dialect, close } = createRawSqlite(temporaryDirectory())
  onTestFinished(close)
  const former = SCHEMAS[4] as string
  await migrate(db, dialect, former)
  const tables = async (): Promise<string[]> => (await db.introspection.getTables()).map(({ name }) => name).sort()
  const before = await tables()
  // The last migration fails because of it, after the others.
  await sql`create table tagged_objects (id integer)`.execute(db)
  await expect(migrate(db, dialect)).rejects.toThrow('the database cannot be migrated to the schema of this version')
  await sql`drop table tagged_objects`.execute(db)
  expect(await tables()).toEqual(before)
  expect(await findSchema(db, dialect)).toBe(former)
  await migrate(db, dialect)
  expect(await findSchema(db, dialect)).toBe(SCHEMAS.at(-1))
})

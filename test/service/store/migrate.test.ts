import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { findSchema, migrate, SCHEMA_NAME } from '../../../src/service/store/schema.ts'
import { createRawSqlite } from '../../../src/service/store/sqlite/open-sqlite.ts'
import { temporaryDirectory } from '../harness.ts'

test('an interrupted migration changes nothing and can be repeated', async () => {
  const { db, dialect, close } = createRawSqlite(temporaryDirectory())
  onTestFinished(close)
  // Creating this table fails because of it, after others.
  await sql`create table jobs (id integer)`.execute(db)
  await expect(migrate(db, dialect)).rejects.toThrow('the database cannot be migrated to the schema of this version')
  expect((await db.introspection.getTables()).map(({ name }) => name)).toEqual(['jobs'])
  expect(await findSchema(db)).toBeNull()
  await sql`drop table jobs`.execute(db)
  await migrate(db, dialect)
  expect(await findSchema(db)).toBe(SCHEMA_NAME)
})

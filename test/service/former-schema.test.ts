/** A database with the schema of another version of the program. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backUpService } from '../../src/service/backup.ts'
import { rotateKey } from '../../src/service/secrets/rotate-key.ts'
import { SCHEMA_NAME } from '../../src/service/store/schema.ts'
import { during, freshStore, placeOf, temporaryDirectory } from './harness.ts'
import { runSql } from './raw-files.ts'

test('is refused unchanged by every command that opens it', async () => {
  const store = await freshStore()
  await during(store, async () => undefined)
  const rename = (from: string, to: string) => runSql(store, [`update kysely_migration set name = '${to}' where name = '${from}'`])
  await rename(SCHEMA_NAME, '013-quotas')
  const refusal = /has the schema 013-quotas of another version of the program, and is unchanged/
  await expect(during(store, async () => undefined)).rejects.toThrow(refusal)
  await expect(backUpService(placeOf(store), join(temporaryDirectory(), 'x.backup'))).rejects.toThrow(refusal)
  await expect(rotateKey(placeOf(store), null)).rejects.toThrow(refusal)
  await rename('013-quotas', SCHEMA_NAME)
  await during(store, (client) => client.ok('GET', '/domains'))
})

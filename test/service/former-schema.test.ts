/** A database and a backup with the schema in which only domains had tags. */
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { backUpService, type DatabaseLocation, restoreService } from '../../src/service/backup.ts'
import type { RawStore } from '../../src/service/store/database.ts'
import { migrate } from '../../src/service/store/migrate.ts'
import { openRawPostgres } from '../../src/service/store/postgres/open-postgres.ts'
import { createRawSqlite } from '../../src/service/store/sqlite/open-sqlite.ts'
import { hashToken } from '../../src/service/store/token-store.ts'
import { connect, during, freshDatabase, ON_POSTGRES, TEST_KEY, temporaryDirectory } from './harness.ts'

const FORMER = '005-users'
const NOW = '2026-01-31T09:00:00'

/** Two domains that share one tag; the first has another one. */
async function fill({ db, dialect }: RawStore): Promise<void> {
  await migrate(db, dialect, FORMER)
  await sql`insert into accounts (created) values (${NOW})`.execute(db)
  await sql`insert into users (account_id, username, email, created) values (1, 'alice', 'alice@example.com', ${NOW})`.execute(db)
  await sql`insert into tokens (user_id, label, hash, prefix, scopes, created)
    values (1, 'old', ${hashToken('alice')}, 'alice', '*', ${NOW})`.execute(db)
  for (const domain of ['one.example', 'two.example']) {
    await sql`insert into domains
      (account_id, domain, type, status, description, "group", soa_email, master_ips, axfr_ips, errors, created, updated,
       expire_sec, refresh_sec, retry_sec, ttl_sec, record_count)
      values (1, ${domain}, 'master', 'active', '', '', 'hostmaster@example.com', '[]', '[]', '', ${NOW}, ${NOW}, 0, 0, 0, 0, 0)`.execute(
      db,
    )
  }
  await sql`insert into tags (account_id, label, folded) values (1, 'Both', 'both'), (1, 'first', 'first')`.execute(db)
  await sql`insert into domain_tags (domain_id, tag_id) values (1, 1), (2, 1), (1, 2)`.execute(db)
}

async function makeFormer(): Promise<DatabaseLocation> {
  if (ON_POSTGRES) {
    const database = await freshDatabase({ tables: false })
    const store = await openRawPostgres(database)
    await fill(store)
    await store.close()
    return { database }
  }
  const dataFolder = join(temporaryDirectory(), 'data')
  const store = createRawSqlite(dataFolder)
  await fill(store)
  await store.commit()
  return { dataFolder }
}

/** The tags of a service on a location. */
async function tagsAt(place: DatabaseLocation): Promise<unknown> {
  return during({ secretsKey: TEST_KEY, ...place }, async (_, { baseUrl }) => {
    const { client, close } = connect(baseUrl, 'alice')
    const carriers = async (label: string) =>
      (await client.ok('GET', `/tags/${label}`)).data.map(({ type, data }: { type: string; data: { id: number } }) => `${type} ${data.id}`)
    await client.ok('PUT', '/domains/2', { tags: ['both', 'second'] })
    const domains = (await client.ok('GET', '/domains')).data.map(({ tags }: { tags: string[] }) => tags.join())
    const filtered = (await client.ok('GET', '/domains', undefined, { 'x-filter': '{"tags":"first"}' })).results
    const found = { domains, both: await carriers('both'), filtered }
    await close()
    return found
  })
}

test('the tags of domains survive the migration, also from a backup', async () => {
  const former = await makeFormer()
  const file = join(temporaryDirectory(), 'former.backup')
  await backUpService(former, file)
  const restored: DatabaseLocation = { dataFolder: join(temporaryDirectory(), 'restored') }
  await restoreService(restored, file)
  const expected = { domains: ['Both,first', 'Both,second'], both: ['domain 1', 'domain 2'], filtered: 1 }
  expect(await tagsAt(former)).toEqual(expected)
  expect(await tagsAt(restored)).toEqual(expected)
})

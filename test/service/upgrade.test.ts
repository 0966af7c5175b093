/** Databases and backups of earlier releases, as their programs left them: the present version opens and restores each with all that it has. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { restoreService } from '../../src/service/backup.ts'
import { findSchema, SCHEMA, SCHEMA_NAME } from '../../src/service/store/schema.ts'
import { during, freshDatabase, freshStore, ON_POSTGRES, openStore, placeOf, type Store, TEST_KEY, temporaryDirectory } from './harness.ts'
import { queryPostgres } from './raw-files.ts'

const fixture = (name: string): Buffer => gunzipSync(readFileSync(new URL(`fixtures/${name}.gz`, import.meta.url)))

async function storeOf(version: string): Promise<Store> {
  if (!ON_POSTGRES) {
    const dataFolder = temporaryDirectory()
    writeFileSync(join(dataFolder, 'service.db'), fixture(`database-${version}.sqlite`), { mode: 0o600 })
    return { dataFolder, secretsKey: TEST_KEY }
  }
  const database = await freshDatabase({ tables: false })
  await queryPostgres(database, fixture(`database-${version}.sql`).toString())
  return { dataFolder: null, database, imageFolder: temporaryDirectory(), secretsKey: TEST_KEY }
}

/** The tables with their columns. */
async function layoutOf(store: Store): Promise<Record<string, string[]>> {
  const database = await openStore(store)
  const tables = await database.readOne((connection) => connection.introspection.getTables())
  expect(await database.readOne((connection) => findSchema(connection))).toBe(SCHEMA_NAME)
  await database.close()
  const known = tables.filter(({ name }) => Object.hasOwn(SCHEMA, name)).sort((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(known.map(({ name, columns }) => [name, columns.map((column) => column.name).sort()]))
}

const backupOf = (version: string): string => fileURLToPath(new URL(`fixtures/backup-${version}.jsonl`, import.meta.url))

/** A store restored from a backup of a version. */
async function restoredFrom(version: string): Promise<Store> {
  const store = ON_POSTGRES
    ? { dataFolder: null, database: await freshDatabase({ tables: false }), imageFolder: temporaryDirectory(), secretsKey: TEST_KEY }
    : { dataFolder: join(temporaryDirectory(), 'made'), secretsKey: TEST_KEY }
  expect((await restoreService(placeOf(store), backupOf(version))).rows).toBeGreaterThan(20)
  return store
}

test.each([
  ['database', '0.1.0', storeOf],
  ['backup', '0.1.0', restoredFrom],
  ['backup', '0.2.0', restoredFrom],
])('a %s of version %s', async (_title, version, open) => {
  const store = await open(version)
  await during({ ...store, bootstrapToken: 'alice-token-of-the-first-release' }, async (client, service) => {
    const { data } = await client.ok('GET', '/domains')
    expect(data).toMatchObject([{ domain: 'alice.example', tags: ['production'], axfr_ips: ['192.0.2.53'] }])
    const path = `/domains/${data[0].id}`
    expect((await client.ok('GET', `${path}/records`)).data.map(({ type }: { type: string }) => type)).toEqual(['A', 'MX'])
    await client.ok('PUT', `${path}/records/1`, { target: '192.0.2.9' })
    await service.flush()
    expect((await client.ok('GET', `${path}/zone-file`)).zone_file.join()).toMatch(/2026\d{6}.*192\.0\.2\.9/)
    for (const list of ['/compute/instances', '/profile/sshkeys']) expect((await client.ok('GET', list)).results).toBe(1)
  })
  expect(await layoutOf(store)).toEqual(await layoutOf(await freshStore()))
})

test.runIf(ON_POSTGRES)('a backup of an earlier version is not restored into tables of a later one', async () => {
  const database = await freshDatabase()
  await expect(restoreService({ database }, backupOf('0.1.0'))).rejects.toThrow('needs a database without tables')
})

import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { backUpService, type DatabaseLocation, restoreService } from '../../src/service/backup.ts'
import { UNLIMITED } from '../../src/service/index.ts'
import { BACKUP_TABLES } from '../../src/service/store/backup.ts'
import { SCHEMA_NAME } from '../../src/service/store/schema.ts'
import { rounds } from '../support/random.ts'
import { nothingAcknowledged, startWriters } from './acknowledged.ts'
import { during, freshDatabase, freshStore, MASTER, ON_POSTGRES, openStore, placeOf, TEST_KEY, temporaryDirectory } from './harness.ts'

const NOW = Date.UTC(2026, 0, 31, 9)
const folder = temporaryDirectory()
const whole = join(folder, 'whole.backup')

/** An empty location for a restore. */
const emptyPlace = async (): Promise<DatabaseLocation> =>
  ON_POSTGRES ? { database: await freshDatabase({ tables: false }) } : { dataFolder: join(temporaryDirectory(), 'made') }

/** A database can be restored only if it is empty. */
async function expectEmpty(place: DatabaseLocation): Promise<void> {
  if ('dataFolder' in place) expect(readdirSync(place.dataFolder)).toEqual(['service.lock'])
  else await restoreService(place, whole)
}

/** Empty locations; of both kinds if the tests run on PostgreSQL. */
const emptyPlaces = async (): Promise<DatabaseLocation[]> => [
  { dataFolder: join(temporaryDirectory(), 'made') },
  ...(ON_POSTGRES ? [{ database: await freshDatabase({ tables: false }) }, { database: await freshDatabase() }] : []),
]

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n')

/** Runs a service on a location during `work`. */
const at = <T>(place: DatabaseLocation, work: Parameters<typeof during<T>>[1]): Promise<T> =>
  during({ ...UNLIMITED, ...place, ...('database' in place ? { secretsKey: TEST_KEY } : {}) }, work)

let source: DatabaseLocation

beforeAll(async () => {
  source = placeOf(await freshStore())
  await at(source, async (client, { flush }) => {
    for (const domain of ['one.example', 'two.example', 'gone.example']) {
      const { id } = await client.ok('POST', '/domains', { ...MASTER, domain, tags: ['Kept', 'größe'], axfr_ips: ['192.0.2.1'] })
      for (const target of ['plain', 'größe "quoted"\n\t\\', '\u2028', "o'clock"])
        await client.ok('POST', `/domains/${id}/records`, { type: 'TXT', target })
      await client.ok('POST', `/domains/${id}/records`, { type: 'CAA', tag: 'issue', target: 'ca.example.net' })
      await flush()
      if (domain === 'gone.example') await client.ok('DELETE', `/domains/${id}`)
    }
  })
  await backUpService(source, whole, NOW)
})

test('contains every table', async () => {
  const tables = linesOf(whole).flatMap((line) => (line.startsWith('{"table"') ? [JSON.parse(line).table] : []))
  expect(tables).toEqual(Object.keys(BACKUP_TABLES))
  const database = await openStore({ dataFolder: null, ...source })
  const present = await database.read((connection) => connection.introspection.getTables())
  await database.close()
  // Which key is in use, and who is writing, belongs to one database, not to its data.
  expect(present.map(({ name }) => name).sort()).toEqual([...tables, 'secret_key', ...(ON_POSTGRES ? [] : ['audit_origin'])].sort())
})

test('the leftover log of a deleted database is not applied to a restored one', async () => {
  const killed = temporaryDirectory()
  const dataFolder = temporaryDirectory()
  await at({ dataFolder: killed }, async (client) => {
    await client.ok('POST', '/domains', { ...MASTER, domain: 'former.example' })
    copyFileSync(join(killed, 'service.db-wal'), join(dataFolder, 'service.db-wal'))
  })
  await restoreService({ dataFolder }, whole)
  await at({ dataFolder }, async (client) => {
    const domains = (await client.ok('GET', '/domains')).data.map(({ domain }: { domain: string }) => domain)
    expect(domains).toEqual(['one.example', 'two.example'])
  })
})

test('is readable only by its owner and has a header', () => {
  expect(statSync(whole).mode & 0o777).toBe(0o600)
  expect(JSON.parse(linesOf(whole)[0] as string)).toMatchObject({ format: 'zonewright-backup', version: 1, created: '2026-01-31T09:00:00' })
  expect(readdirSync(folder)).toEqual(['whole.backup'])
})

test('a restored database of either kind has the same content and can be served', async () => {
  const state = (place: DatabaseLocation) =>
    at(place, async (client) => {
      const domains = (await client.ok('GET', '/domains')).data
      const paths: string[] = domains.flatMap(({ id }: { id: number }) => [`/domains/${id}/records`, `/domains/${id}/zone-file`])
      return [domains, await Promise.all(paths.map((path) => client.ok('GET', path)))]
    })
  const expected = await state(source)
  for (const [index, place] of (await emptyPlaces()).entries()) {
    const again = join(temporaryDirectory(), `${index}.backup`)
    expect(await restoreService(place, whole)).toEqual({
      created: '2026-01-31T09:00:00',
      rows: linesOf(whole).filter((line) => line.startsWith('[')).length,
    })
    await backUpService(place, again, NOW)
    expect(linesOf(again)).toEqual(linesOf(whole))
    expect(await state(place)).toEqual(expected)
    await at(place, async (client, { flush }) => {
      // IDs of deleted rows are not reused, and a recreated name gets a greater serial.
      const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'gone.example' })
      expect(id).toBe(4)
      expect((await client.ok('POST', `/domains/${id}/records`, { type: 'TXT', target: 'x' })).id).toBe(16)
      await flush()
      const gone = linesOf(whole).find((line) => line.startsWith('["gone.example"'))
      const serial = Number(/SOA\t\S+ \S+ (\d+)/.exec((await client.ok('GET', `/domains/${id}/zone-file`)).zone_file[2])?.[1])
      // The zone may have been rendered before and after the record was created.
      expect([1, 2]).toContain(serial - JSON.parse(gone as string)[2])
    })
  }
})

test('is a consistent snapshot while the service runs under load', { tags: ['long'] }, async () => {
  const place = placeOf(await freshStore())
  const acknowledged = nothingAcknowledged()
  const files = Array.from({ length: rounds(3) }, (_, number) => join(temporaryDirectory(), `${number}.backup`))
  await at(place, async (client) => {
    const { id } = await client.ok('POST', '/domains', { ...MASTER, domain: 'busy.example' })
    const writers = startWriters(client, id, 'w', acknowledged)
    for (const file of files) {
      const before = new Map(acknowledged.created)
      await expect.poll(() => acknowledged.created.size).toBeGreaterThan(before.size + 50)
      await backUpService(place, file)
    }
    await writers.stop()
  })
  for (const file of files) {
    const restored: DatabaseLocation = { dataFolder: temporaryDirectory() }
    await restoreService(restored, file)
    await at(restored, async (client) => {
      const [domain] = (await client.ok('GET', '/domains')).data
      const first = await client.ok('GET', `/domains/${domain.id}/records?page_size=500`)
      const all = [...first.data]
      for (let page = 2; page <= first.pages; page += 1)
        all.push(...(await client.ok('GET', `/domains/${domain.id}/records?page_size=500&page=${page}`)).data)
      // The stored count matches the records: both are from the same snapshot.
      expect(first.results).toBe(all.length)
      expect(all.length).toBeGreaterThan(25)
    })
  }
})

test('is refused if the database is not empty', async () => {
  await expect(restoreService(source, whole)).rejects.toThrow(/already has a database|is not empty/)
  const inUse = placeOf(await freshStore())
  await at(inUse, async () => {
    await expect(restoreService(inUse, whole)).rejects.toThrow(/is in use by process|is not empty/)
  })
})

const damaged = (change: (text: string) => string): string => {
  const file = join(temporaryDirectory(), 'damaged.backup')
  writeFileSync(file, change(readFileSync(whole, 'utf8')))
  return file
}

test.each<[string, (text: string) => string, string]>([
  ['an octet is changed', (text) => text.replace('one.example', 'onx.example'), 'its checksum does not match'],
  ['a row is missing', (text) => text.replace(/\n\[[^\n]*/, ''), 'its checksum does not match'],
  ['the end is missing', (text) => text.slice(0, -90), 'its end is missing'],
  ['it is empty', () => '', 'the file is empty'],
  ['it is another kind of file', () => 'create table x', 'the file is not a backup of the service'],
  ['it has another format', (text) => text.replace('"version":1', '"version":2'), 'has format version 2, but this program reads version 1'],
])('a file is refused without changes if %s', async (_name, change, message) => {
  const place = await emptyPlace()
  await expect(restoreService(place, damaged(change))).rejects.toThrow(message)
  await expectEmpty(place)
})

/** Replaces the lines between the first and the last, and the checksum. */
const forged = (change: (lines: string[]) => string[]): string => {
  const body = `${change(linesOf(whole).slice(0, -1)).join('\n')}\n`
  const rows = body.split('\n').filter((line) => line.startsWith('[')).length
  const sha256 = createHash('sha256').update(body).digest('hex')
  return damaged(() => `${body}${JSON.stringify({ rows, sha256 })}\n`)
}

const start = (table: object) => JSON.stringify({ table: 'accounts', columns: ['id', 'created'], lastId: 9, ...table })

test.each<[string, (lines: string[]) => string[], string]>([
  ['a line is null', (lines) => [...lines, 'null'], 'neither a table nor a row'],
  ['a line is not JSON', (lines) => [...lines, '{nope'], 'neither a table nor a row'],
  ['a table has no columns', (lines) => [...lines, start({ columns: undefined })], 'neither a table nor a row'],
  ['the highest number has too many digits', (lines) => [...lines, start({}).replace(':9', ':1e400')], 'neither a table nor a row'],
  ['a value is a list', (lines) => [...lines, '[[1], "2026-01-31T09:00:00"]'], 'neither a table nor a row'],
  ['a row is nested too deep', (lines) => [...lines, '['.repeat(200_000) + ']'.repeat(200_000)], 'neither a table nor a row'],
  ['a row has too few values', (lines) => [...lines, start({}), '[9]'], 'a row that does not match a table'],
  ['a row precedes the first table', ([header = '', ...lines]) => [header, '[1]', ...lines], 'a row that does not match a table'],
  ['a table is unknown', (lines) => [...lines, start({ table: 'sqlite_master' })], 'unknown table "sqlite_master"'],
  [
    'its schema is another',
    ([header = '', ...lines]) => [header.replace(SCHEMA_NAME, '013-quotas'), ...lines],
    'a later version of the program (schema 013-quotas)',
  ],
  ['its creation time is missing', ([header = '', ...lines]) => [header.replace('created', 'x'), ...lines], 'not a backup of the service'],
])('a forged file is refused without changes if %s', async (_name, change, message) => {
  const place = await emptyPlace()
  await expect(restoreService(place, forged(change))).rejects.toThrow(message)
  await expectEmpty(place)
})

test('refuses too long a line before it is fully read', { tags: ['long'] }, async () => {
  const file = damaged((text) => `${text.split('\n', 1)[0]}\n`)
  truncateSync(file, 2 ** 33)
  const place = { dataFolder: join(temporaryDirectory(), 'made') }
  await expect(restoreService(place, file)).rejects.toThrow('a line that is too long')
  expect(readdirSync(place.dataFolder)).toEqual(['service.lock'])
})

test('reports a missing database or an unwritable file', async () => {
  const empty = temporaryDirectory()
  const out = join(empty, 'x.backup')
  await expect(backUpService({ dataFolder: empty }, out)).rejects.toThrow(`there is no database in ${empty}`)
  if (ON_POSTGRES)
    await expect(backUpService({ database: await freshDatabase({ tables: false }) }, out)).rejects.toThrow(
      'the database of the service does not exist',
    )
  await expect(backUpService(source, join(empty, 'none', 'x.backup'))).rejects.toMatchObject({ code: 'ENOENT' })
  expect(existsSync(out)).toBe(false)
})

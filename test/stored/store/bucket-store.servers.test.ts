import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noSecrets } from '../../../src/base/secret-guard.ts'
import { ownProcess } from '../../../src/files/process-identity.ts'
import { readRuns } from '../../../src/stored/journal/read-journal.ts'
import { bucketStore } from '../../../src/stored/store/bucket-store.ts'
import { fetchJournal, mirrorOf } from '../../../src/stored/store/fetch-journal.ts'
import { StoreError } from '../../../src/stored/store/journal-store.ts'
import { listLeases } from '../../../src/stored/store/leases.ts'
import type { StoreContext } from '../../../src/stored/store/open-store.ts'
import { openStore } from '../../../src/stored/store/open-store.ts'
import { storeRun } from '../../../src/stored/store/stored-run.ts'
import { MOTO, type Moto, type StoreProxy, startMoto, startStoreProxy } from '../../support/moto.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { storeContract } from './store-contract.ts'

describeWithTools([MOTO], 'moto', () => {
  let moto: Moto
  let proxy: StoreProxy
  beforeAll(async () => {
    moto = await startMoto()
    proxy = await startStoreProxy(moto.origin)
  })
  afterAll(async () => {
    await proxy?.close()
    moto?.stop()
  })

  const bucketAt = (name: string) => ({
    name,
    prefix: 'prod/zones',
    region: null,
    endpoint: new URL(proxy.origin),
    profile: null,
    at: { file: 'a', line: 1, column: 1 },
  })
  const env = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG' }
  const create = (name: string) => fetch(`${moto.origin}/${name}`, { method: 'PUT' })
  /** What a machine with that journal opens its store with. */
  const machine = (name: string): StoreContext => ({
    journal: join(temporaryDirectory(), 'journal'),
    config: { journalStore: { isShared: true, leaseSeconds: 60, bucket: bucketAt(name) } },
    env,
    secrets: noSecrets(),
  })

  storeContract('a bucket of moto', async () => {
    await create('dns-journal')
    return bucketStore(bucketAt('dns-journal'), { env, secrets: noSecrets() })
  })

  test('states of changes in stages are those of the store on every machine', async () => {
    await create('states')
    const [a, b] = [machine('states'), machine('states')] as const
    const stateOf = ({ journal }: StoreContext) => join(journal, 'stages', 'example.json')
    const write = async (machineOf: StoreContext, text: string): Promise<void> => {
      mkdirSync(join(machineOf.journal, 'stages'), { recursive: true })
      writeFileSync(stateOf(machineOf), text)
    }
    // One that was begun before the journal was shared is stored.
    await write(a, '1')
    expect(await fetchJournal(a, { states: true })).toBeNull()
    expect(await fetchJournal(b, { states: true })).toBeNull()
    expect(readFileSync(stateOf(b), 'utf8')).toBe('1')
    await write(b, '2')
    await mirrorOf(b)('stages', 'example.json', '2')
    await fetchJournal(a, { states: true })
    expect(readFileSync(stateOf(a), 'utf8')).toBe('2')
    await mirrorOf(a)('stages', 'example.json', null)
    await fetchJournal(b, { states: true })
    expect(existsSync(stateOf(b))).toBe(false)
  })

  test.each(['if-match', 'if-none-match'] as const)('a service that ignores %s cannot have a journal', async (condition) => {
    await create('careless')
    const store = bucketStore(bucketAt('careless'), { env, secrets: noSecrets() })
    proxy.ignored = [condition]
    await expect(store.write('leases/a', '{}', null)).rejects.toThrow('the service ignores the conditions of writes')
    proxy.ignored = []
    expect(await store.read('leases/a')).toBeNull()
    expect(await store.write('leases/a', '{}', null)).toMatchObject({ state: 'written' })
    await store.remove('leases/a', 'any')
    await store.close()
  })

  test('objects that are none of ours do no harm, and a run that cannot be read does not hide others', async () => {
    await create('strange')
    const here = machine('strange')
    const put = (key: string, body: string) => fetch(`${moto.origin}/strange/prod/zones/${key}`, { method: 'PUT', body })
    const [broken, newer, run] = ['20261121T063000Z-0001', '20261121T063000Z-0002', '20261121T063000Z-0003'] as const
    // The console of AWS makes an empty object for a folder.
    for (const key of ['leases/', 'leases/a%20b', 'state/', 'state/stages/', 'state/stages/a%20b.json', 'runs/', `runs/${run}/`])
      await put(key, '')
    for (const one of [newer, run]) await put(`runs/${one}/plans-1`, one === newer ? '{' : '["plan"]')
    const begin = { event: 'begin', format: 'zonewright-journal', version: 2, time: '2026-11-21T06:30:00.000Z', tool: 'zonewright 0.1.0' }
    const rest = { command: 'apply', rollsBack: null, process: { pid: 1, started: null, host: 'a' }, zones: [] }
    for (const [one, version] of [
      [newer, 99],
      [run, 2],
    ] as const)
      await put(`runs/${one}/journal-1`, `${JSON.stringify({ ...begin, run: one, version, ...rest })}\n`)
    await put(`runs/${broken}/journal-1`, 'no line')
    expect(await fetchJournal(here, { states: true })).toBeNull()
    const { runs, diagnostics } = readRuns(here.journal, ownProcess())
    expect(runs.map(({ id }) => id)).toEqual([run])
    expect(diagnostics.map(({ message }) => message)).toEqual([
      expect.stringContaining(`run ${broken}: its journal has no first line`),
      expect.stringContaining(`run ${newer}: `),
    ])
    const store = await openStore(here)
    expect((await listLeases(store)).leases).toEqual([])
    await store.close()
  })

  test('lines that arrive together are stored together, in parts, and a lost response does no harm', async () => {
    await create('lines')
    const [here, there] = [machine('lines'), machine('lines')] as const
    const run = '20261121T063000Z-4f2a'
    const folder = join(here.journal, 'runs', run)
    mkdirSync(join(folder, 'plans'), { recursive: true })
    for (const zone of [1, 2]) writeFileSync(join(folder, 'plans', `${zone}.json`), `plan ${zone}`)
    const store = bucketStore(bucketAt('lines'), { env, secrets: noSecrets() })
    let writes = 0
    // The store acts, and its response is lost: the write is repeated, and its condition fails.
    proxy.loses = (request) => {
      writes += 1
      return /^PUT .*journal-/.test(request) && writes % 5 === 1
    }
    let failures = 0
    const stored = await storeRun(
      {
        ...store,
        // Once, all repetitions of a request are lost.
        write: async (name, ...rest) => {
          const written = await store.write(name, ...rest)
          failures += /journal-1$/.test(name) ? 1 : 0
          if (failures !== 2) return written
          failures += 1
          throw new StoreError('no response')
        },
      },
      run,
      folder,
    )
    const begin = { event: 'begin', format: 'zonewright-journal', version: 2, time: '2026-11-21T06:30:00.000Z', run, tool: 'zw 0.1.0' }
    const first = JSON.stringify({ ...begin, command: 'apply', rollsBack: null, process: { pid: 1, started: null, host: 'a' }, zones: [] })
    const lines = [first, ...Array.from({ length: 3000 }, (_, index) => `line ${index} ${'x'.repeat(60)}`)]
    const before = store.requests
    stored.line(lines[0] as string)
    expect(await stored.stored()).toBeNull()
    stored.line(lines[1] as string)
    expect(await stored.stored()).toBe('no response')
    const results: Promise<string | null>[] = []
    for (const [index, line] of lines.slice(2).entries()) {
      stored.line(line)
      if (index % 3 === 0) results.push(stored.stored())
      if (index % 100 === 0) await wait(1)
    }
    expect(new Set(await Promise.all([...results, stored.stored()]))).toEqual(new Set([null]))
    proxy.loses = () => false
    expect(store.requests - before).toBeLessThan(200)
    await store.close()
    expect(await fetchJournal(there)).toBeNull()
    const fetched = join(there.journal, 'runs', run)
    expect(readFileSync(join(fetched, 'journal.jsonl'), 'utf8')).toBe(lines.map((line) => `${line}\n`).join(''))
    expect(readFileSync(join(fetched, 'plans/2.json'), 'utf8')).toBe('plan 2')
    expect((await openStore(there)).address).toContain('/lines/prod/zones')
  })
})

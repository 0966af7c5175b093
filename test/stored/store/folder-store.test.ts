import {
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { temporaryName } from '../../../src/files/temporary-file.ts'
import { folderStore } from '../../../src/stored/store/folder-store.ts'
import { isStoreName, StoreError, storeName } from '../../../src/stored/store/journal-store.ts'
import { raceWorkers } from '../../support/killed-workers.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { storeContract } from './store-contract.ts'

storeContract('a folder', async () => folderStore(join(temporaryDirectory(), 'journal'), false))

describe('a store in a folder', () => {
  it('keeps its objects as private files, and of each the last versions', async () => {
    const folder = join(temporaryDirectory(), 'journal')
    const store = folderStore(folder, true)
    for (let count = 1; count <= 10; count += 1) await store.write('leases/a', `${count}`, 'any')
    expect(readdirSync(join(folder, 'leases')).sort()).toEqual(['a.10', 'a.7', 'a.8', 'a.9'])
    expect(statSync(join(folder, 'leases/a.10')).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'leases')).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(folder, 'leases/a.10'), 'utf8')).toBe('10\n')
  })

  it('removes what is left of an object a day after its removal', async () => {
    const folder = temporaryDirectory()
    const store = folderStore(folder, false)
    const removeIfUnchanged = async (name: string) => store.remove(name, (await store.read(name))?.version ?? '')
    for (const name of ['leases/a', 'leases/b']) await store.write(name, '1', null)
    await removeIfUnchanged('leases/a')
    utimesSync(join(folder, 'leases/a.2'), 1, 1)
    await removeIfUnchanged('leases/b')
    expect(readdirSync(join(folder, 'leases')).sort()).toEqual(['b.1', 'b.2'])
  })

  it('leaves nothing of an object that is removed whatever its version is', async () => {
    const folder = temporaryDirectory()
    const store = folderStore(folder, false)
    for (let count = 1; count <= 6; count += 1) await store.write('leases/a', `${count}`, 'any')
    // What a killed process left there: no process has that number.
    for (const name of ['clock', 'fences', 'leases/a']) writeFileSync(temporaryName(join(folder, name)).replace(/\.\d+-/, '.4194305-'), '')
    expect(await store.remove('leases/a', 'any')).toBe('removed')
    expect([readdirSync(folder), readdirSync(join(folder, 'leases'))]).toEqual([['leases'], []])
  })

  it('takes back a version that a suspended writer links long after its removal', async () => {
    const folder = temporaryDirectory()
    const store = folderStore(folder, false)
    await store.write('fences', '1', null)
    const read = await store.read('fences')
    // Others replace the version between the check and the link of this one.
    const others = folderStore(folder, false)
    for (let count = 0; count < 8; count += 1) await others.write('fences', `other ${count}`, 'any')
    rmSync(join(folder, 'fences.2'), { force: true })
    writeFileSync(join(folder, 'fences.1'), '1\n')
    expect(await store.write('fences', 'late', (read as { version: string }).version)).toMatchObject({ state: 'conflict' })
    expect(await store.read('fences')).toMatchObject({ text: 'other 7' })
  })

  it.each<[string, (path: string) => void]>([
    ['without the end of its text', (path) => writeFileSync(path, '{"half":')],
    ['that is a folder', (path) => mkdirSync(path)],
    ['of a hundred megabytes', (path) => ftruncateSync(openSync(path, 'w'), 100_000_000)],
  ])('refuses an object %s, and names it', async (_, put) => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'leases'))
    put(join(folder, 'leases/a.1'))
    const error = await folderStore(folder, false)
      .read('leases/a')
      .catch((one: unknown) => one)
    expect(error).toBeInstanceOf(StoreError)
    expect((error as StoreError).message).toContain(join(folder, 'leases/a.1'))
  })

  it('reports a folder that cannot be written', async () => {
    const file = join(temporaryDirectory(), 'file')
    writeFileSync(file, '')
    await expect(folderStore(file, false).write('leases/a', '1', null)).rejects.toThrow(`the journal in ${file} cannot be written`)
  })

  it('has names that are valid on every file system, and different for every subject', () => {
    const subjects = [
      ['example.com.', 'cloud'],
      ['example.com.', 'Cloud'],
      ['example.com@cloud.', 'x'],
      ['0/25.2.0.192.in-addr.arpa.', 'a'],
      ['..', '../..'],
      ['.'],
    ]
    const names = subjects.map((subject) => storeName('quarantine', ...subject))
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(subjects.length)
    for (const name of names) expect(isStoreName(name)).toBe(true)
    for (const name of ['', '/a', 'a/', 'a/../b', '../a', '.a', 'a b', 'a\u0000']) expect(isStoreName(name)).toBe(false)
  })

  it('reads nothing but versions: locks, temporary files and the journal of runs are no objects', async () => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'leases'))
    for (const name of ['.a.1', 'a', 'a.tmp', 'a.0', 'a.01']) writeFileSync(join(folder, 'leases', name), '1\n')
    writeFileSync(join(folder, 'leases/b.1'), '1\n')
    linkSync(join(folder, 'leases/b.1'), join(folder, 'leases/b.2'))
    const store = folderStore(folder, false)
    expect((await store.list('leases/')).map(({ name }) => name)).toEqual(['leases/b'])
  })
})

/**
 * Adds its token to a text by conditional writes, many times. Before each change of the file system it may pause, so that its last read is outdated, or be
 * killed.
 */
const WORKER = `
import { promises } from 'node:fs'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const nap = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
for (const name of ['link', 'rm', 'open', 'stat']) {
  const real = promises[name]
  promises[name] = (...args) => {
    if (Math.random() < 0.3) nap(Math.random() * 5)
    if (Math.random() < 0.01) process.kill(process.pid, 'SIGKILL')
    return real(...args)
  }
}
syncBuiltinESMExports()
const { folderStore } = await import('./folder-store.mjs')
const [, , folder, log, goal] = process.argv
const store = folderStore(folder, false)
for (;;) {
  const now = await store.read('fences')
  const tokens = now === null ? [] : JSON.parse(now.text)
  if (tokens.length >= Number(goal)) process.exit(0)
  const token = process.pid + '-' + Math.random()
  const written = await store.write('fences', JSON.stringify([...tokens, token]), now?.version ?? null)
  if (written.state === 'written') appendFileSync(log, token + '\\n')
}
`

test('of many processes that write the same version one succeeds, even if others are killed or slow', {
  tags: ['long'],
}, async () => {
  const folder = temporaryDirectory()
  const [journal, log] = [join(folder, 'journal'), join(folder, 'log')]
  writeFileSync(log, '')
  const goal = 60
  const modules = ['src/stored/store/folder-store.ts']
  const killed = await raceWorkers({ folder, modules, program: WORKER, args: [journal, log, String(goal)], count: 4 })
  const tokens = JSON.parse((await folderStore(journal, false).read('fences'))?.text ?? '[]') as string[]
  expect(new Set(tokens).size).toBe(tokens.length)
  expect(tokens.length).toBeGreaterThanOrEqual(goal)
  // Every write that was confirmed is there: none was overwritten.
  for (const token of readFileSync(log, 'utf8').split('\n').filter(Boolean)) expect(tokens).toContain(token)
  expect(killed).toBeGreaterThan(0)
  expect(existsSync(journal)).toBe(true)
})

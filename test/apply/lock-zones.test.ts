import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, it, test } from 'vitest'
import { type LockRequest, lockZones } from '../../src/apply/lock-zones.ts'
import { acquireLock, type LockHolder, lockPath } from '../../src/definition/files/lock-file.ts'
import { ownProcess, type ProcessIdentity, processStatus } from '../../src/definition/files/process-identity.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const OWN = ownProcess()

const holderOf = (owner: ProcessIdentity): LockHolder => ({
  ...owner,
  since: '2026-11-21T06:30:00.000Z',
  command: 'apply',
  run: '20261121T063000Z-4f2a',
})

const request = (journal: string, zones: readonly string[], more: Partial<LockRequest> = {}): LockRequest => ({
  journal,
  zones: zones.map((zone) => ({ zone, target: 'cloud' })),
  owner: OWN,
  command: 'rollback',
  run: '20261121T070000Z-0001',
  now: () => new Date('2026-11-21T07:00:00Z'),
  wait: 0,
  ...more,
})

/** Creates a lock of the given process. */
function leaveLock(journal: string, zone: string, owner: ProcessIdentity): string {
  const folder = join(journal, 'locks')
  mkdirSync(folder, { recursive: true })
  const path = lockPath(folder, zone, 'cloud')
  expect(acquireLock(path, holderOf(owner)).state).toBe('acquired')
  return path
}

/** The identity of a process that has ended. */
async function deadProcess(): Promise<ProcessIdentity> {
  const child = spawn('sleep', ['60'])
  const { pid } = child as { pid: number }
  const started = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21] as string
  child.kill('SIGKILL')
  await once(child, 'exit')
  return { ...OWN, pid, started }
}

const lockNames = (journal: string): string[] => readdirSync(join(journal, 'locks'))

describe('locks of zones', () => {
  it('exist during the run, are private, and are removed after it', async () => {
    const journal = join(temporaryDirectory(), 'journal')
    const locks = await lockZones(request(journal, ['example.com.', 'example.net.']))
    expect(locks.state).toBe('acquired')
    expect(lockNames(journal).map((name) => name.replace(/-[0-9a-f]{16}\.lock$/, ''))).toEqual(['example.com@cloud', 'example.net@cloud'])
    expect(statSync(join(journal, 'locks')).mode & 0o777).toBe(0o700)
    for (const name of lockNames(journal)) {
      const file = join(journal, 'locks', name)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
        ...OWN,
        since: '2026-11-21T07:00:00.000Z',
        command: 'rollback',
        run: '20261121T070000Z-0001',
      })
    }
    if (locks.state === 'acquired') locks.release()
    expect(lockNames(journal)).toEqual([])
  })

  it('of a running process are respected; the message names the holder', async () => {
    const journal = temporaryDirectory()
    leaveLock(journal, 'example.net.', OWN)
    const locks = await lockZones(request(journal, ['example.com.', 'example.net.', 'example.org.']))
    expect(locks).toEqual({
      state: 'busy',
      diagnostic: {
        severity: 'error',
        code: 'zone-locked',
        message: `example.net. at cloud is locked by apply, run 20261121T063000Z-4f2a, process ${OWN.pid} on ${OWN.host}, since 2026-11-21T06:30:00.000Z`,
        hint: expect.stringContaining('--wait SECONDS'),
      },
    })
    // All or none: the locks before it were released.
    expect(lockNames(journal)).toHaveLength(1)
  })

  it('of a dead process are taken over', async () => {
    const journal = temporaryDirectory()
    leaveLock(journal, 'example.com.', await deadProcess())
    expect((await lockZones(request(journal, ['example.com.']))).state).toBe('acquired')
  })

  it.each<[string, Partial<ProcessIdentity>, ReturnType<typeof processStatus>]>([
    ['of a process whose PID was reused', { started: '1' }, 'dead'],
    ['of another host', { host: 'elsewhere.example' }, 'elsewhere'],
    ['of another container with the same host name', { host: `${hostname()} (pid:[1])` }, 'elsewhere'],
    ['of this process', {}, 'running'],
  ])('%s', async (_, change, expected) => {
    const journal = temporaryDirectory()
    const owner = { ...OWN, ...change }
    expect(processStatus(owner, OWN)).toBe(expected)
    const path = leaveLock(journal, 'example.com.', owner)
    const locks = await lockZones(request(journal, ['example.com.']))
    expect(locks.state).toBe(expected === 'dead' ? 'acquired' : 'busy')
    if (expected === 'elsewhere' && locks.state === 'busy') expect(locks.diagnostic.hint).toContain(`remove the file ${path}`)
  })

  it.each(['', '{', '{"pid":0}', 'null', '\u0000\u0000'])('without a readable holder (%j) are respected', async (text) => {
    const journal = temporaryDirectory()
    const path = leaveLock(journal, 'example.com.', OWN)
    writeFileSync(path, text)
    const locks = await lockZones(request(journal, ['example.com.']))
    expect(locks).toMatchObject({ state: 'busy', diagnostic: { message: expect.stringContaining('does not name its holder') } })
  })

  it.each([
    ['a folder', (path: string) => mkdirSync(path)],
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
    [
      'a hundred megabytes',
      (path: string) => {
        writeFileSync(path, '')
        truncateSync(path, 100_000_000)
      },
    ],
  ])('%s is respected', async (_, put) => {
    const journal = temporaryDirectory()
    const path = lockPath(join(journal, 'locks'), 'example.com.', 'cloud')
    mkdirSync(join(journal, 'locks'))
    put(path)
    const locks = await lockZones(request(journal, ['example.com.']))
    expect(locks).toMatchObject({ state: 'busy', diagnostic: { message: expect.stringContaining('does not name its holder') } })
  })

  it('can be waited for', async () => {
    const journal = temporaryDirectory()
    const first = await lockZones(request(journal, ['example.com.']))
    const messages: string[] = []
    const waiting = lockZones(request(journal, ['example.com.'], { wait: 10_000, onWait: ({ message }) => messages.push(message) }))
    setTimeout(() => first.state === 'acquired' && first.release(), 250)
    expect((await waiting).state).toBe('acquired')
    expect(messages).toHaveLength(1)
  })

  it('are waited for until the timeout or an interruption', async () => {
    const journal = temporaryDirectory()
    leaveLock(journal, 'example.com.', OWN)
    const begin = performance.now()
    expect((await lockZones(request(journal, ['example.com.'], { wait: 300 }))).state).toBe('busy')
    expect(performance.now() - begin).toBeGreaterThanOrEqual(290)
    const interruption = AbortSignal.timeout(100)
    expect((await lockZones(request(journal, ['example.com.'], { wait: 60_000, signal: interruption }))).state).toBe('busy')
    expect(performance.now() - begin).toBeLessThan(30_000)
  })

  it('have unique file names that are valid on every file system', () => {
    const names = [
      ['example.com.', 'cloud'],
      ['example.com.', 'Cloud'],
      ['example.com@cloud.', 'x'],
      ['example.com.', 'cloud@x'],
      ['0/25.2.0.192.in-addr.arpa.', 'cloud'],
      ['..', '../..'],
      [`${'\\000'.repeat(60)}.`.repeat(4), 'cloud'],
      ['.', ''],
    ].map(([zone = '', target = '']) => lockPath('/locks', zone, target))
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^\/locks\/[a-z0-9@_.-]{1,160}\.lock$/)
  })

  it('can be taken for many zones', async () => {
    const zones = Array.from({ length: 500 }, (_, index) => `z${index}.example.`)
    const locks = await lockZones(request(temporaryDirectory(), zones))
    if (locks.state === 'acquired') locks.release()
  })
})

/**
 * Takes the lock repeatedly, checks that it is the only holder, and counts. Every second time it is killed while it has the lock, so that many others find a
 * stale lock at the same moment. Before each change of the file system it may pause, so that its last read is outdated, or be killed.
 */
const WORKER = `
import fs, { appendFileSync, closeSync, existsSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const nap = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const remove = unlinkSync
for (const name of ['linkSync', 'unlinkSync', 'rmSync', 'renameSync']) {
  const real = fs[name]
  fs[name] = (...args) => {
    if (Math.random() < 0.5) nap(Math.random() * 8)
    if (!existsSync(process.argv[3] + '/alone') && Math.random() < 0.05) process.kill(process.pid, 'SIGKILL')
    return real(...args)
  }
}
syncBuiltinESMExports()
const { acquireLock } = await import('./lock-file.mjs')
const { ownProcess } = await import('./process-identity.mjs')
const [, , path, folder, goal] = process.argv
const holder = { ...ownProcess(), since: '', command: 'apply', run: '' }
for (;;) {
  const lock = acquireLock(path, holder)
  if (lock.state === 'busy') continue
  try { closeSync(openSync(folder + '/alone', 'wx')) } catch { appendFileSync(folder + '/violations', process.pid + '\\n'); process.exit(3) }
  const count = Number(readFileSync(folder + '/count', 'utf8'))
  if (count < Number(goal)) { nap(Math.random() < 0.3 ? 1 : 0); writeFileSync(folder + '/count', String(count + 1)); appendFileSync(folder + '/log', 'x') }
  remove(folder + '/alone')
  if (count >= Number(goal)) { lock.release(); process.exit(0) }
  if (Math.random() < 0.5) process.kill(process.pid, 'SIGKILL')
  lock.release()
}
`

test('one process at a time holds a lock, even if many race for it and holders are killed', async () => {
  const folder = temporaryDirectory()
  await build({
    entryPoints: ['src/definition/files/lock-file.ts', 'src/definition/files/process-identity.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    logLevel: 'silent',
  })
  writeFileSync(join(folder, 'worker.mjs'), WORKER)
  writeFileSync(join(folder, 'count'), '0')
  const [goal, path] = [80, join(folder, 'zone.lock')]
  let killed = 0
  const work = async (): Promise<void> => {
    for (;;) {
      const child = spawn(process.execPath, [join(folder, 'worker.mjs'), path, folder, String(goal)], { stdio: 'inherit' })
      const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
      if (signal === null) return expect(status).toBe(0)
      killed += 1
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  expect(existsSync(join(folder, 'violations'))).toBe(false)
  expect(readFileSync(join(folder, 'count'), 'utf8')).toBe(String(goal))
  expect(readFileSync(join(folder, 'log'), 'utf8')).toHaveLength(goal)
  expect(killed).toBeGreaterThan(5)
  expect(existsSync(path)).toBe(false)
}, 180_000)

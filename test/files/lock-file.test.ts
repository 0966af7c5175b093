import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { raceWorkers } from '../support/killed-workers.ts'
import { rounds } from '../support/random.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

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
const { acquireLock } = await import('./locks.mjs')
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

test('one process at a time holds a lock, even if many race for it and holders are killed', {
  tags: ['long'],
}, async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'count'), '0')
  const [goal, path] = [rounds(80), join(folder, 'zone.lock')]
  const killed = await raceWorkers({
    folder,
    modules: ['src/files/locks.ts', 'src/files/process-identity.ts'],
    program: WORKER,
    args: [path, folder, String(goal)],
    count: 8,
  })
  expect(existsSync(join(folder, 'violations'))).toBe(false)
  expect(readFileSync(join(folder, 'count'), 'utf8')).toBe(String(goal))
  expect(readFileSync(join(folder, 'log'), 'utf8')).toHaveLength(goal)
  expect(killed).toBeGreaterThan(5)
  expect(existsSync(path)).toBe(false)
})

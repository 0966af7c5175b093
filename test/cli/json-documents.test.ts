/** Runs that end early: by a lock, a journal, a timeout, a pipe. With --format json they end with a document. */
import { execFileSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { expectEnd } from '../support/cli.ts'
import { openLiveScene, openScene, ZONE } from './scene.ts'

test('a locked zone is in the document, with the holder', async () => {
  let [reached, release] = [() => {}, () => {}]
  const isRead = new Promise<void>((resolve) => {
    reached = resolve
  })
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  const scene = openScene({
    fault: async () => {
      reached()
      await isReleased
      return null
    },
  })
  const first = scene.run('apply', '--yes')
  await isRead
  const second = expectEnd(await scene.run('apply', '--yes', '--format', 'json'), 1)
  expect(JSON.parse(second.stdout).diagnostics).toMatchObject([{ code: 'zone-locked' }])
  release()
  expect((await first).status).toBe(0)
})

test('a journal that cannot be written does not prevent the document', async () => {
  const scene = await openLiveScene()
  scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.9') })
  const runs = join(scene.folder, '.zonewright/runs')
  renameSync(runs, `${runs}.away`)
  writeFileSync(runs, '')
  const applied = expectEnd(await scene.run('apply', '--yes', '--format', 'json'), 1, { err: 'journal-failed' })
  expect(JSON.parse(applied.stdout).zones).toHaveLength(1)
})

test('a rollback obeys --timeout', async () => {
  const scene = await openLiveScene()
  const more = Array.from({ length: 20 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')
  scene.write({ 'zones/example.com.yaml': `${ZONE}${more}` })
  expect((await scene.run('apply', '--yes')).status).toBe(0)
  // The hour of the run is over at its second write.
  const { setTimeout: later } = globalThis
  let endTime = (): void => {}
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, time: number) => {
    if (time === 3_600_000) endTime = work
    return later(work, time)
  }) as typeof setTimeout)
  onTestFinished(() => timers.mockRestore())
  const sent = scene.memory.writes().length
  scene.memory.use(() => {
    if (scene.memory.writes().length === sent + 2) endTime()
    return null
  })
  expectEnd(await scene.run('rollback', '--last', '--yes', '--timeout', '3600', '--parallelism', '2', '--allow', 'deletes'), 4, {
    err: 'The 3600 s of --timeout are over',
    out: 'skipped: the time of the run, 3600 s, is over',
  })
})

test.each(['pipe', 'pipe.json'])('refuses a named pipe as a plan instead of waiting: %s', async (file) => {
  const scene = openScene()
  execFileSync('mkfifo', [join(scene.folder, file)])
  expect((await scene.run('apply', file, '--yes')).status).toBe(1)
  expect(scene.memory.writes()).toEqual([])
})

/** Journal and locks of real processes: killed, interrupted, several at once. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { validate } from '../../generated/journal-schema.js'
import { isLive, ownHolder } from '../../src/apply/journal/store/leases.ts'
import { builtProgram, type ProgramRun, startProgram } from '../support/built-program.ts'
import { expectEnd } from '../support/cli.ts'
import { leasesIn } from '../support/leases.ts'
import type { Script } from './recording-proxy.ts'
import { TOKEN, ZONE } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

const LONG = { tags: ['long'] }

const RECORDS = 100

const MANY = `domain: example.com
soa_email: hostmaster@example.com
records:
${Array.from({ length: RECORDS }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')}`

interface HeldScene extends ServiceScene {
  /** Lets all held records through. */
  release(): void
}

/** A service behind a proxy that holds all records of MANY except the first ones, so that calls are in progress until the test goes on. */
async function openHeld(first: number, files: Readonly<Record<string, string>> = { 'zones/example.com.yaml': MANY }): Promise<HeldScene> {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let arrived = 0
  const script: Script = async ({ body }) => {
    if (!/"name":"h\d/.test(body)) return null
    arrived += 1
    if (arrived > first) await released
    return null
  }
  onTestFinished(() => release())
  return { ...(await openServiceScene({ files, script })), release }
}

const start = async (scene: ServiceScene, ...args: string[]): Promise<ProgramRun> => {
  const run = await startProgram(args, { cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  onTestFinished(() => run.kill('SIGKILL'))
  return run
}

const recordCalls = ({ proxy }: ServiceScene): number => proxy.mutations().filter(({ path }) => path.includes('/records')).length

async function reach(scene: ServiceScene, calls: number): Promise<void> {
  await expect.poll(() => recordCalls(scene), { timeout: 60_000, interval: 5 }).toBeGreaterThanOrEqual(calls)
}

interface Run {
  readonly run: string
  readonly state: string
  readonly status: number | null
  readonly applied: { readonly total: number }
  readonly skipped: number
  readonly unknown: number
}

const runs = async (scene: ServiceScene): Promise<Run[]> => JSON.parse((await scene.run('history', '--format', 'json')).stdout).runs

/** The complete lines of the only journal. */
function journalLines(scene: ServiceScene, run: string): { event: string; changes: readonly { name: string }[] }[] {
  const text = readFileSync(join(scene.folder, '.zonewright/runs', run, 'journal.jsonl'), 'utf8')
  const lines = text
    .slice(0, text.lastIndexOf('\n'))
    .split('\n')
    .map((line) => JSON.parse(line))
  for (const line of lines) expect(validate(line), JSON.stringify(validate.errors)).toBe(true)
  return lines
}

describe('an apply that is killed', () => {
  test('has every sent call in its journal, is shown as interrupted, and the next apply completes the changes', {
    tags: ['long'],
  }, async () => {
    const scene = await openHeld(30)
    const killed = await start(scene, 'apply', '--yes')
    await reach(scene, 31)
    killed.kill('SIGKILL')
    expect((await killed.ended).signal).toBe('SIGKILL')
    scene.release()
    await scene.proxy.idle()

    const [run] = (await runs(scene)) as [Run]
    expect(run).toMatchObject({ state: 'interrupted', status: null })
    expect(run.unknown).toBeGreaterThan(0)
    expect(run.applied.total + run.unknown + run.skipped).toBe(RECORDS + 1)
    const noted = journalLines(scene, run.run).flatMap(({ event, changes }) => (event === 'call' ? changes.map(({ name }) => name) : []))
    const sent = scene.proxy
      .mutations()
      .flatMap(({ body }) => (JSON.parse(body).name === undefined ? [] : [`${JSON.parse(body).name}.example.com.`]))
    for (const name of sent) expect(noted).toContain(name)
    expect(noted.length - sent.length).toBeLessThanOrEqual(run.unknown + 1)

    const shown = (await scene.run('history', '--last')).stdout
    expect(shown).toContain('unknown: the process vanished')
    expect(shown.split('unknown whether it was carried out: the run ended before the response arrived')).toHaveLength(run.unknown + 1)
    // Its lease belongs to a dead process.
    expect(await leasesIn(scene.folder)).toHaveLength(1)
    expectEnd(await scene.run('apply', '--yes'), 0)
    expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)
    expect(recordCalls(scene)).toBe(RECORDS)
    expect(await leasesIn(scene.folder)).toEqual([])
  })

  test('can be rolled back: applied changes are reverted, other changes cause no conflict', LONG, async () => {
    const scene = await openHeld(30, { 'zones/example.com.yaml': ZONE })
    await scene.run('apply', '--yes')
    scene.write({ 'zones/example.com.yaml': ZONE + MANY.slice(MANY.indexOf('  h0')) })
    const killed = await start(scene, 'apply', '--yes')
    await reach(scene, 31)
    killed.kill('SIGKILL')
    await killed.ended
    scene.release()
    await scene.proxy.idle()
    const back = expectEnd(await scene.run('rollback', '--last', '--yes', '--allow', 'deletes', '--format', 'json'), 0)
    const { summary } = JSON.parse(back.stdout)
    expect(summary).toMatchObject({ create: 0, update: 0, applied: summary.delete, unchanged: 3 })
    expect(summary.delete).toBe(recordCalls(scene) - summary.delete - 3)
    scene.write({ 'zones/example.com.yaml': ZONE })
    expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)
    expect((await runs(scene)).map(({ state }) => state)).toEqual(['applied', 'rolled-back', 'applied'])
  })
})

describe('an apply that is interrupted', () => {
  for (const [signal, status, times] of [
    ['SIGINT', 130, 1],
    ['SIGTERM', 143, 1],
    // A shell and the system both send SIGHUP when a terminal closes.
    ['SIGHUP', 129, 2],
  ] as const) {
    test(`by ${signal} closes its journal and releases its zone`, signal === 'SIGINT' ? {} : LONG, async () => {
      const scene = await openHeld(30)
      const run = await start(scene, 'apply', '--yes')
      await reach(scene, 31)
      for (let time = 1; time <= times; time += 1) {
        run.kill(signal)
        await run.until('Stopping: ')
      }
      scene.release()
      expect(await run.ended).toEqual({ status, signal: null })
      const [interrupted] = (await runs(scene)) as [Run]
      expect(interrupted).toMatchObject({ state: 'interrupted', status, unknown: 0 })
      expect(interrupted.applied.total).toBe(scene.proxy.mutations().length)
      expect(journalLines(scene, interrupted.run).at(-1)?.event).toBe('end')
      expect(await leasesIn(scene.folder)).toEqual([])
    })
  }

  test('twice ends at once, with a readable journal and its zone released', LONG, async () => {
    const scene = await openServiceScene({
      files: { 'zones/example.com.yaml': MANY },
      script: ({ body }) => (/"h(?:[3-9]|\d\d+)"/.test(body) ? 'silence' : null),
    })
    const run = await start(scene, 'apply', '--yes')
    await reach(scene, 8)
    run.kill('SIGINT')
    await run.until('Stopping: ')
    run.kill('SIGINT')
    expect(await run.ended).toEqual({ status: 130, signal: null })
    const [interrupted] = (await runs(scene)) as [Run]
    expect(interrupted).toMatchObject({ state: 'interrupted', status: null })
    expect(interrupted.unknown).toBeGreaterThan(0)
    // Its lease belongs to a dead process: nobody waits for it.
    const [lease] = await leasesIn(scene.folder)
    expect(lease && isLive(lease, Date.now(), { isShared: false }, ownHolder({}))).toBe(false)
  })
})

describe('two runs at once', () => {
  test('the second run reports the holder of the zone, or waits', async () => {
    const scene = await openHeld(10)
    const first = await start(scene, 'apply', '--yes')
    await reach(scene, 11)
    const [second, third] = await Promise.all([start(scene, 'apply', '--yes'), start(scene, 'apply', '--yes', '--wait', '60')])
    expect((await second.ended).status).toBe(1)
    expect(second.stderr()).toMatch(
      new RegExp(
        `error\\[zone-locked\\] example\\.com\\. at cloud is locked by apply, run \\S+, process ${first.pid} on \\S+, user \\S+, since \\d{4}-`,
      ),
    )
    expect((await runs(scene)).map(({ state }) => state)).toEqual(['running'])
    await third.until('Waiting: example.com. at cloud is locked by apply')
    scene.release()
    expect((await first.ended).status).toBe(0)
    expect((await third.ended).status).toBe(0)
    expect(third.stdout()).toContain('No changes.')
    expect(recordCalls(scene)).toBe(RECORDS)
    expect((await runs(scene)).map(({ state }) => state)).toEqual(['applied'])
  })

  test('runs on different zones do not wait for each other', LONG, async () => {
    const scene = await openHeld(10, {
      'zones/example.com.yaml': MANY,
      'zones/example.net.yaml': ZONE.replaceAll('example.com', 'example.net'),
    })
    const first = await start(scene, 'apply', '--yes', 'example.com')
    await reach(scene, 11)
    const second = await start(scene, 'apply', '--yes', 'example.net')
    expect((await second.ended).status).toBe(0)
    expect((await runs(scene)).map(({ state }) => state)).toEqual(['applied', 'running'])
    scene.release()
    expect((await first.ended).status).toBe(0)
  })

  test('many simultaneous runs on one zone apply each change once', LONG, async () => {
    const scene = await openServiceScene()
    const all = await Promise.all(Array.from({ length: 6 }, () => start(scene, 'apply', '--yes', '--wait', '60')))
    expect(await Promise.all(all.map(async (run) => (await run.ended).status))).toEqual(all.map(() => 0))
    expect(all.filter((run) => run.stdout().includes('Applied: 4 created'))).toHaveLength(1)
    expect(scene.proxy.mutations()).toHaveLength(4)
    expect(await runs(scene)).toHaveLength(1)
  })
})

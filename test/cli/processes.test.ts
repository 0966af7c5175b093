/** The program as a process: signals, closed pipes, and several at once, with their journals and locks. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { validate } from '../../generated/journal-schema.js'
import { isLive, ownHolder } from '../../src/stored/store/leases.ts'
import { builtProgram, type ProgramRun, startProgram } from '../support/built-program.ts'
import { expectEnd } from '../support/cli.ts'
import { leasesIn } from '../support/leases.ts'
import type { Script } from './recording-proxy.ts'
import { TOKEN, zoneFiles } from './scene.ts'
import { openServiceScene, openWireScene, type ServiceScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

const LONG = { tags: ['long'] }
const RECORDS = 100

const MANY = `domain: example.com
soa_email: hostmaster@example.com
records:
${Array.from({ length: RECORDS }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')}`

const FILES = { 'zones/example.com.yaml': MANY }

interface HeldScene extends ServiceScene {
  /** Lets all held records through. */
  release(): void
}

/** A service behind a proxy that holds all records of MANY except the first ones, so that calls are in progress until the test goes on. */
async function openHeld(first: number): Promise<HeldScene> {
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
  return { ...(await openServiceScene({ files: FILES, script })), release }
}

const start = async ({ folder }: Pick<ServiceScene, 'folder'>, ...args: string[]): Promise<ProgramRun> => {
  const run = await startProgram(args, { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  onTestFinished(() => run.kill('SIGKILL'))
  return run
}

const recordCalls = ({ proxy }: ServiceScene): number => proxy.mutations().filter(({ path }) => path.includes('/records')).length

const reach = (count: () => number, least: number): Promise<void> =>
  expect.poll(count, { timeout: 60_000, interval: 5 }).toBeGreaterThanOrEqual(least)

type Run = { readonly run: string; readonly state: string; readonly unknown: number }
const runs = async (scene: ServiceScene): Promise<Run[]> => JSON.parse((await scene.run('history', '--format', 'json')).stdout).runs

/** The last event of a valid journal. */
function lastEvent(scene: ServiceScene, run: string): string {
  const lines = readFileSync(join(scene.folder, '.zonewright/runs', run, 'journal.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
  for (const line of lines) expect(validate(JSON.parse(line)), JSON.stringify(validate.errors)).toBe(true)
  return JSON.parse(lines.at(-1) as string).event
}

describe('a signal during apply', () => {
  for (const [signal, status, times, options] of [
    ['SIGTERM', 143, 1, {}],
    ['SIGINT', 130, 1, LONG],
    // A shell and the system both send SIGHUP when a terminal closes.
    ['SIGHUP', 129, 2, LONG],
  ] as const)
    test(
      `${signal}: finishes the calls in progress, reports, closes its journal, releases its zone; the next apply completes`,
      options,
      async () => {
        const scene = await openHeld(30)
        const run = await start(scene, 'apply', '--yes')
        await reach(() => recordCalls(scene), 31)
        for (let time = 1; time <= times; time += 1) {
          run.kill(signal)
          await run.until('Stopping: ')
        }
        scene.release()
        expect(await run.ended).toEqual({ status, signal: null })
        const applied = scene.proxy.mutations().length
        const skipped = RECORDS + 1 - applied
        expect(run.stdout()).toMatch(new RegExp(`\nApplied in part: ${skipped} skipped; ${applied} created, 0 updated, 0 deleted in .*\n$`))
        expect(run.stdout()).toContain('skipped: the run was interrupted')
        const [interrupted] = (await runs(scene)) as [Run]
        expect(interrupted).toMatchObject({ state: 'interrupted', status, unknown: 0, skipped, applied: { total: applied } })
        expect(lastEvent(scene, interrupted.run)).toBe('end')
        expect(await leasesIn(scene.folder)).toEqual([])
        expectEnd(await scene.run('apply', '--yes'), 0, { out: `Applied: ${skipped} created` })
        expect(scene.proxy.mutations()).toHaveLength(RECORDS + 1)
      },
    )

  test('while it reads: applies nothing; the JSON document is complete', async () => {
    const scene = await openWireScene(() => 'silence')
    const run = await start(scene, 'apply', '--yes', '--format', 'json')
    await reach(() => scene.proxy.requests.length, 1)
    run.kill('SIGINT')
    expect(await run.ended).toEqual({ status: 130, signal: null })
    expect(run.stderr()).toMatch(/Nothing was applied\.\n$/)
    expect(run.stderr()).not.toContain('program error')
    const document = JSON.parse(run.stdout())
    expect(document).toMatchObject({ format: 'zonewright-plan' })
    expect(JSON.stringify(document.zones)).not.toContain('"applied"')
    expect(scene.proxy.mutations()).toEqual([])
  })

  test('while waiting for a retry, of which it informs once unless --quiet', async () => {
    const headers = { 'content-type': 'application/json', 'retry-after': '100' }
    const scene = await openWireScene(() => ({ status: 429, headers, body: '{}' }))
    const run = await start(scene, 'apply', '--yes')
    await run.until('asks to wait')
    run.kill('SIGTERM')
    expect(await run.ended).toEqual({ status: 143, signal: null })
    expect(run.stderr().match(/^cloud asks to wait for 100 s\.$/gm)).toHaveLength(1)
    const quiet = await scene.run('apply', '--yes', '--timeout', '1', '--quiet')
    expectEnd(quiet, 1, { err: ['The 1 s of --timeout are over', 'Nothing was applied.'] })
    expect(quiet.stderr).not.toContain('asks to wait')
  })

  test('twice ends the program at once, with a readable journal; nobody waits for its zone', async () => {
    const scene = await openServiceScene({ files: FILES, script: ({ body }) => (/"h(?:[3-9]|\d\d+)"/.test(body) ? 'silence' : null) })
    const run = await start(scene, 'apply', '--yes')
    await reach(() => recordCalls(scene), 8)
    run.kill('SIGINT')
    await run.until('Stopping: ')
    run.kill('SIGINT')
    expect(await run.ended).toEqual({ status: 130, signal: null })
    const [interrupted] = (await runs(scene)) as [Run]
    expect(interrupted).toMatchObject({ state: 'interrupted', status: null })
    expect(interrupted.unknown).toBeGreaterThan(0)
    const [lease] = await leasesIn(scene.folder)
    expect(lease && isLive(lease, Date.now(), { isShared: false }, ownHolder({}))).toBe(false)
  })
})

/** Options of Node.js with which the program sends itself a signal at its first call of a function of Node.js, and then goes on or computes for ever. */
function atCall(module: string, name: string, signal: string, { when = 'true', isEndless = true } = {}): Record<string, string> {
  const text = `import m from '${module}';import{syncBuiltinESMExports as sync}from'node:module';const real=m.${name};let isSent=false;
m.${name}=function(...a){if(!isSent&&(${when})){isSent=true;process.kill(process.pid,'${signal}');while(${isEndless});}return real.apply(this,a)};sync()`
  return { ZONEWRIGHT_TOKEN: TOKEN, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(text)}` }
}

const LOADING = ['node:fs', 'openSync', { when: '/example\\.com\\.yaml$/.test(a[0])' }] as const
const READING = ['node:net', 'Socket.prototype.connect', {}] as const
/** The fingerprint of the live zone that is planned. */
const PLANNING = ['node:crypto', 'createHash', {}] as const

describe('a signal ends at once, also while the program computes,', () => {
  test.each([
    ['validate', 'loads', LOADING],
    ['plan', 'loads', LOADING],
    ['apply', 'loads', LOADING],
    ['plan', 'reads', READING],
    ['verify', 'reads', READING],
    ['plan', 'plans', PLANNING],
  ] as const)('%s while it %s', { tags: ['long'] }, async (command, _, [module, name, options]) => {
    const { folder: cwd } = name === 'createHash' ? await openServiceScene() : await openWireScene(() => 'silence')
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const run = await startProgram([command], { cwd, env: atCall(module, name, signal, options) })
      onTestFinished(() => run.kill('SIGKILL'))
      expect(await run.ended).toEqual({ status: null, signal })
    }
  })
})

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s while apply plans ends the run after the zone, with nothing applied', async (signal, status) => {
  const scene = await openServiceScene({ files: { ...FILES, ...zoneFiles(['example.net', 'example.org'], MANY) } })
  const [module, name] = PLANNING
  const env = atCall(module, name, signal, { isEndless: false })
  const run = await startProgram(['apply', '--yes'], { cwd: scene.folder, env })
  onTestFinished(() => run.kill('SIGKILL'))
  expect(await run.ended).toEqual({ status, signal: null })
  expect(run.stderr()).toMatch(/^Stopping: .*Nothing was applied\.\n$/ms)
  expect(scene.proxy.mutations()).toEqual([])
  expect(await leasesIn(scene.folder)).toEqual([])
})

test('the second of two runs reports the holder of the zone, or waits', async () => {
  const scene = await openHeld(10)
  const first = await start(scene, 'apply', '--yes')
  await reach(() => recordCalls(scene), 11)
  const [second, third] = await Promise.all([start(scene, 'apply', '--yes'), start(scene, 'apply', '--yes', '--wait', '60')])
  expect((await second.ended).status).toBe(1)
  const holder = `by apply, run \\S+, process ${first.pid} on \\S+, user \\S+, since \\d{4}-`
  expect(second.stderr()).toMatch(new RegExp(`error\\[zone-locked\\] example\\.com\\. at cloud is locked ${holder}`))
  expect((await runs(scene)).map(({ state }) => state)).toEqual(['running'])
  await third.until('Waiting: example.com. at cloud is locked by apply')
  scene.release()
  expect((await first.ended).status).toBe(0)
  expect((await third.ended).status).toBe(0)
  expect(third.stdout()).toContain('No changes.')
  expect(recordCalls(scene)).toBe(RECORDS)
  expect((await runs(scene)).map(({ state }) => state)).toEqual(['applied'])
})

/** The exit status of the program if the reader closes its output immediately. */
async function withoutReader({ folder: cwd }: ServiceScene, ...args: string[]): Promise<{ status: number | null; stderr: string }> {
  const env = { ...process.env, ZONEWRIGHT_TOKEN: TOKEN }
  const child = spawn(process.execPath, [await builtProgram(), ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stderr }
}

test('a closed standard output does not fail plan, and does not stop an apply', LONG, async () => {
  const scene = await openServiceScene({ files: FILES })
  expect(await withoutReader(scene, 'plan')).toEqual({ status: 0, stderr: '' })
  expect((await withoutReader(scene, 'plan', '--detailed-exitcode')).status).toBe(2)
  expect(await withoutReader(scene, 'apply', '--yes')).toEqual({ status: 0, stderr: '' })
  expectEnd(await scene.run('plan', '--detailed-exitcode'), 0)
})

/** The program as a process: signals and closed pipes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { builtProgram, type ProgramRun, startProgram } from '../support/built-program.ts'
import { expectEnd } from '../support/cli.ts'
import type { Script } from './recording-proxy.ts'
import { TOKEN } from './scene.ts'
import { openServiceScene, openWireScene, type ServiceScene, type WireScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

const RECORDS = 80

const MANY = {
  'zones/example.com.yaml': `domain: example.com
soa_email: hostmaster@example.com
records:
${Array.from({ length: RECORDS }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')}`,
}

const isRecordCall = ({ method, path }: { method: string; path: string }): boolean => method === 'POST' && path.includes('/records')

const start = async ({ folder }: Pick<ServiceScene, 'folder'>, ...args: string[]): Promise<ProgramRun> => {
  const run = await startProgram(args, { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  onTestFinished(() => run.kill('SIGKILL'))
  return run
}

async function reach(condition: () => boolean): Promise<void> {
  while (!condition()) await wait(5)
}

/** Sends the signal to a run after it has made `count` requests of this kind. */
async function signalAfter(
  { proxy }: WireScene,
  run: ProgramRun,
  signal: NodeJS.Signals,
  { count = 1, of = () => true }: { count?: number; of?: typeof isRecordCall },
): Promise<void> {
  await reach(() => proxy.requests.filter(of).length >= count)
  run.kill(signal)
}

describe('a signal during apply', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s: finishes the calls in progress, prints the report, exits with %i, and the next apply completes the changes',
    async (signal, status) => {
      // Each record is delayed, so that the signal arrives during calls.
      const slowly: Script = async (request) => {
        if (isRecordCall(request)) await wait(30)
        return null
      }
      const scene = await openServiceScene({ files: MANY, script: slowly })
      const run = await start(scene, 'apply', '--yes')
      await signalAfter(scene, run, signal, { count: 12, of: isRecordCall })
      expect(await run.ended).toEqual({ status, signal: null })
      expect(run.stderr()).toMatch(/^Stopping: /m)
      const summary = /\nApplied in part: (\d+) skipped; (\d+) created, 0 updated, 0 deleted in 1 zone \(\d+ calls\)\n$/.exec(run.stdout())
      const [, skipped, applied] = (summary ?? []).map(Number) as [number, number, number]
      expect(applied + skipped).toBe(RECORDS + 1)
      expect(applied).toBe(scene.proxy.mutations().length)
      expect(run.stdout()).toContain('skipped: the run was interrupted')
      expectEnd(await scene.run('apply', '--yes'), 0, { out: `Applied: ${skipped} created` })
      expect(scene.proxy.mutations()).toHaveLength(RECORDS + 1)
    },
  )

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s while it reads: applies nothing; the JSON document is complete', async (signal, status) => {
    const scene = await openWireScene(() => 'silence')
    const run = await start(scene, 'apply', '--yes', '--format', 'json')
    await signalAfter(scene, run, signal, {})
    expect(await run.ended).toEqual({ status, signal: null })
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
    expect((await scene.run('apply', '--yes', '--timeout', '1', '--quiet')).stderr).not.toContain('asks to wait')
  })

  test('ends the program immediately the second time', async () => {
    const scene = await openServiceScene({ script: (request) => (isRecordCall(request) ? 'silence' : null) })
    const run = await start(scene, 'apply', '--yes')
    await signalAfter(scene, run, 'SIGINT', { of: isRecordCall })
    await run.until('Stopping: ')
    run.kill('SIGINT')
    expect(await run.ended).toEqual({ status: 130, signal: null })
  })
})

test.each([['plan'], ['verify']])('a signal ends %s at once', async (command) => {
  const scene = await openWireScene(() => 'silence')
  const run = await start(scene, command)
  await signalAfter(scene, run, 'SIGINT', {})
  expect(await run.ended).toEqual({ status: 130, signal: null })
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

test('a closed standard output does not fail plan, and does not stop an apply', { tags: ['long'] }, async () => {
  const scene = await openServiceScene({ files: MANY })
  expect(await withoutReader(scene, 'plan')).toEqual({ status: 0, stderr: '' })
  expect((await withoutReader(scene, 'plan', '--detailed-exitcode')).status).toBe(2)
  expect(await withoutReader(scene, 'apply', '--yes')).toEqual({ status: 0, stderr: '' })
  expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)
})

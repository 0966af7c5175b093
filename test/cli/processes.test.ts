/** The program as a process: signals, closed pipes, start and stop of the service. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { builtProgram, type ProgramRun, startProgram } from '../support/built-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import type { Script } from './recording-proxy.ts'
import { filesBelow, TOKEN } from './scene.ts'
import { openServiceScene, type ServiceScene } from './service-scene.ts'

beforeAll(async () => void (await builtProgram()))

const MANY = `domain: example.com
soa_email: hostmaster@example.com
records:
${Array.from({ length: 200 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.1}\n`).join('')}`

/** A service that delays each record, so that a signal arrives during calls. */
const slowly: Script = async ({ method, path }) => {
  if (method === 'POST' && path.includes('/records')) await new Promise((resolve) => setTimeout(resolve, 30))
  return null
}

const start = async (scene: ServiceScene, ...args: string[]): Promise<ProgramRun> => {
  const run = await startProgram(args, { cwd: scene.folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  onTestFinished(() => run.kill('SIGKILL'))
  return run
}

const recordCalls = ({ proxy }: ServiceScene): number => proxy.mutations().filter(({ path }) => path.includes('/records')).length

async function reach(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a signal during apply', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s: finishes the calls in progress, prints the report, exits with %i, and the next apply completes the changes',
    async (signal, status) => {
      const scene = await openServiceScene({ files: { 'zones/example.com.yaml': MANY }, script: slowly })
      const run = await start(scene, 'apply', '--yes')
      await reach(() => recordCalls(scene) >= 40)
      run.kill(signal)
      expect(await run.ended).toEqual({ status, signal: null })
      expect(run.stderr()).toMatch(/^Stopping: /m)
      const summary = /\nApplied in part: (\d+) skipped; (\d+) created, 0 updated, 0 deleted in 1 zone \(\d+ calls\)\n$/.exec(run.stdout())
      expect(summary).not.toBeNull()
      const [, skipped, applied] = (summary as RegExpExecArray).map(Number) as [number, number, number]
      expect(applied + skipped).toBe(201)
      expect(applied).toBe(scene.proxy.mutations().length)
      expect(run.stdout()).toContain('skipped: the run was interrupted')
      const rest = await scene.run('apply', '--yes')
      expect(rest.status).toBe(0)
      expect(rest.stdout).toContain(`Applied: ${skipped} created`)
      expect(scene.proxy.mutations()).toHaveLength(201)
    },
  )

  test('while planning: applies nothing', async () => {
    const scene = await openServiceScene({ script: () => 'silence' })
    const run = await start(scene, 'apply', '--yes')
    await reach(() => scene.proxy.requests.length > 0)
    run.kill('SIGINT')
    expect(await run.ended).toEqual({ status: 130, signal: null })
    expect(run.stderr()).toMatch(/Nothing was applied\.\n$/)
    expect(run.stderr()).not.toContain('program error')
  })

  test('while waiting for a retry', async () => {
    const scene = await openServiceScene({
      script: () => ({ status: 429, headers: { 'content-type': 'application/json', 'retry-after': '20' }, body: '{}' }),
    })
    const run = await start(scene, 'apply', '--yes')
    await reach(() => scene.proxy.requests.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const begin = performance.now()
    run.kill('SIGTERM')
    expect(await run.ended).toEqual({ status: 143, signal: null })
    expect(performance.now() - begin).toBeLessThan(15_000)
  })

  test('ends the program immediately the second time', async () => {
    const scene = await openServiceScene({
      script: ({ method, path }) => (method === 'POST' && path.includes('/records') ? 'silence' : null),
    })
    const run = await start(scene, 'apply', '--yes')
    await reach(() => recordCalls(scene) > 0)
    run.kill('SIGINT')
    await run.until('Stopping: ')
    run.kill('SIGINT')
    expect(await run.ended).toEqual({ status: 130, signal: null })
  })
})

test.each([['plan'], ['verify']])('a signal ends %s at once', async (command) => {
  const scene = await openServiceScene({ script: () => 'silence' })
  const run = await start(scene, command)
  await reach(() => scene.proxy.requests.length > 0)
  run.kill('SIGINT')
  expect(await run.ended).toEqual({ status: 130, signal: null })
})

/** The exit status of the program if the reader closes its output immediately. */
async function withoutReader(scene: ServiceScene, ...args: string[]): Promise<{ status: number | null; stderr: string }> {
  const child = spawn(process.execPath, [await builtProgram(), ...args], {
    cwd: scene.folder,
    env: { ...process.env, ZONEWRIGHT_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stderr }
}

describe('a closed standard output', () => {
  test('does not fail plan', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': MANY } })
    expect(await withoutReader(scene, 'plan')).toEqual({ status: 0, stderr: '' })
    expect((await withoutReader(scene, 'plan', '--detailed-exitcode')).status).toBe(2)
  })

  test('does not stop an apply', async () => {
    const scene = await openServiceScene({ files: { 'zones/example.com.yaml': MANY } })
    expect(await withoutReader(scene, 'apply', '--yes')).toEqual({ status: 0, stderr: '' })
    expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)
  })
})

describe('serve', () => {
  const serve = async (cwd: string, args: readonly string[], env: Record<string, string | undefined> = {}): Promise<ProgramRun> => {
    const run = await startProgram(['serve', ...args], { cwd, env: { ZONEWRIGHT_BOOTSTRAP_TOKEN: undefined, ...env } })
    onTestFinished(() => run.kill('SIGKILL'))
    return run
  }
  const FREE = ['--listen', '127.0.0.1:0', '--dns', '127.0.0.1:0']

  test('prints one line of JSON when ready and the token once, and exits with 0', async () => {
    const folder = temporaryDirectory()
    const run = await serve(folder, FREE)
    await run.until('listening')
    const ready = JSON.parse(run.stdout())
    expect(ready).toEqual({
      event: 'listening',
      http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v4$/),
      dns: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    })
    const token = /shown this once: (\S+)$/m.exec(run.stderr())?.[1]
    const answer = await fetch(`${ready.http}/domains`, { headers: { authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(200)
    run.kill('SIGTERM')
    expect(await run.ended).toEqual({ status: 0, signal: null })
    expect(Object.values(filesBelow(folder)).some((text) => text.includes(token as string))).toBe(false)
    const again = await serve(folder, FREE)
    await again.until('listening')
    expect(again.stderr()).not.toMatch(/token/i)
  })

  test('takes the token from the environment, and does not print it', async () => {
    const run = await serve(temporaryDirectory(), [...FREE, '--dns', 'none'], { ZONEWRIGHT_BOOTSTRAP_TOKEN: TOKEN })
    await run.until('listening')
    const { http, dns } = JSON.parse(run.stdout())
    expect(dns).toBeNull()
    expect((await fetch(`${http}/domains`, { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200)
    expect(run.stdout() + run.stderr()).not.toContain(TOKEN)
  })

  test('an address in use, a folder in use, an invalid name: an error with a code and exit 1', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const address = `127.0.0.1:${(taken.address() as { port: number }).port}`
    const folder = temporaryDirectory()
    const inUse = await serve(folder, [...FREE, '--listen', address])
    expect((await inUse.ended).status).toBe(1)
    expect(inUse.stderr()).toMatch(
      /^error\[service-start\] the service cannot start: .*EADDRINUSE.* \(give another address with --listen or --dns; port 0 picks a free one\)\n$/,
    )

    // A failed start does not consume the token: the next start prints it.
    const running = await serve(folder, FREE)
    await running.until('listening')
    expect(running.stderr()).toMatch(/shown this once: \S+/)
    const second = await serve(folder, FREE)
    expect((await second.ended).status).toBe(1)
    expect(second.stderr()).toMatch(/^error\[service-start\] the service cannot start: the data folder .* is in use by process \d+\n$/)

    const named = await serve(temporaryDirectory(), [...FREE, '--ns-names', 'a..b'])
    expect((await named.ended).status).toBe(1)
    expect(named.stderr()).toMatch(/^error\[service-start\] /)
  })
})

test('starts quickly', async () => {
  const run = await startProgram(['--version'], { cwd: temporaryDirectory() })
  expect(await run.ended).toEqual({ status: 0, signal: null })
  expect(run.stdout()).toMatch(/^\d+\.\d+\.\d+\n$/)
})

/** The child process of a provider class: what it gets, what it may write, and what becomes of a call when it hangs, dies or raises. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startProgram } from '../../support/built-program.ts'
import { expectEnd } from '../../support/cli.ts'
import { OCTODNS_PYTHON } from '../../support/octodns-python.ts'
import { describeWithTools } from '../../support/skip.ts'
import { awkwardWorkspace, KEPT, PYTHON_FOLDER, TOKEN } from './awkward.ts'

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A dead child of a container's first process may stay as a zombie.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function untilDead(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 1500 && isAlive(pid); tries += 1) await sleep(20)
  return !isAlive(pid)
}

/** The processes that a hanging call has started. */
const sleepersIn = (folder: string): number[] => readFileSync(join(folder, 'stored/sleepers'), 'utf8').split(' ').map(Number)

const WANTED = `${KEPT}  www: {type: A, ttl: 300, value: 192.0.2.2}\n`

describeWithTools([OCTODNS_PYTHON], 'the process of a provider class', () => {
  test('gets secrets neither as arguments nor in its environment, and no variable that the config does not name', async () => {
    const {
      run,
      define,
      process: child,
      env,
      folder,
    } = awkwardWorkspace({
      settings: ', environment: [ODD_*, AWS_PROFILE]',
      options: ', nested: {list: [env:OTHER_TOKEN, plain, 7]}',
      env: { ODD_ONE: '1', AWS_PROFILE: 'lab', AWS_SECRET_ACCESS_KEY: 'not-for-you', HTTPS_PROXY: 'http://127.0.0.1:9', LANG: 'C.UTF-8' },
    })
    define(WANTED)
    expect(await run('plan')).toMatchObject({ status: 0 })
    const { argv, env: inherited, nested, cwd } = child()
    expect(nested).toEqual({ list: [env['OTHER_TOKEN'], 'plain', 7] })
    expect(cwd).toBe(folder)
    expect(argv.join(' ')).not.toContain('token')
    const passed = { PATH: env['PATH'], HTTPS_PROXY: 'http://127.0.0.1:9', ODD_ONE: '1', AWS_PROFILE: 'lab' }
    const expected = { ...passed, PYTHONPATH: PYTHON_FOLDER, LANG: 'C.UTF-8' }
    const { LC_CTYPE: _, ...given } = inherited
    expect(given).toEqual(expected)
  })

  test('ends with the run, and writes nothing into its folder', async () => {
    const { run, define, process: child } = awkwardWorkspace()
    define(WANTED)
    expect((await run('apply', '--yes')).status).toBe(0)
    expect(await untilDead(child().pid)).toBe(true)
  })

  test('ends with its processes when the run is killed, in the middle of a call', async () => {
    const { folder, env, define, behave, process: child } = awkwardWorkspace()
    define(WANTED)
    behave('hang apply')
    const run = await startProgram(['apply', '--yes'], { cwd: folder, env })
    while (!readdirSync(join(folder, 'stored')).includes('sleepers')) await sleep(20)
    run.kill('SIGKILL')
    await run.ended
    for (const pid of [child().pid, ...sleepersIn(folder)]) expect(await untilDead(pid)).toBe(true)
  })

  test('finishes a call that is under way when the run is interrupted (Ctrl-C)', async () => {
    const { folder, env, define, behave, stored } = awkwardWorkspace()
    define(WANTED)
    behave('slow apply')
    const run = await startProgram(['apply', '--yes'], { cwd: folder, env })
    while (!readdirSync(join(folder, 'stored')).includes('slow')) await sleep(20)
    run.kill('SIGINT')
    expect(await run.ended).toEqual({ status: 130, signal: null })
    expect(stored()).toHaveLength(2)
    expect(run.stdout()).toContain('Applied: 1 created')
  })

  test('is killed with a call that outlasts the run (--timeout)', async () => {
    const { folder, run, define, behave, process: child, stored } = awkwardWorkspace()
    define(WANTED)
    behave('hang apply')
    const { status, stdout, stderr } = await run('apply', '--yes', '--timeout', '2')
    expect([status, stdout + stderr]).toEqual([expect.any(Number), expect.stringMatching(/was stopped with the run/)])
    expect(status).not.toBe(0)
    for (const pid of [child().pid, ...sleepersIn(folder)]) expect(await untilDead(pid)).toBe(true)
    expect(stored()).toHaveLength(1)
  })

  test('cannot disturb the protocol by what it prints, and reads no input', async () => {
    const { run, define, behave, stored } = awkwardWorkspace()
    define(WANTED)
    behave('print read')
    expect(await run('plan')).toMatchObject({ status: 0, stderr: '' })
    behave('print apply')
    expect(await run('apply', '--yes')).toMatchObject({ status: 0 })
    expect(stored()).toHaveLength(2)
  })

  test.each(['chatter read', 'forks read', 'forks apply', 'badlog read', 'badlog apply'])('is not disturbed by %s', async (mode) => {
    const { run, define, behave, stored } = awkwardWorkspace()
    define(WANTED)
    behave(mode)
    expect(await run('apply', '--yes')).toMatchObject({ status: 0 })
    expect(stored()).toHaveLength(2)
  })

  test('its output and its messages are bounded', async () => {
    const { run, define, behave } = awkwardWorkspace()
    define(WANTED)
    behave('noise read')
    expect(expectEnd(await run('plan'), 0).stdout.length).toBeLessThan(10_000)
    behave('flood read')
    expectEnd(await run('plan'), 1, { err: /wrote (?:a response that is too large|something else)/ })
  })

  test.each<[mode: string, words: RegExp]>([
    ['hang read', /did not respond within 2 s/],
    ['kill read', /awkward\.AwkwardProvider was ended by SIGKILL/],
    ['exit read', /SystemExit: enough/],
    ['crash read', /ended with status 139: Fatal Python error: Segmentation fault/],
    ['leak read', /RuntimeError: no access with \*\*\*/],
    ['silent read', /awkward\.SilentError: \(awkward\.SilentError without text\)/],
    ['long-leak read', /RuntimeError: y+\*\*\*/],
    ['die-leak read', /ended with status 3: z+\*\*\*/],
    ['surrogate read', /UnicodeEncodeError: .*surrogates not allowed/],
    ['surrogate-error read', /RuntimeError: no file a\?/],
    ['unauthorized read', /error\[provider-unauthorized\]/],
    ['unreachable read', /error\[provider-unreachable\]/],
    ['unroutable read', /error\[provider-unreachable\]/],
    ['unauthorized start', /:2:\d+: error\[provider-unauthorized\]/],
    ['unreachable start', /error\[provider-unreachable\]/],
  ])('a read that fails: %s', async (mode, words) => {
    const { run, define, behave, process: child } = awkwardWorkspace({ settings: mode === 'hang read' ? ', timeout: 2' : '' })
    define(WANTED)
    behave(mode)
    const { status, stdout, stderr } = await run('plan')
    expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(words)])
    expect(stdout + stderr).not.toContain(TOKEN.slice(0, 8))
    expect(await untilDead(child().pid)).toBe(true)
  })

  test('a call that hangs ends with its processes, and the next read shows that it was not applied', async () => {
    const { run, define, behave, folder, stored } = awkwardWorkspace({ settings: ', timeout: 3' })
    define(WANTED)
    behave('hang apply')
    const { status, stdout } = await run('apply', '--yes', '--format', 'json')
    const [zone] = JSON.parse(stdout).zones
    expect(status).toBe(4)
    expect(zone.changes[0].outcome).toMatchObject({ state: 'unknown', error: expect.stringContaining('did not respond within 3 s') })
    for (const pid of sleepersIn(folder)) expect(await untilDead(pid)).toBe(true)
    expect(stored()).toHaveLength(1)
    behave('')
    expect((await run('apply', '--yes')).status).toBe(0)
    expect(stored()).toHaveLength(2)
  })

  test('a call whose process dies before the change is sent again', async () => {
    const { run, define, behave, stored, folder } = awkwardWorkspace()
    define(WANTED)
    behave('kill apply')
    const applied = run('apply', '--yes', '--format', 'json')
    // The class behaves after its first death.
    const first = await pidOf(folder)
    await untilDead(first)
    behave('')
    const { status, stdout } = await applied
    expect([status, JSON.parse(stdout).zones[0].changes[0].outcome.state]).toEqual([0, 'applied'])
    expect(stored()).toHaveLength(2)
  })

  test('a call whose process dies after the change counts as applied once the zone is read', async () => {
    const { run, define, behave, stored } = awkwardWorkspace()
    define(WANTED)
    behave('kill applied')
    const { status, stdout } = await run('apply', '--yes', '--format', 'json')
    const [zone] = JSON.parse(stdout).zones
    expect([status, zone.changes[0].outcome.state, zone.readBack]).toEqual([0, 'applied', 'equal'])
    expect(stored()).toHaveLength(2)
  })

  test.each(['half-applied', 'half-refused'])(
    'after an exception in the middle of a call each change is reported as it is: %s',
    async (mode) => {
      const { run, define, behave, stored } = awkwardWorkspace()
      define(`${WANTED}  a: {type: A, ttl: 300, value: 192.0.2.3}\n  z: {type: A, ttl: 300, value: 192.0.2.4}\n`)
      behave(mode)
      const { status, stdout } = await run('apply', '--yes', '--format', 'json')
      const [zone] = JSON.parse(stdout).zones
      const states = Object.fromEntries(
        zone.changes.map((change: { name: string; outcome: { state: string } }) => [change.name, change.outcome.state]),
      )
      const names = stored().map(({ name }) => `${name}.example.com.`)
      expect(status).toBe(4)
      expect(names).toHaveLength(2)
      for (const [name, state] of Object.entries(states)) expect([name, state]).toEqual([name, names.includes(name) ? 'applied' : 'failed'])
      expect(stdout).toMatch(/Error: the second change (?:failed|was refused)/)
    },
  )

  test('secrets appear in no message, report or file of a run', async () => {
    const { run, define, behave, folder } = awkwardWorkspace()
    define(WANTED)
    behave('leak apply')
    const failed = await run('apply', '--yes', '--format', 'json')
    expect(failed.stdout).toContain('RuntimeError: no access with ***')
    behave('warn applied')
    const warned = await run('apply', '--yes')
    expect(warned.stdout + warned.stderr).toContain('octoDNS warned: something is odd, token ***')
    behave('warn read')
    expect((await run('plan')).stderr).toContain('octoDNS warned: something is odd, token ***')
    expect(spawnSync('grep', ['-r', '-l', TOKEN, folder, '--exclude-dir=stored'], { encoding: 'utf8' }).stdout).toBe('')
    expect(failed.stdout + failed.stderr + warned.stdout + warned.stderr).not.toContain(TOKEN)
  })
})

/** The process of the class, once it has been created. */
async function pidOf(folder: string): Promise<number> {
  for (;;) {
    await sleep(5)
    try {
      return (JSON.parse(readFileSync(join(folder, 'stored/process.json'), 'utf8')) as { pid: number }).pid
    } catch {
      // Not written yet.
    }
  }
}

/** The process that runs programs starts before the first secret of the config is read, and only if a program is used. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startProgram } from '../support/built-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

/** Loaded before the program: notes in a file when it starts a process, and when it reads the token. */
const NOTING = `
import child from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const { env } = process
const note = (event) => appendFileSync(env.EVENTS, event + '\\n')
const { spawn } = child
child.spawn = (...args) => { note('start'); return spawn(...args) }
syncBuiltinESMExports()
Object.defineProperty(process, 'env', { value: new Proxy(env, { get(all, name) { if (name === 'ZONEWRIGHT_TOKEN') note('secret'); return all[name] } }) })
`
const PROGRAM = "import { zone, A } from 'zonewright/definition'\nzone('example.com', {}, [A('www', '192.0.2.1')])\n"
const YAML = 'domain: example.com\nrecords: {www: {type: A, value: 192.0.2.1}}\n'

/** What a command does, in order: `start` of a process, `secret`. */
async function eventsOf(command: string, file: string, text: string): Promise<string[]> {
  const folder = temporaryDirectory()
  const events = join(folder, 'events')
  mkdirSync(join(folder, 'zones'))
  writeFileSync(join(folder, 'zones', file), text)
  // Nothing listens at the port: the run ends after it has read the token.
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    "providers: {cloud: {type: cloud, base_url: 'http://127.0.0.1:9/v4', token: env:ZONEWRIGHT_TOKEN}}\nzones: [{files: 'zones/*.{yaml,ts}'}]\ndefaults: {soa_email: hostmaster@example.com}\n",
  )
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(NOTING)}`
  const env = { ZONEWRIGHT_TOKEN: 'a-token-of-the-test', EVENTS: events, NODE_OPTIONS }
  await (await startProgram([command], { cwd: folder, env })).ended
  return existsSync(events) ? readFileSync(events, 'utf8').trim().split('\n') : []
}

test('without a program, nothing starts', async () => {
  expect(new Set(await eventsOf('plan', 'a.yaml', YAML))).toEqual(new Set(['secret']))
})

test('a run that reads no definition starts nothing', { tags: ['long'] }, async () => {
  expect(await eventsOf('history', 'a.ts', PROGRAM)).not.toContain('start')
})

test('with a program, its process starts before a secret is read', async () => {
  const events = await eventsOf('plan', 'a.ts', PROGRAM)
  expect(events[0]).toBe('start')
  expect(events).toContain('secret')
})

const HANGING = 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)\n'
test.runIf(process.platform === 'linux')('a child whose parent was killed ends at its limit', { tags: ['long'] }, async () => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, 'a.ts'), HANGING)
  writeFileSync(join(cwd, 'zonewright.yaml'), 'zones: [{files: a.ts}]\n')
  const parent = await startProgram(['validate'], { cwd })
  const childrenOf = (pid: number): string => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
  const usedBy = (pid: string): number => Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')[13])
  await expect.poll(() => childrenOf(parent.pid), { timeout: 30_000 }).not.toBe('')
  const child = childrenOf(parent.pid)
  // Hundredths of a second: it hangs.
  await expect.poll(() => usedBy(child), { timeout: 30_000 }).toBeGreaterThan(80)
  parent.kill('SIGKILL')
  await parent.ended
  expect(readFileSync(`/proc/${child}/environ`, 'latin1')).toBe('')
  expect(readFileSync(`/proc/${child}/limits`, 'latin1')).toMatch(/^Max cpu time +900 /m)
  execFileSync('prlimit', ['--pid', child, '--cpu=2'])
  await expect.poll(() => existsSync(`/proc/${child}/exe`), { timeout: 30_000 }).toBe(false)
})

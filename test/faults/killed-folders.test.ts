/**
 * `apply` to folders of files, killed (SIGKILL) right before any file operation and during each command: a reader of the folder finds every file entirely as
 * before or entirely as desired, no serial goes back, and the next `apply` completes the rest and leaves no temporary file. ZONEWRIGHT_TEST_ROUNDS=20 kills
 * at every file operation.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { startServer } from '../support/dns-servers.ts'
import { freePort } from '../support/free-port.ts'
import { rounds, seededRandom } from '../support/random.ts'
import { bindOfFolder } from '../support/server-recipes/served-folder.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { dig } from '../support/tools.ts'

const PRELOAD = fileURLToPath(new URL('../support/kill-at.mjs', import.meta.url))
const APPLY = ['apply', '--yes', '--no-color', '--allow', 'deletes', '--allow', 'updates', '--allow', 'delete-zone']
const NS = "  '': {type: NS, values: [ns1.example.net., ns2.example.net.]}\n"
const SERVED = 'served'
type Files = Readonly<Record<string, string>>

beforeAll(async () => void (await builtProgram()))

const random = seededRandom(16)

function define(folder: string, zone: string, records: string | null): void {
  mkdirSync(join(folder, 'zones'), { recursive: true })
  writeFileSync(join(folder, `zones/${zone}.yaml`), `domain: ${zone}\n${records === null ? 'absent: true\n' : `records:\n${NS}${records}`}`)
}

const hosts = (address: number): string =>
  Array.from({ length: 50 }, (_, index) => `  h${index}: {type: A, value: 192.0.2.${address}}\n`).join('')

const names = (folder: string): string[] => readdirSync(join(folder, SERVED)).sort()

/** The files that a server or a glob finds. */
const visible = (folder: string): Files =>
  Object.fromEntries(
    names(folder)
      .filter((name) => !name.startsWith('.'))
      .map((name) => [name, readFileSync(join(folder, SERVED, name), 'utf8')]),
  )

/** The hidden files that a killed run may leave for good: nothing but a lock, which the next change takes over. */
const leftovers = (folder: string): string[] => names(folder).filter((name) => name.startsWith('.') && !name.endsWith('.lock'))
const serialOf = (text: string): number => Number(/\sSOA\s+\S+\s+\S+\s+\(?\s*(\d+)/.exec(text)?.[1])

/** Without the serial, which depends on how often a catalog zone was written. */
const withoutSerial = (text: string): string => text.replace(String(serialOf(text)), 'SERIAL')
const env = { PATH: process.env['PATH'] ?? '' }

async function applyKilled(folder: string, more: Readonly<Record<string, string>>): Promise<NodeJS.Signals | null> {
  const run = await startProgram(APPLY, { cwd: folder, env: { ...env, NODE_OPTIONS: `--import=${PRELOAD}`, ...more } })
  const { status, signal } = await run.ended
  if (status !== 0 && signal === null) throw new Error(run.stderr())
  return signal
}

const copyOf = (folder: string): string => {
  const copy = join(temporaryDirectory(), 'x')
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** Some of the file operations of an undisturbed run in a copy of `start`, and what that run leaves. */
async function operationsOf(start: string, kills: number): Promise<{ readonly steps: readonly number[]; readonly after: Files }> {
  const folder = copyOf(start)
  const report = join(temporaryDirectory(), 'steps')
  await applyKilled(folder, { KILL_BELOW: join(folder, SERVED), KILL_COUNT: report })
  expect(names(folder).filter((name) => name.startsWith('.'))).toEqual([])
  const last = Number(readFileSync(report, 'utf8'))
  expect(last).toBeGreaterThan(5)
  const steps = random.shuffle(Array.from({ length: last }, (_, index) => index + 1)).slice(0, rounds(kills))
  return { steps, after: visible(folder) }
}

/** Every file is one of before or after, whatever the moment; the catalog zone may have other serials and members. */
function expectWhole(found: Files, before: Files, after: Files): void {
  for (const [name, text] of Object.entries(found)) {
    if (name === 'catalog.invalid.zone' || name === 'zones.conf') expect(text.endsWith('\n')).toBe(true)
    else expect([before[name], after[name]]).toContain(text)
    if (name.endsWith('.zone')) expect(serialOf(text)).toBeGreaterThanOrEqual(serialOf(before[name] ?? after[name] ?? text))
  }
  for (const name of Object.keys(before)) if (name in after) expect(found).toHaveProperty([name])
}

/** Applies again: the folder is as after an undisturbed run, and nothing is left to do. */
async function completes(folder: string, found: Files, after: Files): Promise<void> {
  expect(await cli(APPLY, { cwd: folder, env })).toMatchObject({ status: 0 })
  const files = visible(folder)
  const bare = (all: Files): Files => Object.fromEntries(Object.entries(all).map(([name, text]) => [name, withoutSerial(text)]))
  expect(bare(files)).toEqual(bare(after))
  for (const [name, text] of Object.entries(files)) {
    if (!name.endsWith('.zone')) continue
    const earlier = found[name]
    if (earlier === text || earlier === undefined) continue
    expect(serialOf(text)).toBeGreaterThan(serialOf(earlier))
  }
  expect(leftovers(folder)).toEqual([])
  expectEnd(await cli(['plan', '--detailed-exitcode', '--no-color'], { cwd: folder, env }), 0, { err: '' })
}

const COMMANDS = ['check', 'reload', 'read-list'] as const

/** One zone to change, one to create and one to delete, with commands, a list of zones and a catalog zone. */
async function openZonefile(): Promise<string> {
  const folder = temporaryDirectory()
  for (const name of [SERVED, 'told']) mkdirSync(join(folder, name))
  const program = (name: (typeof COMMANDS)[number], text: string): string => {
    // The program is killed while it runs the command, if a file says so.
    const dies = `if [ -e kill-${name} ]; then rm kill-${name}; kill -9 $PPID; fi`
    const words = { check: ['{zone}', '{file}'], reload: ['{zone}'], 'read-list': [] }[name]
    return JSON.stringify(['sh', '-c', `${text}\n${dies}`, ...words])
  }
  // What a server would load: the files as they are when it is told.
  const load = `cp "${SERVED}/$0.zone" told/`
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    `providers:
  files:
    type: zonefile
    directory: ${SERVED}
    check: ${program('check', 'named-checkzone -q -i none "$0" "$1" || exit 1')}
    reload: ${program('reload', load)}
    catalog: catalog.invalid
    list: {format: bind, path: /srv/zones, file: ${SERVED}/zones.conf, reload: ${program('read-list', `cp ${SERVED}/*.zone told/; cp ${SERVED}/zones.conf told/`)}}
defaults: {soa_email: hostmaster@example.com}
`,
  )
  define(folder, 'changed.example', hosts(1))
  define(folder, 'deleted.example', hosts(1))
  expect(await cli(APPLY, { cwd: folder, env })).toMatchObject({ status: 0, stderr: '' })
  define(folder, 'changed.example', hosts(2))
  define(folder, 'new.example', hosts(3))
  define(folder, 'deleted.example', null)
  return folder
}

/** The server was told of every file as it is in the end. */
function expectTold(folder: string): void {
  for (const [name, text] of Object.entries(visible(folder)))
    expect([name, readFileSync(join(folder, 'told', name), 'utf8')]).toEqual([name, text])
}

/** A copy of the folder in which an apply was killed before this file operation, or up to twenty earlier: one that writes the catalog zone once for two zones has fewer. */
async function killedAt(start: string, step: number): Promise<string> {
  for (let at = step; at > Math.max(0, step - 20); at--) {
    const folder = copyOf(start)
    if ((await applyKilled(folder, { KILL_BELOW: join(folder, SERVED), KILL_AT: String(at) })) === 'SIGKILL') return folder
  }
  throw new Error(`no apply has ${step - 20} file operations`)
}

/** Kills an apply before each of some file operations; then another one completes it. */
async function killBeforeOperations(start: string, kills: number, check: (folder: string) => void = () => undefined): Promise<void> {
  const { steps, after } = await operationsOf(start, kills)
  const before = visible(start)
  for (const step of steps) {
    const folder = await killedAt(start, step)
    const found = visible(folder)
    expectWhole(found, before, after)
    await completes(folder, found, after)
    check(folder)
  }
}

describeWithTools(['named-checkzone'], 'a folder of zone files', () => {
  test('killed before a file operation', async () => {
    await killBeforeOperations(await openZonefile(), 12, expectTold)
  })

  test.each(COMMANDS)('killed while the command "%s" runs', async (command) => {
    const start = await openZonefile()
    const { after } = await operationsOf(start, 0)
    const folder = copyOf(start)
    writeFileSync(join(folder, `kill-${command}`), '')
    expect(await applyKilled(folder, {})).toBe('SIGKILL')
    expect(existsSync(join(folder, `kill-${command}`))).toBe(false)
    const found = visible(folder)
    expectWhole(found, visible(start), after)
    await completes(folder, found, after)
    expectTold(folder)
  })
})

test('a folder of octoDNS killed before a file operation', { tags: ['long'] }, async () => {
  const start = temporaryDirectory()
  mkdirSync(join(start, SERVED))
  writeFileSync(join(start, 'zonewright.yaml'), `providers: {mirror: {type: octodns, directory: ${SERVED}}}\n`)
  define(start, 'changed.example', hosts(1))
  define(start, 'deleted.example', hosts(1))
  expect(await cli(APPLY, { cwd: start, env })).toMatchObject({ status: 0, stderr: '' })
  define(start, 'changed.example', hosts(2))
  define(start, 'new.example', hosts(3))
  define(start, 'deleted.example', null)
  await killBeforeOperations(start, 8)
})

describeWithTools(['named', 'rndc', 'dig'], 'a folder that BIND serves', () => {
  test('killed at random moments: answers are those of one state, serials rise, and the next apply completes', async () => {
    const { recipe, control, reload, reconfig } = bindOfFolder(await freePort())
    const { directory, port } = await startServer(recipe, {})
    const command = (words: readonly string[]): string => JSON.stringify([...control(directory), ...words])
    const folder = temporaryDirectory()
    writeFileSync(
      join(folder, 'zonewright.yaml'),
      `providers:
  bind:
    type: zonefile
    directory: ${directory}/served
    check: named-checkzone
    reload: ${command(reload)}
    list: {format: bind, file: ${directory}/zones.conf, reload: ${command(reconfig)}}
defaults: {soa_email: hostmaster@example.com}
`,
    )
    define(folder, 'example.com', hosts(1))
    expect(await cli(APPLY, { cwd: folder, env })).toMatchObject({ status: 0, stderr: '' })
    const answersOf = async (): Promise<{ readonly serial: number; readonly addresses: string[] }> => {
      const [first, last] = await Promise.all(['h0', 'h49'].map((host) => dig({ port, name: `${host}.example.com`, type: 'A' })))
      const [soa = ''] = await dig({ port, name: 'example.com', type: 'SOA' })
      return { serial: Number(soa.split(' ')[2]), addresses: [...(first ?? []), ...(last ?? [])] }
    }
    await expect.poll(async () => (await answersOf()).serial).toBeGreaterThan(0)
    let { serial } = await answersOf()
    for (let state = 2; state < 2 + rounds(4); state += 1) {
      const former = await answersOf()
      define(folder, 'example.com', hosts(state % 250))
      const run = await startProgram(APPLY, { cwd: folder, env })
      await new Promise((done) => setTimeout(done, 150 + random.below(500)))
      run.kill('SIGKILL')
      await run.ended
      const killed = await answersOf()
      expect(killed.serial).toBeGreaterThanOrEqual(serial)
      for (const address of killed.addresses) expect([...former.addresses, `192.0.2.${state % 250}`]).toContain(address)
      expect(await cli(APPLY, { cwd: folder, env })).toMatchObject({ status: 0 })
      const wanted = `192.0.2.${state % 250}`
      await expect.poll(async () => (await answersOf()).addresses).toEqual([wanted, wanted])
      const served = await answersOf()
      expect(served.serial).toBeGreaterThan(serial)
      serial = served.serial
      expect(readdirSync(join(directory, 'served')).filter((name) => !/^example\.com\.zone$|\.lock$/.test(name))).toEqual([])
      rmSync(join(folder, '.zonewright'), { recursive: true, force: true })
    }
  })
})

/**
 * Commands that write definitions, killed (SIGKILL) directly before any file operation: every file is entirely old or entirely new, and the
 * same command again writes the others and leaves no temporary files. ZONEWRIGHT_TEST_ROUNDS=100 kills at every step.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { startBind } from '../support/dns-servers.ts'
import { rounds, seededRandom } from '../support/random.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { filesBelow, TOKEN } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const PRELOAD = fileURLToPath(new URL('../support/kill-at.mjs', import.meta.url))

const SOA = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n'
const zoneFiles = (address: string): Files =>
  Object.fromEntries(['a', 'b', 'c'].map((name) => [`dns/${name}.example.zone`, `${SOA}www 60 A ${address}\n`]))
const octodns = (address: string): Files => ({
  'dns/shared/web.yaml': `www: {ttl: 60, type: A, value: ${address}}\n`,
  'dns/a.example.yaml': '<<: !include shared/web.yaml\nmail: {ttl: 60, type: A, value: 192.0.2.9}\n',
  'dns/b.example./www.yaml': `www: {ttl: 60, type: A, value: ${address}}\n`,
  'dns/b.example./mail.yaml': `mail: {ttl: 60, type: A, value: ${address}}\n`,
  'dns/b.example./$b.example.yaml': `'': {ttl: 60, type: A, value: ${address}}\n`,
})
const definitions = (address: string): Files =>
  Object.fromEntries(
    ['a', 'b'].map((name) => [`zones/${name}.example.yaml`, `domain: ${name}.example\nrecords: {www: {type: A, value: ${address}}}\n`]),
  )

type Files = Readonly<Record<string, string>>

interface Case {
  readonly name: string
  readonly files: (address: string) => Files
  readonly args: readonly string[]
  /** The output folder. */
  readonly out: string
  /** The number of random file operations at which to kill it. */
  readonly kills: number
}

const CASES: readonly Case[] = [
  { name: 'import octodns', files: octodns, args: ['import', 'octodns', 'dns', '-o', 'zones'], out: 'zones', kills: 6 },
  { name: 'import zonefile', files: zoneFiles, args: ['import', 'zonefile', 'dns', '-o', 'zones'], out: 'zones', kills: 2 },
  {
    name: 'export zonefile',
    files: definitions,
    args: ['export', 'zonefile', '-o', 'out', '--ns', 'ns1.example.net'],
    out: 'out',
    kills: 4,
  },
  { name: 'export octodns', files: definitions, args: ['export', 'octodns', '-o', 'out', '--lossy'], out: 'out', kills: 2 },
  { name: 'export json', files: definitions, args: ['export', 'json', '-o', 'out/zones.json'], out: 'out', kills: 2 },
]

const random = seededRandom(12)

beforeAll(async () => void (await builtProgram()))

function write(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Runs the program with `kill-at.mjs`. Returns the signal that ended it. */
async function run(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string | null> {
  const program = await startProgram(args, { cwd, env: { NODE_OPTIONS: `--import=${PRELOAD}`, ZONEWRIGHT_TOKEN: TOKEN, ...env } })
  const { status, signal } = await program.ended
  if (status !== 0 && signal === null) throw new Error(program.stderr())
  return signal
}

/** Whether a file is a lock or a temporary file of a killed program. */
const isLeftBehind = (path: string): boolean => /\.(?:tmp|lock)$/.test(path)

const allFilesOf = (folder: string): Files => (existsSync(folder) ? filesBelow(folder) : {})

const filesOf = (folder: string): Files => Object.fromEntries(Object.entries(allFilesOf(folder)).filter(([path]) => !isLeftBehind(path)))

async function count(cwd: string, args: readonly string[], below: string): Promise<number> {
  const report = join(temporaryDirectory(), 'steps')
  await run(cwd, args, { KILL_BELOW: below, KILL_COUNT: report })
  return Number(readFileSync(report, 'utf8'))
}

function steps(last: number, kills: number): number[] {
  const all = random.shuffle(Array.from({ length: last }, (_, index) => index + 1))
  return all.slice(0, rounds(kills))
}

/** Compares the folder of a killed program with the states before and after, then repeats the command. */
async function checkKilled(cwd: string, { args, out }: Pick<Case, 'args' | 'out'>, before: Files, after: Files): Promise<void> {
  const now = filesOf(join(cwd, out))
  for (const [path, text] of Object.entries(now)) expect([before[path], after[path]]).toContain(text)
  for (const path of Object.keys(before)) expect(now).toHaveProperty([path])
  const again = await cli(args, { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  expect(again).toMatchObject({ status: 0 })
  // An edit is repeated only in the files that still differ, so it may not find the locks of other folders.
  expect((args[0] === 'record' ? filesOf : allFilesOf)(join(cwd, out))).toEqual(after)
}

const sorted = (files: Files): Files => Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))

interface Round {
  /** The folder to copy for each process. */
  readonly start: string
  readonly args: readonly string[]
  readonly out: string
  readonly kills: number
}

/** Kills a command at several file operations, each time in a new copy of the folder. */
async function killAndCheck({ start, args, out, kills }: Round): Promise<void> {
  const copy = (): string => {
    const cwd = join(temporaryDirectory(), 'x')
    cpSync(start, cwd, { recursive: true })
    return cwd
  }
  const before = sorted(filesOf(join(start, out)))
  const counted = copy()
  const last = await count(counted, args, join(counted, out))
  const after = sorted(filesOf(join(counted, out)))
  expect(last).toBeGreaterThan(5)
  for (const step of steps(last, kills)) {
    const cwd = copy()
    expect(await run(cwd, args, { KILL_BELOW: join(cwd, out), KILL_AT: String(step) })).toBe('SIGKILL')
    await checkKilled(cwd, { args, out }, before, after)
  }
}

const TIME = 180_000 * rounds(1)

test.each(CASES)(
  '$name, into a new folder and over an existing one',
  async ({ files, args, out, kills }) => {
    const older = temporaryDirectory()
    write(older, files('192.0.2.1'))
    const fresh = join(temporaryDirectory(), 'x')
    cpSync(older, fresh, { recursive: true })
    expect((await cli(args, { cwd: older })).status).toBe(0)
    write(older, files('192.0.2.2'))
    await killAndCheck({ start: fresh, args, out, kills })
    await killAndCheck({ start: older, args: [...args, '--force'], out, kills })
  },
  TIME,
)

test(
  'import from a provider',
  async () => {
    const { run: apply, folder } = await openServiceScene({
      files: definitions('192.0.2.1'),
      config: 'defaults: {soa_email: hostmaster@example.com}\n',
    })
    expect(await apply('apply', '--yes')).toMatchObject({ status: 0 })
    await killAndCheck({ start: folder, args: ['import', '--from', 'cloud', '-o', 'out'], out: 'out', kills: 3 })
  },
  TIME,
)

test(
  'record, in a file and in a new file',
  async () => {
    const start = temporaryDirectory()
    write(start, { 'zones/a.example.yaml': 'domain: a.example\nrecords: {www: {type: A, value: 192.0.2.1}}\n' })
    await killAndCheck({ start, args: ['record', 'set', 'a.example', 'www', 'A', '192.0.2.2'], out: 'zones', kills: 2 })
    write(start, { 'zones/b.example./$b.example.yaml': "'': {type: A, value: 192.0.2.1}\n" })
    await killAndCheck({ start, args: ['record', 'set', 'b.example', 'new', 'A', '192.0.2.2'], out: 'zones', kills: 2 })
  },
  TIME,
)

test(
  'record, in several files',
  async () => {
    const start = temporaryDirectory()
    write(start, {
      'zones/a.example.yaml': 'domain: a.example\ninclude: [shared/f.yaml]\nrecords: {www: {type: A, value: 192.0.2.1}}\n',
      'zones/shared/f.yaml': 'www: {type: A, merge: true, values: [192.0.2.2, 192.0.2.3]}\n',
    })
    await killAndCheck({ start, args: ['record', 'set', 'a.example', 'www', 'A', '192.0.2.3', '192.0.2.4'], out: 'zones', kills: 4 })
  },
  TIME,
)

describeWithTools(['named'], 'import from a name server', () => {
  test(
    'writes a complete zone or nothing',
    async () => {
      const zones = ['a.example', 'b.example'].map((name) => ({
        name,
        text: `$TTL 60\n@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n@ NS ns1\nns1 A 192.0.2.1\n`,
      }))
      const server = await startBind({ zones })
      onTestFinished(() => server.stop())
      const args = ['import', 'axfr', `127.0.0.1:${server.port}`, 'a.example', 'b.example', '-o', 'out']
      await killAndCheck({ start: temporaryDirectory(), args, out: 'out', kills: 3 })
    },
    TIME,
  )
})

test(
  'import dnscontrol',
  async () => {
    const start = temporaryDirectory()
    write(start, { 'ir.tsv': ['a', 'b'].map((name) => `www.${name}.example\twww\t60\tIN\tA\t192.0.2.1\n`).join('') })
    await killAndCheck({ start, args: ['import', 'dnscontrol', 'ir.tsv', '-o', 'out'], out: 'out', kills: 2 })
  },
  TIME,
)

/**
 * Commands that write definitions, killed (SIGKILL) directly before any file operation: every file is entirely old or entirely new, and the
 * same command again writes the others and leaves no temporary files. ZONEWRIGHT_TEST_ROUNDS=100 kills at every step.
 */
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { addFiles, folderWith } from '../definition/files.ts'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { rounds, seededRandom } from '../support/random.ts'
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
    ['a', 'b'].map((name) => [`zones/${name}.yaml`, `domain: ${name}.example\nrecords: {www: {type: A, value: ${address}}}\n`]),
  )

type Files = Readonly<Record<string, string>>

/** The words of each command, its files, its output folder, and the number of random file operations at which to kill it. */
const CASES: readonly (readonly [args: string, files: (address: string) => Files, out: string, kills: number])[] = [
  ['import zonefile dns -o zones', zoneFiles, 'zones', 2],
  ['export zonefile -o out --ns ns1.example.net', definitions, 'out', 4],
  ['export octodns -o out --lossy', definitions, 'out', 2],
  ['export json -o out/zones.json', definitions, 'out', 2],
]

const random = seededRandom(12)

beforeAll(async () => void (await builtProgram()))

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
async function checkKilled(cwd: string, args: readonly string[], out: string, [before, after]: readonly [Files, Files]): Promise<void> {
  const now = filesOf(join(cwd, out))
  for (const [path, text] of Object.entries(now)) expect([before[path], after[path]]).toContain(text)
  for (const path of Object.keys(before)) expect(now).toHaveProperty([path])
  expectEnd(await cli(args, { cwd, env: { ZONEWRIGHT_TOKEN: TOKEN } }), 0)
  // An edit and `init` are repeated only in the files that still differ, so they may not find the locks and temporary files of other folders.
  expect((['record', 'init'].includes(String(args[0])) ? filesOf : allFilesOf)(join(cwd, out))).toEqual(after)
}

const sorted = (files: Files): Files => Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Kills a command at several file operations, each time in a new copy of a folder. */
async function killAndCheck(start: string, args: readonly string[], out: string, kills: number): Promise<void> {
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
    await checkKilled(cwd, args, out, [before, after])
  }
}

const TIME = 180_000 * rounds(1)
const LONG = { tags: ['long'], timeout: TIME }

/** Into a new folder and over an existing one. */
async function killBoth(words: string, files: (address: string) => Files, out: string, kills: number): Promise<void> {
  const args = words.split(' ')
  const older = folderWith(files('192.0.2.1'))
  const fresh = folderWith(files('192.0.2.1'))
  expect((await cli(args, { cwd: older })).status).toBe(0)
  addFiles(older, files('192.0.2.2'))
  await killAndCheck(fresh, args, out, kills)
  await killAndCheck(older, [...args, '--force'], out, kills)
}

/** Of one edit. */
const killEdit = (files: Files, words: string, kills: number): Promise<void> =>
  killAndCheck(folderWith(files), ['record', ...words.split(' ')], 'zones', kills)

test('import octodns, into a new folder and over an existing one', LONG, () => killBoth('import octodns dns -o zones', octodns, 'zones', 6))
test.each(CASES)('%s, into a new folder and over an existing one', LONG, killBoth)

test('import from a provider', LONG, async () => {
  const config = 'defaults: {soa_email: a@example.com}\n'
  const { run: apply, folder } = await openServiceScene({ files: definitions('192.0.2.1'), config })
  expect(await apply('apply', '--yes')).toMatchObject({ status: 0 })
  await killAndCheck(folder, ['import', '--from', 'cloud', '-o', 'out'], 'out', 3)
})

test(
  'record, in several files',
  () => {
    const files = {
      'zones/a.example.yaml': 'domain: a.example\ninclude: [shared/f.yaml]\nrecords: {www: {type: A, value: 192.0.2.1}}\n',
      'zones/shared/f.yaml': 'www: {type: A, merge: true, values: [192.0.2.2, 192.0.2.3]}\n',
    }
    return killEdit(files, 'set a.example www A 192.0.2.3 192.0.2.4', 4)
  },
  TIME,
)

test('init --yes, in a folder with zone files', { timeout: TIME }, () =>
  killAndCheck(folderWith(zoneFiles('192.0.2.1')), ['init', '--yes'], '.', 3),
)

/** Missing permissions and full disks: an error with the path, exit 1, and no partial file. Private files: journals, locks and saved plans. */
import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, type TestOptions, test } from 'vitest'
import { addFiles, folderWith } from '../definition/files.ts'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { testPermissions, unprivileged } from '../support/unprivileged.ts'
import { filesBelow, openScene, ZONE } from './scene.ts'

type Files = Readonly<Record<string, string>>

/** Removes write permission until the end of the test. */
function close(path: string): void {
  chmodSync(path, 0o555)
  onTestFinished(() => chmodSync(path, 0o755))
}

async function run(cwd: string, args: readonly string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const program = await startProgram(args, { cwd, before: unprivileged ?? [] })
  const { status } = await program.ended
  return { status, stdout: program.stdout(), stderr: program.stderr() }
}

const SOA = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n'
const DEFINED = { 'zones/a.example.yaml': 'domain: a.example\nrecords:\n  www: {type: A, value: 192.0.2.1}\n' }
const DNS = { 'dns/a.example.zone': SOA, 'dns/b.example.zone': SOA, 'zones/c.yaml': '' }
const LONG = { tags: ['long'] }
const denied = (path: string): string => `error[file-unwritable] ${path} cannot be written: permission denied\n`

beforeAll(async () => void (await builtProgram()))

describe('a folder without write permission', () => {
  const CASES: readonly (readonly [name: string, closed: string, files: Files, args: string, message: string, options?: TestOptions])[] = [
    ['init', '.', {}, 'init', 'cannot be written: permission denied'],
    ['fmt', 'zones', { 'zones/a.example.yaml': 'records:   {}\n' }, 'fmt', denied('zones/a.example.yaml'), LONG],
    ['record', 'zones', DEFINED, 'record set a.example www A 192.0.2.2', denied('zones/a.example.yaml')],
    ['export', 'out', { ...DEFINED, 'out/a.example.zone': '' }, 'export zonefile -o out --ns a.test --force', denied('out/a.example.zone')],
    ['import', 'zones', DNS, 'import zonefile dns -o zones', `${denied('zones/a.example.yaml')}Nothing was written.\n`],
    [
      'import of one file',
      'zones',
      DNS,
      'import zonefile dns/a.example.zone -o zones',
      `${denied('zones/a.example.yaml')}Nothing was`,
      LONG,
    ],
  ]
  for (const [name, closed, files, args, message, options] of CASES) {
    const refuses = async () => {
      const cwd = folderWith(files)
      close(join(cwd, closed))
      expect(await run(cwd, args.split(' '))).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining(message) })
      expect(filesBelow(cwd)).toEqual(files)
    }
    testPermissions(name, refuses, options)
  }

  testPermissions('import, if one of its folders has none: no other file changes', async () => {
    const web = (address: string): Files => ({
      'dns/a.example.yaml': `www: {ttl: 60, type: A, value: ${address}}\n`,
      'dns/z.example./www.yaml': `www: {ttl: 60, type: A, value: ${address}}\n`,
    })
    const cwd = folderWith({ ...web('192.0.2.1'), 'zones/z.example./old.yaml': 'old: {ttl: 60, type: A, value: 192.0.2.9}\n' })
    const args = ['import', 'octodns', 'dns', '-o', 'zones']
    const split = join(cwd, 'zones/z.example.')
    close(split)
    const before = filesBelow(cwd)
    const message = expect.stringContaining(`${denied('zones/z.example./www.yaml')}Nothing was written.\n`)
    expect(await run(cwd, args)).toEqual({ status: 1, stdout: '', stderr: message })
    expect(filesBelow(cwd)).toEqual(before)
    chmodSync(split, 0o755)
    expect(await run(cwd, args)).toMatchObject({ status: 0 })
    // The same with existing files.
    addFiles(cwd, web('192.0.2.2'))
    chmodSync(split, 0o555)
    const again = filesBelow(cwd)
    expect(await run(cwd, [...args, '--force'])).toMatchObject({ status: 1, stdout: '' })
    expect(filesBelow(cwd)).toEqual(again)
  })
})

testPermissions('init warns of what it cannot read', async () => {
  const cwd = folderWith({ 'dns/a.example.zone': SOA, 'more/b.example.zone': SOA })
  for (const path of ['dns/a.example.zone', 'more']) chmodSync(join(cwd, path), 0)
  onTestFinished(() => chmodSync(join(cwd, 'more'), 0o755))
  const { stderr } = await run(cwd, ['init'])
  for (const path of ['dns/a.example.zone', 'more']) expect(stderr).toContain(`${path} cannot be read: permission denied`)
})

testPermissions('a definition without read permission', async () => {
  const cwd = folderWith({ 'zones/a.example.yaml': '' })
  chmodSync(join(cwd, 'zones/a.example.yaml'), 0)
  const message = expect.stringContaining('error[file-unreadable] zones/a.example.yaml cannot be read: permission denied')
  expect(await run(cwd, ['validate'])).toMatchObject({ status: 1, stdout: message })
})

/** A disk of 64 KiB for the test; null if none can be mounted. */
function smallDisk(): string | null {
  const folder = temporaryDirectory()
  if (process.getuid?.() !== 0 || spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status !== 0) return null
  onTestFinished(() => void spawnSync('umount', [folder]))
  return folder
}

test('a full disk', async ({ skip }) => {
  const disk = smallDisk()
  if (disk === null) return skip('needs the right to mount a file system')
  const hosts = (zone: string): string => SOA + Array.from({ length: 300 }, (_, index) => `h${index} 60 A 192.0.2.1 ; ${zone}\n`).join('')
  const cwd = folderWith(Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [`dns/${name}.example.zone`, hosts(name)])))
  const zones = join(disk, 'zones')
  const full = /error\[file-unwritable\] \S+\.example\.yaml cannot be written: the disk is full\n/
  const imported = await cli(['import', 'zonefile', 'dns', '-o', zones], { cwd })
  expect(imported).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(new RegExp(`${full.source}Nothing was written\\.\n$`)) })
  expect(filesBelow(disk)).toEqual({})
  expect(await cli(['import', 'zonefile', 'dns/a.example.zone', '-o', zones], { cwd })).toMatchObject({ status: 0 })
  writeFileSync(join(disk, 'fill'), Buffer.alloc(44_000))
  const before = filesBelow(disk)
  expectEnd(await cli(['record', 'add', 'a.example', 'new', 'A', '192.0.2.2'], { cwd: disk }), 1, { err: full })
  expect(filesBelow(disk)).toEqual(before)
})

const modeOf = (...path: string[]): number => lstatSync(join(...path)).mode & 0o7777

test('with umask 000, saved plans and journals are private, also in an existing public journal', async () => {
  const umask = process.umask(0)
  onTestFinished(() => void process.umask(umask))
  const scene = openScene()
  const journal = join(scene.folder, '.zonewright')
  expect(await scene.run('plan', '--out', 'saved.plan')).toMatchObject({ status: 0 })
  expect(modeOf(scene.folder, 'saved.plan')).toBe(0o600)
  expect(await scene.run('apply', 'saved.plan', '--yes')).toMatchObject({ status: 0 })
  const entries = () => [
    journal,
    ...readdirSync(journal, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) => join(parentPath, name)),
  ]
  const arePrivate = (): void => {
    for (const path of entries()) expect([path, modeOf(path)]).toEqual([path, lstatSync(path).isDirectory() ? 0o700 : 0o600])
  }
  arePrivate()
  const opened = entries().filter((path) => !path.endsWith('.gitignore'))
  for (const path of opened) chmodSync(path, lstatSync(path).isDirectory() ? 0o777 : 0o666)
  scene.write({ 'zones/example.com.yaml': `${ZONE}  new: {type: A, value: 192.0.2.9}\n` })
  const { stderr } = expectEnd(await scene.run('apply', '--yes'), 0, { err: `${journal} was accessible to other users` })
  for (const path of opened) expect(stderr).toContain(`${path} was accessible`)
  arePrivate()
  // An existing plan file keeps its mode.
  chmodSync(join(scene.folder, 'saved.plan'), 0o640)
  expect(await scene.run('plan', '--out', 'saved.plan')).toMatchObject({ status: 0 })
  expect(modeOf(scene.folder, 'saved.plan')).toBe(0o640)
})

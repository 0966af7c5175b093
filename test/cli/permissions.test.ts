/** Missing permissions and full disks: an error with the path, exit 1, and no partial file. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { builtProgram, startProgram } from '../support/built-program.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { testPermissions, unprivileged } from '../support/unprivileged.ts'
import { filesBelow } from './scene.ts'

type Files = Readonly<Record<string, string>>

function folderOf(files: Files, folder = temporaryDirectory()): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

/** Removes write permission until the end of the test. */
function close(...paths: readonly string[]): void {
  for (const path of paths) {
    chmodSync(path, 0o555)
    onTestFinished(() => chmodSync(path, 0o755))
  }
}

async function run(cwd: string, ...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const program = await startProgram(args, { cwd, before: unprivileged ?? [] })
  const { status } = await program.ended
  return { status, stdout: program.stdout(), stderr: program.stderr() }
}

const SOA = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n'
const ZONE = 'domain: a.example\nrecords:\n  www: {type: A, value: 192.0.2.1}\n'
const IMPORT = ['import', 'zonefile', 'dns', '-o', 'zones'] as const

beforeAll(async () => void (await builtProgram()))

describe('a folder without write permission', () => {
  testPermissions('init', async () => {
    const cwd = folderOf({})
    close(cwd)
    expect(await run(cwd, 'init')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot be written: permission denied'),
    })
    expect(filesBelow(cwd)).toEqual({})
  })

  testPermissions('fmt', async () => {
    const files = { 'zones/a.example.yaml': 'records:   {}\n' }
    const cwd = folderOf(files)
    close(join(cwd, 'zones'))
    expect(await run(cwd, 'fmt')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^error\[file-unwritable\] zones\/a\.example\.yaml cannot be written: permission denied\n/),
    })
    expect(filesBelow(cwd)).toEqual(files)
  })

  testPermissions('record', async () => {
    const files = { 'zones/a.example.yaml': ZONE }
    const cwd = folderOf(files)
    close(join(cwd, 'zones'))
    const message = 'error[file-unwritable] zones/a.example.yaml cannot be written: permission denied'
    expect(await run(cwd, 'record', 'set', 'a.example', 'www', 'A', '192.0.2.2')).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
    expect(filesBelow(cwd)).toEqual(files)
  })

  testPermissions('export', async () => {
    const files = { 'zones/a.example.yaml': ZONE, 'out/a.example.zone': 'mine' }
    const cwd = folderOf(files)
    close(join(cwd, 'out'))
    const args = ['export', 'zonefile', '-o', 'out', '--ns', 'ns1.example.net', '--force']
    expect(await run(cwd, ...args)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('out/a.example.zone cannot be written: permission denied'),
    })
    expect(filesBelow(cwd)).toEqual(files)
  })

  testPermissions('import of one file and of several', async () => {
    const files = { 'dns/a.example.zone': SOA, 'dns/b.example.zone': SOA, 'zones/c.yaml': '' }
    const cwd = folderOf(files)
    close(join(cwd, 'zones'))
    for (const args of [IMPORT, ['import', 'zonefile', 'dns/a.example.zone', '-o', 'zones']]) {
      const { status, stdout, stderr } = await run(cwd, ...args)
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toContain('error[file-unwritable] zones/a.example.yaml cannot be written: permission denied\nNothing was written.\n')
    }
    expect(filesBelow(cwd)).toEqual(files)
  })

  testPermissions('import, if one of its folders has none: no other file changes', async () => {
    const web = (address: string): Files => ({
      'dns/a.example.yaml': `www: {ttl: 60, type: A, value: ${address}}\n`,
      'dns/z.example./www.yaml': `www: {ttl: 60, type: A, value: ${address}}\n`,
    })
    const cwd = folderOf({ ...web('192.0.2.1'), 'zones/z.example./old.yaml': 'old: {ttl: 60, type: A, value: 192.0.2.9}\n' })
    const args = ['import', 'octodns', 'dns', '-o', 'zones']
    close(join(cwd, 'zones/z.example.'))
    const before = filesBelow(cwd)
    expect(await run(cwd, ...args)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /error\[file-unwritable\] zones\/z\.example\.\/www\.yaml cannot be written: permission denied\nNothing was written\.\n$/,
      ),
    })
    expect(filesBelow(cwd)).toEqual(before)
    chmodSync(join(cwd, 'zones/z.example.'), 0o755)
    expect(await run(cwd, ...args)).toMatchObject({ status: 0 })
    // The same with existing files.
    folderOf(web('192.0.2.2'), cwd)
    chmodSync(join(cwd, 'zones/z.example.'), 0o555)
    const again = filesBelow(cwd)
    expect(await run(cwd, ...args, '--force')).toMatchObject({ status: 1, stdout: '' })
    expect(filesBelow(cwd)).toEqual(again)
  })
})

testPermissions('a definition without read permission', async () => {
  const cwd = folderOf({ 'zones/a.example.yaml': '' })
  chmodSync(join(cwd, 'zones/a.example.yaml'), 0)
  const message = expect.stringContaining('error[file-unreadable] zones/a.example.yaml cannot be read: permission denied')
  expect(await run(cwd, 'validate')).toMatchObject({ status: 1, stdout: message })
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
  const cwd = folderOf(Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [`dns/${name}.example.zone`, hosts(name)])))
  const zones = join(disk, 'zones')
  const args = ['import', 'zonefile', 'dns', '-o', zones]
  const full = expect.stringMatching(
    /error\[file-unwritable\] \S+\.example\.yaml cannot be written: the disk is full\nNothing was written\.\n$/,
  )
  expect(await cli(args, { cwd })).toEqual({ status: 1, stdout: '', stderr: full })
  expect(filesBelow(disk)).toEqual({})
  expect(await cli(['import', 'zonefile', 'dns/a.example.zone', '-o', zones], { cwd })).toMatchObject({ status: 0 })
  writeFileSync(join(disk, 'fill'), Buffer.alloc(44_000))
  const before = filesBelow(disk)
  const edit = ['record', 'add', 'a.example', 'new', 'A', '192.0.2.2']
  expect(await cli(edit, { cwd: disk })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('zones/a.example.yaml cannot be written: the disk is full'),
  })
  expect(filesBelow(disk)).toEqual(before)
})

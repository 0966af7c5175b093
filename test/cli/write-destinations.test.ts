/** Unusual destinations for a file: no command hangs, and no device, pipe, folder or link is replaced. */
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import timers from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { lockFolders } from '../../src/files/locks.ts'
import { ownProcess } from '../../src/files/process-identity.ts'
import { temporaryName } from '../../src/files/temporary-file.ts'
import { folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { filesBelow } from './scene.ts'

const SOA = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n'
const ZONE = 'domain: a.example\nrecords:\n  www: {type: A, value: 192.0.2.1}\n'

/** The lock file of a process with these properties. */
const lockOf = (holder: object): string =>
  JSON.stringify({ ...ownProcess(), since: '2026-01-01T00:00:00Z', command: 'record', run: null, ...holder })

/** A PID above the limit of the system: no process has it. */
const NO_PID = 2 ** 30

/** A folder with a zone file, a definition, and one special file of each kind. */
function strangeFolder(): string {
  const cwd = folderWith({ 'a.example.zone': SOA, 'zones/a.example.yaml': ZONE, 'folder/x': '', file: 'mine' })
  spawnSync('mkfifo', [join(cwd, 'pipe')])
  symlinkSync('nowhere', join(cwd, 'dangling'))
  symlinkSync('cycle', join(cwd, 'cycle'))
  symlinkSync('/proc', join(cwd, 'proc'))
  return cwd
}

const UNWRITABLE = /error\[file-unwritable\] \S+ cannot be written: [a-z]/

describe.runIf(process.platform === 'linux')('destinations that are not folders', () => {
  it.each([
    ...['/proc/x', '/proc', 'proc/x/y', '/dev/null', '/dev/full', 'pipe', 'dangling', 'dangling/x', 'cycle', 'file', 'file/x'],
    'x'.repeat(300),
  ])('import -o %s', async (out) => {
    const cwd = strangeFolder()
    const before = filesBelow(cwd)
    expectEnd(await cli(['import', 'zonefile', 'a.example.zone', '-o', out, '--force'], { cwd }), 1, { err: UNWRITABLE, out: '' })
    expect(filesBelow(cwd)).toEqual(before)
  })
})

describe.runIf(process.platform === 'linux')('destinations that are not files', () => {
  it.each(['/proc/x', '/dev/null', '/dev/full', 'pipe', 'dangling', 'cycle', 'folder', 'folder/x/y'])('export -o %s', async (out) => {
    const cwd = strangeFolder()
    const before = filesBelow(cwd)
    for (const force of [[], ['--force']]) {
      const { status, stdout, stderr } = await cli(['export', 'json', '-o', out, ...force], { cwd })
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toMatch(/error\[file-(?:unwritable|exists)\] \S+ (?:cannot be written: [a-z]|already exists)/)
    }
    expect(filesBelow(cwd)).toEqual(before)
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true)
    expect(lstatSync(join(cwd, 'pipe')).isFIFO()).toBe(true)
    expect(readlinkSync(join(cwd, 'dangling'))).toBe('nowhere')
  })
})

describe('symbolic links', () => {
  const args = ['import', 'zonefile', 'dns', '-o', 'zones'] as const
  const files = { 'dns/a.example.zone': SOA, 'dns/b.example.zone': SOA }

  it('inside the folder stay links', async () => {
    const cwd = folderWith({ ...files, 'zones/real/a.yaml': 'mine' })
    symlinkSync('real/a.yaml', join(cwd, 'zones/a.example.yaml'))
    expect(await cli(args, { cwd })).toMatchObject({ status: 1, stderr: expect.stringContaining('zones/a.example.yaml already exists') })
    expect(await cli([...args, '--force'], { cwd })).toMatchObject({ status: 0 })
    expect(readlinkSync(join(cwd, 'zones/a.example.yaml'))).toBe('real/a.yaml')
    expect(readFileSync(join(cwd, 'zones/real/a.yaml'), 'utf8')).toContain('domain: a.example\n')
  })

  it.each([
    ['outside the folder', '../elsewhere/a.yaml', 'a symbolic link points outside the folder; name the destination itself'],
    ['to nothing', 'nothing', 'a symbolic link points to nothing'],
    ['to a folder', '../elsewhere', 'it is a folder'],
    ['to another output file', 'b.example.yaml', 'a symbolic link makes it the same file as another one to be written'],
  ])('%s are refused, also with --force', async (_, to, message) => {
    const cwd = folderWith({ ...files, 'elsewhere/a.yaml': 'mine', 'zones/b.example.yaml': 'mine' })
    symlinkSync(to, join(cwd, 'zones/a.example.yaml'))
    const before = filesBelow(cwd)
    expect(await cli([...args, '--force'], { cwd })).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(message) })
    expect(filesBelow(cwd)).toEqual(before)
  })

  it('to a folder outside are refused', async () => {
    const www = 'www: {ttl: 60, type: A, value: 192.0.2.1}\n'
    const cwd = folderWith({ 'dns/sub/a.example.yaml': www, 'dns/b.example./www.yaml': www, 'elsewhere/x': '' })
    mkdirSync(join(cwd, 'zones'))
    symlinkSync('../elsewhere', join(cwd, 'zones/b.example.'))
    const result = await cli(['import', 'octodns', 'dns', '-o', 'zones', '--force'], { cwd })
    expect(result).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('a symbolic link points outside the folder') })
    expect(Object.keys(filesBelow(join(cwd, 'elsewhere')))).toEqual(['x'])
  })

  it('are allowed for the folder itself', async () => {
    const cwd = folderWith({ ...files, 'real/x': '' })
    symlinkSync('real', join(cwd, 'zones'))
    expect(await cli(args, { cwd })).toMatchObject({ status: 0, stdout: 'zones/a.example.yaml\nzones/b.example.yaml\n' })
    expect(Object.keys(filesBelow(join(cwd, 'real'))).sort()).toEqual(['a.example.yaml', 'b.example.yaml', 'x'])
  })
})

describe('a second time', () => {
  const args = ['import', 'zonefile', 'dns', '-o', 'zones'] as const

  it('skips unchanged files', async () => {
    const cwd = folderWith({ 'dns/a.example.zone': SOA, 'dns/b.example.zone': SOA })
    expect(await cli(args, { cwd })).toMatchObject({ status: 0 })
    expectEnd(await cli(args, { cwd }), 0, { err: '2 files had that text already.', out: '' })
    writeFileSync(join(cwd, 'dns/c.example.zone'), SOA)
    expect(await cli(args, { cwd })).toMatchObject({ status: 0, stdout: 'zones/c.example.yaml\n' })
  })

  it('removes temporary files of dead processes, but no others', async () => {
    const own = basename(temporaryName('a.example.yaml'))
    const dead = own.replace(`.${process.pid}-`, `.${NO_PID}-`)
    const elsewhere = dead.replace(/-[0-9a-f]{8}-/, '-00000000-')
    const cwd = folderWith({ 'zones/a.example.yaml': ZONE, [`zones/${own}`]: '', [`zones/${dead}`]: 'half', [`zones/${elsewhere}`]: '' })
    expect(await cli(['record', 'add', 'a.example', 'a', 'A', '192.0.2.1'], { cwd })).toMatchObject({ status: 0 })
    expect(Object.keys(filesBelow(join(cwd, 'zones'))).sort()).toEqual([own, elsewhere, 'a.example.yaml'].sort())
  })
})

describe('the lock of a folder', () => {
  const record = ['record', 'add', 'a.example', 'a', 'A', '192.0.2.1']
  const LOCK = 'zones/.zonewright.lock'

  // A command waits ten seconds for a lock, in steps that take no time here.
  let waited = 0
  beforeEach(() => {
    waited = 0
    vi.spyOn(timers, 'setTimeout').mockImplementation(async (time = 0, value) => {
      waited += time
      return value as never
    })
    syncBuiltinESMExports()
  })
  afterEach(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })

  it.each([
    ['of a dead process', { pid: NO_PID }],
    ['of a process whose PID was reused', { started: '1' }],
  ])('%s is replaced', async (_, holder) => {
    const cwd = folderWith({ 'zones/a.example.yaml': ZONE, [LOCK]: lockOf(holder) })
    expect(await cli(record, { cwd })).toMatchObject({ status: 0 })
    expect(Object.keys(filesBelow(join(cwd, 'zones')))).toEqual(['a.example.yaml'])
  })

  it.each([
    ['of another host', lockOf({ host: 'elsewhere' }), `record, process ${process.pid} on elsewhere, since 2026-01-01T00:00:00Z, is`],
    ['that is empty after a power failure', '', 'another process is'],
  ])('%s is respected, and the message names the file to remove', async (_, text, who) => {
    const files = { 'zones/a.example.yaml': ZONE, [LOCK]: text }
    const cwd = folderWith(files)
    expectEnd(await cli(record, { cwd }), 1, { err: [`${who} writing into ${join(cwd, 'zones')}`, `remove the file ${join(cwd, LOCK)}`] })
    expect(filesBelow(cwd)).toEqual(files)
    expect(waited).toBeGreaterThan(9_000)
  })

  it('that is a symbolic link does not change its target, nor show anything of it', async () => {
    const files = { 'zones/a.example.yaml': ZONE, '.env': 'zw-file-secret-9f8e7d6c5b4a' }
    const cwd = folderWith(files)
    symlinkSync('../.env', join(cwd, LOCK))
    const { stdout, stderr } = expectEnd(await cli(record, { cwd }), 1, { err: 'error[write-unfinished]' })
    expect(stdout + stderr).not.toContain('zw-file-secret')
    expect(filesBelow(cwd)).toEqual(files)
  })
})

it('fmt does not overwrite a change of another process after fmt has read the file', async () => {
  const untidy = 'domain:   a.example\nrecords: {}\n'
  const cwd = folderWith({ 'a.example.yaml': untidy })
  const locks = await lockFolders([cwd], { command: 'record', now: () => new Date(0) })
  const { mtimeMs } = lstatSync(cwd)
  const formatted = cli(['fmt', 'a.example.yaml'], { cwd })
  // fmt has read the file and tries to take the lock.
  await expect.poll(() => lstatSync(cwd).mtimeMs).not.toBe(mtimeMs)
  writeFileSync(join(cwd, 'a.example.yaml'), ZONE)
  if ('release' in locks) locks.release()
  expect(await formatted).toMatchObject({ status: 1, stderr: expect.stringContaining('another process has changed it') })
  expect(readFileSync(join(cwd, 'a.example.yaml'), 'utf8')).toBe(ZONE)
})

/** Places that are no ordinary place for a file: nothing hangs, and no device, pipe, folder or link is replaced. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { holdFolder } from '../../src/definition/files/write-folder.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { filesBelow } from './scene.ts'

const SOA = '@ 3600 SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n'
const ZONE = 'domain: a.example\nrecords:\n  www: {type: A, value: 192.0.2.1}\n'

const ELSEWHERE = {
  pid: 1,
  started: '1',
  host: 'elsewhere.example',
  machine: null,
  boot: null,
  namespace: null,
  since: '2026-01-01T00:00:00Z',
  command: 'record',
  run: '',
}

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryDirectory()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

/** A folder with a zone file, a definition, and a thing of each kind. */
function strangeFolder(): string {
  const cwd = folderOf({ 'a.example.zone': SOA, 'zones/a.example.yaml': ZONE, 'folder/x': '', file: 'mine' })
  spawnSync('mkfifo', [join(cwd, 'pipe')])
  symlinkSync('nowhere', join(cwd, 'dangling'))
  symlinkSync('circle', join(cwd, 'circle'))
  symlinkSync('/proc', join(cwd, 'proc'))
  return cwd
}

const UNWRITABLE = /error\[file-unwritable\] \S+ cannot be written: [a-z]/

describe.runIf(process.platform === 'linux')('folders that are none', () => {
  it.each([
    '/proc/x',
    '/proc',
    'proc/x/y',
    '/dev/null',
    '/dev/full',
    'pipe',
    'dangling',
    'dangling/x',
    'circle',
    'file',
    'file/x',
    'x'.repeat(300),
  ])('import -o %s', async (out) => {
    const cwd = strangeFolder()
    const before = filesBelow(cwd)
    const { status, stdout, stderr } = await cli(['import', 'zonefile', 'a.example.zone', '-o', out, '--force'], { cwd })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(UNWRITABLE)
    expect(filesBelow(cwd)).toEqual(before)
  })
})

describe.runIf(process.platform === 'linux')('files that are none', () => {
  it.each(['/proc/x', '/dev/null', '/dev/full', 'pipe', 'dangling', 'circle', 'folder', 'folder/x/y'])('export -o %s', async (out) => {
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

  it('within the folder stay links', async () => {
    const cwd = folderOf({ ...files, 'zones/real/a.yaml': 'mine' })
    symlinkSync('real/a.yaml', join(cwd, 'zones/a.example.yaml'))
    expect(await cli(args, { cwd })).toMatchObject({ status: 1, stderr: expect.stringContaining('zones/a.example.yaml already exists') })
    expect(await cli([...args, '--force'], { cwd })).toMatchObject({ status: 0 })
    expect(readlinkSync(join(cwd, 'zones/a.example.yaml'))).toBe('real/a.yaml')
    expect(readFileSync(join(cwd, 'zones/real/a.yaml'), 'utf8')).toContain('domain: a.example\n')
  })

  it.each([
    ['out of the folder', '../elsewhere/a.yaml', 'a symbolic link leads out of the folder; name the place itself'],
    ['nowhere', 'nothing', 'a symbolic link leads nowhere'],
    ['to a folder', '../elsewhere', 'it is a folder'],
    ['to another of the files', 'b.example.yaml', 'a symbolic link makes it the same file as another that is written'],
  ])('that lead %s are refused with --force too', async (_, to, said) => {
    const cwd = folderOf({ ...files, 'elsewhere/a.yaml': 'mine', 'zones/b.example.yaml': 'mine' })
    symlinkSync(to, join(cwd, 'zones/a.example.yaml'))
    const before = filesBelow(cwd)
    expect(await cli([...args, '--force'], { cwd })).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(said) })
    expect(filesBelow(cwd)).toEqual(before)
  })

  it('a folder in the folder that leads out of it', async () => {
    const cwd = folderOf({
      'dns/sub/a.example.yaml': 'www: {ttl: 60, type: A, value: 192.0.2.1}\n',
      'dns/b.example./www.yaml': 'www: {ttl: 60, type: A, value: 192.0.2.1}\n',
      'elsewhere/x': '',
    })
    mkdirSync(join(cwd, 'zones'))
    symlinkSync('../elsewhere', join(cwd, 'zones/b.example.'))
    const result = await cli(['import', 'octodns', 'dns', '-o', 'zones', '--force'], { cwd })
    expect(result).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('a symbolic link leads out of the folder') })
    expect(Object.keys(filesBelow(join(cwd, 'elsewhere')))).toEqual(['x'])
  })

  it('the folder itself may be one', async () => {
    const cwd = folderOf({ ...files, 'real/x': '' })
    symlinkSync('real', join(cwd, 'zones'))
    expect(await cli(args, { cwd })).toMatchObject({ status: 0, stdout: 'zones/a.example.yaml\nzones/b.example.yaml\n' })
    expect(Object.keys(filesBelow(join(cwd, 'real'))).sort()).toEqual(['a.example.yaml', 'b.example.yaml', 'x'])
  })
})

describe('a second time', () => {
  const args = ['import', 'zonefile', 'dns', '-o', 'zones'] as const

  it('files that have their text are in nobody’s way', async () => {
    const cwd = folderOf({ 'dns/a.example.zone': SOA, 'dns/b.example.zone': SOA })
    expect(await cli(args, { cwd })).toMatchObject({ status: 0 })
    expect(await cli(args, { cwd })).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringContaining('2 files had that text already.'),
    })
    writeFileSync(join(cwd, 'dns/c.example.zone'), SOA)
    expect(await cli(args, { cwd })).toMatchObject({ status: 0, stdout: 'zones/c.example.yaml\n' })
  })

  it('what a killed run left of another set is not written over', async () => {
    const cwd = folderOf({
      'dns/a.example.zone': SOA,
      'zones/.zonewright-write/unfinished.json': '{"command": "import", "files": {"z.example.yaml": "0"}}',
      'zones/z.example.yaml': 'domain: z.example\n',
    })
    const said = expect.stringContaining('an import was cut off: 1 of its 1 files are not in place (z.example.yaml)')
    expect(await cli(args, { cwd })).toMatchObject({ status: 1, stdout: '', stderr: said })
    expect(await cli(['record', 'add', 'z.example', 'a', 'A', '192.0.2.1'], { cwd })).toMatchObject({ status: 1, stderr: said })
    expect(existsSync(join(cwd, 'zones/a.example.yaml'))).toBe(false)
  })

  it('temporary files that killed programs left are removed after a while', async () => {
    const old = '.a.example.yaml.0123456789ab.tmp'
    const cwd = folderOf({ 'zones/a.example.yaml': ZONE, [`zones/${old}`]: 'half', 'zones/.a.example.yaml.ba9876543210.tmp': 'of now' })
    utimesSync(join(cwd, 'zones', old), 1, 1)
    expect(await cli(['record', 'add', 'a.example', 'a', 'A', '192.0.2.1'], { cwd })).toMatchObject({ status: 0 })
    expect(Object.keys(filesBelow(join(cwd, 'zones'))).sort()).toEqual(['.a.example.yaml.ba9876543210.tmp', 'a.example.yaml'])
  })

  it('a link in place of the folder of a write loses nothing of what it leads to', async () => {
    const untidy = ZONE.replace(' a', '   a')
    const cwd = folderOf({ 'dns/b.example.zone': SOA, 'dns/c.example.zone': SOA, 'zones/a.example.yaml': untidy, 'mine/deep/file': 'mine' })
    symlinkSync('../mine', join(cwd, 'zones/.zonewright-write'))
    const said = expect.stringContaining('what should be a folder is a file')
    expect(await cli(['record', 'add', 'a.example', 'a', 'A', '192.0.2.1'], { cwd })).toMatchObject({ status: 1, stderr: said })
    expect(await cli(['fmt'], { cwd })).toMatchObject({ status: 1, stderr: said })
    expect(await cli(args, { cwd })).toMatchObject({ status: 1, stderr: said })
    expect(filesBelow(join(cwd, 'mine'))).toEqual({ 'deep/file': 'mine' })
    expect(readFileSync(join(cwd, 'zones/a.example.yaml'), 'utf8')).toBe(untidy)
  })
  it.each([
    ['of a process on another machine', JSON.stringify(ELSEWHERE)],
    ['that the end of the machine left empty', ''],
  ])('a lock %s is taken over after a while', async (_, holder) => {
    const lock = 'zones/.zonewright-write/lock/1-0123456789abcdef'
    const cwd = folderOf({ 'zones/a.example.yaml': ZONE, [lock]: holder })
    utimesSync(join(cwd, lock), 1, 1)
    expect(await cli(['record', 'add', 'a.example', 'a', 'A', '192.0.2.1'], { cwd })).toMatchObject({ status: 0 })
    expect(Object.keys(filesBelow(join(cwd, 'zones')))).toEqual(['a.example.yaml'])
  })

  it('what a killed process leaves is nothing for a repository', () => {
    const cwd = folderOf({ 'a.example.yaml': ZONE })
    const held = holdFolder(cwd, { command: 'record', now: () => new Date(0) })
    expect(filesBelow(cwd)['.zonewright-write/.gitignore']).toBe('*\n')
    if ('release' in held) held.release()
    expect(readdirSync(cwd)).toEqual(['a.example.yaml'])
  })

  it('a note of a write that is whole goes with the next edit, which is not taken for what is missing', async () => {
    const digest = createHash('sha256').update(ZONE).digest('hex')
    const cwd = folderOf({
      'zones/a.example.yaml': ZONE,
      'zones/.zonewright-write/unfinished.json': JSON.stringify({ command: 'import', files: { 'a.example.yaml': digest } }),
    })
    for (const name of ['a', 'b'])
      expect(await cli(['record', 'add', 'a.example', name, 'A', '192.0.2.1'], { cwd })).toMatchObject({ status: 0 })
  })
})

describe('a note of a write that was killed', () => {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
  const EDITED = ZONE.replace('192.0.2.1', '192.0.2.7')
  const OLDER = ZONE.replace('192.0.2.1', '192.0.2.6')
  const note = (before: string | null): string =>
    JSON.stringify({
      command: 'import',
      files: { 'a.example.yaml': digest(ZONE), 'same.yaml': '0' },
      changes: { 'a.example.yaml': { before: before && digest(before), ready: '.zonewright-write/ready/0' } },
    })
  const filesOf = (text: string, before: string | null, ready: Readonly<Record<string, string>>) => ({
    'zones/a.example.yaml': text,
    'zones/.zonewright-write/unfinished.json': note(before),
    ...Object.fromEntries(Object.entries(ready).map(([name, one]) => [`zones/.zonewright-write/ready/${name}`, one])),
  })

  it.each([
    ['whose text took its name before somebody changed it', EDITED, OLDER, { '0.before': OLDER }],
    ['whose text took a free name before somebody changed it', EDITED, null, { x: '' }],
    ['whose folder is gone, as somebody changed it', EDITED, OLDER, {}],
    ['that is as it was to be', ZONE, OLDER, { '0': ZONE }],
  ])('is done with, of a file %s', async (_, text, before, ready) => {
    const cwd = folderOf(filesOf(text, before, ready))
    const { status, stdout } = await cli(['validate'], { cwd })
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.not.stringContaining('write-unfinished') })
    for (const name of ['b', 'c'])
      expect(await cli(['record', 'add', 'a.example', name, 'A', '192.0.2.1'], { cwd })).toMatchObject({ status: 0 })
    expect(Object.keys(filesBelow(cwd))).toEqual(['zones/a.example.yaml'])
  })

  it.each([
    ['whose text is still ready', EDITED, OLDER, { '0': ZONE }],
    ['that is as it was', OLDER, OLDER, {}],
  ])('is not, of a file %s', async (_, text, before, ready) => {
    const files = filesOf(text, before, ready)
    const cwd = folderOf(files)
    const said = expect.stringContaining('an import was cut off: 1 of its 2 files are not in place (a.example.yaml)')
    expect(await cli(['validate'], { cwd })).toMatchObject({ status: 1, stdout: said })
    expect(await cli(['record', 'add', 'a.example', 'b', 'A', '192.0.2.1'], { cwd })).toMatchObject({ status: 1, stderr: said })
    expect(filesBelow(cwd)).toEqual(files)
  })
})

describe('fmt', () => {
  it('does not write over what somebody else wrote since it read', async () => {
    const untidy = 'domain:   a.example\nrecords: {}\n'
    const cwd = folderOf({ 'a.example.yaml': untidy })
    const held = holdFolder(cwd, { command: 'record', now: () => new Date(0) })
    const { mtimeMs } = lstatSync(join(cwd, '.zonewright-write'))
    const formatted = cli(['fmt', 'a.example.yaml'], { cwd })
    await expect.poll(() => lstatSync(join(cwd, '.zonewright-write')).mtimeMs, { timeout: 10_000 }).not.toBe(mtimeMs)
    writeFileSync(join(cwd, 'a.example.yaml'), ZONE)
    if ('release' in held) held.release()
    expect(await formatted).toMatchObject({ status: 1, stderr: expect.stringContaining('somebody else has changed it meanwhile') })
    expect(readFileSync(join(cwd, 'a.example.yaml'), 'utf8')).toBe(ZONE)
  })

  it('touches nothing where a write was cut off', async () => {
    const untidy = 'domain:   a.example\nrecords: {}\n'
    const note = '{"command": "import", "files": {"a.example.yaml": "0"}}'
    const cwd = folderOf({ 'a.example.yaml': untidy, '.zonewright-write/unfinished.json': note })
    const said = expect.stringContaining('an import was cut off')
    expect(await cli(['fmt', 'a.example.yaml'], { cwd })).toMatchObject({ status: 1, stderr: said })
    expect(readFileSync(join(cwd, 'a.example.yaml'), 'utf8')).toBe(untidy)
  })
})

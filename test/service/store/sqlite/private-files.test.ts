/** Files of the service are private, with any umask and any previous mode. */
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backUpService, restoreService } from '../../../../src/service/backup.ts'
import { type ServiceOptions, startService } from '../../../../src/service/index.ts'
import { sharedFolderReason } from '../../../../src/service/store/private-files.ts'
import { type Client, connect, during, filledStores, LOOPBACK, temporaryDirectory } from '../../harness.ts'
import { gzipOf, put, startUpload } from '../../images/upload-client.ts'
import { serviceProcesses } from '../../service-process.ts'

const serve = serviceProcesses()
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

/** The modes of a folder and of all its files. */
function modesOf(folder: string, name = '.'): Record<string, string> {
  const path = join(folder, name)
  const facts = lstatSync(path)
  const below = facts.isDirectory() ? readdirSync(path).flatMap((entry) => Object.entries(modesOf(folder, join(name, entry)))) : []
  return { [name]: (facts.mode & 0o7777).toString(8), ...Object.fromEntries(below) }
}

const isPrivate = (folder: string): void => {
  for (const [name, mode] of Object.entries(modesOf(folder)))
    expect([name, mode]).toEqual([name, lstatSync(join(folder, name)).isDirectory() ? '700' : '600'])
}

function withUmask(umask: number): void {
  const former = process.umask(umask)
  onTestFinished(() => void process.umask(former))
}

type Warning = { readonly path: string; readonly mode: string; readonly message: string }

/** Runs a service on a folder during `work`, or only its name server; returns its warnings. */
async function warningsOf(options: Partial<ServiceOptions>, work?: (client: Client) => Promise<void>) {
  const lines: string[] = []
  const logged: Partial<ServiceOptions> = { ...options, log: { level: 'warn', write: (line) => void lines.push(line) } }
  if (work) await during(logged, work)
  else await (await startService({ dataFolder: null, ...logged, listen: null, dns: LOOPBACK })).stop()
  return lines.map((line): Warning => JSON.parse(line))
}

/** Creates every kind of file. */
async function useAll(client: Client): Promise<void> {
  const security_questions = [1, 2, 3].map((question_id) => ({ question_id, response: 'answer' }))
  await client.ok('POST', '/profile/security-questions', { security_questions })
  await client.ok('POST', '/profile/phone-number', { iso_code: 'US', phone_number: '201-555-0123' })
  expect((await put((await startUpload(client)).url, gzipOf(1))).status).toBe(200)
}

test('with umask 000, no created file is readable by other users', async () => {
  withUmask(0)
  const folder = temporaryDirectory()
  const place = { dataFolder: join(folder, 'above', 'data') }
  const warnings = await warningsOf({ ...place, smsSink: { kind: 'file', path: join(folder, 'sms.jsonl') } }, async (client) => {
    await useAll(client)
    const names = Object.keys(modesOf(place.dataFolder)).filter((name) => !name.startsWith('images/'))
    const data = 'service.db service.db-shm service.db-wal service.lock service.pid'.split(' ')
    expect(names.sort()).toEqual(['.', 'images', 'secrets.key', ...data])
    isPrivate(folder)
    await backUpService(place, join(folder, 'all.backup'))
  })
  expect(warnings).toEqual([])
  await restoreService({ dataFolder: join(folder, 'restored') }, join(folder, 'all.backup'))
  isPrivate(folder)
})

test('files have the right modes even if the umask removes the owner’s permissions', async () => {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'data'), 0o700)
  withUmask(0o277)
  await warningsOf({ dataFolder: join(folder, 'data'), imageFolder: null })
  expect(modesOf(join(folder, 'data'))).toMatchObject({ 'service.db': '600', 'secrets.key': '600', 'service.lock': '600' })
})

/** A folder with all files of a killed service, readable and writable by everyone. */
async function openedFolder(): Promise<string> {
  const folder = (await usedStore()).dataFolder as string
  for (const name of Object.keys(modesOf(folder)).sort().reverse())
    chmodSync(join(folder, name), lstatSync(join(folder, name)).isDirectory() ? 0o777 : 0o666)
  expect(modesOf(folder)).toMatchObject({ 'service.db-wal': '666', 'service.db-shm': '666', 'service.pid': '666' })
  return folder
}

const usedStore = filledStores(async () => {
  const dataFolder = join(temporaryDirectory(), 'data')
  const killed = await serve({ dataFolder })
  const { client, close } = connect(killed.baseUrl, 'bootstrap')
  await useAll(client)
  await close()
  await killed.kill()
  return { dataFolder }
})

test('tightens wider modes at startup, each with a warning that contains the previous mode', async () => {
  const folder = await openedFolder()
  const sms = join(temporaryDirectory(), 'sms.jsonl')
  writeFileSync(sms, '{}\n')
  chmodSync(sms, 0o644)
  const opened = Object.entries(modesOf(folder))
  const warnings = await warningsOf({ dataFolder: folder, smsSink: { kind: 'file', path: sms } }, async (client) => {
    isPrivate(folder)
    await client.ok('POST', '/profile/phone-number', { iso_code: 'US', phone_number: '201-555-0123' })
  })
  expect(warnings.map(({ path, mode }) => [path, mode]).sort()).toEqual(
    [...opened.map(([name, mode]) => [join(folder, name), `0${mode}`]), [sms, '0644']].sort(),
  )
  for (const { message } of warnings) expect(message).toMatch(/mode is 0[67]00 now$/)
  expect(modesOf(sms)).toEqual({ '.': '600' })
  expect(await warningsOf({ dataFolder: folder })).toEqual([])
})

test('a folder created by the operator is tightened, but not other files in it', async () => {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'notes.txt'), '')
  chmodSync(join(folder, 'notes.txt'), 0o644)
  chmodSync(folder, 0o755)
  expect((await warningsOf({ dataFolder: folder })).map(({ path, mode }) => [path, mode])).toEqual([[folder, '0755']])
  expect(modesOf(folder)).toMatchObject({ '.': '700', 'notes.txt': '644', 'service.db': '600' })
})

test('a backup is private, even if it replaces a readable file or the database was readable', async () => {
  const folder = await openedFolder()
  const file = join(temporaryDirectory(), 'all.backup')
  writeFileSync(file, '')
  chmodSync(file, 0o666)
  await backUpService({ dataFolder: folder }, file)
  expect(modesOf(file)).toEqual({ '.': '600' })
  expect(modesOf(folder)).toMatchObject({ 'service.db': '600', 'service.db-wal': '600', 'service.db-shm': '600' })
})

describe('a shared folder', () => {
  test.each([...['/', '/srv', '/opt', '/mnt', '/var', '/var/lib', '/usr/local'], ...['/var/tmp', '/dev/shm', '/etc', '/boot']])(
    'is recognised by its name: %s',
    (folder) => expect(sharedFolderReason(folder)).toBe('it is a folder of the system'),
  )

  test.each(['/srv/dns', '/var/lib/zonewright', '/data', '/opt/zonewright/data'])('is not %s', (folder) =>
    expect(sharedFolderReason(folder)).toBeNull(),
  )

  function withHome(home: string): void {
    const former = process.env['HOME']
    process.env['HOME'] = home
    onTestFinished(() => {
      process.env['HOME'] = former
    })
  }

  test('keeps its mode if it is a home folder or above one, and the files are private', async () => {
    const above = temporaryDirectory()
    const home = join(above, 'home')
    mkdirSync(home)
    writeFileSync(join(home, '.profile'), '')
    for (const folder of [above, home]) chmodSync(folder, 0o755)
    withHome(home)
    const modes = { '.': '755', 'service.db': '600', 'service.db-wal': '600', 'secrets.key': '600', images: '700' }
    for (const [folder, why] of [
      [home, 'it is a home folder'],
      [above, 'it is above a home folder'],
    ] as const) {
      const warnings = await warningsOf({ dataFolder: folder }, async () => expect(modesOf(folder)).toMatchObject(modes))
      expect(warnings).toEqual([expect.objectContaining({ path: folder, mode: '0755', message: expect.stringContaining(why) })])
    }
  })

  test('does not include the home folder of a dedicated service user', async () => {
    const home = temporaryDirectory()
    chmodSync(home, 0o755)
    withHome(home)
    for (let start = 0; start < 2; start += 1) {
      expect(await warningsOf({ dataFolder: home }, async () => undefined)).toHaveLength(1)
      expect(modesOf(home)).toMatchObject({ '.': '700' })
      // What a name server leaves when it stops.
      writeFileSync(join(home, 'query-counts.json'), '{}', { mode: 0o600 })
      chmodSync(home, 0o755)
    }
  })

  test('is refused if every user may write to it', async () => {
    const temporary = temporaryDirectory()
    chmodSync(temporary, 0o1777)
    const former = process.env['TMPDIR']
    process.env['TMPDIR'] = temporary
    onTestFinished(() => {
      if (former === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = former
    })
    await expect(warningsOf({ dataFolder: temporary })).rejects.toThrow(
      `every user may write to ${temporary}, and it is the folder of temporary files: give the service a folder of its own`,
    )
    expect(modesOf(temporary)).toEqual({ '.': '1777' })
  })

  test.skipIf(!isRoot)('keeps its mode if it belongs to another user, and is refused if every user may write to it', async () => {
    const folder = temporaryDirectory()
    chownSync(folder, NOBODY, NOBODY)
    chmodSync(folder, 0o755)
    const [warning] = await warningsOf({ dataFolder: folder })
    expect(warning?.message).toContain('it belongs to another user')
    expect(modesOf(folder)).toMatchObject({ '.': '755', 'service.db': '600', 'secrets.key': '600' })
    chmodSync(folder, 0o777)
    await expect(warningsOf({ dataFolder: folder })).rejects.toThrow('every user may write')
    expect(modesOf(folder)).toMatchObject({ '.': '777' })
  })
})

test('the target of a symbolic link keeps its mode: a database is refused, an image is kept', async () => {
  const folder = await openedFolder()
  const elsewhere = join(temporaryDirectory(), 'elsewhere')
  writeFileSync(elsewhere, '')
  chmodSync(elsewhere, 0o644)
  symlinkSync(elsewhere, join(folder, 'images', `9-${'0'.repeat(16)}.img.gz`))
  await warningsOf({ dataFolder: folder }, async () => undefined)
  renameSync(join(folder, 'service.db'), join(folder, 'kept'))
  symlinkSync(elsewhere, join(folder, 'service.db'))
  await expect(warningsOf({ dataFolder: folder })).rejects.toThrow('service.db is a symbolic link')
  expect(modesOf(elsewhere)).toEqual({ '.': '644' })
})

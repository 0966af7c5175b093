import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startService } from '../../src/service/index.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const LOOPBACK = { host: '127.0.0.1', port: 0 }

test('backs up a running service, restores into another folder, and refuses to overwrite', async () => {
  const cwd = temporaryDirectory()
  let rows = ''
  const service = await startService({ dataFolder: join(cwd, 'data'), listen: LOOPBACK, dns: null, bootstrapToken: 'token' })
  try {
    const made = await cli(['backup', 'all.backup', '--data', 'data'], { cwd })
    expect(made).toMatchObject({ status: 0, stdout: '', stderr: expect.stringMatching(/^[1-9]\d* rows are in all\.backup\.\n$/) })
    rows = made.stderr.split(' ', 1)[0] ?? ''
    expectEnd(await cli(['restore', 'all.backup', '--data', 'data'], { cwd }), 1, { err: /^error\[service-store\] the data folder \S+ is/ })
  } finally {
    await service.stop()
  }
  expectEnd(await cli(['restore', 'all.backup', '--data', 'copy'], { cwd }), 0, {
    err: new RegExp(`^${rows} rows of the backup of \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d UTC are restored\\.\\n$`),
  })
  expectEnd(await cli(['restore', 'all.backup', '--data', 'copy'], { cwd }), 1, { err: /^error\[service-store\] \S+ already has/ })
  const copy = await startService({ dataFolder: join(cwd, 'copy'), listen: LOOPBACK, dns: null })
  expect(copy.token).toBeNull()
  await copy.stop()
})

test.each([
  ['the database is missing', ['backup', 'all.backup', '--data', 'none'], '[service-store] there is no database in '],
  ['the backup is missing', ['restore', 'none.backup'], '[file-unreadable] none.backup does not exist'],
  ['the file is not a backup', ['restore', 'text'], '[service-store] the file is not a backup of the service'],
  ['no server listens', ['backup', 'x', '--database', 'postgres://u:secret@127.0.0.1:1/x'], 'the PostgreSQL database "x" at 127.0.0.1'],
  [
    'the URL is invalid',
    ['restore', 'text', '--database', 'u:secret@x'],
    '[service-store] the URL of the database must begin with postgres',
  ],
])('reports that %s, and leaves no files', async (_name, args, message) => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, 'text'), 'no backup\n')
  expect(expectEnd(await cli(args, { cwd }), 1, { err: ['error[', message], out: '' }).stderr).not.toContain('secret')
  expect(readdirSync(cwd).filter((name) => name.endsWith('.backup') || name.endsWith('.part'))).toEqual([])
})

test('reads the database URL from the environment, and serve reports its error', async () => {
  const cwd = temporaryDirectory()
  const env = { ZONEWRIGHT_DATABASE: 'postgres://u:secret@127.0.0.1:1/x' }
  for (const [args, code] of [
    [['backup', 'x'], 'service-store'],
    [['serve', '--listen', '127.0.0.1:0', '--dns', 'none'], 'service-start'],
  ] as const) {
    const { stderr } = expectEnd(await cli(args, { cwd, env }), 1, { err: [`error[${code}]`, 'the PostgreSQL database "x" at 127.0.0.1'] })
    expect(stderr).not.toContain('secret')
  }
  const { status, stderr } = await cli(['serve', '--listen', 'none', '--dns', 'none'], { cwd, env })
  expect([status, stderr]).toEqual([1, 'error[usage] with --listen none and --dns none there is nothing to serve\n'])
})

test('--data overrides the database of the environment', async () => {
  const cwd = temporaryDirectory()
  const env = { ZONEWRIGHT_DATABASE: 'postgres://u:secret@127.0.0.1:1/x' }
  writeFileSync(join(cwd, 'text'), 'no backup\n')
  for (const args of [
    ['backup', 'out'],
    ['restore', 'text'],
  ]) {
    expect((await cli([...args, '--data', 'named'], { cwd, env })).stderr).not.toContain('PostgreSQL')
    expect((await cli(args, { cwd, env })).stderr).toContain('PostgreSQL')
  }
})

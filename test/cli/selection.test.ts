/** Lists of zones, shards, runs that keep going, merged reports, and CODEOWNERS. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { validate as isPlan } from '../../generated/plan-schema.js'
import { folderWith } from '../definition/files.ts'
import { type CliResult, cli, documentIn, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { openScene, ZONE, zoneFiles, zoneOf } from './scene.ts'

const NAMES = ['a.example', 'b.example', 'c.example', 'd.example', 'e.example']
const FILES = zoneFiles(NAMES)
const BROKEN = { 'zones/b.example.yaml': 'domain: [\n' }
type Stdout = Pick<CliResult, 'stdout'>
const documentOf = (result: Stdout) => documentIn(result, isPlan)
const zonesOf = (result: Stdout): string[] => documentOf(result).zones.map(({ zone }: { zone: string }) => zone.replace(/\.$/, ''))

describe('a list of zones', () => {
  test.each(['plan', 'verify', 'validate', 'apply'])('that is empty selects nothing for %s, and says so', async (command) => {
    const scene = openScene({ files: FILES })
    const sends = command === 'apply' ? ['--yes'] : []
    for (const list of [['--stdin'], ['--zones-from', '/dev/null'], ['--stdin', '--zones-from', '/dev/null']]) {
      const { status, stderr } = await scene.runIn({ input: '\n  \n# none\n' }, command, ...sends, ...list)
      expect([status, stderr]).toEqual([0, expect.stringContaining('No zone is selected: the list of zones is empty.')])
    }
    expect(scene.memory.requests).toEqual([])
  })

  test('names zones, globs, paths and comments, from both sources and the arguments', async () => {
    const scene = openScene({ files: FILES })
    scene.write({ 'list.txt': '# of a script\r\nzones/b.example.yaml\r\n\r\n c.example. \n' })
    const planned = await scene.runIn({ input: 'd.*\n' }, 'plan', 'a.example', '--stdin', '--zones-from', 'list.txt', '--format', 'json')
    expect(zonesOf(planned)).toEqual(['a.example', 'b.example', 'c.example', 'd.example'])
  })

  test.each([
    ['a file that does not exist', ['--zones-from', 'none.txt'], 'error[file-unreadable] none.txt does not exist'],
    ['a folder', ['--zones-from', 'zones'], 'error[file-unreadable] zones is a folder'],
    ['a name that is not defined', ['--stdin'], 'error[zone-unknown] there is no definition of nowhere.example.'],
    ['a list that is not UTF-8', ['--zones-from', 'latin1.txt'], 'error[file-unreadable] latin1.txt is not UTF-8 text'],
  ])('%s is an error', async (_, args, message) => {
    const scene = openScene({ files: FILES })
    writeFileSync(join(scene.folder, 'latin1.txt'), Buffer.from('\xe9.example\n', 'latin1'))
    expectEnd(await scene.runIn({ input: 'nowhere.example\n' }, 'plan', ...args), 1, { err: message })
    expect(scene.memory.requests).toEqual([])
  })
})

test('apply takes the path of a definition and a glob; a plan file stays a plan file', async () => {
  const scene = openScene({ files: FILES })
  expect(zonesOf(await scene.run('apply', '--yes', 'zones/a.example.yaml', '--format', 'json'))).toEqual(['a.example'])
  expect(zonesOf(await scene.run('apply', '--yes', './zones/[bc]*', '--format', 'json'))).toEqual(['b.example', 'c.example'])
  expect((await scene.run('plan', '--out', 'zones/plan.json')).status).toBe(0)
  expect((await scene.run('apply', '--yes', 'zones/plan.json', '--since', 'main')).stderr).toContain('--since, --shard and --keep-going')
  expect((await scene.run('apply', '--yes', 'zones/plan.json')).status).toBe(0)
  expect((await scene.run('plan', '--detailed-exitcode', 'zones')).status).toBe(0)
})

test('--target takes zones of folders and globs away, but not one that is named', async () => {
  const scene = openScene({ files: FILES, config: "zones: [{zone: a.example, targets: [cloud]}, {files: 'zones/*', targets: [other]}]\n" })
  const config = scene.config()
  scene.write({ 'zonewright.yaml': config.replace('providers:\n', "providers:\n  other: {type: rfc2136, server: '127.0.0.1:9'}\n") })
  for (const selection of ['zones', '*.example'])
    expect(zonesOf(await scene.run('plan', selection, '--target', 'cloud', '--format', 'json'))).toEqual(['a.example'])
  expectEnd(await scene.run('plan', 'zones', 'b.example', '--target', 'cloud'), 1, { err: 'b.example. does not have the target cloud' })
  expectEnd(await scene.run('plan', 'zones/[bc]*', '--target', 'cloud'), 1, { err: 'c.example. does not have the target cloud' })
  const empty = await scene.run('plan', '--zones-from', '/dev/null', '--target', 'cloud')
  expect([empty.status, empty.stderr]).toEqual([0, 'No zone is selected: the list of zones is empty.\n'])
})

test('a list of zones is bounded', async () => {
  const input = Array.from({ length: 200_000 }, (_, index) => `z${index}.test\n`).join('')
  expectEnd(await cli(['validate', '--stdin'], { cwd: temporaryDirectory(), input }), 1, { err: 'a list of zones has at most 50000 lines' })
})

describe('shards', () => {
  test('share all zones, and their reports are merged into that of all', async () => {
    const scene = openScene({ files: FILES })
    const whole = documentOf(await scene.run('plan', '--format', 'json'))
    const reportsOf = async (command: string, ...more: string[]): Promise<string[]> => {
      const files = [1, 2, 3].map((shard) => `${command}-${shard}.json`)
      for (const [at, file] of files.entries())
        scene.write({ [file]: (await scene.run(command, ...more, '--shard', `${at + 1}/3`, '--format', 'json')).stdout })
      return files
    }
    const files = await reportsOf('plan')
    const merged = documentOf(await scene.run('report', 'merge', ...files, '--format', 'json'))
    expect(merged.zones).toEqual(whole.zones)
    expect(merged.summary).toEqual(whole.summary)
    expect((await scene.run('report', 'merge', ...files, '--format', 'markdown')).stdout).toContain('e.example')
    // An error of one job does not stop the others.
    const error = { severity: 'error', code: 'provider-unreachable', message: 'unreachable', file: null, line: null, column: null }
    const first = documentOf({ stdout: scene.files()['plan-1.json'] as string })
    scene.write({ 'failed.json': JSON.stringify({ ...first, diagnostics: [error] }) })
    const partly = await scene.run('report', 'merge', 'failed.json', 'plan-2.json', 'plan-3.json')
    expect(partly.stdout).toContain('\n1 error. Plan: 20 to create')
    const twice = await scene.run('report', 'merge', 'plan-1.json', 'plan-2.json', 'plan-3.json', 'plan-1.json')
    expect([twice.status, twice.stderr]).toEqual([1, expect.stringContaining('two of the reports have')])

    const outcomes = await reportsOf('apply', '--yes')
    const applied = documentOf(await scene.run('report', 'merge', ...outcomes, '--format', 'json'))
    const changes = Array(4).fill({ outcome: { state: 'applied' } })
    expect(applied.zones).toMatchObject(NAMES.map((name) => ({ zone: `${name}.`, changes })))
    expect((await scene.run('plan', '--detailed-exitcode')).status).toBe(0)
  })

  test.each(['0/2', '3/2', '1', '1/0', '1/257', 'a/b', '1/2/3'])('%s is refused', async (shard) => {
    expectEnd(await cli(['plan', '--shard', shard], { cwd: temporaryDirectory() }), 1, { err: 'It must be I/N' })
  })
})

describe('--keep-going', () => {
  test('plans and applies the zones without errors; the report has the errors; without it nothing is sent', async () => {
    const scene = openScene({ files: { ...FILES, ...BROKEN } })
    expect((await scene.run('apply', '--yes')).status).toBe(1)
    expect(scene.memory.requests).toEqual([])
    const planned = await scene.run('plan', '--keep-going', '--out', 'plan.json', '--format', 'json')
    expect([planned.status, zonesOf(planned)]).toEqual([1, ['a.example', 'c.example', 'd.example', 'e.example']])
    expect(documentOf(planned).diagnostics).toMatchObject([{ code: 'yaml-syntax', severity: 'error' }])
    expect(planned.stderr).toContain('1 error: the zones concerned are left out, the others are not.')
    const shards = [await scene.run('plan', '--keep-going', '--shard', '1/2', '--format', 'json')]
    shards.push(await scene.run('plan', '--keep-going', '--shard', '2/2', '--format', 'json'))
    expect([shards.map(({ status }) => status), shards.flatMap(zonesOf).sort()]).toEqual([[1, 1], zonesOf(planned)])
    expect((await scene.run('plan', '--keep-going')).stdout).toContain('\n1 error. Plan: 16 to create')
    scene.write({ 'report.json': planned.stdout })
    expect((await scene.run('report', 'report.json')).stdout).toContain('\n1 error. Plan: 16 to create')
    const applied = await scene.run('apply', '--yes', './plan.json', '--format', 'json')
    expect([applied.status, documentOf(applied).zones.length]).toEqual([0, 4])
    const again = await scene.run('apply', '--yes', '--keep-going', '--format', 'json')
    expect([again.status, documentOf(again).diagnostics]).toMatchObject([1, [{ code: 'yaml-syntax', severity: 'error' }]])
    expectEnd(await scene.run('verify', '--keep-going', '--no-dns'), 1, { out: '4 of 4 zones as defined' })
  })

  test('an included file with an error stops each zone that includes it', async () => {
    const INCLUDING = ZONE.replace('records:', 'include: [../shared/web.yaml]\nrecords:')
    const scene = openScene({
      files: { ...FILES, ...zoneFiles(['a.example', 'c.example'], INCLUDING), 'shared/web.yaml': 'web: {type: A, value: nonsense}\n' },
    })
    const planned = await scene.run('plan', '--keep-going', '--format', 'json')
    expect([planned.status, zonesOf(planned)]).toEqual([1, ['b.example', 'd.example', 'e.example']])
  })

  test('leaves out a reverse zone that a definition with errors may feed', async () => {
    const reverse = 'domain: 2.0.192.in-addr.arpa\nsoa_email: hostmaster@example.com\nrecords: {}\n'
    const feeding = zoneOf('a.example').replace('records:', 'auto_ptr: true\nrecords:')
    const scene = openScene({ files: { ...FILES, 'zones/a.example.yaml': feeding, 'zones/2.0.192.in-addr.arpa.yaml': reverse } })
    expect((await scene.run('apply', '--yes')).status).toBe(0)
    scene.write({ 'zones/a.example.yaml': `${feeding}  bad: {type: A, value: nonsense}\n` })
    const planned = await scene.run('plan', '--keep-going', '--format', 'json')
    expect([planned.status, zonesOf(planned)]).toEqual([1, ['b.example', 'c.example', 'd.example', 'e.example']])
    expect(planned.stderr).toContain('2.0.192.in-addr.arpa. is left out: definitions with errors may add PTR records to it')
  })

  test('an error in the config still ends the run', async () => {
    const scene = openScene({ files: FILES, config: 'zones: 7\n' })
    expect((await scene.run('plan', '--keep-going')).status).toBe(1)
    expect(scene.memory.requests).toEqual([])
  })
})

describe('zones --format codeowners', () => {
  const files = {
    '.git/HEAD': '',
    'dns/zonewright.yaml':
      "providers: {lab: {type: rfc2136, server: 192.0.2.53}}\nzones:\n  - {files: 'zones/b*', owner: web}\n  - {files: 'zones/c*', owner: '@acme/mail'}\n  - {files: zones/d*, owner: dns@example.com}\n  - {}\n",
    'dns/zones/b one.example.yaml': 'domain: b.example\ninclude: [../shared/mail.yaml]\n',
    'dns/zones/c.example.yaml': 'domain: c.example\ninclude: [../shared/mail.yaml]\n',
    'dns/zones/d.example.yaml': 'domain: d.example\n',
    'dns/zones/e.example.yaml': 'domain: e.example\n',
    'dns/shared/mail.yaml': 'mail: {type: A, value: 192.0.2.2}\n',
  }
  const LINES = [
    '/dns/shared/mail.yaml @acme/mail @acme/web',
    '/dns/zones/b\\ one.example.yaml @acme/web',
    '/dns/zones/c.example.yaml @acme/mail',
    '/dns/zones/d.example.yaml dns@example.com',
  ]

  test('lists files from the root of the repository, and checks that a file has them', async () => {
    const folder = folderWith(files)
    const run = (...args: string[]) => cli(['zones', '--format', 'codeowners', ...args], { cwd: join(folder, 'dns') })
    expectEnd(await run(), 1, { err: 'the owner "web" is neither @user', out: '' })
    const { status, stdout } = await run('--organization', 'acme')
    expect([status, stdout.split('\n').slice(1, -2)]).toEqual([0, LINES])
    writeFileSync(join(folder, 'CODEOWNERS'), `* @acme/all\n${stdout}/docs/ @acme/docs\n`)
    expect((await run('--organization', 'acme', '--check', '../CODEOWNERS')).status).toBe(0)
    writeFileSync(join(folder, 'CODEOWNERS'), stdout.replace('@acme/web', '@acme/other'))
    expect((await run('--organization', 'acme', '--check', '../CODEOWNERS')).status).toBe(2)
    expect((await run('--organization', 'acme', '--check', '../NONE')).status).toBe(1)
    // The lines of a definition that cannot be parsed are missing.
    writeFileSync(join(folder, 'dns/zones/d.example.yaml'), 'domain: [\n')
    const broken = await run('--organization', 'acme')
    expectEnd(broken, 1, { err: 'zones/d.example.yaml:1:9: error' })
    expect(broken.stdout).not.toContain('d.example')
  })
})

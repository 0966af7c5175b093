/** `report` renders what other commands wrote, in any format, and takes hostile files for text. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { REPORT_FORMATS } from '../../src/report/formats.ts'
import { expectEnd } from '../support/cli.ts'
import { openScene, ZONE } from './scene.ts'

const scene = openScene({ config: 'zones:\n  - {files: zones/*.yaml, targets: [cloud], owner: team-a}\n' })
const path = (name: string): string => join(scene.folder, name)
const textOf = (name: string): string => readFileSync(path(name), 'utf8')

beforeAll(async () => {
  await scene.run('plan', '--out', 'saved.json')
  writeFileSync(path('plan.json'), (await scene.run('plan', '--format', 'json')).stdout)
  writeFileSync(path('apply.json'), (await scene.run('apply', '--yes', '--format', 'json')).stdout)
})

test('of an apply is the same document again, and says what was applied in every format', async () => {
  expect((await scene.run('report', 'apply.json', '--format', 'json')).stdout).toBe(textOf('apply.json'))
  expect(JSON.parse(textOf('apply.json'))).toMatchObject({
    zones: [{ owner: 'team-a', applied: { create: 4, update: 0, delete: 0, total: 4 } }],
    summary: { applied: 4, created: 4, updated: 0, deleted: 0 },
  })
  for (const format of REPORT_FORMATS.plan) {
    const { stdout } = expectEnd(await scene.run('report', 'apply.json', '--format', format), 0)
    if (format === 'json' || format === 'sarif') continue
    expect(stdout).toMatch(/4 created|<b>4<\/b><span>created/)
    expect(stdout).not.toMatch(/to create|To delete|<h1>Plan/)
    expect(stdout).toContain('team-a')
  }
})

test.each(['plan.json', 'saved.json'])('of %s says what is planned', async (file) => {
  for (const format of REPORT_FORMATS.plan) {
    const { stdout } = expectEnd(await scene.run('report', file, '--format', format), 0, { err: '' })
    if (format === 'json') expect(JSON.parse(stdout).zones).toEqual(JSON.parse(textOf('plan.json')).zones)
    else if (format !== 'sarif') expect(stdout).toMatch(/4 to create|<b>4<\/b><span>to create/)
  }
})

test('of a plan from a snapshot, less that of a revision, keeps both', async () => {
  const snapshot = { created: '2026-01-02T03:04:05.000Z', checksum: `sha256:${'0'.repeat(64)}`, verified: true }
  const base = { revision: 'main', commit: '0'.repeat(40), leftOut: 2 }
  writeFileSync(path('base.json'), JSON.stringify({ ...JSON.parse(textOf('plan.json')), snapshot, base }))
  expect(JSON.parse((await scene.run('report', 'base.json', '--format', 'json')).stdout)).toMatchObject({ snapshot, base })
  const page = (await scene.run('report', 'base.json', '--format', 'html')).stdout
  expect(page).toContain('less the plan of main · from a snapshot of 2026-01-02 03:04 UTC')
})

test('of a run of the journal, by its name or as the last', async () => {
  const { runs } = JSON.parse((await scene.run('history', '--format', 'json')).stdout)
  for (const args of [[runs[0].run], ['--last']]) {
    const { status, stdout } = await scene.run('report', ...args, '--format', 'markdown')
    expect(status).toBe(0)
    expect(stdout).toMatch(/^### Applied: 4 created, 0 updated, 0 deleted in 1 zone \(4 requests\)\n/)
  }
})

test('needs no config and no server for a file', async () => {
  expectEnd(await scene.runWith({ ZONEWRIGHT_ALLOWED_HOSTS: 'x.test' }, 'report', 'plan.json', '-c', 'missing'), 0, { out: '4 to create' })
})

const NOWHERE = { file: null, line: null, column: null }
const spoil = (more: object) => (): string => JSON.stringify({ ...JSON.parse(textOf('plan.json')), ...more })

test.each<[string, () => string, string]>([
  ['text', () => 'domain: example.com\n', 'is not valid JSON'],
  ['another document', () => '{"format": "zonewright-history", "version": 1}', 'is not a report of a plan'],
  ['another version', spoil({ version: 9 }), 'another version'],
  ['an unknown key', spoil({ html: '<b>' }), 'does not have the format of plans'],
  ['a control', spoil({ diagnostics: [{ ...NOWHERE, severity: 'error', code: '\u001b[2J', message: '' }] }), 'does not have the format'],
  ['a name that is none', () => textOf('plan.json').replaceAll('"www.example.com."', '"www..example.com."'), 'is not a domain name'],
  ['deep nesting', () => '['.repeat(100_000), 'nested more than'],
  ['a saved plan that was changed', () => textOf('saved.json').replace('192.0.2.2', '192.0.2.66'), 'was changed after it was saved'],
])('of %s is refused', async (_, text, message) => {
  writeFileSync(path('bad.json'), text())
  expect(expectEnd(await scene.run('report', 'bad.json'), 1, { err: message, out: '' }).stderr).not.toContain('\u001b')
})

test.each([
  [[], 'name a file or a run'],
  [['plan.json', '--last'], 'name a file or a run'],
  [['nothing.json'], 'nothing.json'],
  [['20200101T000000Z-none'], 'there is neither a file 20200101T000000Z-none nor a run of that name'],
])('of %j: what to do', async (args, message) => {
  expect(await scene.run('report', ...args)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) })
})

test('verify and validate have every format, by owner, and their documents give the same reports again', async () => {
  const again = async (file: string, format: string): Promise<string> => (await scene.run('report', file, '--format', format)).stdout
  scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.77') })
  writeFileSync(path('verify.json'), (await scene.run('verify', '--no-dns', '--format', 'json')).stdout)
  for (const format of REPORT_FORMATS.verification) {
    const { stdout } = expectEnd(await scene.run('verify', '--no-dns', '--format', format), 2, { out: /not as defined|pending/ })
    if (!['text', 'github', 'sarif'].includes(format)) expect(stdout).toContain('team-a')
    expect(await again('verify.json', format)).toBe(stdout)
  }
  scene.write({ 'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.256') })
  writeFileSync(path('validate.json'), (await scene.run('validate', '--format', 'json')).stdout)
  for (const format of REPORT_FORMATS.validation) {
    const { stdout } = expectEnd(await scene.run('validate', '--format', format), 1, { out: '192.0.2.256' })
    expect(await again('validate.json', format)).toBe(stdout)
  }
})

test('the document of a validation says which diagnostics are of a zone', async () => {
  scene.write({
    'zones/example.com.yaml': ZONE.replace('192.0.2.2', '192.0.2.256'),
    'zones/example.net.yaml': ZONE.replace('example.com', 'example.net').replace('192.0.2.2', '192.0.2.257'),
  })
  writeFileSync(path('validate.json'), (await scene.run('validate', '--format', 'json')).stdout)
  const validated = async (format: string) => (await scene.run('validate', '--format', format)).stdout
  const { definitions, diagnostics } = JSON.parse(textOf('validate.json'))
  expect(diagnostics[definitions[1].diagnostics[0]].message).toContain('192.0.2.257')
  for (const format of ['html', 'junit', 'markdown'])
    expect(await scene.run('report', 'validate.json', '--format', format)).toMatchObject({ stdout: await validated(format) })
  rmSync(path('zones/example.net.yaml'))
})

test('a verification or a validation that is none is refused, and is not merged', async () => {
  const verification = { format: 'zonewright-verification', version: 1, zones: [], diagnostics: [], summary: { zones: 0, verified: 0 } }
  const hidden = [{ name: 'a..example.', type: 'A' }]
  const zone = { zone: 'example.', target: 'x', verified: true, pending: 0, rendered: 'match', renderedDifferences: [], nameServers: [] }
  const cases: [object, string][] = [
    [{ ...verification, version: 2 }, 'another version of the format'],
    [{ ...verification, html: '<b>' }, 'does not have the format of verifications'],
    [{ format: 'zonewright-validation', version: 1 }, 'does not have the format of validations'],
    [{ ...verification, zones: [{ ...zone, hidden, diagnostics: [] }] }, 'is not a domain name'],
  ]
  for (const [document, message] of cases) {
    writeFileSync(path('bad.json'), JSON.stringify(document))
    expectEnd(await scene.run('report', 'bad.json', '--format', 'html'), 1, { err: message, out: '' })
  }
  writeFileSync(path('good.json'), JSON.stringify(verification))
  const merged = await scene.run('report', 'merge', 'plan.json', 'good.json')
  expect(merged).toMatchObject({ status: 1, stdout: '' })
  expect(merged.stderr).toContain('only reports of plans and applies are merged')
})

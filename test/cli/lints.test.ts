import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { LINT_CODES } from '../../src/dns/suppression.ts'
import { folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'

const CONFIG = 'providers: {cloud: {type: cloud, preset: linode, token: env:TOKEN}}\n'
const ZONE = 'domain: example.com\nsoa_email: a@example.com\n'

async function validate(files: Readonly<Record<string, string>>, ...args: string[]) {
  const cwd = folderWith({ 'zonewright.yaml': CONFIG, ...files })
  return cli(['validate', ...args], { cwd })
}

/** The findings as `FILE:LINE SEVERITY CODE`. */
async function found(files: Readonly<Record<string, string>>, ...args: string[]): Promise<string[]> {
  const { stdout } = await validate(files, '--format', 'json', ...args)
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { severity: string; code: string; file: string; line: number }[] }
  return diagnostics.map(({ severity, code, file, line }) => `${file}:${line} ${severity} ${code}`)
}

const WWW = 'www: {type: A, value: 10.0.0.1'
const IGNORE = '{code: address-private, reason: only the VPN resolves it}'
const FOUND = 'warning address-private'
const FILE = 'zones/example.com.yaml'

/** A zone file with this line, and a config that suppresses the finding of this name. */
const inZoneFile = (line: string, name: string) => ({
  'zones/example.com.zone': `$TTL 300\n@ SOA ns1 a 1 2 3 4 5\n@ NS ns1.example.net.\n${line}\n`,
  'zonewright.yaml': `${CONFIG}ignore: [{code: address-private, reason: VPN, name: ${name}}]\n`,
})

describe('ignore', () => {
  test.each<[string, Record<string, string>, string[]?]>([
    ['at a record', { [FILE]: `${ZONE}records:\n  ${WWW}, ignore: [${IGNORE}]}\n` }],
    ['at a record in the layout of octoDNS', { [FILE]: `${WWW}, ignore: [${IGNORE}]}\n` }],
    ['at an included record', { [FILE]: `${ZONE}include: [../parts/a.yaml]\n`, 'parts/a.yaml': `${WWW}, ignore: [${IGNORE}]}\n` }],
    ['in a definition', { [FILE]: `${ZONE}ignore: [${IGNORE}]\nrecords:\n  ${WWW}}\n` }],
    ['for a name', { [FILE]: `${ZONE}ignore: [{code: address-private, reason: V, name: w*, type: A}]\nrecords:\n  ${WWW}}\n` }],
    ['in a rule', { [FILE]: `${ZONE}records:\n  ${WWW}}\n`, 'zonewright.yaml': `${CONFIG}zones: [{ignore: [${IGNORE}]}]\n` }],
    ['in the config', { [FILE]: `${ZONE}records:\n  ${WWW}}\n`, 'zonewright.yaml': `${CONFIG}ignore: [${IGNORE}]\n` }],
    ['in the config for a zone file', inZoneFile('www A 10.0.0.1', 'www')],
    ['in the config for one of two records', inZoneFile('$GENERATE 1-2 www$ A 10.0.0.$', 'www1'), [`zones/example.com.zone:4 ${FOUND}`]],
    ['not needed with internal', { [FILE]: `${ZONE}records:\n  ${WWW}}\n`, 'zonewright.yaml': `${CONFIG}zones: [{internal: true}]\n` }],
  ])('%s', async (_, files, expected = []) => expect(await found(files)).toEqual(expected))

  test.each<[string, string, string[]]>([
    ['no reason', `${WWW}, ignore: [{code: address-private}]}`, ['4 error schema-missing-key', `4 ${FOUND}`]],
    ['an empty reason', `${WWW}, ignore: [{code: address-private, reason: ' '}]}`, ['4 error setting-invalid', `4 ${FOUND}`]],
    ['a number as reason', `${WWW}, ignore: [{code: address-private, reason: 5}]}`, ['4 error schema-type', `4 ${FOUND}`]],
    ['an unknown code', `${WWW}, ignore: [{code: address-privat, reason: x}]}`, ['4 error setting-invalid', `4 ${FOUND}`]],
    ['an error', `${WWW}, ignore: [{code: cname-not-alone, reason: x}]}`, ['4 error setting-invalid', `4 ${FOUND}`]],
    ['another key', `${WWW}, ignore: [{code: address-private, reason: x, name: a}]}`, ['4 error schema-unknown-key']],
    ['not a list', `${WWW}, ignore: address-private}`, ['4 error schema-type', `4 ${FOUND}`]],
    ['another code', `${WWW}, ignore: [{code: txt-long, reason: x}]}`, [`4 ${FOUND}`, '4 notice ignore-unused']],
    ['nothing to suppress', `www: {type: A, value: 192.0.2.1, ignore: [${IGNORE}]}`, ['4 notice ignore-unused']],
    ['a rule of the DNS', 'www: {type: CNAME, value: gone, ignore: [{code: target-nonexistent, reason: x}]}', []],
    ['only one of two records', `${WWW}, ignore: [${IGNORE}]}\n  b: {type: A, value: 10.0.0.2}`, [`5 ${FOUND}`]],
  ])('%s', async (_, record, expected) => {
    const findings = await found({ [FILE]: `${ZONE}records:\n  ${record}\n` })
    expect(findings.sort()).toEqual(expected.map((finding) => `${FILE}:${finding}`).sort())
  })

  it('joins the targets of a file without the final dot, and those of a record set with one flaw', async () => {
    const mx = [1, 2, 3].map((number) => `{exchange: mx${number}.example.com., preference: ${number}}`).join(', ')
    const records = `'': {type: MX, values: [${mx}]}\nb: {type: CNAME, value: x.example.org}\nc: {type: CNAME, value: y.example.org}\n`
    const { stdout } = await validate(
      { [FILE]: records, 'zones/example.net.yaml': 'b: {type: CNAME, value: x.example.org}\n' },
      '--format',
      'json',
    )
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; hint: string; related?: { message: string }[] }[] }
    expect(diagnostics.map(({ code, related = [] }) => [code, ...related.map(({ message }) => /mx[0-9]/.exec(message)?.[0])])).toEqual([
      ['target-nonexistent', 'mx2', 'mx3'],
      ['target-relative'],
      ['target-relative'],
    ])
    expect(diagnostics[1]?.hint).toContain('2 and 3')
  })

  it.each([
    ['{code: address-private}', 'error schema-missing-key'],
    ['{code: nothing, reason: x}', 'error setting-invalid'],
    [IGNORE, 'notice ignore-unused'],
  ])('in the config: %s', async (ignored, finding) => {
    const files = { [FILE]: `${ZONE}records: {}\n`, 'zonewright.yaml': `${CONFIG}ignore: [${ignored}]\n` }
    expect(await found(files)).toEqual([`zonewright.yaml:2 ${finding}`])
  })

  it('is not called unused if another zone needs it, or if not all zones are read', async () => {
    const part = `www: {type: A, value: '\${address}', ignore: [${IGNORE}]}\n`
    const including = (domain: string, address: string): string =>
      `domain: ${domain}\nsoa_email: a@example.com\ninclude: [{file: ../parts/a.yaml, with: {address: ${address}}}]\n`
    const files = {
      'parts/a.yaml': part,
      'zones/a.yaml': including('a.example', '10.0.0.1'),
      'zones/b.yaml': including('b.example', '192.0.2.1'),
    }
    expect(await found(files)).toEqual([])
    expect(await found(files, 'b.example')).toEqual([])
    expect(await found({ ...files, 'zones/a.yaml': including('a.example', '192.0.2.2') })).toEqual(['parts/a.yaml:1 notice ignore-unused'])
  })

  it('is kept by fmt and record, and by exports and imports', async () => {
    const cwd = folderWith({
      'zonewright.yaml': CONFIG,
      [FILE]: `${ZONE}ignore: [{reason: many, code: txt-long, type: TXT}]\nrecords:\n  www: {ignore: [{reason: VPN, code: address-private}], type: A, value: 10.0.0.1}\n`,
    })
    const text = (): string => readFileSync(join(cwd, FILE), 'utf8')
    expect((await cli(['fmt'], { cwd })).status).toBe(0)
    expect(text()).toContain('ignore: [{code: txt-long, reason: many, type: TXT}]')
    expect(text()).toContain('www: {type: A, value: 10.0.0.1, ignore: [{code: address-private, reason: VPN}]}')
    expect((await cli(['record', 'add', 'example.com', 'www', 'A', '10.0.0.2'], { cwd })).status).toBe(0)
    expect(text()).toMatch(/values: \[10\.0\.0\.1, 10\.0\.0\.2\].*ignore: \[\{code: address-private, reason: VPN\}\]/s)
    expect((await cli(['record', 'rename', 'example.com', 'www', 'web'], { cwd })).status).toBe(0)
    expect(text()).toMatch(/web: .*address-private/)

    expectEnd(await cli(['export', 'json', '-o', 'zones.json'], { cwd }), 0)
    const [zone] = JSON.parse(readFileSync(join(cwd, 'zones.json'), 'utf8')).zones
    expect(zone.ignore).toEqual([{ code: 'txt-long', reason: 'many', type: 'TXT' }])
    expect(zone.records[0].ignore).toEqual([{ code: 'address-private', reason: 'VPN' }])

    const octodns = await cli(['export', 'octodns', '-o', 'octodns'], { cwd })
    expect(octodns.status, octodns.stderr).toBe(0)
    expect(octodns.stderr).toContain('octodns cannot express the suppressed finding txt-long')
    expect(readFileSync(join(cwd, 'octodns/example.com.yaml'), 'utf8')).toContain('address-private')
    const zonefile = await cli(['export', 'zonefile', '-o', 'files', '--ns', 'ns1.example.net'], { cwd })
    expect(zonefile.stderr).toContain('web.example.com. A: zonefile cannot express the suppressed findings of the record')
    expect(zonefile.status, zonefile.stderr).toBe(0)
  })

  it('of octoDNS files survives an import', async () => {
    const cwd = folderWith({
      'octodns.yaml':
        'providers:\n  config: {class: octodns.provider.yaml.YamlProvider, directory: config}\n  cloud: {class: octodns_linode.LinodeProvider, token: env/TOKEN}\nzones:\n  example.com.: {sources: [config], targets: [cloud]}\n',
      'config/example.com.yaml': `${WWW}, ignore: [${IGNORE}]}\n`,
    })
    expectEnd(await cli(['import', 'octodns', 'octodns.yaml', '-o', 'out'], { cwd }), 0)
    expect(readFileSync(join(cwd, 'out/config/example.com.yaml'), 'utf8')).toContain('address-private')
  })
})

describe('validate', () => {
  it('fails with --strict if there are warnings, but not for notices', async () => {
    const warning = { [FILE]: `${ZONE}records:\n  ${WWW}}\n` }
    expect(await validate(warning)).toMatchObject({ status: 0 })
    const strict = await validate(warning, '--strict', '-q')
    expect([strict.status, strict.stderr]).toEqual([1, expect.stringContaining('--strict: mend or suppress')])
    expect(await validate({ [FILE]: `${ZONE}records:\n  ${WWW}, ignore: [${IGNORE}]}\n` }, '--strict')).toMatchObject({ status: 0 })
    const notice = { [FILE]: `${ZONE}records:\n  a: {type: CNAME, value: shop.azurewebsites.net.}\n` }
    expect(await validate(notice, '--strict')).toMatchObject({ status: 0, stdout: expect.stringContaining('target-takeover') })
  })

  it('knows the TTLs of targets, offline', async () => {
    const zone = (ttl: string): Record<string, string> => ({
      [FILE]: `${ZONE}records:\n  w: {type: A, ttl: 600, value: 192.0.2.1${ttl}}\n`,
    })
    expect(await found(zone(''))).toEqual([`${FILE}:4 notice ttl-rounded`])
    expect(await found(zone(''), 'example.com')).toEqual([`${FILE}:4 notice ttl-rounded`])
    expect(await found(zone(', ignore: [{code: ttl-rounded, reason: five minutes are fine}]'))).toEqual([])
    expect(await found(zone(', octodns: {excluded: [cloud]}'))).toEqual([])
  })

  it('knows what a target does not support, offline', async () => {
    const zone = (...lines: string[]) => ({ [FILE]: `${ZONE}${lines.join('\n')}\n` })
    const records = [
      'records:',
      '  a: {type: ALIAS, value: www.example.net.}',
      '  c: {type: CAA, value: {flags: 128, tag: issue, value: ca.example.net}}',
    ]
    expect(await found(zone(...records))).toEqual([`${FILE}:4 error type-unsupported`, `${FILE}:5 error record-unsupported`])
    expect(await found(zone('unsupported: skip', ...records))).toEqual([
      `${FILE}:5 warning type-unsupported`,
      `${FILE}:6 warning record-unsupported`,
    ])
  })

  it('names the command that explains a lint in SARIF', async () => {
    const { stdout } = await validate({ [FILE]: `${ZONE}records:\n  ${WWW}}\n` }, '--format', 'sarif')
    const [rule] = JSON.parse(stdout).runs[0].tool.driver.rules
    expect(rule).toMatchObject({ id: 'address-private', help: { text: 'zonewright explain address-private' } })
  })
})

test.each(LINT_CODES)('explain prints the page of %s', async (code) => {
  expectEnd(await cli(['explain', code], { cwd: folderWith({}) }), 0, { out: new RegExp(`^${code}\n\nFinding`) })
})

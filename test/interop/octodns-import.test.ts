/** `import octodns`: files of real organisations and octoDNS's own fixtures are copied byte for byte; the configuration is converted. */
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { addFiles, folderWith } from '../definition/files.ts'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'

const CORPUS = fileURLToPath(new URL('../corpora/octodns', import.meta.url))

type Case = { dir: string; files: readonly string[]; default_ttl: number; split_extension: string | null }

const CASES: readonly Case[] = readFileSync(join(CORPUS, 'cases.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))

/** One import each: a directory, one way of splitting, one TTL. */
const RUNS = [...new Set(CASES.map((one) => JSON.stringify([one.dir, one.split_extension, one.default_ttl])))]

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

/** Losses of records, or of addresses that they have. */
const LOST_RECORDS = /cannot express (?:Route53Provider\/ALIAS|URLFWD|dynamic|geo)\b|which is no zone because its name has only one dot/

describe('every file of the corpus is copied byte for byte, unless it is empty', () => {
  const compareRun = async (run: string): Promise<void> => {
    const [dir, split, ttl] = JSON.parse(run) as [string, string | null, number]
    const cases = CASES.filter((one) => JSON.stringify([one.dir, one.split_extension, one.default_ttl]) === run)
    const cwd = folderWith({
      'zonewright.yaml': `providers: {}\noctodns_default_ttl: ${ttl}\n${split === null ? '' : `octodns_split_extension: ${split}\n`}`,
      ...Object.fromEntries(
        cases.flatMap(({ files }) => files.map((file) => [`in/${file}`, readFileSync(join(CORPUS, dir, file), 'utf8')])),
      ),
    })
    // Fixtures of split zones are one folder deeper.
    const source = split !== null && cases.every(({ files }) => files.every((file) => file.startsWith('split/'))) ? 'in/split' : 'in'
    // Only lost records need --lossy.
    const strict = await cli(['import', 'octodns', source, '-o', 'strict'], { cwd })
    const errors = strict.stderr.match(/^.*error\[.*$/gm) ?? []
    expect(errors.filter((line) => !LOST_RECORDS.test(line))).toEqual([])
    expect(strict.status).toBe(errors.length === 0 ? 0 : 1)
    const result = await cli(['import', 'octodns', source, '-o', 'out', '--lossy'], { cwd })
    expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    // octoDNS does not list a file whose name has one dot as a zone; it is imported if it is named.
    const left = filesBelow(join(cwd, source)).filter((file) => /^[^./]*\.yaml$/.test(file))
    for (const file of left) {
      expect(result.stderr).toMatch(new RegExp(`${file.replaceAll('.', '[.]')},? (?:which is no zone|is skipped) because`))
      expect((await cli(['import', 'octodns', `${source}/${file}`, '-o', 'out', '--lossy'], { cwd })).status).toBe(0)
    }
    expect(filesBelow(join(cwd, 'out'))).toEqual(filesBelow(join(cwd, source)))
    for (const file of filesBelow(join(cwd, 'out'))) {
      const [before, after] = [readFileSync(join(cwd, source, file)), readFileSync(join(cwd, 'out', file))]
      // A file without content becomes a definition, because an empty one is an error here.
      if (before.toString().trim() === '---') expect(after.toString()).toBe(`domain: ${file.slice(0, -'.yaml'.length)}\nrecords: {}\n`)
      else expect(after.equals(before), file).toBe(true)
    }
  }
  // Their many files take seconds.
  const isLarge = (run: string): boolean => run.includes('"moj"') || run.includes('"pydis"')
  it.each(RUNS.filter((run) => !isLarge(run)))('%s', compareRun)
  it.each(RUNS.filter(isLarge))('%s', { tags: ['long'] }, compareRun)
})

const ZONE = `---
# The apex.
'':
  - type: A      # an address
    value: 192.0.2.1
www: {type: CNAME, value: example.com.}
`

const CONFIG = `---
manager: {max_workers: 4}
providers:
  config:
    class: octodns.provider.yaml.YamlProvider
    directory: ./zones
    default_ttl: 600
    enforce_order: true
    split_extension: .
  linode: {class: octodns_linode.LinodeProvider, token: env/LINODE_TOKEN}
  second: {class: octodns_linode.LinodeProvider, token: hunter2-hunter2}
  elsewhere: {class: octodns_elsewhere.ElsewhereProvider, key: env/KEY}
  generated: {class: octodns_gen.GenSource}
zones:
  example.com.:
    sources: [config, generated]
    targets: [linode, elsewhere]
    lenient: true
  alias.example.: {alias: example.com.}
  '*': {sources: [config], targets: [second]}
`

const scene = (files: Readonly<Record<string, string>>): ((...args: string[]) => Promise<CliResult>) => {
  // Beside another config, the new one is with its files.
  const cwd = folderWith({ 'zonewright.yaml': 'providers: {}\n', ...files })
  return Object.assign((...args: string[]) => cli(['import', 'octodns', ...args], { cwd }), { cwd })
}

const cwdOf = (run: unknown): string => (run as { cwd: string }).cwd

describe('its configuration', () => {
  const files = {
    'config/production.yaml': CONFIG,
    'zones/example.com.yaml': ZONE,
    'zones/split.example./$split.example.yaml': "'': {type: MX, value: {preference: 10, exchange: mail.split.example.}}\n",
    'zones/split.example./www.yaml': 'www: !include ../parts/www.yaml\n',
    'zones/parts/www.yaml': 'type: A\nvalue: 192.0.2.2\nttl: 60\n',
    'zones/README.yaml': 'not a zone\n',
  }

  it('is converted, with the files where they were', async () => {
    const run = scene(files)
    const result = await run('config/production.yaml', '-o', 'out', '--lossy')
    expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    const out = join(cwdOf(run), 'out')
    expect(filesBelow(out)).toEqual(
      [...Object.keys(files).filter((file) => !/production|README/.test(file)), 'zones/alias.example.yaml', 'zonewright.yaml'].sort(),
    )
    for (const file of filesBelow(out)) {
      const from = file === 'zones/alias.example.yaml' ? 'zones/example.com.yaml' : file
      if (file !== 'zonewright.yaml') expect(readFileSync(join(out, file), 'utf8')).toBe((files as Record<string, string>)[from])
    }
    expect(readFileSync(join(out, 'zonewright.yaml'), 'utf8')).toBe(`# Converted from config/production.yaml, an octoDNS config.
providers:
  linode: {type: cloud, preset: linode, token: env:LINODE_TOKEN}
  second: {type: cloud, preset: linode, token: env:SECOND_TOKEN}
  elsewhere: {type: octodns, class: octodns_elsewhere.ElsewhereProvider, options: {key: env:KEY}}
zones:
  - files:
      - zones/example.com.yaml
      - zones/alias.example.yaml
    targets: [linode, elsewhere]
    policy: upsert-only
  - files:
      - 'zones/*.*.yaml'
      - 'zones/*.'
      - '!zones/example.com.yaml'
      - '!zones/alias.example.yaml'
    targets: [second]
octodns_default_ttl: 600
octodns_split_extension: .
`)
    expectEnd(await cli(['validate'], { cwd: out }), 0, { out: 'split.example.' })
  })

  it('reports what it cannot import, without secrets', async () => {
    const result = await scene(files)('config/production.yaml', '-o', 'out')
    expect(result.status).toBe(1)
    expect(`${result.stdout}${result.stderr}`).not.toContain('hunter2')
    const lossy = result.stderr.match(/(?<=import-lossy\] )[^(\n]*(?= |$)/gm)?.map((line) => line.trim())
    const lost = ['alias.example.', 'example.com.'].map(
      (zone) => `${zone}: a definition cannot express the records of the source generated`,
    )
    expect(lossy?.sort()).toEqual(lost)
    expect(result.stderr.match(/(?<=warning\[import-aside\] ).*(?= only affects octoDNS)/g)).toEqual([
      'manager.max_workers',
      'lenient of example.com.',
    ])
  })

  it('copies aliases of zones that match a pattern, whatever their file names', async () => {
    const config = `providers: {config: {class: octodns.provider.yaml.YamlProvider, directory: ./zones, split_extension: .zone}}
zones: {'*': {sources: [config]}, one.example.: {alias: bücher.example.}, two.example.: {alias: split.example.}}
`
    const zone = 'www: {type: A, value: 192.0.2.1}\n'
    const run = scene({ 'p.yaml': config, 'zones/bücher.example.yaml': zone, 'zones/split.example.zone/www.yaml': zone })
    expect((await run('p.yaml', '-o', 'out')).status).toBe(0)
    expect(filesBelow(join(cwdOf(run), 'out'))).toEqual(
      [
        ...'zones/bücher.example.yaml zones/one.example.yaml zones/split.example.zone/www.yaml'.split(' '),
        ...'zones/two.example.zone/www.yaml zonewright.yaml'.split(' '),
      ].sort(),
    )
  })

  it('renames providers with invalid names, and reports missing targets', async () => {
    const config = `providers:
  config: {class: octodns.provider.yaml.YamlProvider, directory: ./zones}
  linode prod: {class: octodns_linode.LinodeProvider, token: env/A}
  linode-prod: {class: octodns_linode.LinodeProvider, token: env/B}
zones:
  '*': {sources: [config], targets: [linode prod, linode-prod, config, gone]}
`
    const run = scene({ 'p.yaml': config, 'zones/example.com.yaml': ZONE })
    const { status, stderr } = await run('p.yaml', '-o', 'out', '--lossy')
    expect([status, stderr.match(/(?<=cannot express ).*$/gm)]).toEqual([0, null])
    expect(stderr.match(/(?<=not imported: ).*$/gm)?.sort()).toEqual([
      'its target "gone", which is not a provider in the octoDNS config',
      'its target config, the folder of its files',
      'the name of the provider "linode prod": it becomes linode-prod-2',
    ])
    const out = join(cwdOf(run), 'out')
    expect(readFileSync(join(out, 'zonewright.yaml'), 'utf8')).toContain('targets: [linode-prod-2, linode-prod]')
    expect((await cli(['validate'], { cwd: out })).status).toBe(0)
  })

  it('keeps every target: native, as a folder, or as the class of octoDNS', async () => {
    const config = `providers:
  config: {class: octodns.provider.yaml.YamlProvider, directory: ./zones}
  aws: {class: octodns_route53.Route53Provider, access_key_id: hunter2-hunter2, secret_access_key: env/AWS_SECRET, delete_pcent_threshold: 0.1}
  role: {class: octodns_route53.Route53Provider, role_arn: 'arn:aws:iam::123456789012:role/dns', session_token: env/SESSION}
  gandi: {class: octodns_gandi.GandiProvider, token: env/GANDI, sharing_id: 7, nested: {password: hunter2-hunter2, list: [env/ONE, two, ./mirror, not/there]}}
  dump: {class: octodns.provider.yaml.YamlProvider, directory: ./mirror, enforce_order: true}
zones:
  example.com.: {sources: [config], targets: [aws, gandi, dump]}
  example.net.: {sources: [config], targets: [role]}
`
    const run = scene({ 'p.yaml': config, 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': ZONE, 'mirror/.keep': '' })
    const { status, stderr } = await run('p.yaml', '-o', 'out')
    expect([status, stderr.includes('hunter2')]).toEqual([0, false])
    expect(stderr).toContain('role and gandi run their octoDNS classes in Python')
    expect(stderr).toContain('pip install octodns octodns-route53 octodns-gandi')
    const out = join(cwdOf(run), 'out')
    const made = readFileSync(join(out, 'zonewright.yaml'), 'utf8')
    expect(made).toContain(`  aws: {type: route53, access_key_id: env:AWS_ACCESS_KEY_ID, secret_access_key: env:AWS_SECRET}
  role: {type: octodns, class: octodns_route53.Route53Provider, options: {role_arn: 'arn:aws:iam::123456789012:role/dns', session_token: env:SESSION}}
  gandi: {type: octodns, class: octodns_gandi.GandiProvider, options: {token: env:GANDI, sharing_id: 7, nested: {password: env:GANDI_NESTED_PASSWORD, list: [env:ONE, two, ../mirror, not/there]}}}
  dump: {type: octodns, directory: ../mirror}
`)
    expect([...made.matchAll(/^ {4}targets: (.*)$/gm)].map(([, all]) => all)).toEqual(['[aws, gandi, dump]', '[role]'])
    expect(await cli(['validate'], { cwd: out })).toMatchObject({ status: 0 })
  })

  it('imports only the requested zones', async () => {
    const run = scene(files)
    expect((await run('config/production.yaml', 'split.example', '-o', 'out', '--lossy')).status).toBe(0)
    expect(filesBelow(join(cwdOf(run), 'out'))).toEqual([
      'zones/parts/www.yaml',
      'zones/split.example./$split.example.yaml',
      'zones/split.example./www.yaml',
      'zonewright.yaml',
    ])
    expectEnd(await run('config/production.yaml', 'nowhere.example', '-o', 'out2', '--lossy'), 1, { err: 'zone-unknown' })
  })

  it('can be in several files', async () => {
    const split = CONFIG.replace(/manager:[^\n]*\n/, '').replace(/zones:\n[\s\S]*$/, 'zones: !include zones.part\n')
    const run = scene({
      ...files,
      'config/production.yaml': split,
      'config/zones.part': 'example.com.: {sources: [config], targets: [linode]}\n',
    })
    expect(await run('config/production.yaml', '-o', 'out', '--lossy')).toMatchObject({ status: 0 })
    expect(filesBelow(join(cwdOf(run), 'out'))).toEqual(['zones/example.com.yaml', 'zonewright.yaml'])
  })

  it.each([
    ['no YAML', 'providers: {a: {class: x}}\n\t- [', /yaml-syntax|file-format/],
    ['no directory', CONFIG.replace('./zones', './none'), /none of the provider config does not exist/],
    [
      'a zone without files',
      CONFIG.replace('example.com.:', 'missing.example.:').replace('alias: example.com.', 'alias: missing.example.'),
      /the source config has no file of missing\.example\./,
    ],
    ['an alias of nothing', CONFIG.replace('alias: example.com.', 'alias: other.example.'), /is an alias of other\.example\./],
    ['a provider without a class', CONFIG.replace('{class: octodns_gen.GenSource}', '{}'), /"generated" has no class/],
    ['an invalid zone name', CONFIG.replace('example.com.:', 'a..b.:'), /zone-name/],
  ])('%s', async (_, config, message) => {
    const result = await scene({ ...files, 'config/production.yaml': config })('config/production.yaml', '-o', 'out', '--lossy')
    expect([result.status, result.stderr]).toEqual([1, expect.stringMatching(message)])
  })
})

describe('what cannot be expressed is reported per record', () => {
  it.each([
    ['www: {type: A, value: 192.0.2.1, geo: {NA: [192.0.2.2]}}', /www\.example\.com\. A: a definition cannot express geo/],
    ['www: {type: A, value: 10.0.0.1, dynamic: {pools: {a: {values: [{value: 10.0.0.2}]}}, rules: [{pool: a}]}}', /cannot express dynamic/],
    ['www: {type: Route53Provider/ALIAS, value: a.}', /cannot express Route53Provider\/ALIAS, a record type of another provider/],
    ['www: {type: TXT, value: "a\u0085b"}', /:1:27: error\[import-lossy\] example\.com\.: .* cannot express the character U\+0085/],
    ['bücher: {type: A, value: 192.0.2.1, geo: {NA: [192.0.2.2]}}', /xn--bcher-kva\.example\.com\. A: a definition cannot express geo/],
  ])('%s', async (text, message) => {
    const run = scene({ 'zones/example.com.yaml': `${text}\n` })
    expectEnd(await run('zones', '-o', 'out'), 1, { err: message })
    expect(() => readdirSync(join(cwdOf(run), 'out'))).toThrow()
    expect((await run('zones', '-o', 'out', '--lossy')).status).toBe(0)
  })

  it('a name without quotes is a warning, once', async () => {
    const run = scene({ 'zones/example.com.yaml': '10.20: {type: A, value: 192.0.2.1}\n' })
    const { status, stderr } = await run('zones', '-o', 'out')
    expect([status, stderr.match(/^.*\[.*$/gm)]).toEqual([
      0,
      [
        `zones/example.com.yaml:1:1: warning[name-unquoted] "10.20" without quotes is the name 10.20.example.com.; octoDNS reads 10.2.example.com. (Quote the name that you mean, such as '10.20'.)`,
      ],
    ])
  })

  it('quoted names and a byte order mark are kept', async () => {
    const text = "\u{feff}'10.20': {type: A, value: 192.0.2.1}\r\n"
    const run = scene({ 'zones/example.com.yaml': text })
    expect((await run('zones', '-o', 'out')).status).toBe(0)
    expect(readFileSync(join(cwdOf(run), 'out/example.com.yaml'), 'utf8')).toBe(text)
  })

  it('a key of a provider is a warning, because the record stays', async () => {
    const run = scene({ 'zones/example.com.yaml': 'www: {type: A, value: 192.0.2.1, octodns: {route53: {healthcheck: 1}}}\n' })
    const { status, stderr } = await run('zones', '-o', 'out')
    expect([status, stderr.match(/(?:error|warning)\[.*$/gm)]).toEqual([
      0,
      [expect.stringMatching(/^warning\[record-extra\] www\.example\.com\. A: .*"octodns\.route53"/)],
    ])
  })
})

describe('a directory', () => {
  it('without zones is an error; folders with another suffix get a warning', async () => {
    const run = scene({
      'none/readme.txt': '',
      'zones/example.com.yaml': ZONE,
      'zones/example.org.zone/www.yaml': 'www: {type: A, value: 192.0.2.1}\n',
    })
    expect(await run('none', '-o', 'out')).toMatchObject({ status: 1, stderr: expect.stringContaining('has no octoDNS zones') })
    expect(await run('zones', '-o', 'out')).toMatchObject({ status: 0, stderr: expect.stringContaining('example.org.zone has YAML files') })
    expect(await run('nowhere', '-o', 'out')).toMatchObject({ status: 1, stderr: expect.stringContaining('does not exist') })
  })

  it('cannot include files outside', async () => {
    const run = scene({ 'zones/example.com.yaml': 'www: !include ../../etc/www.yaml\n' })
    const outside = folderWith({ 'www.yaml': 'type: A\nvalue: 192.0.2.1\n' })
    expect((await run('zones', '-o', 'out')).status).toBe(1)
    symlinkSync(join(outside, 'www.yaml'), join(cwdOf(run), 'zones', 'www.part'))
    addFiles(cwdOf(run), { 'zones/example.com.yaml': 'www: !include www.part\n' })
    expect(await run('zones', '-o', 'out')).toMatchObject({ status: 1, stderr: expect.stringContaining('is outside the config folder') })
  })
})

describe('file locations', () => {
  const config = (directory: string): string =>
    `providers: {config: {class: octodns.provider.yaml.YamlProvider, directory: ${directory}, split_extension: .}}\nzones: {'*': {sources: [config]}}\n`

  it.each([
    ['../../elsewhere', () => '../../elsewhere'],
    ['absolute', (cwd: string) => join(cwd, 'elsewhere')],
  ])('imports an outside directory under its own name, and writes nothing elsewhere: %s', async (_, directory) => {
    const cwd = cwdOf(scene({ 'elsewhere/example.com.yaml': ZONE, 'work/config/production.yaml': '' }))
    addFiles(cwd, { 'work/config/production.yaml': config(directory(cwd)) })
    const before = filesBelow(cwd)
    const result = await cli(['import', 'octodns', 'config/production.yaml', '-o', 'out'], { cwd: join(cwd, 'work') })
    expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    const after = [...before, 'work/out/elsewhere/example.com.yaml', 'work/out/zonewright.yaml'].sort()
    expect(filesBelow(cwd)).toEqual(after)
    expect(existsSync(join(tmpdir(), 'elsewhere'))).toBe(false)
  })

  it('a symbolic link is read under its own name; one that leads outside is reported', async () => {
    const run = scene({ 'zones/..data/shared.yaml': ZONE, 'other.yaml': ZONE })
    const zones = join(cwdOf(run), 'zones')
    symlinkSync('..data/shared.yaml', join(zones, 'example.com.yaml'))
    symlinkSync('example.com.yaml', join(zones, 'example.net.yaml'))
    expect((await run('zones', '-o', 'out')).status).toBe(0)
    expect(filesBelow(join(cwdOf(run), 'out'))).toEqual(['example.com.yaml', 'example.net.yaml'])
    symlinkSync('../other.yaml', join(zones, 'example.org.yaml'))
    const message = 'error[path-outside] zones/example.org.yaml is outside zones'
    expect(await run('zones', '-o', 'out2')).toMatchObject({ status: 1, stderr: expect.stringContaining(message) })
  })
})

describe('export octodns', () => {
  it('writes no file for zones without own records', async () => {
    const cwd = folderWith({
      'zones/slave.example.yaml': 'domain: slave.example\ntype: slave\nmaster_ips: [192.0.2.1]\n',
      'zones/example.com.yaml': 'www: {type: A, value: 192.0.2.1}\n',
    })
    const result = await cli(['export', 'octodns', '-o', 'out', '--lossy'], { cwd })
    expect([result.status, result.stderr]).toEqual([0, expect.stringContaining('slave.example.: octodns cannot express a slave zone')])
    expect(filesBelow(join(cwd, 'out'))).toEqual(['example.com.yaml'])
  })

  const definition = `domain: example.com
soa_email: hostmaster@example.com
ttl_sec: 1h
tags: [a]
records:
  '': {type: MX, value: {preference: 10, exchange: mail}}   # no TTL: the zone's
  mail: {type: A, ttl: 60, value: 192.0.2.1, octodns: {excluded: [cloud]}}
  rp: {type: RP, ttl: 60, value: {mbox: a.example.com., txt: .}}
`

  it('reports what octoDNS cannot express, and writes the rest if the loss is accepted', async () => {
    const cwd = folderWith({ 'zones/example.com.yaml': definition })
    const refused = expectEnd(await cli(['export', 'octodns', '-o', 'out'], { cwd }), 1)
    for (const what of ['the setting ttl_sec', 'the setting tags', 'rp.example.com. RP: octodns cannot express'])
      expect(refused.stderr).toContain(what)
    expect(refused.stderr).not.toContain('mail.example.com.')
    expect((await cli(['export', 'octodns', '-o', 'out', '--lossy'], { cwd })).status).toBe(0)
    // print-octodns-zone.test.ts has the form of the file.
    const text = readFileSync(join(cwd, 'out/example.com.yaml'), 'utf8')
    expect(text.match(/^\S+:|ttl: \d+|excluded:|- cloud/gm)).toEqual(["'':", 'ttl: 3600', 'mail:', 'excluded:', '- cloud', 'ttl: 60'])
  })
})

/** `init` in folders that have something: what it finds, shows, writes and leaves alone. */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { fileNameOf, findSources } from '../../src/cli/init/find-sources.ts'
import { repositoryOf } from '../../src/cli/init/repository.ts'
import { folderWith } from '../definition/files.ts'
import { createDesec } from '../scripted/desec/service.ts'
import { startScriptedServer } from '../scripted/scripted-server.ts'
import { afterThisFile } from '../support/after-file.ts'
import { builtProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { runTool } from '../support/tools.ts'
import { filesBelow, TOKEN } from './scene.ts'

type Files = Readonly<Record<string, string>>

const SOA = '@ 3600 IN SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n@ 3600 IN NS ns1.example.net.\n'
const OCTODNS: Files = {
  'config/production.yaml': `providers:
  config: {class: octodns.provider.yaml.YamlProvider, directory: ./zones}
  desec: {class: octodns_desec.DesecProvider, token: env/DESEC_TOKEN}
zones:
  example.com.: {sources: [config], targets: [desec]}
`,
  'zones/example.com.yaml': "'': {ttl: 3600, type: A, value: 192.0.2.1}\n",
}
const DNSCONTROL: Files = {
  'dnsconfig.js': `D('example.com', NewRegistrar('none'), DnsProvider(NewDnsProvider('dns')), A('@', '192.0.2.1'))\n`,
  'creds.json': '{"none": {"TYPE": "NONE"}, "dns": {"TYPE": "DESEC", "auth-token": "$DESEC_TOKEN"}}',
}
const ZONE_FILES: Files = { 'dns/example.com.zone': `${SOA}www 300 A 192.0.2.1\n`, 'dns/example.org.zone': `${SOA}www 300 A 192.0.2.2\n` }
const DEFINITIONS: Files = { 'zones/example.com.yaml': 'domain: example.com\nrecords:\n  www: {type: A, value: 192.0.2.1}\n' }
const STATE = JSON.stringify({
  format_version: '1.0',
  terraform_version: '1.9.0',
  values: {
    root_module: {
      resources: [
        {
          address: 'linode_domain.a',
          mode: 'managed',
          type: 'linode_domain',
          name: 'a',
          values: { id: '1', domain: 'example.com', type: 'master', soa_email: 'a@example.com' },
        },
        {
          address: 'linode_domain_record.www',
          mode: 'managed',
          type: 'linode_domain_record',
          name: 'www',
          values: { id: '2', domain_id: 1, name: 'www', record_type: 'A', target: '192.0.2.1', ttl_sec: 300 },
        },
      ],
    },
  },
})

const CONFIGURED: Files = { 'zonewright.yaml': 'providers:\n  dns: {type: desec, token: env:DESEC_TOKEN}\n', ...DEFINITIONS }
const JOBS = ['.github/workflows/dns-check.yml', '.github/workflows/dns.yml', '.gitignore']
const init = (cwd: string, args = '--yes', env: Files = {}) => cli(['init', ...args.split(' ').filter((word) => word !== '')], { cwd, env })

/** The files that differ from those before, by path. */
function changesOf(cwd: string, before: Files): Record<string, string> {
  return Object.fromEntries(Object.entries(filesBelow(cwd)).filter(([path, text]) => before[path] !== text))
}

describe('a folder with', () => {
  test.each<readonly [what: string, files: Files, written: readonly string[], said: readonly (string | RegExp)[]]>([
    [
      'octoDNS',
      OCTODNS,
      ['zonewright.yaml'],
      ['Found config/production.yaml, a config of octoDNS: 1 zone with 1 record.', 'hosts      desec.io\n', 'DESEC_TOKEN (not set)'],
    ],
    [
      'DNSControl',
      DNSCONTROL,
      ['zonewright.yaml'],
      ['Found dnsconfig.js, a program of DNSControl', 'hosts      desec.io\n', 'DESEC_TOKEN (not set)'],
    ],
    [
      'DNSControl in a folder below',
      Object.fromEntries(Object.entries(DNSCONTROL).map(([path, text]) => [`dns/${path}`, text])),
      ['zonewright.yaml'],
      ['Found dns/dnsconfig.js'],
    ],
    [
      'zone files',
      ZONE_FILES,
      ['zonewright.yaml', 'zones/example.com.yaml', 'zones/example.org.yaml'],
      ['rewrites the files in dns;', 'Found dns, zone files: 2 zones with 4 records.', 'No changes. 2 zones match.'],
    ],
    [
      'zone files beside each other',
      { 'a.example.zone': SOA.replace(/@/g, 'a.example.') },
      ['zonewright.yaml', 'definitions/a.example.yaml'],
      ['Found zone files in this folder: 1 zone', 'No changes. 1 zone matches.'],
    ],
    [
      'zone files of other names',
      { 'dns/db.a.example': SOA.replace(/@/g, 'a.example.'), 'dns/b.example.zone': SOA.replace(/@/g, 'b.example.') },
      ['zonewright.yaml', 'zones/a.example.yaml', 'zones/b.example.yaml'],
      [
        'Found dns, zone files',
        'ZONEWRIGHT_TOKEN (not set)',
        'The zone files in dns are not named alike: no file a.example.zone.',
        'see docs/tasks/name-servers.md#existing-zone-files.',
      ],
    ],
    [
      'zone files, one of which is named after a network',
      { 'dns/db.a.example': SOA.replace(/@/g, 'a.example.'), 'dns/db.192.0.2': SOA.replace(/@/g, '2.0.192.in-addr.arpa.') },
      ['zonewright.yaml', 'zones/a.example.yaml', 'zones/2.0.192.in-addr.arpa.yaml'],
      ['The zone files in dns are not named alike: no file db.2.0.192.in-addr.arpa. So the config has a service'],
    ],
    [
      'zone files of which one does not name its zone',
      { 'dns/db.example.com': SOA, 'dns/db.192.0.2': SOA },
      ['zonewright.yaml', 'zones/example.com.yaml'],
      ['zonewright import zonefile dns/db.192.0.2 2.0.192.in-addr.arpa)', 'No changes. 1 zone matches.'],
    ],
    [
      'zone files in zones',
      { 'zones/example.com.zone': `${SOA}www 300 A 192.0.2.1\n` },
      ['definitions/example.com.yaml', 'zonewright.yaml'],
      ['No changes. 1 zone matches.'],
    ],
    [
      'a shown state',
      { 'my #1 show.json': STATE, 'terraform.tfstate': '{}' },
      ['zones/example.com.yaml', 'zonewright.yaml'],
      ['Found my #1 show.json, a state of Terraform', 'api.linode.com', 'LINODE_TOKEN (not set)', 'terraform state rm'],
    ],
    ['definitions from an import', DEFINITIONS, ['zonewright.yaml'], ['Found definitions.', 'ZONEWRIGHT_TOKEN (not set)']],
    [
      'definitions and their zone files',
      { ...ZONE_FILES, ...DEFINITIONS },
      ['zonewright.yaml', 'zones/example.org.yaml'],
      ['Found dns, zone files'],
    ],
    ['octoDNS and zone files', { ...OCTODNS, ...ZONE_FILES }, ['zonewright.yaml'], ['Found config/production.yaml']],
  ])('%s gets what it lacks, and a second run finds nothing missing', async (_, files, written, said) => {
    const cwd = folderWith(files)
    expectEnd(await init(cwd), 0, { said })
    const schemas = filesBelow(cwd)['zonewright.yaml']?.startsWith('# yaml-language-server:') ? ['schemas/config.schema.json'] : []
    expect(Object.keys(changesOf(cwd, files)).sort()).toEqual([...JOBS, ...schemas, ...written].sort())
    if ('my #1 show.json' in files) expect(filesBelow(cwd)['.gitignore']).toContain('/my\\ \\#1\\ show.json\n*.tfstate\n')
    const after = filesBelow(cwd)
    expectEnd(await cli(['validate'], { cwd, env: {} }), 0)
    expectEnd(await init(cwd, ''), 0, { out: /^Nothing is missing:\n {2}zonewright\.yaml\n/, err: '' })
    expect(filesBelow(cwd)).toEqual(after)
  })

  test.each<readonly [what: string, files: Files, args: string, err: string | RegExp]>([
    [
      'two configs of octoDNS',
      { ...OCTODNS, 'staging.yaml': OCTODNS['config/production.yaml'] ?? '' },
      '--yes',
      'choose one: zonewright init config/production.yaml, zonewright init staging.yaml',
    ],
    [
      'two tools',
      { ...OCTODNS, ...DNSCONTROL },
      '--yes',
      'choose one: zonewright init config/production.yaml, zonewright init dnsconfig.js',
    ],
    [
      'a raw state',
      { 'terraform.tfstate': '{"version": 4, "lineage": "a"}' },
      '--yes',
      'terraform show -json terraform.tfstate > show.json',
    ],
    ['nothing at the path', OCTODNS, 'elsewhere', 'elsewhere does not exist'],
    [
      'an error in a zone',
      { ...ZONE_FILES, 'dns/example.org.zone': `${SOA}www A 192.0.2.300\n` },
      '--yes',
      /error\[.*\nNothing was written\.\n$/s,
    ],
    ['no terminal', OCTODNS, '', 'error[not-confirmed] there is no terminal to ask on (--yes answers in advance)\nNothing was written.'],
    ['no terminal, and a program', DNSCONTROL, '', 'error[not-confirmed]'],
    ['a configuration of Terraform without its state', { 'main.tf': '' }, '', 'run: terraform show -json > show.json'],
    ['a path, and a provider', OCTODNS, 'config --from desec', 'PATH and --from exclude each other'],
    ['an example, and a provider', {}, '--zone a.example --from desec', '--from and --zone or --soa-email exclude each other'],
    ['two providers', ZONE_FILES, '--from desec --to desec', '--from and --to exclude each other'],
    [
      'an example, and a provider of zones that are here',
      {},
      '--zone a.example --to desec',
      '--zone or --soa-email and --to exclude each other',
    ],
    ['a provider of zones, and none', {}, '--to desec', '--to is for zones that are here, and there are none'],
    ['zone files for no folder', ZONE_FILES, '--yes --to zonefile', 'error[usage] zonefile needs a setting: --to zonefile=FOLDER'],
    ['zone files for PowerDNS', ZONE_FILES, '--yes --to powerdns', '(docs/tasks/name-servers.md), then run "zonewright init"'],
    ['zone files for a setting', ZONE_FILES, '--yes --to base_url=x', '--to "base_url=x" is none of these: the base URL of an API'],
    ['zone files for an address without TLS', ZONE_FILES, '--yes --to http://dns.example.net', '--to "http://dns.example.net" would send'],
    ['targets of octoDNS, and others', OCTODNS, '--yes --to desec', 'error[usage] config/production.yaml names its targets; --to is for'],
    ['targets of DNSControl, and others', DNSCONTROL, '--yes --to desec', 'error[usage] dnsconfig.js names its targets; --to is for'],
    ['targets of a config, and others', CONFIGURED, '--yes --to desec', 'error[usage] zonewright.yaml names its targets; --to is for'],
    ['a broken config', { 'zonewright.yaml': 'providers: [' }, '--yes', 'Nothing was written.'],
  ])('%s is refused, and nothing is written', async (_, files, args, err) => {
    const cwd = folderWith(files)
    expectEnd(await init(cwd, args), 1, { err })
    expect(filesBelow(cwd)).toEqual(files)
  })

  test('an example says so if the folder has something that init does not know', async () => {
    const said = 'Nothing to take over was found, so this is an example.'
    expectEnd(await init(folderWith({ 'zones/example.com.hosts': SOA }), ''), 0, { err: said })
    expectEnd(await init(folderWith({ 'package.json': '{}', 'README.md': '' }), ''), 0, { err: '' })
  })

  test('--to zonefile=FOLDER is the folder of a name server, with the CI jobs and their steps', async () => {
    const cwd = folderWith(ZONE_FILES)
    expectEnd(await init(cwd, '--yes --to zonefile=dns'), 0, { out: ['No changes. 2 zones match.', 'At GitHub, set the secrets'] })
    expect(filesBelow(cwd)['zonewright.yaml']).toContain('  files: {type: zonefile, directory: dns}\n')
  })

  test('without new CI jobs, their steps are not printed', async () => {
    const cwd = folderWith({ ...ZONE_FILES, '.github/workflows/dns.yml': 'zonewright', '.github/workflows/dns-check.yml': 'zonewright' })
    expectEnd(await init(cwd), 0, { out: /^(?!.*At GitHub)/s })
  })

  test('several things: the path chooses', async () => {
    const cwd = folderWith({ ...OCTODNS, ...DNSCONTROL })
    expectEnd(await init(cwd, 'dnsconfig.js --yes'), 0, { out: 'Found dnsconfig.js' })
    expect(filesBelow(cwd)['zonewright.yaml']).toContain('dnsconfig.js')
  })

  test('a loss is taken over only if it is accepted', async () => {
    const cwd = folderWith({ ...OCTODNS, 'zones/example.com.yaml': 'www: {ttl: 60, type: A, value: 192.0.2.1, geo: {NA: [192.0.2.2]}}\n' })
    expectEnd(await init(cwd), 1, { err: '--lossy=geo leaves it out' })
    expectEnd(await init(cwd, '--yes --lossy=geo'), 0)
    expect(filesBelow(cwd)['zones/example.com.yaml']).toContain('geo')
  })

  test('zones of two sources become new definitions, since octoDNS goes on reading its own', async () => {
    const config = OCTODNS['config/production.yaml']
      ?.replace('zones:', '  more: {class: octodns.provider.yaml.YamlProvider, directory: ./more}\nzones:')
      .replace('[config]', '[config, more]')
    const files = {
      ...OCTODNS,
      'config/production.yaml': config ?? '',
      'more/example.com.yaml': 'www: {ttl: 60, type: A, value: 192.0.2.2}\n',
    }
    const cwd = folderWith(files)
    expectEnd(await init(cwd), 0, { out: '  definitions/zones/example.com.yaml\n' })
    expect(filesBelow(cwd)).toMatchObject(files)
    expectEnd(await cli(['validate'], { cwd, env: {} }), 0, { err: '1 zone, 2 records in 1 file' })
  })
})

describe('existing files', () => {
  test('change only as the shown difference says, and only with consent', async () => {
    const files = { ...OCTODNS, '.gitignore': 'node_modules\r\n.zonewright\r\nzonewright-data' }
    expectEnd(await init(folderWith(files)), 0)
    const cwd = folderWith({ ...OCTODNS, '.gitignore': 'node_modules' })
    const { stdout } = await init(cwd, '')
    expect(stdout).toMatch(/^--- \.gitignore\n\+\+\+ \.gitignore\n.*^ node_modules\n\+\.zonewright\/\n\+zonewright-data\/$/ms)
    expect(filesBelow(cwd)['.gitignore']).toBe('node_modules')
    expectEnd(await init(cwd), 0)
    expect(filesBelow(cwd)['.gitignore']).toBe('node_modules\n.zonewright/\nzonewright-data/\n')
  })

  test('the example leaves them without consent, and writes the others', async () => {
    const cwd = folderWith({ '.gitignore': 'node_modules\r\n' })
    expectEnd(await init(cwd, ''), 0, { err: 'Not changed: .gitignore. --yes changes it.\n' })
    expect(filesBelow(cwd)).toMatchObject({ '.gitignore': 'node_modules\r\n', 'zones/example.com.yaml': expect.any(String) })
    expectEnd(await init(cwd, '--yes'), 0)
    expect(filesBelow(cwd)['.gitignore']).toBe('node_modules\r\n.zonewright/\r\nzonewright-data/\r\n')
  })

  test.each([
    ['', "providers:\n  cloud: {type: cloud, base_url: http://127.0.0.1:8080/v4, token: 'env:ZONEWRIGHT_TOKEN'}\n"],
    [
      'safety: {max_delete_percent: 10}',
      "safety: {max_delete_percent: 10}\nproviders:\n  cloud: {type: cloud, base_url: http://127.0.0.1:8080/v4, token: 'env:ZONEWRIGHT_TOKEN'}\n",
    ],
    [
      'providers: {}\nzones: []\n',
      "providers:\n  cloud: {type: cloud, base_url: http://127.0.0.1:8080/v4, token: 'env:ZONEWRIGHT_TOKEN'}\nzones: []\n",
    ],
    [
      'providers: # none yet\n  # files: {type: zonefile, directory: x}\nzones: []\n',
      "providers: # none yet\n  cloud: {type: cloud, base_url: http://127.0.0.1:8080/v4, token: 'env:ZONEWRIGHT_TOKEN'}\n  # files: {type: zonefile, directory: x}\nzones: []\n",
    ],
  ])('a config without providers gets one: %j', async (config, expected) => {
    const cwd = folderWith({ 'zonewright.yaml': config, ...DEFINITIONS })
    expectEnd(await init(cwd), 0, { out: '+  cloud: {type: cloud' })
    expect(filesBelow(cwd)['zonewright.yaml']).toBe(expected)
  })

  test('a pipeline of GitLab includes the jobs', async () => {
    const cwd = folderWith({ ...OCTODNS, '.gitlab-ci.yml': 'test: {script: [make]}\n' })
    expectEnd(await init(cwd), 0, { out: '+include:\n+  - local: .gitlab/zonewright.yml\n' })
    const files = filesBelow(cwd)
    expect(files['.gitlab/zonewright.yml']).toContain('DESEC_TOKEN="$DESEC_TOKEN_READ_ONLY" zonewright ci plan')
    expectEnd(await init(cwd, ''), 0, { out: /^Nothing is missing:/ })
  })

  test.each([
    ['build, test', 'undefined'],
    ["build, 'to production' # test", 'to production'],
  ])('the jobs are in a stage of the pipeline: [%s]', async (stages, stage) => {
    const lists = [
      `stages: [${stages.replace(' # test', '] # test')}${stages.includes('#') ? '' : ']'}`,
      `stages:\n- ${stages.replace(', ', '\n- ')}`,
    ]
    for (const list of lists) {
      const cwd = folderWith({ ...OCTODNS, '.gitlab-ci.yml': `${list}\nother: {script: [make]}\n` })
      expectEnd(await init(cwd), 0)
      expect(`${parse(filesBelow(cwd)['.gitlab/zonewright.yml'] ?? '')['.zonewright'].stage}`).toBe(stage)
    }
  })

  test.each(['--yes', '--ci gitlab'])('a pipeline of GitLab that includes files stays, with a warning (init %s)', async (option) => {
    const config = 'providers:\n  dns: {type: desec, token: env:DESEC_TOKEN}\n'
    const cwd = folderWith({ 'zonewright.yaml': config, ...DEFINITIONS, '.gitlab-ci.yml': 'include: other.yml\n' })
    expectEnd(await init(cwd, option), 0, { err: 'add "- local: .gitlab/zonewright.yml" to its "include"' })
    expect(filesBelow(cwd)['.gitlab-ci.yml']).toBe('include: other.yml\n')
  })

  test('init --ci runs no class, and says that its package is missing', async () => {
    const config = 'providers:\n  dns: {type: octodns, class: octodns_x.Provider, options: {token: env:X}}\n'
    const cwd = folderWith({ 'zonewright.yaml': config, ...DEFINITIONS })
    expectEnd(await init(cwd, '--ci github'), 0, { err: 'the CI jobs do not install the package of octodns_x.Provider' })
  })

  test.each<readonly [path: string, text: Uint8Array | string | null]>([
    ['.gitignore', Buffer.from('caf\xe9\n', 'latin1')],
    ['.gitignore', 'nowhere'],
    ['.gitignore', null],
    ['.github', '..'],
  ])('%s that cannot be extended stays, and the others are written (%#)', async (path, text) => {
    const cwd = folderWith(OCTODNS)
    if (text === null) mkdirSync(join(cwd, path))
    else if (typeof text === 'string') symlinkSync(text, join(cwd, path))
    else writeFileSync(join(cwd, path), text)
    expectEnd(await init(cwd), 0, { err: path === '.github' ? 'dns.yml is another workflow' : 'DESEC_TOKEN' })
    expect(readFileSync(join(cwd, 'zonewright.yaml'), 'utf8')).toContain('type: desec')
    if (text instanceof Uint8Array) expect(readFileSync(join(cwd, path))).toEqual(text)
  })

  test('another workflow of that name stays, with a warning', async () => {
    const cwd = folderWith({ ...OCTODNS, '.github/workflows/dns.yml': 'name: octoDNS\n' })
    expectEnd(await init(cwd), 0, { err: '.github/workflows/dns.yml is another workflow and was not changed' })
    expect(filesBelow(cwd)['.github/workflows/dns.yml']).toBe('name: octoDNS\n')
  })

  test('a config stays if a path is named, and the command for the path is shown', async () => {
    const cwd = folderWith({ ...OCTODNS, ...DNSCONTROL })
    expectEnd(await init(cwd, 'config --yes'), 0)
    const before = filesBelow(cwd)
    const err = 'dnsconfig.js is not imported (zonewright import dnscontrol dnsconfig.js --convert -o zones)'
    expectEnd(await init(cwd, 'dnsconfig.js --yes'), 0, { out: 'Nothing is missing', err })
    expect(filesBelow(cwd)).toEqual(before)
  })

  test('in a folder of a repository, the jobs are in its root and name the config; its branch is theirs', async () => {
    const root = folderWith({ ...Object.fromEntries(Object.entries(OCTODNS).map(([path, text]) => [`a b/dns/${path}`, text])) })
    mkdirSync(join(root, '.git/refs/remotes/origin'), { recursive: true })
    writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/master\n')
    const cwd = join(root, 'a b/dns')
    expectEnd(await init(cwd), 0, { out: ['  ../../.github/workflows/dns.yml\n', 'for master,'] })
    const jobs = readFileSync(join(root, '.github/workflows/dns.yml'), 'utf8')
    expect(jobs).toContain("zonewright ci plan -c 'a b/dns/zonewright.yaml' --since")
    expect(jobs).toContain('push: {branches: [master]}')
    expect(jobs.match(/zonewright (?:snapshot|ci (?:plan|apply|drift)) (?!-c)/g)).toBeNull()
    expectEnd(await init(cwd, ''), 0, { out: /^Nothing is missing:/ })
    // An example there needs no jobs. The default branch at the origin wins.
    writeFileSync(join(root, '.git/refs/remotes/origin/HEAD'), 'ref: refs/remotes/origin/live\n')
    mkdirSync(join(root, 'try'))
    expectEnd(await init(join(root, 'try'), ''), 0, { out: /^(?!.*workflows).*To add them: zonewright init --ci github\n/s })
    mkdirSync(join(root, 'more'))
    expectEnd(await init(join(root, 'more'), '--zone a.example --ci gitlab'), 0, { out: '  ../.gitlab-ci.yml\n' })
    rmSync(join(root, '.gitlab-ci.yml'))
    expectEnd(await init(cwd, '--ci github'), 0, { out: '+  push: {branches: [live]}' })
    expectEnd(await init(cwd, '--ci gitlab'), 0)
    expect(readFileSync(join(root, '.gitlab-ci.yml'), 'utf8')).toContain("zonewright validate -c 'a b/dns/zonewright.yaml'")
  })

  test.each([
    [{}, '', true],
    [{ '.git/config': '[remote "origin"]\n\turl = git@git.example.net:dns.git\n' }, '', true],
    [{ '.git/config': '[remote "origin"]\n\turl = git@github.com:a/dns.git\n' }, '', false],
    [{ '.github/CODEOWNERS': '' }, '', false],
    [{}, '--ci github', false],
  ])('the site of the CI jobs is said if nothing names it: %j %s', async (files, args, isSaid) => {
    const { stdout } = expectEnd(await init(folderWith(files), args), 0)
    expect(stdout.includes('\nCI jobs are for GitHub; for GitLab: zonewright init --ci gitlab\n')).toBe(isSaid)
  })

  test.each([OCTODNS, DNSCONTROL])('init --ci alone, before the import, writes the jobs that the import needs (%#)', async (files) => {
    const cwd = folderWith(files)
    expectEnd(await init(cwd, '--ci github'), 0)
    expect(Object.keys(changesOf(cwd, files))).toEqual(JOBS.slice(0, 2))
    expect(filesBelow(cwd)['.github/workflows/dns.yml']).toContain('secrets.DESEC_TOKEN }}')
  })

  test('init --ci writes the jobs of the config alone, and shows how they change', async () => {
    const config = 'providers:\n  dns: {type: desec, token: env:DESEC_TOKEN}\n'
    const cwd = folderWith({ 'zonewright.yaml': config, ...DEFINITIONS })
    expectEnd(await init(cwd, '--ci github'), 0, { err: '' })
    const { '.github/workflows/dns.yml': jobs = '', ...others } = filesBelow(cwd)
    expect(jobs).toContain("ZONEWRIGHT_ALLOWED_HOSTS: 'desec.io, api.github.com'")
    expect(Object.keys(others).sort()).toEqual(['.github/workflows/dns-check.yml', 'zones/example.com.yaml', 'zonewright.yaml'])
    writeFileSync(join(cwd, 'zonewright.yaml'), `${config}nameservers: [192.0.2.53]\n`)
    expectEnd(await init(cwd, '--ci github'), 0, {
      out: "+  ZONEWRIGHT_ALLOWED_HOSTS: 'desec.io, 192.0.2.53:53, api.github.com'",
      err: 'Not changed',
    })
    expect(filesBelow(cwd)['.github/workflows/dns.yml']).toBe(jobs)
    const said = /\nThe CI jobs differ from what the config needs: zonewright init --ci github shows how\n$/
    expectEnd(await init(cwd), 0, { out: [/^Written:\n {2}\.gitignore\n/m, said] })
    expectEnd(await init(cwd), 0, { out: [/^Nothing is missing:/, said] })
    expectEnd(await init(cwd, '--ci github --yes'), 0)
    expectEnd(await init(cwd), 0, { out: /^Nothing is missing:(?!.*CI jobs differ)/s })
    expect(filesBelow(cwd)['.github/workflows/dns.yml']).toContain('192.0.2.53:53')
  })

  test.each(['github', 'gitlab'])('init --ci %s keeps the release that somebody has set', async (site) => {
    const cwd = folderWith({ 'zonewright.yaml': 'providers:\n  dns: {type: desec, token: env:T}\n', ...DEFINITIONS })
    await init(cwd, `--ci ${site}`)
    const release = ["  ZONEWRIGHT_TARBALL: 'https://mirror.example/z.tgz' # ours", `  ZONEWRIGHT_CHECKSUM: '${'ab'.repeat(32)}'`]
    const withRelease = Object.fromEntries(
      Object.entries(filesBelow(cwd)).map(([path, text]) => [path, text.replace(/^ *ZONEWRIGHT_TARBALL: .*\n.*/m, release.join('\n'))]),
    )
    for (const [path, text] of Object.entries(withRelease)) writeFileSync(join(cwd, path), text.replace('curl --fail', 'curl'))
    expectEnd(await init(cwd, `--ci ${site} --yes`), 0, { out: /^(?!.*Set ZONEWRIGHT)/s })
    expect(filesBelow(cwd)).toEqual(withRelease)
    expect(JSON.stringify(withRelease)).toContain('mirror.example')
  })

  test.each(['worktrees/w', 'modules/m'])('a repository whose .git is a file has its branch and site (%s)', async (kind) => {
    const data = { [`.git/${kind}/HEAD`]: 'ref: refs/heads/change\n', '.git/refs/remotes/origin/HEAD': 'ref: refs/remotes/origin/live\n' }
    const config = '[remote "origin"]\n\turl = https://gitlab.example/dns.git\n'
    const files = kind.startsWith('modules')
      ? { [`.git/${kind}/HEAD`]: 'ref: refs/heads/master\n', [`.git/${kind}/config`]: config }
      : { ...data, [`.git/${kind}/commondir`]: '../..\n', '.git/config': config }
    const root = folderWith({ ...files, 'tree/.git': `gitdir: ../.git/${kind}\n` })
    mkdirSync(join(root, 'tree/dns'))
    const { site, branch, below } = repositoryOf(join(root, 'tree/dns'))
    expect([site, branch, below]).toEqual(['gitlab', kind.startsWith('modules') ? 'master' : 'live', 'dns'])
  })

  test.each<readonly [args: string, config: string | null, checksum: string, said: RegExp]>([
    ['--yes', 'desec, token: env:T', 'ab', /^Nothing is missing:.*^Set ZONEWRIGHT_TARBALL in \S+dns\.yml and \S+: each job ends with an/ms],
    ['--ci github', null, '', /^Written:.*^Set ZONEWRIGHT_TARBALL and .*^The jobs need zonewright.yaml: "zonewright init" writes it\.$/ms],
  ])('init %s says what the jobs lack', async (args, config, checksum, said) => {
    const cwd = folderWith(config === null ? {} : { 'zonewright.yaml': `providers:\n  dns: {type: ${config}}\n`, ...DEFINITIONS })
    if (config !== null) await init(cwd)
    for (const path of config === null ? [] : JOBS.slice(0, 2)) {
      const text = filesBelow(cwd)[path]?.replace("CHECKSUM: ''", `CHECKSUM: '${checksum}'`) ?? ''
      writeFileSync(join(cwd, path), text)
    }
    expectEnd(await init(cwd, args), 0, { out: said })
  })

  test.each<readonly [path: string, text: string, at: string | null]>([
    ['.gitlab-ci.yml', 'include: x\nplan: {script: [octodns-sync]}\ndeploy: {script: [octodns-sync --doit]}\n', '.gitlab-ci.yml:3:1'],
    ['.github/workflows/d.yml', '# octodns-sync\njobs:\n  - uses: a/octodns-sync@main\n', '.github/workflows/d.yml:3:1'],
    ['.github/workflows/d.yaml', '- run: |\n    dnscontrol  push\n', '.github/workflows/d.yaml:2:1'],
    ['.github/workflows/d.yml', '- run: dnscontrol preview; dnscontrol pushed; my_octodns-sync\n', null],
  ])('a job in %s with which another tool changes zones gets a warning: %j', async (path, text, at) => {
    const { stderr } = await init(folderWith({ ...OCTODNS, [path]: text }), '')
    expect(stderr.includes("two tools would change the zones (remove this job when Zonewright's applies)")).toBe(at !== null)
    if (at !== null) expect(stderr).toContain(`${at}: warning[import-aside] this job runs `)
  })

  test('the jobs do not deny that files have credentials', async () => {
    const cwd = folderWith({ 'zonewright.yaml': 'providers:\n  dns: {type: google, project: p}\n', ...DEFINITIONS })
    await init(cwd)
    expect(filesBelow(cwd)['.github/workflows/dns.yml']).toMatch(
      /^# The config names no secret\. If a provider reads credentials from files/m,
    )
  })

  test.each([{ 'package.json': '{}' }, {}])('.gitignore has node_modules if there are packages: %j', async (files) => {
    const cwd = folderWith({ ...ZONE_FILES, ...files })
    expectEnd(await init(cwd), 0)
    const packages = 'package.json' in files ? 'node_modules/\n' : ''
    expect(filesBelow(cwd)['.gitignore']).toBe(`.zonewright/\nzonewright-data/\n${packages}`)
  })

  test('variables of programs are in every job', async () => {
    const cwd = folderWith({
      ...DNSCONTROL,
      'dnsconfig.js': `CLI_DEFAULTS({name: 'a'})\n${DNSCONTROL['dnsconfig.js']?.replace("'example.com'", "name + '.example.com'")}`,
    })
    expectEnd(await init(cwd, '--yes --var name=b --var x=$(id)'), 1, { err: 'the value of --var x has other characters' })
    expectEnd(await init(cwd, '--yes --var name=b'), 0)
    const commands =
      Object.values(filesBelow(cwd))
        .join('')
        .match(/run: zonewright (?:validate|snapshot|ci (?:plan|apply|drift)).*/g) ?? []
    expect(commands.length).toBeGreaterThan(7)
    for (const command of commands) expect(command).toContain(' --var name=b')
  })
})

describe('before consent', () => {
  test('nobody is contacted, and no class or program of the folder runs', async () => {
    const connections: unknown[] = []
    const server = createServer().on('connection', (socket) => {
      connections.push(socket)
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    afterThisFile(async () => void server.close())
    const mark = join(temporaryDirectory(), 'ran')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const octodns = OCTODNS['config/production.yaml']?.replace('octodns_desec.DesecProvider', 'evil.Provider')
    const cwd = folderWith({
      'config/production.yaml': octodns?.replace('token: env/DESEC_TOKEN', `url: '${address}', token: env/DESEC_TOKEN`) ?? '',
      'zones/example.com.yaml': OCTODNS['zones/example.com.yaml'] ?? '',
      'evil.py': `open(${JSON.stringify(mark)}, 'w')\n`,
    })
    const env = { DESEC_TOKEN: TOKEN, PATH: process.env['PATH'] ?? '', PYTHONPATH: cwd }
    expectEnd(await init(cwd, '', env), 1, { out: ['code       evil.Provider', 'variables  DESEC_TOKEN\n'], err: 'not-confirmed' })
    expect([connections.length, () => readFileSync(mark)]).toEqual([0, expect.any(Function)])
    expect(() => readFileSync(mark)).toThrow('ENOENT')
    const program = folderWith({ ...DNSCONTROL, 'dnsconfig.js': "PANIC('it ran')\n" })
    const { stderr } = expectEnd(await init(program, ''), 1)
    expect(stderr).not.toContain('it ran')
    expectEnd(await init(program), 1, { err: ['it ran', 'Nothing was written.'] })
  })

  test('with its variables, the first plan follows', async () => {
    const { service } = createDesec({ token: TOKEN, domains: [] })
    const { origin, requests } = await startScriptedServer(service)
    const cwd = folderWith({
      'zonewright.yaml': `providers:\n  dns: {type: desec, base_url: '${origin}/api/v1', token: env:DESEC_TOKEN}\n`,
      ...DEFINITIONS,
    })
    expectEnd(await init(cwd, '', { DESEC_TOKEN: TOKEN }), 1)
    expect(requests).toEqual([])
    expectEnd(await init(cwd, '--yes', { DESEC_TOKEN: TOKEN }), 0, {
      out: [`hosts      ${new URL(origin).host}\n`, 'The first plan follows', 'to create'],
    })
    expect(requests.length).toBeGreaterThan(0)
  })

  test('an address in a variable is shown by its name', async () => {
    const cwd = folderWith({ ...DNSCONTROL, 'creds.json': '{"dns": {"TYPE": "POWERDNS", "apiUrl": "$PDNS_URL", "apiKey": "$PDNS_KEY"}}' })
    expectEnd(await init(cwd, ''), 1, { out: 'variables  PDNS_URL (not set), PDNS_KEY (not set)' })
  })
})

describe('a hostile folder', () => {
  test('links outward, pipes, giant files and thousands of others are no obstacle', async () => {
    const aside = folderWith({ ...OCTODNS, 'zone/example.net.zone': `${SOA}www 300 A 192.0.2.1\n` })
    const cwd = folderWith(OCTODNS)
    symlinkSync(join(aside, 'config/production.yaml'), join(cwd, 'other.yaml'))
    symlinkSync(join(aside, 'zone'), join(cwd, 'linked'))
    symlinkSync('.', join(cwd, 'again'))
    writeFileSync(join(cwd, 'giant.yaml'), `#${' '.repeat(30_000_000)}\n${OCTODNS['config/production.yaml']}`)
    mkdirSync(join(cwd, 'many'))
    for (let index = 0; index < 3_000; index += 1) writeFileSync(join(cwd, `many/${index}.yaml`), 'a: b\n')
    mkdirSync(join(cwd, 'folder.yaml'))
    writeFileSync(join(cwd, 'binary.zone'), Buffer.from([0, 32, 83, 79, 65, 32]))
    symlinkSync(join(aside, 'config/production.yaml'), join(cwd, '.gitignore'))
    const before = readFileSync(join(aside, 'config/production.yaml'), 'utf8')
    expectEnd(await init(cwd), 0, { out: 'Found config/production.yaml' })
    expect(readFileSync(join(aside, 'config/production.yaml'), 'utf8')).toBe(before)
  })

  test('names with quotes, line ends and escapes are text', async () => {
    const name = "x'\n  evil: {type: zonefile, directory: y}\u001b[31m"
    const cwd = folderWith({ [`${name}/example.com.zone`]: `${SOA}www 300 A 192.0.2.1\n` })
    const { stdout, stderr } = expectEnd(await init(cwd), 0, { out: 'No changes. 1 zone matches.' })
    expect(stdout + stderr).not.toContain('\u001b')
    expectEnd(await cli(['providers'], { cwd, env: {} }), 0, { out: /^(?!evil)/m })
    const defined = folderWith({ ["it's {a} [b]/a.yaml"]: DEFINITIONS['zones/example.com.yaml'] ?? '' })
    expectEnd(await init(defined), 0)
    expectEnd(await cli(['validate'], { cwd: defined, env: {} }), 0, { err: '1 zone, 1 record in 1 file' })
  })

  test('an include of octoDNS stays in the folder', async () => {
    const aside = folderWith({ 'secret.yaml': 'token: hidden\n' })
    const cwd = folderWith({
      ...OCTODNS,
      'config/production.yaml':
        OCTODNS['config/production.yaml']?.replace(
          '{class: octodns_desec.DesecProvider, token: env/DESEC_TOKEN}',
          `!include ${join(aside, 'secret.yaml')}`,
        ) ?? '',
    })
    const { stdout, stderr } = expectEnd(await init(cwd), 1, { err: 'Nothing was written.' })
    expect(stdout + stderr).not.toContain('hidden')
  })
})

/** The program in a folder without packages. */
async function programAlone(): Promise<string> {
  const folder = temporaryDirectory()
  cpSync(dirname(await builtProgram()), join(folder, 'dist'), { recursive: true })
  return folder
}

test('a plan names at once all secrets and packages that its providers lack', async () => {
  const program = join(await programAlone(), 'dist/zonewright.js')
  const providers =
    '{aws: {type: route53, access_key_id: env:AWS_KEY, secret_access_key: env:AWS_KEY}, cf: {type: cloudflare, token: env:CF_TOKEN}}'
  const cwd = folderWith({ ...DEFINITIONS, 'zonewright.yaml': `providers: ${providers}\nzones: [{targets: [aws, cf]}]\n` })
  const what = [
    'the package @aws-sdk/client-route-53 is not installed',
    'AWS_KEY is not set',
    'CF_TOKEN is not set',
    'no server was contacted',
  ]
  expectEnd(await runTool(process.execPath, [program, 'plan'], { cwd }), 1, { err: what })
})

test('a package that a provider needs and that is missing is in the question and in the next steps', async () => {
  const program = await programAlone()
  const cwd = folderWith({ ...DNSCONTROL, 'creds.json': '{"dns": {"TYPE": "ROUTE53"}}' })
  const keys = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: TOKEN }
  const run = (...args: string[]) => runTool(process.execPath, [join(program, 'dist/zonewright.js'), ...args], { cwd, env: keys })
  const row = '\n  npm install @aws-sdk/client-route-53    beside Zonewright: '
  expectEnd(await run('import', 'dnscontrol', 'dnsconfig.js'), 0, { err: row })
  const [out, err] = [
    '@aws-sdk/client-route-53 (not installed)',
    'Before "zonewright plan", run "npm install @aws-sdk/client-route-53" beside',
  ]
  expectEnd(await run('init', '--yes'), 0, { out, err })
  mkdirSync(join(program, 'node_modules/@aws-sdk/client-route-53'), { recursive: true })
  writeFileSync(join(program, 'node_modules/@aws-sdk/client-route-53/index.js'), '')
  expectEnd(await run('import', 'dnscontrol', 'dnsconfig.js', '--dry-run'), 0, { err: /^(?!.*npm install)/s })
})

describe('findSources', () => {
  test.each<readonly [path: string, head: string, kind: string | null]>([
    ['a.yaml', 'providers:\n  a: {class: octodns.provider.yaml.YamlProvider}\n', 'octodns'],
    ['a.yml', 'zones:\n  a.:\n    sources: [a]\nproviders: !include providers.yaml\n', 'octodns'],
    ['zonewright.yaml', 'providers:\n  a: {type: octodns, class: octodns_desec.DesecProvider}\n', null],
    ['a.yaml', 'providers: {aws: {region: x}}\n', null],
    ['b/dnsconfig.js', '', 'dnscontrol'],
    ['dnsconfig.json', '{}', null],
    ['plan.json', '{"format_version":"1.2","planned_values":{}}', null],
    ['s.json', '{"format_version":"1.0","values":{}}', 'terraform'],
    ['a/terraform.tfstate', '', 'terraform'],
    ['db.example.com', '@ IN SOA a. b. 1 2 3 4 5\n', 'zonefile'],
    ['cache.db', 'SQLite format 3\0', null],
  ])('%s with %j', (path, head, kind) => {
    expect(findSources([{ path, head }]).map((one) => one.kind)).toEqual(kind === null ? [] : [kind])
  })

  test('names of zone files', () => {
    expect(fileNameOf(['a.b', 'c.d'], new Set(['db.a.b', 'db.c.d']))).toBe('db.{zone}')
    expect(fileNameOf(['a.b', 'c.d'], new Set(['db.a.b', 'c.d.zone']))).toBeNull()
  })
})

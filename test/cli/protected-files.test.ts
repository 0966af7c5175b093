/** No definition can include a file that may contain a secret. Each attack runs the built program; the proxy records every request. */
import { linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { addFiles } from '../definition/files.ts'
import { startProgram } from '../support/built-program.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { startRecordingProxy } from './recording-proxy.ts'
import { filesBelow, TOKEN, ZONE } from './scene.ts'
import { openServiceScene } from './service-scene.ts'

const SECRET = 'zw-file-secret-9f8e7d6c5b4a'

/** A secret that can be read as a zone file, a fragment or a text. */
const AS_ZONE_FILE = `leak 60 TXT "${SECRET}"\n`
const AS_FRAGMENT = `leak: {type: TXT, value: ${SECRET}}\n`

interface Attack {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** Symbolic links: target by path. */
  readonly links?: Readonly<Record<string, string>>
  readonly hardLinks?: Readonly<Record<string, string>>
  readonly rules?: string
  readonly command?: readonly string[]
  readonly code?: string
}

const including = (what: string): Record<string, string> => ({
  'zones/example.com.yaml': `domain: example.com\nsoa_email: a@example.com\nrecords:\n  leak: {type: TXT, value: ${what}}\n`,
})
const withFragment = (path: string): Record<string, string> => ({
  'zones/example.com.yaml': `domain: example.com\nsoa_email: a@example.com\ninclude: [${path}]\nrecords:\n  w: {type: A, value: 192.0.2.1}\n`,
})
const zoneFile = (path: string): Record<string, string> => ({
  'zones/example.com.zone': `$ORIGIN example.com.\nw 60 A 192.0.2.1\n$INCLUDE ${path}\n`,
})
const SPLIT = { 'zones/example.com./a.yaml': 'a: {type: A, value: 192.0.2.1}\n' }
const OCTODNS =
  'providers:\n  one: {class: octodns.provider.yaml.YamlProvider, directory: DIR}\nzones:\n  example.com.: {sources: [one], targets: []}\n'
const intoFolder = ['-o', 'out', '--lossy']

const ATTACKS: readonly Attack[] = [
  // Files of secrets.
  { name: '!include of the token', files: including('!include ../secrets/token'), code: 'include-invalid' },
  { name: '!include through other folders', files: including('!include ../zones/../secrets/../secrets/token'), code: 'include-invalid' },
  { name: 'include of the token', files: withFragment('../secrets/token'), code: 'include-invalid' },
  { name: '$INCLUDE of the token', files: zoneFile('../secrets/token'), code: 'zonefile-include' },
  { name: 'a link to the token', files: including('!include plain.txt'), links: { 'zones/plain.txt': '../secrets/token' } },
  { name: 'a hard link to the token', files: including('!include plain.txt'), hardLinks: { 'zones/plain.txt': 'secrets/token' } },
  { name: 'a folder that is a link to the folder of the token', files: including('!include s/token'), links: { 'zones/s': '../secrets' } },
  {
    name: 'a definition that is a link to the token',
    files: {},
    links: { 'zones/example.com.zone': '../secrets/token' },
    code: 'path-protected',
  },
  {
    name: 'a definition that is a hard link to the token',
    files: {},
    hardLinks: { 'zones/example.com.zone': 'secrets/token' },
    code: 'path-protected',
  },
  { name: 'a glob that matches the token', files: {}, rules: "zones: [{files: 'secrets/*.zone'}]", code: 'path-protected' },
  { name: 'a path of a rule that is the token', files: {}, rules: 'zones: [{files: secrets/example.com.zone}]', code: 'path-protected' },
  {
    name: 'a part of a split zone that is the token',
    files: SPLIT,
    links: { 'zones/example.com./b.yaml': '../../secrets/fragment.yaml' },
    code: 'path-protected',
  },
  {
    name: 'a path of the command line that is the token',
    files: {},
    command: ['validate', 'secrets/example.com.zone'],
    code: 'path-protected',
  },
  // Hidden files.
  { name: '!include of .env', files: including('!include ../.env'), code: 'include-invalid' },
  { name: 'include of .env', files: withFragment('../.env'), code: 'include-invalid' },
  { name: '$INCLUDE of .env', files: zoneFile('../.env'), code: 'zonefile-include' },
  { name: '!include of .git/config', files: including('!include ../.git/config'), code: 'include-invalid' },
  { name: '!include of a missing hidden file', files: including('!include ../.git/nothing'), code: 'include-invalid' },
  { name: 'a link to .env', files: including('!include plain.txt'), links: { 'zones/plain.txt': '../.env' } },
  { name: 'a folder that is a link to .git', files: including('!include g/config'), links: { 'zones/g': '../.git' } },
  { name: 'a definition that is a link to .env', files: {}, links: { 'zones/example.com.zone': '../.env' }, code: 'path-protected' },
  { name: 'a folder of definitions that is a link to .git', files: {}, links: { 'zones/g': '../.git' }, code: 'path-protected' },
  { name: 'a glob in a hidden folder', files: {}, rules: "zones: [{files: '.git/*.zone'}]", code: 'path-protected' },
  {
    name: 'a glob of hidden names',
    files: { 'zones/.example.com.zone': AS_ZONE_FILE },
    rules: "zones: [{files: 'zones/.*.zone'}]",
    code: 'path-protected',
  },
  { name: 'a path of a rule to a hidden file', files: {}, rules: 'zones: [{files: .git/example.com.zone}]', code: 'path-protected' },
  { name: 'a hidden part of a split zone', files: { ...SPLIT, 'zones/example.com./.b.yaml': AS_FRAGMENT }, code: 'path-protected' },
  { name: 'a hidden path of the command line', files: {}, command: ['validate', '.git'], code: 'path-protected' },
  { name: 'fmt of a hidden path', files: {}, command: ['fmt', '.git/fragment.yaml'], code: 'path-protected' },
  // The config.
  { name: '!include of the config', files: including('!include ../zonewright.yaml'), code: 'include-invalid' },
  { name: 'a hard link to the config', files: including('!include plain.txt'), hardLinks: { 'zones/plain.txt': 'zonewright.yaml' } },
  // Imports.
  {
    name: 'import of zone files that include .env',
    files: { 'from/example.com.zone': zoneFile('.env')['zones/example.com.zone'] ?? '', 'from/.env': AS_ZONE_FILE },
    command: ['import', 'zonefile', 'from', ...intoFolder],
    code: 'zonefile-include',
  },
  {
    name: 'import of zone files that are a link to the token',
    files: {},
    links: { 'secrets/example.net.zone': 'token' },
    command: ['import', 'zonefile', 'secrets', ...intoFolder],
    code: 'path-protected',
  },
  {
    name: 'import of the token',
    files: {},
    command: ['import', 'zonefile', 'secrets/token', 'example.com', ...intoFolder],
    code: 'path-protected',
  },
  {
    name: 'import of octoDNS that includes the token',
    files: {
      'p.yaml': `${OCTODNS.replace('DIR', 'from')}x: !include secrets/token\n`,
      'from/example.com.yaml': AS_FRAGMENT.replace(SECRET, 'x'),
    },
    command: ['import', 'octodns', 'p.yaml', ...intoFolder],
    code: 'include-invalid',
  },
  {
    name: 'import of octoDNS from a hidden folder',
    files: { 'p.yaml': OCTODNS.replace('DIR', '.git') },
    command: ['import', 'octodns', 'p.yaml', ...intoFolder],
    code: 'path-protected',
  },
  {
    name: 'import of octoDNS with a zone that is the token',
    files: { 'p.yaml': OCTODNS.replace('DIR', 'from'), 'from/x': '' },
    links: { 'from/example.com.yaml': '../secrets/fragment.yaml' },
    command: ['import', 'octodns', 'p.yaml', ...intoFolder],
    code: 'path-protected',
  },
]

/** The folder of an attack, and the proxy that must receive no secret. */
async function prepare({ files, links = {}, hardLinks = {}, rules = "zones: [{files: 'zones/**/*'}]" }: Attack) {
  const proxy = await startRecordingProxy(() => ({ status: 500 }), null)
  onTestFinished(() => proxy.close())
  // More providers: files with extensions of definitions are secrets too.
  const provider = (name: string, token: string): string => `  ${name}: {type: cloud, base_url: '${proxy.origin}/v4', token: '${token}'}\n`
  const config = [
    'providers:\n',
    provider('cloud', 'env:ZONEWRIGHT_TOKEN'),
    ...['token', 'example.com.zone', 'fragment.yaml'].map((file, index) => provider(`other${index}`, `file:secrets/${file}`)),
    rules.replace('}]', ', targets: [cloud]}]\n'),
  ]
  const folder = temporaryDirectory()
  addFiles(folder, {
    'zonewright.yaml': config.join(''),
    'secrets/token': AS_ZONE_FILE,
    'secrets/example.com.zone': AS_ZONE_FILE,
    'secrets/fragment.yaml': AS_FRAGMENT,
    '.env': AS_ZONE_FILE,
    '.git/config': AS_ZONE_FILE,
    '.git/example.com.zone': AS_ZONE_FILE,
    '.git/example.com.yaml': AS_FRAGMENT,
    '.git/fragment.yaml': AS_FRAGMENT,
    ...files,
  })
  mkdirSync(join(folder, 'zones'), { recursive: true })
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(folder, path))
  for (const [path, target] of Object.entries(hardLinks)) linkSync(join(folder, target), join(folder, path))
  return { folder, proxy }
}

test.each(ATTACKS.map((attack) => [attack.name, attack] as const))('%s', async (_, attack) => {
  const { folder, proxy } = await prepare(attack)
  const before = filesBelow(folder)
  const program = await startProgram(attack.command ?? ['apply', '--yes', '--verbose'], { cwd: folder, env: { ZONEWRIGHT_TOKEN: TOKEN } })
  const { status } = await program.ended
  const output = program.stdout() + program.stderr()
  expect.soft(output).toContain(`[${attack.code ?? 'include-invalid'}]`)
  expect.soft(status).toBe(1)
  expect.soft(output).not.toContain(SECRET)
  expect.soft(output).not.toContain('does not exist')
  expect.soft(proxy.requests).toEqual([])
  expect.soft(filesBelow(folder)).toEqual(before)
})

test('record shows nothing of a file to which a lock of the repository links', async () => {
  const scene = await openServiceScene()
  scene.write({ 'zones/example.com.yaml': ZONE, '.env': SECRET })
  symlinkSync('../.env', join(scene.folder, 'zones/.zonewright.lock'))
  const { status, stdout, stderr } = await scene.run('record', 'add', 'example.com', 'x', 'A', '192.0.2.7')
  expect([status, stderr]).toEqual([1, expect.stringContaining('error[write-unfinished]')])
  expect(stdout + stderr).not.toContain(SECRET)
  expect(scene.files()).toMatchObject({ '.env': SECRET, 'zones/example.com.yaml': ZONE })
}, 30_000)

test('import of octoDNS shows no environment variable of its configuration', async () => {
  const scene = await openServiceScene({
    files: {
      'p.yaml': OCTODNS.replace('DIR', 'env/CLOUD_KEY'),
      'q.yaml': OCTODNS.replace('DIR', 'from, shared_filename: env/CLOUD_KEY'),
      'from/example.com.yaml': AS_FRAGMENT,
    },
  })
  for (const file of ['p.yaml', 'q.yaml']) {
    const { status, stdout, stderr } = await scene.runWith({ CLOUD_KEY: 'cloud-key-0011223344' }, 'import', 'octodns', file)
    expect([status, stderr]).toEqual([1, expect.stringContaining('env/CLOUD_KEY')])
    expect(stdout + stderr).not.toContain('cloud-key')
  }
})

test('accepts the file names with a leading dot of octoDNS and Kubernetes', async () => {
  const scene = await openServiceScene({
    files: {
      'zones/example.com./.yaml': "'': {type: A, value: 192.0.2.1}\n",
      'zones/..2026_01_02_03_04_05.123456789/example.net.yaml': 'w: {type: A, value: 192.0.2.1}\n',
    },
    config: 'defaults: {soa_email: a@example.com}\n',
  })
  symlinkSync('..2026_01_02_03_04_05.123456789', join(scene.folder, 'zones/..data'))
  symlinkSync('..data/example.net.yaml', join(scene.folder, 'zones/example.net.yaml'))
  const { status, stdout, stderr } = await scene.run('validate')
  expect([status, stdout, stderr]).toEqual([0, '', '2 zones, 2 records in 2 files: no problems.\n'])
})

/** No definition can include a file that may contain a secret, and no provider receives one. */
import { linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, openScene, type Scene } from './scene.ts'

const SECRET = 'zw-file-secret-9f8e7d6c5b4a'

/** A secret that can be read as a zone file, a fragment or a text. */
const AS_ZONE_FILE = `leak 60 TXT "${SECRET}"\n`
const AS_FRAGMENT = `leak: {type: TXT, value: ${SECRET}}\n`

interface Attack {
  readonly files?: Readonly<Record<string, string>>
  /** Symbolic links: target by path. */
  readonly links?: Readonly<Record<string, string>>
  readonly hardLinks?: Readonly<Record<string, string>>
  readonly rules?: string
  readonly command?: readonly string[]
}

const including = (what: string): Record<string, string> => ({
  'zones/example.com.yaml': `domain: example.com\nsoa_email: a@example.com\nrecords:\n  leak: {type: TXT, value: ${what}}\n`,
})
const withFragment = (path: string): Record<string, string> => ({
  'zones/example.com.yaml': `domain: example.com\nsoa_email: a@example.com\ninclude: [${path}]\nrecords:\n  w: {type: A, value: 192.0.2.1}\n`,
})
const zoneFile = (path: string): Record<string, string> => ({ 'zones/example.com.zone': `$ORIGIN example.com.\n$INCLUDE ${path}\n` })
const SPLIT = { 'zones/example.com./a.yaml': 'a: {type: A, value: 192.0.2.1}\n' }
const OCTODNS =
  'providers:\n  one: {class: octodns.provider.yaml.YamlProvider, directory: DIR}\nzones:\n  example.com.: {sources: [one], targets: []}\n'
const intoFolder = ['-o', 'out', '--lossy']

/** By the code of the error and a name. */
const ATTACKS: Readonly<Record<string, Readonly<Record<string, Attack>>>> = {
  'include-invalid': {
    '!include of the token': { files: including('!include ../secrets/token') },
    '!include through other folders': { files: including('!include ../zones/../secrets/../secrets/token') },
    'include of the token': { files: withFragment('../secrets/token') },
    'a link to the token': { files: including('!include plain.txt'), links: { 'zones/plain.txt': '../secrets/token' } },
    'a hard link to the token': { files: including('!include plain.txt'), hardLinks: { 'zones/plain.txt': 'secrets/token' } },
    'a folder that is a link to the folder of the token': { files: including('!include s/token'), links: { 'zones/s': '../secrets' } },
    '!include of .env': { files: including('!include ../.env') },
    'include of .env': { files: withFragment('../.env') },
    '!include of .git/config': { files: including('!include ../.git/config') },
    '!include of a missing hidden file': { files: including('!include ../.git/nothing') },
    'a link to .env': { files: including('!include plain.txt'), links: { 'zones/plain.txt': '../.env' } },
    'a folder that is a link to .git': { files: including('!include g/config'), links: { 'zones/g': '../.git' } },
    '!include of the config': { files: including('!include ../zonewright.yaml') },
    'a hard link to the config': { files: including('!include plain.txt'), hardLinks: { 'zones/plain.txt': 'zonewright.yaml' } },
    'import of octoDNS that includes the token': {
      files: { 'p.yaml': `${OCTODNS.replace('DIR', 'from')}x: !include secrets/token\n`, 'from/example.com.yaml': 'x: {type: A}\n' },
      command: ['import', 'octodns', 'p.yaml', ...intoFolder],
    },
  },
  'zonefile-include': {
    '$INCLUDE of the token': { files: zoneFile('../secrets/token') },
    '$INCLUDE of .env': { files: zoneFile('../.env') },
    'import of zone files that include .env': {
      files: { 'from/example.com.zone': zoneFile('.env')['zones/example.com.zone'] ?? '', 'from/.env': AS_ZONE_FILE },
      command: ['import', 'zonefile', 'from', ...intoFolder],
    },
  },
  'path-protected': {
    'a definition that is a link to the token': { links: { 'zones/example.com.zone': '../secrets/token' } },
    'a definition that is a hard link to the token': { hardLinks: { 'zones/example.com.zone': 'secrets/token' } },
    'a glob that matches the token': { rules: "zones: [{files: 'secrets/*.zone'}]" },
    'a path of a rule that is the token': { rules: 'zones: [{files: secrets/example.com.zone}]' },
    'a part of a split zone that is the token': { files: SPLIT, links: { 'zones/example.com./b.yaml': '../../secrets/fragment.yaml' } },
    'a path of the command line that is the token': { command: ['validate', 'secrets/example.com.zone'] },
    'a definition that is a link to .env': { links: { 'zones/example.com.zone': '../.env' } },
    'a folder of definitions that is a link to .git': { links: { 'zones/g': '../.git' } },
    'a glob in a hidden folder': { rules: "zones: [{files: '.git/*.zone'}]" },
    'a glob of hidden names': { files: { 'zones/.example.com.zone': AS_ZONE_FILE }, rules: "zones: [{files: 'zones/.*.zone'}]" },
    'a path of a rule to a hidden file': { rules: 'zones: [{files: .git/example.com.zone}]' },
    'a hidden part of a split zone': { files: { ...SPLIT, 'zones/example.com./.b.yaml': AS_FRAGMENT } },
    'a hidden path of the command line': { command: ['validate', '.git'] },
    'fmt of a hidden path': { command: ['fmt', '.git/fragment.yaml'] },
    'zone files by a link': { links: { 'secrets/example.net.zone': 'token' }, command: ['import', 'zonefile', 'secrets', ...intoFolder] },
    'import of the token': { command: ['import', 'zonefile', 'secrets/token', 'example.com', ...intoFolder] },
    'octoDNS, hidden': { files: { 'p.yaml': OCTODNS.replace('DIR', '.git') }, command: ['import', 'octodns', 'p.yaml', ...intoFolder] },
    'import of octoDNS with a zone that is the token': {
      files: { 'p.yaml': OCTODNS.replace('DIR', 'from'), 'from/x': '' },
      links: { 'from/example.com.yaml': '../secrets/fragment.yaml' },
      command: ['import', 'octodns', 'p.yaml', ...intoFolder],
    },
  },
}

/** The folder of an attack. */
function prepare({ files = {}, links = {}, hardLinks = {}, rules = "zones: [{files: 'zones/**/*'}]" }: Attack): Scene {
  // More providers: files with extensions of definitions are secrets too.
  const secrets = ['secrets/token', 'secrets/example.com.zone', 'secrets/fragment.yaml']
  const others = secrets.map((file, at) => `  other${at}: {type: cloud, base_url: 'http://127.0.0.1:9/v4', token: 'file:${file}'}\n`)
  const scene = openScene({
    also: ['other0', 'other1', 'other2'],
    config: others.join('') + rules.replace('}]', ', targets: [cloud]}]\n'),
    files: {
      'secrets/token': AS_ZONE_FILE,
      'secrets/example.com.zone': AS_ZONE_FILE,
      'secrets/fragment.yaml': AS_FRAGMENT,
      '.env': AS_ZONE_FILE,
      '.git/config': AS_ZONE_FILE,
      '.git/example.com.zone': AS_ZONE_FILE,
      '.git/example.com.yaml': AS_FRAGMENT,
      '.git/fragment.yaml': AS_FRAGMENT,
      ...files,
    },
  })
  mkdirSync(join(scene.folder, 'zones'), { recursive: true })
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(scene.folder, path))
  for (const [path, target] of Object.entries(hardLinks)) linkSync(join(scene.folder, target), join(scene.folder, path))
  return scene
}

const CASES = Object.entries(ATTACKS).flatMap(([code, attacks]) =>
  Object.entries(attacks).map(([name, attack]) => [name, code, attack] as const),
)

test.each(CASES)('%s', async (_, code, attack) => {
  const scene = prepare(attack)
  const before = filesBelow(scene.folder)
  const { status, stdout, stderr } = await scene.run(...(attack.command ?? ['apply', '--yes', '--verbose']))
  const output = stdout + stderr
  expect.soft(output).toContain(`[${code}]`)
  expect.soft(status).toBe(1)
  expect.soft(output).not.toContain(SECRET)
  expect.soft(output).not.toContain('does not exist')
  expect.soft(scene.memory.requests).toEqual([])
  expect.soft(filesBelow(scene.folder)).toEqual(before)
})

test('import of octoDNS shows no environment variable of its configuration', async () => {
  const scene = openScene({
    files: {
      'p.yaml': OCTODNS.replace('DIR', 'env/KEY'),
      'q.yaml': OCTODNS.replace('DIR', 'from, shared_filename: env/KEY'),
      'from/example.com.yaml': AS_FRAGMENT,
    },
  })
  for (const file of ['p.yaml', 'q.yaml']) {
    const { status, stdout, stderr } = await scene.runWith({ KEY: 'cloud-key-0011223344' }, 'import', 'octodns', file)
    expect([status, stderr]).toEqual([1, expect.stringContaining('env/KEY')])
    expect(stdout + stderr).not.toContain('cloud-key')
  }
})

test('accepts the file names with a leading dot of octoDNS and Kubernetes', async () => {
  const scene = openScene({
    files: {
      'zones/example.com./.yaml': "'': {type: A, value: 192.0.2.1}\n",
      'zones/..2026_01_02_03_04_05.123456789/example.net.yaml': 'w: {type: A, value: 192.0.2.1}\n',
    },
    config: 'defaults: {soa_email: a@example.com}\n',
  })
  symlinkSync('..2026_01_02_03_04_05.123456789', join(scene.folder, 'zones/..data'))
  symlinkSync('..data/example.net.yaml', join(scene.folder, 'zones/example.net.yaml'))
  expect(await scene.run('validate')).toMatchObject({ status: 0, stdout: '', stderr: '2 zones, 2 records in 2 files: no problems.\n' })
})

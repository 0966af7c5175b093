/**
 * Processors of octoDNS's: what comes in with its configuration plans the same changes as octoDNS itself, or where something is lost, touches no
 * record set that octoDNS would leave alone.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/definitions/load-config.ts'
import { loadDefinitions } from '../../src/definitions/load-definitions.ts'
import { parseDefinition } from '../../src/formats/definition/parse-definition.ts'
import { rrsetKey } from '../../src/model/record.ts'
import { makeZonePlan } from '../../src/plan/make-plan.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { describeWithOctodns, planWithProcessors } from './octodns-judge.ts'

const YAML = 'octodns.provider.yaml.YamlProvider'

/** What the files of every scene say. */
const DESIRED = `'':
  - {type: MX, value: {preference: 10, exchange: mx.example.net.}}
  - {type: NS, values: [ns1.example.net., ns2.example.net.]}
  - {type: TXT, value: v=spf1 -all}
kept: {type: A, value: 192.0.2.1}
new: {type: A, value: 192.0.2.2}
changed: {type: A, value: 192.0.2.3}
alias: {type: CNAME, value: www.example.net.}
`

/** What is at the target. */
const EXISTING = `'':
  - {type: MX, value: {preference: 20, exchange: mx.example.net.}}
  - {type: NS, values: [ns1.example.net., ns3.example.net.]}
  - {type: TXT, value: v=spf1 ~all}
kept: {type: A, value: 192.0.2.1}
changed: {type: A, value: 192.0.2.4}
gone: {type: A, value: 192.0.2.5}
web-1: {type: A, value: 10.1.2.3}
web-2: {type: CNAME, value: other.example.net.}
'*.wild': {type: A, value: 192.0.2.6}
meta: {type: TXT, value: time=1}
octodns-meta: {type: TXT, value: provider=x}
_acme-challenge: {type: TXT, value: a}
_acme-challenge.www: {type: TXT, value: b}
_acme-challenge.gone: {type: CNAME, value: c.example.net.}
_owner.a.gone: {type: TXT, value: '*octodns*'}
www.example.com: {type: A, value: 192.0.2.7}
`

interface Scene {
  readonly name: string
  /** The settings of the processor \`one\`; with \`manager\` what stands there instead of a processor of the zone. */
  readonly processor: string
  readonly manager?: string
  readonly more?: string
  /** What is lost; nothing where changes are the same. */
  readonly lost?: RegExp
  readonly rule: RegExp
  /** Where octoDNS refuses the whole zone. */
  readonly refused?: true
}

const filter = (settings: string): string => `{class: octodns.processor.filter.${settings}}`

const SCENES: readonly Scene[] = [
  { name: 'IgnoreRootNsFilter', processor: filter('IgnoreRootNsFilter'), rule: /^ {6}- \{name: '', type: NS\}$/m },
  {
    name: 'ExcludeRootNsChanges without an error',
    processor: filter('ExcludeRootNsChanges, error: false'),
    rule: /^ {6}- \{name: '', type: NS\}$/m,
  },
  { name: 'ExcludeRootNsChanges', processor: filter('ExcludeRootNsChanges'), rule: /targets: \[linode\]\n[a-z]/, refused: true },
  {
    name: 'TypeRejectlistFilter',
    processor: filter('TypeRejectlistFilter, rejectlist: [CNAME, MX]'),
    rule: /^ {6}- \{type: CNAME\}\n {6}- \{type: MX\}$/m,
  },
  {
    name: 'TypeAllowlistFilter',
    processor: filter('TypeAllowlistFilter, allowlist: [A]'),
    rule: /- \{type: CNAME\}\n(?:.*\n)*.*- \{type: TXT\}/,
  },
  {
    name: 'TypeRejectlistFilter of files that have no such records',
    processor: filter('TypeRejectlistFilter, rejectlist: [AAAA], include_target: false'),
    rule: /targets: \[linode\]\n[a-z]/,
  },
  {
    name: 'TypeRejectlistFilter without the target',
    processor: filter('TypeRejectlistFilter, rejectlist: [CNAME, MX], include_target: false'),
    rule: /targets: \[linode\]\n[a-z]/,
    lost: /does in example\.com\.: 2 record sets that it deletes at the target/,
  },
  {
    name: 'NameRejectlistFilter',
    processor: filter("NameRejectlistFilter, rejectlist: [gone, '', /^web-/, /acme.*e\\\\.www$/, /^changed$/]").replaceAll('\\\\', '\\'),
    rule: /- \{name: gone\}\n {6}- \{name: ''\}\n {6}- \{name: 'web-\*'\}\n {6}- \{name: '\*acme\*e\.www'\}\n {6}- \{name: changed\}$/m,
  },
  {
    name: 'NameRejectlistFilter by an expression that no selector has',
    processor: filter("NameRejectlistFilter, rejectlist: ['/^web-[0-9]$/']"),
    rule: /^ {4}policy: upsert-only$/m,
    lost: /names that it leaves alone, which no selector tells from others/,
  },
  {
    name: 'NameRejectlistFilter by such an expression that files match',
    processor: filter("NameRejectlistFilter, rejectlist: ['/^chang[ed]+$/', '*.wild']"),
    rule: /^ {4}policy: create-only$/m,
    lost: /names that it leaves alone, which no selector tells from others/,
  },
  {
    name: 'NameAllowlistFilter of all names in the files',
    processor: filter("NameAllowlistFilter, allowlist: ['', kept, new, changed, alias]"),
    rule: /^ {4}policy: upsert-only$/m,
    lost: /which are all but those it lists/,
  },
  {
    name: 'NameAllowlistFilter',
    processor: filter('NameAllowlistFilter, allowlist: [kept, gone]'),
    rule: /^ {4}policy: create-only$/m,
    lost: /which are all but those it lists/,
  },
  {
    name: 'ValueRejectlistFilter',
    processor: filter('ValueRejectlistFilter, rejectlist: [192.0.2.4, /example/]'),
    rule: /^ {4}policy: create-only$/m,
    lost: /for one of their values/,
  },
  {
    name: 'NetworkValueRejectlistFilter',
    processor: filter('NetworkValueRejectlistFilter, rejectlist: [10.0.0.0/8]'),
    rule: /^ {4}policy: create-only$/m,
    lost: /for one of their values/,
  },
  { name: 'ZoneNameFilter without an error', processor: filter('ZoneNameFilter, error: false'), rule: /- \{name: '\*example\.com'\}$/m },
  {
    name: 'ZoneNameFilter',
    processor: filter('ZoneNameFilter'),
    rule: /- \{name: '\*example\.com'\}$/m,
    lost: /that it refuses names that end in that of the zone/,
    refused: true,
  },
  {
    name: 'AcmeManagingProcessor',
    processor: '{class: octodns.processor.acme.AcmeManagingProcessor}',
    rule: /- \{name: '_acme-challenge\*', type: TXT\}$/m,
  },
  {
    name: 'AcmeManagingProcessor with a challenge in the files',
    processor: '{class: octodns.processor.acme.AcmeMangingProcessor}',
    more: '_acme-challenge.www: {type: TXT, value: mine}\n',
    rule: /- \{name: '_acme-challenge\*', type: TXT\}$/m,
    lost: /1 record set of TXT at _acme-challenge, which it manages/,
  },
  {
    name: 'OwnershipProcessor',
    processor: '{class: octodns.processor.ownership.OwnershipProcessor}',
    rule: /^ {4}policy: upsert-only$/m,
    lost: /that it deletes record sets of its own/,
  },
  {
    name: 'MetaProcessor',
    processor: '{class: octodns.processor.meta.MetaProcessor}',
    rule: /- \{name: meta, type: TXT\}$/m,
    lost: /the TXT record meta, which it writes anew/,
  },
  {
    name: 'include_meta',
    processor: '',
    manager: 'include_meta: true',
    rule: /- \{name: octodns-meta, type: TXT\}$/m,
    lost: /the TXT record octodns-meta, which it writes anew/,
  },
  {
    name: 'TtlRestrictionFilter',
    processor: '{class: octodns.processor.restrict.TtlRestrictionFilter, min_ttl: 60}',
    rule: /targets: \[linode\]\n[a-z]/,
    lost: /that it refuses TTLs/,
  },
  {
    name: 'TtlClampProcessor',
    processor: '{class: octodns.processor.clamp.TtlClampProcessor, min_ttl: 60}',
    rule: /targets: \[linode\]\n[a-z]/,
    lost: /that it keeps TTLs from 60 to 86400/,
  },
  {
    name: 'Templating',
    processor: '{class: octodns.processor.templating.Templating}',
    more: "tpl: {type: TXT, value: 'in {zone_name}'}\n",
    rule: /^ {4}policy: create-only$/m,
    lost: /values that it fills in, of 1 record set/,
  },
  { name: 'Templating of nothing', processor: '{class: octodns.processor.templating.Templating}', rule: /targets: \[linode\]\n[a-z]/ },
  {
    name: 'EnsureTrailingDots',
    processor: '{class: octodns.processor.trailing_dots.EnsureTrailingDots}',
    more: 'dotless: {type: CNAME, value: www.example.net, octodns: {lenient: true}}\n',
    rule: /targets: \[linode\]\n[a-z]/,
  },
  {
    name: 'one of all zones and one after them',
    processor: filter('TypeRejectlistFilter, rejectlist: [MX]'),
    manager: 'processors: [one], post_processors: [two]',
    rule: /- \{type: MX\}\n {6}- \{name: '', type: NS\}$/m,
  },
]

function write(folder: string, scene: Scene): void {
  const config = (target: string): string => `${scene.manager ? `manager: {${scene.manager}}\n` : ''}processors:
${scene.processor === '' ? '' : `  one: ${scene.processor}\n`}${scene.manager?.includes('two') ? '  two: {class: octodns.processor.filter.IgnoreRootNsFilter}\n' : ''}providers:
  config: {class: ${YAML}, directory: zones, enforce_order: false}
  linode: ${target}
zones:
  example.com.: {sources: [config], targets: [linode]${scene.manager ? '' : ', processors: [one]'}}
`
  const files = {
    'p.yaml': config('{class: octodns_linode.LinodeProvider, token: env/TOKEN}'),
    'judge.yaml': config(`{class: ${YAML}, directory: target, enforce_order: false}`),
    'zones/example.com.yaml': DESIRED + (scene.more ?? ''),
    'target/example.com.yaml': EXISTING,
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

interface ImportedScene {
  readonly cwd: string
  readonly stderr: string
  readonly made: string
}

const known = new Map<Scene, Promise<ImportedScene>>()

function imported(scene: Scene): Promise<ImportedScene> {
  const found = known.get(scene) ?? importScene(scene)
  known.set(scene, found)
  return found
}

async function importScene(scene: Scene): Promise<ImportedScene> {
  const cwd = temporaryDirectory()
  write(cwd, scene)
  const { stderr } = await cli(['import', 'octodns', 'p.yaml', '-o', 'out', '--lossy'], { cwd })
  return { cwd, stderr, made: readFileSync(join(cwd, 'out/zonewright.yaml'), 'utf8') }
}

/** The record sets that a plan changes, as octoDNS tells of them. */
async function ownChanges(folder: string): Promise<string[]> {
  const { config } = await loadConfig({ cwd: folder })
  if (config === null) throw new Error('no config')
  const [loaded] = (await loadDefinitions(config)).zones
  if (!loaded) throw new Error('no zone')
  const { zone: at } = parseDefinition(EXISTING, { file: 'target', zoneName: loaded.zone.name, octodnsDefaultTtl: 3600 })
  const records = (at?.records ?? []).map((record, id) => ({ ...record, id }))
  const plan = makeZonePlan({
    desired: { ...loaded.zone, settings: {} },
    existing: { name: loaded.zone.name, settings: {}, records },
    target: 'linode',
    capabilities: { ...CLOUD_CAPABILITIES, servesApexNs: false, types: null, ttlSteps: null, rules: [] },
    policy: loaded.policy,
    thresholds: loaded.thresholds,
    allow: new Set(['updates', 'deletes', 'apex-ns']),
    rendered: 'match',
    servedApexNs: null,
  })
  const touched = new Map<string, { goes: boolean; comes: boolean }>()
  for (const change of plan.changes) {
    if (change.subject === 'domain') continue
    for (const [record, key] of [
      [change.existing, 'goes'],
      [change.desired, 'comes'],
    ] as const) {
      if (record !== null) touched.set(rrsetKey(record), { goes: false, comes: false, ...touched.get(rrsetKey(record)), [key]: true })
    }
  }
  const there = new Set(records.map(rrsetKey))
  const stays = new Set(loaded.zone.records.map(rrsetKey))
  return [...touched.keys()].map((key) => `${there.has(key) ? (stays.has(key) ? 'Update' : 'Delete') : 'Create'} ${key}`).sort()
}

describe("octoDNS's processors", () => {
  it.each(SCENES)('$name: a rule, and what is lost', async (scene) => {
    const { stderr, made } = await imported(scene)
    expect(made).toMatch(scene.rule)
    const told = stderr.match(/(?<=import-lossy\] a definition cannot hold ).*$/gm) ?? []
    expect(told).toEqual(scene.lost ? [expect.stringMatching(scene.lost)] : [])
  })
})

/** Without what becomes of it. */
const rrsetOf = (change: string): string => change.slice(change.indexOf(' ') + 1)

describeWithOctodns('with processors octoDNS plans what is planned here', () => {
  let plans: (readonly string[] | string)[] = []
  beforeAll(async () => {
    const folders: string[] = []
    for (const scene of SCENES) folders.push((await imported(scene)).cwd)
    plans = await planWithProcessors('judge.yaml', folders)
  }, 120_000)

  it.each(SCENES.map((scene, i) => ({ ...scene, i })))('$name', async ({ i, lost, refused }) => {
    const theirs = plans[i]
    if (typeof theirs === 'string' || theirs === undefined) {
      expect([refused, theirs]).toEqual([true, 'ValidationError'])
      return
    }
    const changes = await ownChanges(join((await imported(SCENES[i] as Scene)).cwd, 'out'))
    if (lost === undefined) expect(changes).toEqual(theirs)
    const touched = new Set(theirs.map(rrsetOf))
    expect(changes.filter((change) => !change.startsWith('Create') && !touched.has(rrsetOf(change)))).toEqual([])
  })
})

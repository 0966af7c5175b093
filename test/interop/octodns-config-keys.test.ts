/** Every configuration key of octoDNS 1.22 (schema/config.py, manager.py and the base classes of its providers) is converted or reported. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli, expectEnd } from '../support/cli.ts'

type Parts = { top?: string; source?: string; target?: string; second?: string; zone?: string; record?: string }

/** A configuration of two providers for one zone, with additions in one place. */
const config = ({ top = '', source = '', target = '', second = '', zone = '' }: Parts): string => `${top}providers:
  config: {class: octodns.provider.yaml.YamlProvider, directory: zones${source}}
  linode: {class: octodns_linode.LinodeProvider, token: env/TOKEN${target}}
  second: {class: octodns_linode.LinodeProvider, token: env/SECOND${second}}
zones:
  example.com.: {sources: [config], targets: [linode, second]${zone}}
`

async function imported(parts: Parts): Promise<{ status: number; made: string; aside: string[]; named: string[]; warnings: string[] }> {
  const cwd = folderWith({
    'zonewright.yaml': 'providers: {}\n',
    'p.yaml': config(parts),
    'zones/example.com.yaml': `www: {type: A, ttl: 60, value: 192.0.2.1${parts.record ?? ''}}\n`,
    'zones/shared.yaml': 'shared: {type: A, ttl: 60, value: 192.0.2.2}\n',
  })
  const { status, stderr } = await cli(['import', 'octodns', 'p.yaml', '-o', 'out', '--lossy'], { cwd })
  const named = [...stderr.matchAll(/import-lossy\] (?:\S+: |\S+ \S+: )?a definition cannot express (.*)$/gm)].map(([, what]) => what ?? '')
  const warnings = [
    ...stderr.matchAll(/warning\[import-aside\] (.*?) (?:only affects octoDNS and )?is not imported(?:, because no zone uses it)?$/gm),
  ].map(([, what]) => what ?? '')
  const aside = [...stderr.matchAll(/warning\[import-aside\] (?:\S+: )?not imported: (.*)$/gm)].map(([, what]) => what ?? '')
  return { aside, status, made: readFileSync(join(cwd, 'out/zonewright.yaml'), 'utf8'), named, warnings }
}

const CARRIED: readonly (readonly [string, Parts, RegExp])[] = [
  [
    'an option that only the class of octoDNS has',
    { target: ', token2: x' },
    /^ {2}linode: \{type: octodns, class: octodns_linode\.LinodeProvider, options: \{.*token2: x/m,
  ],
  ['targets', {}, /^ {4}targets: \[linode, second\]$/m],
  ['token: env/NAME', {}, /linode: \{type: cloud, preset: linode, token: env:TOKEN\}/],
  ['default_ttl', { source: ', default_ttl: 600' }, /^octodns_default_ttl: 600$/m],
  ['split_extension', { source: ', split_extension: .x' }, /^octodns_split_extension: \.x$/m],
  ['delete_pcent_threshold of a zone', { zone: ', delete_pcent_threshold: 0.125' }, /^ {4}safety: \{max_delete_percent: 12\.5\}$/m],
  ['update_pcent_threshold of a zone', { zone: ', update_pcent_threshold: 2' }, /^ {4}safety: \{max_update_percent: 100\}$/m],
  [
    'thresholds of all targets',
    {
      target: ', delete_pcent_threshold: 0.1, update_pcent_threshold: 0.5',
      second: ', delete_pcent_threshold: 0.1, update_pcent_threshold: 0.5',
    },
    /^ {4}safety: \{max_delete_percent: 10, max_update_percent: 50\}$/m,
  ],
  [
    'thresholds of a zone override those of targets',
    { target: ', delete_pcent_threshold: 0.1', zone: ', delete_pcent_threshold: 0.3' },
    /^ {4}safety: \{max_delete_percent: 30\}$/m,
  ],
  ['strict_supports: false of all', { target: ', strict_supports: False', second: ', strict_supports: no' }, /^ {4}unsupported: skip$/m],
]

/** Keys without effect on an import: how octoDNS checks, sorts or writes files, and target settings of a source. */
const IDLE: readonly string[] = [
  ...['enforce_order: false', 'order_mode: simple', 'populate_should_replace: true', 'supports_root_ns: false'],
  ...['split_catchall: false', 'disable_zonefile: false', 'escaped_semicolons: false', 'ignore_missing_zones: true'],
  ...['strict_supports: false', 'apply_disabled: true', 'update_pcent_threshold: 0.1', 'root_ns_warnings: false'],
]

const UNKNOWN =
  'the effect of the processor a (which the config does not define) on example.com.: its effect is unknown (no plan changes an existing record set (policy: create-only))'

const NAMED: readonly (readonly [string, Parts, readonly string[]])[] = [
  ['an unknown key of manager', { top: 'manager: {surprise: 1}\n' }, ['manager.surprise']],
  ['a processor that is not there', { zone: ', processors: [a]' }, [UNKNOWN]],
  ['one of all zones', { top: 'manager: {processors: [a]}\n' }, [UNKNOWN]],
  ['one after those of zones', { top: 'manager: {post_processors: [a]}\n' }, [UNKNOWN]],
  ['a section without a mapping', { top: 'manager: 1\n' }, ['manager']],
  ['always-dry-run zone', { zone: ', always-dry-run: true' }, ['always-dry-run (its rule has "enabled: false", so it is never planned)']],
  ['ignore_subzone_adds of a zone', { zone: ', ignore_subzone_adds: true' }, ['ignore_subzone_adds']],
  ['a threshold that is no number', { zone: ', delete_pcent_threshold: many' }, ['delete_pcent_threshold']],
  ['apply_disabled of target', { target: ', apply_disabled: true' }, ['apply_disabled of the provider linode; no rule has it as a target']],
  ['a setting of a target', { target: ', page_size: 100' }, ['page_size of the provider linode']],
  ['a threshold from the environment', { target: ', update_pcent_threshold: env/MANY' }, ['update_pcent_threshold of the provider linode']],
  ['strict_supports of a target', { target: ', strict_supports: false' }, ['strict_supports: false for only some of its targets (linode)']],
  ['different thresholds', { target: ', delete_pcent_threshold: 0.1' }, ['different limits of its targets (10, 30 %); all get the lowest']],
  ['a setting of a source', { source: ', lenient: true' }, ['lenient of the provider config']],
]

/** Keys that change no record: they get a warning, and nothing is dropped. */
const ONLY_WARNED: readonly (readonly [string, Parts, readonly string[]])[] = [
  ...[
    'max_workers: 2',
    'enable_checksum: true',
    'validators: {enabled: [legacy]}',
    'plan_outputs: {html: {class: octodns.provider.plan.PlanHtml}}',
  ].map((key) => [`manager: ${key}`, { top: `manager: {${key}}\n` }, [`manager.${key.split(':')[0]}`]] as const),
  ['processor of no zone', { top: 'processors: {acme: {class: octodns.processor.acme.AcmeManagingProcessor}}\n' }, ['the processor acme']],
  ['validators', { top: 'validators: {mine: {class: mine.Validator}}\n' }, ['validators.mine']],
  ['secret_handlers', { top: 'secret_handlers: {vault: {class: mine.Vault}}\n' }, ['secret_handlers.vault']],
  ['lenient of a zone', { zone: ', lenient: true' }, ['lenient of example.com.']],
  ['validators of a zone', { zone: ', validators: {zone: {disable_validators: [mail]}}' }, ['validators of example.com.']],
]

it.each(CARRIED)('is converted: %s', async (_, parts, pattern) => {
  const { status, made, named } = await imported(parts)
  expect([status, made]).toEqual([0, expect.stringMatching(pattern)])
  expect(named.filter((what) => !what.startsWith('limits of its targets'))).toEqual([])
})

const plain = imported({})
it.each(IDLE)('or has no effect on an import: %s', async (key) => expect(await imported({ source: `, ${key}` })).toEqual(await plain))
it.each(['manager: {auto_arpa: {ttl: 60}}', 'x-common: {a: {b: 1}}', 'anchors: [1]'])('nor has this one: %s', async (top) =>
  expect(await imported({ top: `${top}\n` })).toEqual(await plain),
)

it.each(NAMED)('or is reported as dropped: %s', async (_, parts, expected) => {
  const { status, named, aside } = await imported(parts)
  expect([status, [...named, ...aside]]).toEqual([0, expected])
})

it.each(ONLY_WARNED)('or gets a warning if it changes no record: %s', async (_, parts, expected) => {
  const { status, named, warnings } = await imported(parts)
  expect([status, named, warnings]).toEqual([0, [], expected])
})

it('imports the records of shared_filename', async () => {
  expect(await imported({ source: ', shared_filename: shared.yaml' })).toMatchObject({ status: 0, named: [] })
})

it('disables a zone that octoDNS never applies, and omits targets that it never changes', async () => {
  expect((await imported({ zone: ', always-dry-run: true' })).made).toMatch(/^ {4}enabled: false\n {4}targets: \[linode, second\]$/m)
  for (const value of ['1', "'true'", 'env/DRY', 'Yes', '"false"'])
    expect((await imported({ zone: `, always-dry-run: ${value}` })).made).toMatch(/^ {4}enabled: false$/m)
  for (const value of ['false', 'off', '0', '', "''", 'null']) {
    const { status, made } = await imported({ zone: `, always-dry-run: ${value}` })
    expect([status, made]).toEqual([0, expect.not.stringContaining('enabled')])
  }
  expect((await imported({ target: ', apply_disabled: true' })).made).toMatch(/^ {4}targets: \[second\]$/m)
  expect((await imported({ target: ', apply_disabled: false' })).made).toMatch(/^ {4}targets: \[linode, second\]$/m)
})

it('does not change record sets that a filter removes from the files before an OwnershipProcessor', async () => {
  const filter = (name: string): string =>
    `b: {class: octodns.processor.filter.NameRejectlistFilter, rejectlist: [${name}], include_target: false}`
  const top = (name: string): string => `processors: {a: {class: octodns.processor.ownership.OwnershipProcessor}, ${filter(name)}}\n`
  const zone = ', processors: [b, a]'
  expect((await imported({ top: top('www'), zone })).made).toMatch(/^ {4}policy: create-only$/m)
  expect((await imported({ top: top('other'), zone })).made).toMatch(/^ {4}policy: upsert-only$/m)
})

it('gives an alias the limits of its own entry', async () => {
  const alias = ', delete_pcent_threshold: 0.1}\n  alias.example.: {alias: example.com., delete_pcent_threshold: 0.2, always-dry-run: true'
  const { status, made } = await imported({ zone: alias })
  expect([status, made]).toEqual([0, expect.stringMatching(/example\.com\.yaml\n.*\n {4}safety: \{max_delete_percent: 10\}$/m)])
  expect(made).toMatch(/alias\.example\.yaml\n {4}enabled: false\n.*\n {4}safety: \{max_delete_percent: 20\}$/m)
})

it('reports a renamed provider with the records that are only for it', async () => {
  const cwd = folderWith({
    'zonewright.yaml': 'providers: {}\n',
    'p.yaml': config({}).replaceAll('second', 'second one'),
    'zones/example.com.yaml': 'www: {type: A, value: 192.0.2.1, octodns: {included: [second one], excluded: [linode]}}\n',
  })
  const { stderr } = expectEnd(await cli(['import', 'octodns', 'p.yaml', '-o', 'out'], { cwd }), 1, {
    err: 'www.example.com. A: a definition cannot express the provider "second one" in its targets, which is called second-one here',
  })
  expect(stderr).not.toContain('"linode"')
})

/**
 * Random mixes of all options of octoDNS's YAML sources: zones in files, in folders, shared and aliased are imported with the records that octoDNS
 * loads, and refused if it refuses them. ZONEWRIGHT_TEST_ROUNDS=50 runs thousands of configurations.
 */
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli } from '../support/cli.ts'
import { type Random, rounds, seededRandom } from '../support/random.ts'
import { describeWithOctodns, type LoadedRrset, linesOfLoaded, loadSourcesOf, recordsIn } from './octodns-judge.ts'

type Files = Record<string, string>
const ZONES = ['one.example', 'sub.one.example', 'two.example', 'bücher.example', 'xn--4ca.example', 'internal']
const NAMES = ["''", "'*'", 'a', 'b', 'c.d', '_x', 'www', "'1'", 'ä', '"y"']

function entry(random: Random): string {
  const ttl = random.pick(['', '', 'ttl: 30, ', 'ttl: 3600, '])
  return random.pick([
    () => `{${ttl}type: A, value: 192.0.2.${1 + random.below(3)}}`,
    () => `{${ttl}type: A, values: !include ${random.pick(['', './'])}hosts.inc}`,
    () => `{${ttl}type: TXT, value: '${random.pick(['plain', 'x; y', 'x\\\\; y', 'a "b" c'])}'}`,
    () => `{${ttl}type: TXT, values: [!include text.inc, 'z']}`,
    () => `{${ttl}type: MX, values: [{preference: ${random.pick([10, 20])}, exchange: mx.example.net.}]}`,
    () => `!include record.inc`,
    () => `[{${ttl}type: AAAA, value: '2001:db8::1'}, {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}]`,
  ])()
}

function records(random: Random): string {
  const names = random.shuffle(NAMES).slice(0, 1 + random.below(3))
  const merge = random.chance(0.15) ? '<<: !include merged.inc\n' : ''
  return `${random.pick(['', '---\n', '# head\n---\n'])}${merge}${names.map((name) => `${name}: ${entry(random)}\n`).join('')}`
}

const INCLUDED: Files = {
  'hosts.inc': '# hosts\n- 192.0.2.8\n- 192.0.2.9\n',
  'text.inc': 'v=one two\n',
  'record.inc': 'type: A\nttl: 77\nvalue: 192.0.2.7\n',
  'merged.inc': 'merged: {type: A, value: 192.0.2.6}\n',
}

/** A source with its own folder and files. */
function source(name: string, random: Random, files: Files): string {
  const settings: string[] = []
  const maybe = (chance: number, ...texts: string[]): void => void (random.chance(chance) && settings.push(random.pick(texts)))
  const extension = random.pick([null, null, '.', '.x', '.a-b'])
  if (extension !== null) settings.push(`split_extension: ${extension}`)
  else maybe(0.2, 'split_extension: false', 'split_extension: null')
  maybe(0.3, 'default_ttl: 60', 'default_ttl: 120', 'default_ttl: env/TTL/90')
  maybe(0.2, 'disable_zonefile: true', 'disable_zonefile: false', 'disable_zonefile: yes')
  maybe(0.3, 'populate_should_replace: true', 'populate_should_replace: on', 'populate_should_replace: false')
  maybe(0.3, 'escaped_semicolons: false', 'escaped_semicolons: true', 'escaped_semicolons: null')
  maybe(0.6, 'ignore_missing_zones: true', 'ignore_missing_zones: False')
  maybe(0.2, 'supports_root_ns: false', 'split_catchall: false', 'order_mode: simple')
  for (const [path, text] of Object.entries(INCLUDED)) files[`${name}/${path}`] = text
  if (random.chance(0.3)) {
    settings.push('shared_filename: shared.yaml')
    files[`${name}/shared.yaml`] = records(random)
  } else if (random.chance(0.2)) settings.push('shared_filename: null')
  for (const zone of ZONES) {
    if (random.chance(0.5)) files[`${name}/${zone}.yaml`] = records(random)
    if (extension === null || random.chance(0.6)) continue
    const folder = `${name}/${zone}${extension}`
    for (const file of random.shuffle([`$${zone}`, 'a', 'b', '*']).slice(0, 1 + random.below(2)))
      files[`${folder}/${file}.yaml`] = records(random)
    for (const [path, text] of Object.entries(INCLUDED)) files[`${folder}/${path}`] = text
  }
  return `  ${name}: {class: octodns.provider.yaml.YamlProvider, directory: ./${name}, enforce_order: false${settings.map((one) => `, ${one}`).join('')}}\n`
}

function configuration(seed: number): Files {
  const random = seededRandom(seed)
  const files: Files = {}
  const sources = random.chance(0.5) ? ['s1'] : ['s1', 's2']
  let text = `providers:\n${sources.map((name) => source(name, random, files)).join('')}zones:\n`
  const some = (): string =>
    `[${random
      .shuffle(sources)
      .slice(0, 1 + random.below(sources.length))
      .join(', ')}]`
  const named = random.shuffle(ZONES).slice(0, 1 + random.below(3))
  for (const zone of named) text += `  '${zone}.': {sources: ${some()}, targets: []}\n`
  if (random.chance(0.4))
    text += `  '*': {sources: ${some()}, targets: []${random.pick(['', ", glob: '*.example.'", ", regex: '^[a-z].*example'"])}}\n`
  if (random.chance(0.4)) text += `  alias.example.: {alias: '${random.pick(named)}.'}\n`
  return { ...files, 'p.yaml': text }
}

describeWithOctodns('any mix of options of YAML sources', () => {
  const scenes = Array.from({ length: rounds(40) }, (_, seed) => ({
    seed,
    cwd: folderWith({ 'zonewright.yaml': 'providers: {}\n', ...configuration(seed) }),
  }))
  let loaded: (readonly LoadedRrset[] | string)[] = []
  beforeAll(async () => {
    loaded = await loadSourcesOf(
      'p.yaml',
      scenes.map(({ cwd }) => cwd),
    )
  }, 600_000)

  it.each(scenes)('configuration $seed', async ({ seed, cwd }) => {
    const theirs = loaded[seed]
    const { status, stderr } = await cli(['import', 'octodns', 'p.yaml', '-o', 'out', '--lossy'], { cwd })
    if (typeof theirs === 'string' || theirs === undefined) {
      expect([theirs, status]).toEqual([theirs, 1])
      return
    }
    if (theirs.length === 0) return
    // How octoDNS merges two entries for one zone is reported and not imitated.
    if (stderr.includes('its file name is in Unicode')) return
    expect([status, stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    expect(await recordsIn(join(cwd, 'out'))).toEqual(theirs.flatMap(linesOfLoaded).sort())
  })
})

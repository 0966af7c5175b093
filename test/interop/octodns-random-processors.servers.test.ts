/** Random octoDNS processors, several at a time, with random records: no plan changes a record set that octoDNS would not change. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli } from '../support/cli.ts'
import { fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { describeWithOctodns, planWithProcessors } from './octodns-judge.ts'
import { plannedChanges, rrsetOf } from './octodns-planned-changes.ts'

const NAMES = ['', 'www', 'web-1', 'web-12', 'gone', 'a.b', '*.wild', '_acme-challenge', '_acme-challenge.www', 'meta', 'www.example.com']
const TYPES = ['A', 'CNAME', 'MX', 'NS', 'TXT']

const VALUES: Readonly<Record<string, readonly string[]>> = {
  A: ['192.0.2.1', '10.0.0.1', '192.0.2.3'],
  CNAME: ['a.example.net.', 'b.example.net.'],
  MX: ['{preference: 10, exchange: mx.example.net.}', '{preference: 20, exchange: mx.example.net.}'],
  NS: ['ns1.example.net.', 'ns2.example.net.'],
  TXT: ['one', 'two', "'{zone_name}'"],
}

const rrset = fc.constantFrom(...TYPES).chain((type) =>
  fc.record({
    type: fc.constant(type),
    values: fc.subarray([...(VALUES[type] ?? [])], { minLength: 1, maxLength: type === 'CNAME' ? 1 : 2 }),
  }),
)

/** A zone that octoDNS accepts: each CNAME is alone at its name, and none is at the apex. */
const zone = fc
  .dictionary(fc.constantFrom(...NAMES), fc.uniqueArray(rrset, { minLength: 1, maxLength: 3, selector: ({ type }) => type }), {
    maxKeys: 8,
  })
  .map((names) =>
    Object.entries(names)
      .map(([name, all]) => {
        const alone = name === '' ? undefined : all.find(({ type }) => type === 'CNAME')
        const sets = alone ? [alone] : all.filter(({ type }) => type !== 'CNAME')
        const items = sets.map(({ type, values }) =>
          type === 'CNAME' ? `{type: CNAME, ttl: 60, value: ${values[0]}}` : `{type: ${type}, ttl: 60, values: [${values.join(', ')}]}`,
        )
        return items.length === 0 ? '' : `'${name}': [${items.join(', ')}]\n`
      })
      .join(''),
  )

const quoted = (texts: readonly string[]): string => `[${texts.map((text) => `'${text}'`).join(', ')}]`
const some = (texts: readonly string[]) => fc.subarray([...texts], { minLength: 1, maxLength: Math.min(4, texts.length) }).map(quoted)
const included = fc.constantFrom('', ', include_target: false', ', include_target: True')

const PATTERNS = [
  ...NAMES,
  'WWW',
  '/^web-/',
  '/web-[0-9]$/',
  '/\\.b$/',
  '/^$/',
  '/acme/',
  '/^(www|gone)$/',
  '/./',
  '/w.*1/',
  '/^_/',
  '/',
  '/^a\\.b$',
  '/^[^.]+$/',
]
const TEXTS = ['192.0.2.1', '/^192/', 'one', '/example/', '/mx/', 'a.example.net.']
const NETS = ['10.0.0.0/8', '192.0.2.0/31']

const lists = (kind: string, texts: readonly string[], settings = included) =>
  fc
    .tuple(fc.constantFrom('Allow', 'Reject'), some(texts), settings)
    .map(([mode, list, more]) => `filter.${kind}${mode}listFilter, ${mode.toLowerCase()}list: ${list}${more}`)

const processor = fc
  .oneof(
    { arbitrary: lists('Type', [...TYPES, 'PTR', 'SRV']), weight: 4 },
    { arbitrary: lists('Name', PATTERNS), weight: 6 },
    lists('Value', TEXTS),
    lists('NetworkValue', NETS, fc.constant('')),
    included.map((more) => `filter.ZoneNameFilter, error: false${more}`),
    fc.constantFrom(
      'filter.IgnoreRootNsFilter',
      'filter.ExcludeRootNsChanges, error: false',
      'acme.AcmeManagingProcessor',
      'ownership.OwnershipProcessor',
      'meta.MetaProcessor',
      'clamp.TtlClampProcessor',
      'templating.Templating',
      'trailing_dots.EnsureTrailingDots',
    ),
  )
  .map((settings) => `{class: octodns.processor.${settings}}`)

const YAML = 'octodns.provider.yaml.YamlProvider'
const scene = fc.record({ desired: zone, existing: zone, processors: fc.array(processor, { minLength: 1, maxLength: 3 }) })
type Scene = { readonly desired: string; readonly existing: string; readonly processors: readonly string[] }

function write({ desired, existing, processors }: Scene): string {
  const config = (target: string): string => `processors:
${processors.map((one, i) => `  p${i}: ${one}\n`).join('')}providers:
  config: {class: ${YAML}, directory: zones, enforce_order: false}
  linode: ${target}
zones:
  example.com.: {sources: [config], targets: [linode], processors: [${processors.map((_, i) => `p${i}`).join(', ')}]}
`
  return folderWith({
    'zonewright.yaml': 'providers: {}\n',
    'p.yaml': config('{class: octodns_linode.LinodeProvider, token: env/TOKEN}'),
    'judge.yaml': config(`{class: ${YAML}, directory: target, enforce_order: false}`),
    'zones/example.com.yaml': desired === '' ? '{}\n' : desired,
    'target/example.com.yaml': existing === '' ? '{}\n' : existing,
  })
}

/** octoDNS does not change name servers that its files do not contain; here a safety limit prevents it. */
const APEX = 'Delete example.com. NS'

describeWithOctodns('any processors', () => {
  it('change nothing that octoDNS does not change, and the same if nothing is dropped', async () => {
    const scenes = fc.sample(scene, { numRuns: rounds(150), seed: 8 })
    const folders = scenes.map(write)
    const plans = await planWithProcessors('judge.yaml', folders)
    let compared = 0
    for (const [i, cwd] of folders.entries()) {
      const theirs = plans[i]
      if (typeof theirs === 'string' || theirs === undefined) continue
      compared += 1
      const { status, stderr } = await cli(['import', 'octodns', 'p.yaml', '-o', 'out', '--lossy'], { cwd })
      expect([scenes[i], status, stderr.match(/^.*error\[.*$/gm)]).toEqual([scenes[i], 0, null])
      const all = await plannedChanges(join(cwd, 'out'), readFileSync(join(cwd, 'target/example.com.yaml'), 'utf8'))
      const changes = all.filter((change) => change !== APEX)
      const touched = new Set(theirs.map(rrsetOf))
      expect([scenes[i], changes.filter((change) => !change.startsWith('Create') && !touched.has(rrsetOf(change)))]).toEqual([
        scenes[i],
        [],
      ])
      if (!/import-lossy|cannot express the effect of the processor/.test(stderr)) expect([scenes[i], changes]).toEqual([scenes[i], theirs])
    }
    expect(compared).toBeGreaterThan(scenes.length / 2)
  })
})

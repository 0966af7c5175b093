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
import { DESIRED, EXISTING, SCENES, type Scene } from './octodns-processor-scenes.ts'

const YAML = 'octodns.provider.yaml.YamlProvider'

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

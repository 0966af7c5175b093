/**
 * octoDNS's processors: an imported configuration plans the same changes as octoDNS itself or, if something is dropped, changes no record set
 * that octoDNS would not change.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli } from '../support/cli.ts'
import { describeWithOctodns, planWithProcessors } from './octodns-judge.ts'
import { plannedChanges, rrsetOf } from './octodns-planned-changes.ts'
import { DESIRED, EXISTING, PROCESSOR_CASES, type ProcessorCase } from './octodns-processor-cases.ts'

const YAML = 'octodns.provider.yaml.YamlProvider'

function folderOf(scene: ProcessorCase): string {
  const config = (target: string): string => `${scene.manager ? `manager: {${scene.manager}}\n` : ''}processors:
${scene.processor === '' ? '' : `  one: ${scene.processor}\n`}${scene.manager?.includes('two') ? '  two: {class: octodns.processor.filter.IgnoreRootNsFilter}\n' : ''}providers:
  config: {class: ${YAML}, directory: zones, enforce_order: false}
  linode: ${target}
zones:
  example.com.: {sources: [config], targets: [linode]${scene.manager ? '' : ', processors: [one]'}}
`
  return folderWith({
    'zonewright.yaml': 'providers: {}\n',
    'p.yaml': config('{class: octodns_linode.LinodeProvider, token: env/TOKEN}'),
    'judge.yaml': config(`{class: ${YAML}, directory: target, enforce_order: false}`),
    'zones/example.com.yaml': DESIRED + (scene.more ?? ''),
    'target/example.com.yaml': EXISTING,
  })
}

type ImportedScene = { readonly cwd: string; readonly stderr: string; readonly made: string }
const known = new Map<ProcessorCase, Promise<ImportedScene>>()

function imported(scene: ProcessorCase): Promise<ImportedScene> {
  const found = known.get(scene) ?? importScene(scene)
  known.set(scene, found)
  return found
}

async function importScene(scene: ProcessorCase): Promise<ImportedScene> {
  const cwd = folderOf(scene)
  const { stderr } = await cli(['import', 'octodns', 'p.yaml', '-o', 'out', '--lossy'], { cwd })
  return { cwd, stderr, made: readFileSync(join(cwd, 'out/zonewright.yaml'), 'utf8') }
}

describe("octoDNS's processors", () => {
  it.each(PROCESSOR_CASES)('$name: the rule, and what is dropped', async (processorCase) => {
    const { stderr, made } = await imported(processorCase)
    expect(made).toMatch(processorCase.rule)
    const reported = stderr.match(/(?<=import-(?:lossy|aside)\] a definition cannot express ).*$/gm) ?? []
    expect(stderr.includes('import-lossy')).toBe(processorCase.dropped !== undefined && processorCase.keepsRecords !== true)
    expect(reported).toEqual(processorCase.dropped ? [expect.stringMatching(processorCase.dropped)] : [])
  })
})

describeWithOctodns('octoDNS plans the same changes with processors', () => {
  let plans: (readonly string[] | string)[] = []
  beforeAll(async () => {
    const folders: string[] = []
    for (const scene of PROCESSOR_CASES) folders.push((await imported(scene)).cwd)
    plans = await planWithProcessors('judge.yaml', folders)
  })

  it.each(PROCESSOR_CASES.map((scene, i) => ({ ...scene, i })))('$name', async ({ i, dropped, refused }) => {
    const theirs = plans[i]
    if (typeof theirs === 'string' || theirs === undefined) {
      expect([refused, theirs]).toEqual([true, 'ValidationError'])
      return
    }
    const changes = await plannedChanges(join((await imported(PROCESSOR_CASES[i] as ProcessorCase)).cwd, 'out'), EXISTING)
    if (dropped === undefined) expect(changes).toEqual(theirs)
    const touched = new Set(theirs.map(rrsetOf))
    expect(changes.filter((change) => !change.startsWith('Create') && !touched.has(rrsetOf(change)))).toEqual([])
  })
})

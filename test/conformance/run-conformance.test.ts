/** The runner of the suite finds the defects of providers, and says why a step fails or is skipped. */
import { expect, test } from 'vitest'
import { noSecrets } from '../../src/base/secret-guard.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { type ConformanceOptions, type ConformanceTarget, runConformance, type StepResult } from '../../src/conformance/run-conformance.ts'
import { API_VERSION, type PackageRecord, type RrsetChange } from '../../src/providers/package/package-interface.ts'
import { packageType } from '../../src/providers/package/package-type.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { name } from '../support/records.ts'

/** What a store makes of an RRset and of a list of records. */
interface Behaviour {
  readonly store?: (rrset: RrsetChange) => RrsetChange
  readonly list?: (records: readonly PackageRecord[]) => readonly PackageRecord[]
  readonly types?: ReadonlySet<string>
}

const ZONE = name('example.com.')

/** A provider with one zone in memory. */
async function providerWith({ store = (rrset) => rrset, list = (records) => records, types }: Behaviour): Promise<Provider> {
  const held = new Map<string, PackageRecord[]>()
  const type = packageType(
    {
      apiVersion: API_VERSION,
      settings: {},
      capabilities: types === undefined ? {} : { types },
      create: () => ({
        address: 'memory://',
        listZones: async () => [{ name: ZONE }],
        readZone: async () => list([...held.values()].flat()),
        async apply(_, { rrsets }) {
          for (const { name: owner, type: of, desired } of rrsets.map(store))
            held.set(
              `${owner} ${of}`,
              (desired?.data ?? []).map((data) => ({ name: owner, type: of, ttl: desired?.ttl ?? 0, data })),
            )
          return undefined
        },
      }),
    },
    'memory',
  )
  const place = { file: 'zonewright.yaml', folder: process.cwd(), cwd: process.cwd() }
  const entry = readConfig('providers: {memory: {type: npm:memory}}\n', place).config?.providers.get('memory')
  if (entry === undefined) throw new Error('no entry')
  const { provider } = await type.create(entry, { secrets: { folder: process.cwd(), env: {}, loaded: noSecrets() } })
  return provider as Provider
}

async function run(behaviour: Behaviour, options: ConformanceOptions, judge?: ConformanceTarget['judge']): Promise<StepResult[]> {
  const results: StepResult[] = []
  const target = { provider: await providerWith(behaviour), zone: ZONE, judge }
  for await (const result of runConformance(target, options)) results.push(result)
  return results
}

const groups = (...names: string[]): ConformanceOptions => ({ only: (group) => names.includes(group.name) })
const failures = (results: readonly StepResult[]): string[] =>
  results.flatMap(({ state, group, step, reason }) => (state === 'failed' ? [`${group.name}: ${step}: ${reason}`] : []))

test('a faithful store passes', async () => {
  const results = await run({}, groups('A', 'ManyAtOnce', 'TTL', 'TypeChangeHard', 'IGNORE main', 'pager101'))
  expect(failures(results)).toEqual([])
  expect(results.filter(({ state }) => state === 'passed').length).toBeGreaterThan(20)
})

test.each<[what: string, behaviour: Behaviour, group: string, reason: RegExp]>([
  ['keeps only one record of a set', { store: (set) => withData(set, (data) => data.slice(0, 1)) }, 'ManyAtOnce', /read back different/],
  ['no deletions', { store: (set) => (set.desired === null ? { ...set, desired: set.existing } : set) }, 'Protocol-Wildcard', /read back/],
  ['changes TTLs', { store: (set) => ({ ...set, desired: set.desired && { ...set.desired, ttl: 60 as never } }) }, 'Attl', /a second plan/],
  ['lists one page', { list: (records) => records.slice(0, 100) }, 'pager101', /read back different/],
  ['lists a record twice', { list: (records) => [...records, ...records.slice(0, 1)] }, 'A', /./],
  ['joins strings', { store: (set) => withData(set, (data) => data.map((one) => one.replaceAll('" "', ''))) }, 'octets in TXT', /./],
])('a store that %s fails', async (_, behaviour, group, reason) => {
  const results = await run(behaviour, groups(group))
  expect(failures(results).length).toBeGreaterThan(0)
  expect(failures(results)[0]).toMatch(reason)
})

const withData = (set: RrsetChange, change: (data: readonly string[]) => readonly string[]): RrsetChange => ({
  ...set,
  desired: set.desired && { ...set.desired, data: change(set.desired.data) },
})

test('a failed step ends its group, and the next group starts with an empty zone', async () => {
  const behaviour: Behaviour = { store: (set) => withData(set, (data) => data.filter((one) => one !== '192.0.2.2')) }
  const results = await run(behaviour, groups('ManyAtOnce', 'CNAME-short'))
  expect(results.map(({ group, state, reason }) => `${group.name} ${state} ${reason?.replace(/^read back.*/, '…') ?? ''}`)).toEqual([
    'CNAME-short passed ',
    'ManyAtOnce failed …',
    'ManyAtOnce skipped "CreateManyAtLabel" failed',
    'ManyAtOnce skipped "CreateManyAtLabel" failed',
    'ManyAtOnce skipped "CreateManyAtLabel" failed',
  ])
})

test('what the capabilities exclude is skipped with the reason', async () => {
  const results = await run({ types: new Set(['A', 'NS']) }, groups('A', 'MX', 'IGNORE main'))
  const skipped = results.filter(({ state }) => state === 'skipped')
  expect(failures(results)).toEqual([])
  expect(skipped.map(({ group, reason }) => `${group.name}: ${reason}`)).toEqual([
    ...Array.from({ length: 5 }, () => expect.stringMatching(/^MX: type-unsupported: memory does not support MX records/)),
    expect.stringMatching(/^IGNORE main: type-unsupported/),
    ...Array.from({ length: 16 }, () => 'IGNORE main: "Create some records" was skipped'),
  ])
})

test('larger steps are left out', async () => {
  const results = await run({}, { ...groups('pager101'), maxSize: 99 })
  expect(results.map(({ state, reason }) => [state, reason])).toEqual([
    ['passed', null],
    ['skipped', 'more than 99 records'],
    ['skipped', 'more than 99 records'],
  ])
})

test('another reader decides too, and gets the records and the text of the step', async () => {
  const texts: string[] = []
  const results = await run({}, groups('Apex'), async ({ records, text }) => {
    texts.push(`${records.map(({ data }) => data).join()} ${text.trim().split('\n').at(-1)}`)
    return texts.length === 1 ? [] : ['a difference']
  })
  expect(texts).toEqual(['192.0.2.1 @ A 192.0.2.1', '192.0.2.2 @ A 192.0.2.2'])
  expect(failures(results)).toEqual(['Apex: Change A target: another reader finds: a difference'])
})

/** Snapshots and plans that were changed on their way never pass for what they were, and crash nothing. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { noSecrets } from '../../../src/base/secret-guard.ts'
import { readConfig } from '../../../src/config/read-config.ts'
import type { Capabilities } from '../../../src/plan/capabilities.ts'
import { planOf, type ZoneJob } from '../../../src/plan/planned-zone.ts'
import { DEFAULT_THRESHOLDS } from '../../../src/plan/safety-limits.ts'
import { capabilitiesOf } from '../../../src/providers/registry.ts'
import { planZones } from '../../../src/run/plan/plan-zones.ts'
import { snapshotProvider } from '../../../src/run/plan/snapshot-source.ts'
import { parseSavedPlan } from '../../../src/stored/plans/parse-saved-plan.ts'
import { canonicalJson, checksumOf } from '../../../src/stored/plans/plan-json.ts'
import { savedPlanText } from '../../../src/stored/plans/saved-plan-text.ts'
import { signDocument } from '../../../src/stored/snapshots/signing-key.ts'
import { parseSnapshot, type Snapshot, snapshotText } from '../../../src/stored/snapshots/snapshot.ts'
import { type Random, rounds, seededRandom } from '../../support/random.ts'
import { desiredZone, existingZone, name } from '../../support/records.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const [ONE, TWO] = [name('example.com.'), name('example.net.')]

/** A snapshot with every kind of value. */
const SNAPSHOT: Snapshot = {
  created: '2026-01-02T03:04:05.000Z',
  tool: 'zonewright 0.1.0',
  targets: [
    { name: 'cloud', type: 'cloud', address: 'https://dns.example.net/v4', endpoints: ['https://dns.example.net'] },
    { name: 'desec', type: 'desec', address: 'https://desec.io/', endpoints: ['https://desec.io'], facts: { minimumTtls: { [ONE]: 60 } } },
  ],
  inventory: [
    {
      target: 'cloud',
      query: { kind: 'instances', tag: 'web' },
      objects: [{ source: 'instance web-1 (1)', ipv4: ['192.0.2.50'], ipv6: ['2001:db8::50'] }],
    },
  ],
  zones: [
    {
      zone: ONE,
      target: 'cloud',
      live: {
        ...existingZone(ONE, '@ MX 10 mail\nmail A 192.0.2.1\nwww 300 CNAME mail\ntext TXT "a \\"text\\"" "b"'),
        id: 7,
        settings: { type: 'master', soa_email: 'a@example.com', tags: ['x'], ttl_sec: 300 },
        unknownSettings: ['status "edit_mode"'],
        ownApexNs: [name('ns1.example.org.')],
        warnings: [
          { severity: 'warning', code: 'reload-failed', message: 'the last reload failed', at: { file: 'a', line: 1, column: 1 } },
        ],
        unplanned: [{ name: name('off.example.com.'), type: 'A', data: '192.0.2.9', reason: 'is disabled', holdsRrset: true }],
        rendered: { state: 'stale', providerApexNs: ['ns1.example.org.'], differences: [] },
      },
    },
    {
      zone: ONE,
      target: 'desec',
      live: {
        name: ONE,
        id: 'example.com',
        settings: { type: 'master' },
        readOnly: { reason: 'it is frozen', hint: 'thaw it' },
        rendered: { state: 'unavailable', providerApexNs: null, differences: [] },
        records: existingZone(ONE, 'www 3600 A 192.0.2.1\nwww 3600 A 192.0.2.2').records.map((record) => ({
          ...record,
          id: undefined,
          settings: { comment: 'c', tags: ['t'] },
          fixedTtlTypes: ['A'],
          fixedTtlWhile: { proxied: true },
        })),
      },
    },
    { zone: TWO, target: 'cloud', live: null },
  ],
}

const TEXT = snapshotText(SNAPSHOT, privateKey)

const { config } = readConfig(
  'providers: {cloud: {type: cloud, base_url: https://dns.example.net/v4, token: env:T}, desec: {type: desec, token: env:T}}\n',
  { file: 'zonewright.yaml', folder: '/srv', cwd: '/srv' },
)

const at = { file: 'zone', line: 1, column: 1 }
const job = (zone: typeof ONE, target: string): ZoneJob => ({
  desired: desiredZone(zone, 'www 60 A 192.0.2.1\nmail 3600 A 192.0.2.2\ntext TXT "c"\noff A 192.0.2.8', {
    ...(target === 'cloud' && {
      inventory: [{ name: name(`pool.${zone}`), type: 'A', ttl: null, query: { kind: 'instances', provider: null, tag: 'web' }, at }],
    }),
    unmanaged: [{ name: '_acme-*' }],
    apexNs: zone === ONE ? 'all-targets' : 'keep',
  }),
  target,
  owner: null,
  policy: 'sync',
  thresholds: DEFAULT_THRESHOLDS,
  allow: new Set(),
})

/** Plans against a snapshot, as `plan --snapshot` does. */
async function planAgainst(snapshot: Snapshot) {
  const providers = new Map(
    [...(config?.providers.values() ?? [])].map((entry) => {
      const facts = snapshot.targets.find((target) => target.name === entry.name)?.facts
      return [entry.name, snapshotProvider(entry, capabilitiesOf(entry, facts) as Capabilities, snapshot)] as const
    }),
  )
  return planZones([job(ONE, 'cloud'), job(ONE, 'desec'), job(TWO, 'cloud')], { providers, now: new Date(0), tool: 'test' })
}

const parse = (text: string, key: KeyObject | null = publicKey) => parseSnapshot(text, 'snap.json', key)

test('a snapshot is read as it was written', async () => {
  const { snapshot, diagnostic } = parse(TEXT)
  expect(diagnostic).toBeNull()
  // The file has no undefined members.
  expect(JSON.parse(JSON.stringify(snapshot))).toEqual(JSON.parse(JSON.stringify(SNAPSHOT)))
  expect(snapshotText(snapshot as Snapshot, privateKey)).toBe(TEXT)
  const planned = await planAgainst(snapshot as Snapshot)
  expect(planOf(planned)).toEqual(planOf(await planAgainst(SNAPSHOT)))
  expect(planned.zones.map(({ plan: { changes, exists } }) => [changes.length > 3, exists])).toEqual([
    [true, true],
    [true, true],
    [true, false],
  ])
})

test.each<[string, string, KeyObject | null, string]>([
  ['another key', TEXT, generateKeyPairSync('ed25519').publicKey, 'snapshot-signature'],
  ['no signature', snapshotText(SNAPSHOT, null), publicKey, 'snapshot-signature'],
  ['a time that is none', snapshotText({ ...SNAPSHOT, created: 'yesterday' }, null), null, 'snapshot-invalid'],
  ['a target twice', snapshotText({ ...SNAPSHOT, targets: [...SNAPSHOT.targets, ...SNAPSHOT.targets] }, null), null, 'snapshot-invalid'],
  ['a zone twice', snapshotText({ ...SNAPSHOT, zones: [...SNAPSHOT.zones, ...SNAPSHOT.zones] }, null), null, 'snapshot-invalid'],
  ['a zone of no target', snapshotText({ ...SNAPSHOT, targets: [] }, null), null, 'snapshot-invalid'],
  ['deep nesting', `{"a":${'['.repeat(100_000)}`, null, 'snapshot-invalid'],
  ['no object', '[]', null, 'snapshot-invalid'],
])('refuses %s', (_, text, key, code) => expect(parse(text, key).diagnostic).toMatchObject({ severity: 'error', code }))

/** The text with a character removed, added or replaced, two parts swapped, or its end cut off. */
function damaged(text: string, random: Random): string {
  const at = random.below(text.length)
  const other = random.pick(['0', '1', 'a', '"', '}', ',', '\\', '\u0000', '\ud800', ' ', 'e9', '.'])
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1)
    case 1:
      return text.slice(0, at) + other + text.slice(at)
    case 2:
      return text.slice(0, at)
    case 3: {
      const from = random.below(text.length - 40)
      return text.slice(0, at) + text.slice(from, from + random.below(40)) + text.slice(at)
    }
    default:
      return text.slice(0, at) + other + text.slice(at + 1)
  }
}

const sameJson = (a: string, b: string): boolean => {
  try {
    return canonicalJson(JSON.parse(a)) === canonicalJson(JSON.parse(b))
  } catch {
    return false
  }
}

describe('a text that was changed is refused, unless it says the same', () => {
  test('snapshots', () => {
    const random = seededRandom(1)
    for (let round = 0; round < rounds(400); round += 1) {
      const text = damaged(TEXT, random)
      const { snapshot, diagnostic } = parse(text, random.chance(0.5) ? publicKey : null)
      if (!sameJson(text, TEXT))
        expect([snapshot, diagnostic?.code]).toEqual([null, expect.stringMatching(/^snapshot-(?:invalid|changed)$/)])
    }
  })

  test('plans that were made from them', async () => {
    const planned = await planAgainst(SNAPSHOT)
    const snapshot = { created: SNAPSHOT.created, checksum: checksumOf({}), verified: true }
    const marked = { ...planned, zones: planned.zones.slice(0, 1), snapshot, targets: SNAPSHOT.targets.slice(0, 1) }
    const text = savedPlanText(marked, 'key', noSecrets())
    expect(parseSavedPlan(text, 'plan.json', 'key')).toMatchObject({ saved: { snapshot }, diagnostics: [] })
    const random = seededRandom(2)
    for (let round = 0; round < rounds(200); round += 1) {
      const other = damaged(text, random)
      if (!sameJson(other, text)) expect(parseSavedPlan(other, 'plan.json', random.chance(0.5) ? 'key' : null).saved).toBeNull()
    }
  })
})

const STRANGE: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e15,
  1.5,
  '',
  '.',
  'x',
  'example.com.',
  'a.example.com.',
  '\\000.example.com.',
  '192.0.2.1',
  '2001:db8::1',
  'SOA',
  'CNAME',
  'TYPE65000',
  '"unended',
  'é\u0000\u202e',
  'x'.repeat(70_000),
  [],
  [null],
  {},
  { a: 1 },
]

/** Replaces a random value of a document, or adds or removes a member. */
function withStrangeValue(document: unknown, random: Random): unknown {
  const value = structuredClone(document) as Record<string, unknown>
  let holder: Record<string, unknown> = value
  for (;;) {
    const key = random.pick(Object.keys(holder))
    const inner = holder[key]
    if (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 && random.chance(0.9)) {
      holder = inner as Record<string, unknown>
      continue
    }
    const action = random.below(10)
    if (action === 0) delete holder[key]
    else if (action === 1)
      Object.defineProperty(holder, random.pick(['a', '__proto__', '0', 'settings']), { value: random.pick(STRANGE), enumerable: true })
    else holder[key] = random.pick(STRANGE)
    return value
  }
}

test('a snapshot whose maker had a fault, or ill will and the key, crashes nothing', async () => {
  const random = seededRandom(3)
  const { checksum: _, signature: __, ...document } = JSON.parse(TEXT)
  let accepted = 0
  for (let round = 0; round < rounds(300); round += 1) {
    const strange = JSON.parse(JSON.stringify(withStrangeValue(document, random))) as object
    const signed = { ...strange, signature: signDocument(strange, privateKey) }
    const { snapshot, diagnostic } = parse(JSON.stringify({ ...signed, checksum: checksumOf(signed) }))
    if (snapshot === null) {
      expect(diagnostic.code).toBe('snapshot-invalid')
      continue
    }
    accepted += 1
    expect((await planAgainst(snapshot)).tool).toBe('test')
  }
  expect(accepted).toBeGreaterThan(rounds(30))
})

test('a plan whose maker had ill will and no key crashes nothing', async () => {
  const { zones, ...planned } = await planAgainst(SNAPSHOT)
  const [zone] = zones as unknown as [(typeof zones)[number]]
  const other = { ...zone, plan: { ...zone.plan, unmanaged: [{ name: '_acme-*' }] } }
  const targets = SNAPSHOT.targets.slice(0, 1)
  const text = savedPlanText({ ...planned, zones: [other], targets }, null, noSecrets())
  const { checksum: _, ...document } = JSON.parse(text)
  const random = seededRandom(4)
  for (let round = 0; round < rounds(400); round += 1) {
    const strange = JSON.parse(JSON.stringify(withStrangeValue(document, random))) as object
    parseSavedPlan(JSON.stringify({ ...strange, checksum: checksumOf(strange) }), 'plan.json', null)
  }
  const state = (document.zones[0] as { state: { records: unknown[][] } }).state
  ;(state.records[0] as unknown[])[1] = '.'
  expect(parseSavedPlan(JSON.stringify({ ...document, checksum: checksumOf(document) }), 'plan.json', null).saved).toBeNull()
})

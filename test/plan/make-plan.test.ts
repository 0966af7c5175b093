import { describe, expect, it } from 'vitest'
import type { ExistingRecord } from '../../src/dns/record.ts'
import { serialNumber } from '../../src/dns/serial-number.ts'
import type { ExistingZone, SoaFields } from '../../src/dns/zone.ts'
import { CLOUD_CAPABILITIES } from '../../src/providers/cloud/capabilities.ts'
import { changesOf, ORIGIN, planOf, withAddresses } from '../support/plan.ts'
import { desiredZone, existingZone, name } from '../support/records.ts'

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')

describe('changes', () => {
  const cases: [name: string, existing: string, desired: string, changes: string[]][] = [
    ['nothing differs', 'www A 1', 'www A 1', []],
    ['a new record is created', 'www A 1', 'www A 1\nx A 2', ['+ x A 2']],
    ['a TTL change is one update', 'www 300 A 1', 'www 3600 A 1', ['~ www 300 A 1 -> www 3600 A 1']],
    ['a change of data is an update in place', 'www A 1', 'www A 9', ['~ www A 1 -> www A 9']],
    [
      'a TTL change with several values keeps the common value and moves only the other one',
      'www 300 A 1\nwww 300 A 2',
      'www 3600 A 2\nwww 3600 A 3',
      ['~ www 300 A 2 -> www 3600 A 2', '~ www 300 A 1 -> www 3600 A 3'],
    ],
    ['removes a CNAME before it adds an address', 'www CNAME x.\nkeep A 1', 'www A 1\nkeep A 1', ['+ www A 1 < 1', '- www CNAME x.']],
    [
      'removes addresses before it adds a CNAME',
      'www A 1\nwww AAAA 2001:db8::1\nkeep A 1',
      'www CNAME x.\nkeep A 1',
      ['- www A 1', '- www AAAA 2001:db8::1', '+ www CNAME x. < 0,1'],
    ],
    [
      'a null MX becomes the first of several, and the others wait for it',
      '@ MX 0 .\nkeep A 1',
      '@ MX 10 a.\n@ MX 20 b.\nkeep A 1',
      ['~ @ MX 0 . -> @ MX 10 a.', '+ @ MX 20 b. < 0'],
    ],
    [
      'the last of several MX becomes the null MX after the others are removed',
      '@ MX 10 a.\n@ MX 20 b.\nkeep A 1',
      '@ MX 0 .\nkeep A 1',
      ['~ @ MX 10 a. -> @ MX 0 . < 1', '- @ MX 20 b.'],
    ],
    ['deletes only a duplicate', 'www A 1\nwww A 1', 'www A 1', ['- www A 1']],
    ['a record moves to another name in one call', 'old TXT "a"\nkeep A 1', 'new TXT "b"\nkeep A 1', ['~ old TXT "a" -> new TXT "b"']],
    [
      'a pointer waits for its new target, and the old target is removed last',
      'old A 1\nwww CNAME old\nkeep A 7',
      'new A 1\nwww CNAME new\nkeep A 7',
      ['+ new A 1', '- old A 1 < 2', '~ www CNAME old.example.com. -> www CNAME new.example.com. < 0'],
    ],
  ]
  it.each(cases)('%s', (_, existing, desired, changes) =>
    expect(changesOf(planOf(withAddresses(existing), withAddresses(desired)))).toEqual(changes.map(withAddresses)),
  )

  it('creates the zone before its records, with its settings', () => {
    const plan = planOf(null, 'www A 192.0.2.1')
    expect(changesOf(plan)).toEqual(['create zone [soa_email type]', '+ www A 192.0.2.1 < 0'])
    expect(plan).toMatchObject({ exists: false, diagnostics: [] })
  })

  it.each([
    ['Ab@bücher.Example', 'Ab@xn--bcher-kva.example', []],
    ['Ab@example.com.', 'Ab@Example.com', []],
    ['Ab@EXAMPLE.com', 'Ab@example.com', []],
    ['ab@example.com', 'Ab@example.com', ['update zone [soa_email]']],
    ['ab@example.net', 'ab@example.com', ['update zone [soa_email]']],
  ])('compares the hosts of %s and %s as names', (wanted, held, changes) => {
    const desired = desiredZone(ORIGIN, '', { settings: { soa_email: wanted } })
    const existing = { ...existingZone(ORIGIN, ''), settings: { soa_email: held } }
    expect(changesOf(planOf('', '', { desired, existing }))).toEqual(changes)
  })

  it('sends a mail address with its host in A-labels', () => {
    const desired = desiredZone(ORIGIN, '', { settings: { soa_email: 'Ab@bücher.Example.' } })
    expect(planOf(null, '', { desired }).changes[0]?.desired).toMatchObject({ soa_email: 'Ab@xn--bcher-kva.example' })
  })

  it('needs soa_email to create a master', () => {
    const plan = planOf(null, '', { desired: desiredZone(ORIGIN, '', { settings: {} }) })
    expect(plan.diagnostics.map(({ code }) => code)).toEqual(['schema-missing-key'])
  })

  it('updates only the settings that differ; tags are compared without case and order', () => {
    const desired = desiredZone(ORIGIN, '', { settings: { soa_email: 'other@example.com', type: 'master', tags: [] } })
    expect(changesOf(planOf('', '', { desired }))).toEqual(['update zone [soa_email]'])
  })
})

describe('refuses settings that the target does not support', () => {
  const codes = (settings: object, existing: string | null = null): string[] =>
    planOf(existing, '', { desired: desiredZone(ORIGIN, '', { settings: { soa_email: 'a@example.com', ...settings } }) }).diagnostics.map(
      ({ code }) => code,
    )
  it.each([
    ['a description', { description: 'd'.repeat(253) }, { description: 'd'.repeat(254) }],
    ['a group', { group: 'g'.repeat(50) }, { group: 'g'.repeat(51) }],
    ['a long tag', { tags: ['t'.repeat(50)] }, { tags: ['t'.repeat(51)] }],
    ['a short tag', { tags: ['abc'] }, { tags: ['ab'] }],
    ['transfer addresses', { axfr_ips: Array(100).fill('192.0.2.10') }, { axfr_ips: Array(101).fill('192.0.2.10') }],
  ])('%s', (_, good, bad) => {
    expect(codes(good)).toEqual([])
    expect(codes(bad)).toEqual(['limit-exceeded'])
  })
  it('refuses to change the type of a zone', () =>
    expect(codes({ type: 'slave', master_ips: ['192.0.2.1'] }, '')).toEqual(['setting-invalid']))
  it.each([
    ['*.example.com.', false],
    ['0/25.2.0.192.in-addr.arpa.', false],
    ['-a.example.', false],
    ['a\\.b.example.', false],
    ['example.1.', false],
    ['_sub.example.com.', true],
    ['2.0.192.in-addr.arpa.', true],
    ['xn--bcher-kva.xn--p1ai.', true],
  ])('the name %s for a new zone: %s', (origin, good) => {
    const zone = name(origin)
    const settings = { soa_email: 'a@example.com' }
    const codesWith = (existing: ExistingZone | null): string[] =>
      planOf(null, '', { existing, desired: desiredZone(zone, '', { settings }) }).diagnostics.map(({ code }) => code)
    expect(codesWith(null)).toEqual(good ? [] : ['zone-name'])
    expect(codesWith(existingZone(zone, ''))).toEqual([])
  })
  it('refuses records for a slave that the definition does not declare', () => {
    const { settings, ...zone } = existingZone(ORIGIN, '')
    const existing = { ...zone, settings: { ...settings, type: 'slave', master_ips: ['192.0.2.1'] } as const }
    const codesOf = (desired: string): string[] =>
      planOf(null, '', { existing, desired: desiredZone(ORIGIN, desired, { settings: {} }) }).diagnostics.map(({ code }) => code)
    expect(codesOf('www A 192.0.2.1')).toEqual(['setting-invalid'])
    expect(codesOf('')).toEqual([])
  })
})

describe('the record limit', () => {
  const capabilities = { ...planOf('', '').records, limit: 3 }
  it('makes a create wait for the delete that makes room', async () => {
    const { CLOUD_CAPABILITIES } = await import('../../src/providers/cloud/capabilities.ts')
    const plan = planOf('a TXT "1"\nb TXT "2"\nc TXT "3"', 'a TXT "1"\nx A 192.0.2.1\ny A 192.0.2.2', {
      capabilities: { ...CLOUD_CAPABILITIES, maxRecords: capabilities.limit },
    })
    expect(changesOf(plan)).toEqual(['- b TXT "2"', '- c TXT "3"', '+ x A 192.0.2.1 < 0', '+ y A 192.0.2.2 < 1'])
  })
  const atMost12 = { ...CLOUD_CAPABILITIES, maxRecords: 12 }
  it('refuses more records than the limit, before any call', () => {
    const plan = planOf(
      '',
      lines(13, (index) => `n${index} A 192.0.2.1`),
      { capabilities: atMost12 },
    )
    expect(plan.diagnostics.map(({ code }) => code)).toEqual(['record-limit'])
  })
  it('includes unmanaged records', () => {
    const desired = desiredZone(
      ORIGIN,
      lines(12, (index) => `n${index} A 192.0.2.1`),
      { unmanaged: [{ name: '_acme*' }] },
    )
    const plan = planOf('_acme TXT "x"', '', { desired, capabilities: atMost12 })
    expect(plan.diagnostics.map(({ code }) => code)).toEqual(['record-limit'])
    expect(plan.records.unmanaged).toBe(1)
  })
})

it('reports a record that conflicts with an unmanaged one, with its position', () => {
  const desired = desiredZone(ORIGIN, 'www CNAME x.example.net.', { unmanaged: [{ type: 'TXT' }] })
  expect(planOf('www TXT "x"', '', { desired }).diagnostics.map(({ code, at }) => [code, at?.line])).toEqual([['cname-not-alone', 1]])
})

it('refuses a CNAME that only Cloudflare would proxy beside other records', () => {
  const desired = desiredZone(ORIGIN, 'www CNAME x.example.net.\nwww TXT "x"')
  const records = desired.records.map((record) => ({ ...record, providerSettings: { cloudflare: { proxied: true } } }))
  const codesWith = (recordSettings?: string): string[] =>
    planOf('', '', { desired: { ...desired, records }, capabilities: { ...CLOUD_CAPABILITIES, recordSettings } }).diagnostics.map(
      ({ code }) => code,
    )
  expect([codesWith(), codesWith('cloudflare')]).toEqual([['cname-not-alone'], []])
})

describe('refusals', () => {
  const names = (plan: ReturnType<typeof planOf>): string[] =>
    plan.refusals.map((refusal) => `${refusal.name}${refusal.allowed ? ' allowed' : ''}`)
  const ten = lines(10, (index) => `n${index} A 192.0.2.${index}`)
  it.each([
    ['three of ten deleted is within the limit', ten, lines(7, (index) => `n${index} A 192.0.2.${index}`), []],
    ['four of ten deleted is above the limit', ten, lines(6, (index) => `n${index} A 192.0.2.${index}`), ['deletes']],
    ['four of ten changed is above the limit', ten, lines(10, (index) => `n${index} A 192.0.${index < 4 ? 3 : 2}.${index}`), ['updates']],
    ['a rename is a deletion', ten, lines(10, (index) => `${index < 4 ? 'm' : 'n'}${index} A 192.0.2.${index}`), ['deletes']],
    ['the percentage does not apply below ten', lines(9, (index) => `n${index} A 192.0.2.1`), 'n0 A 192.0.2.1', []],
    ['an emptied zone of any size', 'n0 A 192.0.2.1', '', ['empty-zone']],
    ['a zone replaced by fewer RRsets', 'a A 192.0.2.1\nb A 192.0.2.2', 'x TXT "new"', ['empty-zone']],
    ['RRsets matter, not records', 'a A 192.0.2.1\nb A 192.0.2.2', 'x A 192.0.2.1\nx A 192.0.2.2', ['empty-zone']],
    ['a zone replaced by as many RRsets', 'a A 192.0.2.1\nb A 192.0.2.2', 'x A 192.0.2.1\ny A 192.0.2.2', []],
    ['a rename of the only record', 'a A 192.0.2.1', 'b A 192.0.2.1', []],
    ['a new type of the only record', 'a A 192.0.2.1', 'a CNAME x.example.net.', []],
    ['a rename of all records', ten, ten.replaceAll('n', 'm'), ['deletes']],
    ['removed exact duplicates', `${ten}\n${ten}\n${ten}`, ten, []],
    ['a removed duplicate with another TTL', `${ten}\n${ten.replaceAll(' A', ' 300 A')}`, ten, ['updates']],
  ])('%s', (_, existing, desired, expected) => expect(names(planOf(existing, desired))).toEqual(expected))
  it('say what remains of an emptied zone', () => {
    const message = (existing: string, desired: string): unknown => planOf(existing, desired).refusals.map((refusal) => refusal.message)
    const two = 'a A 192.0.2.1\nb A 192.0.2.2'
    expect(message(two, '')).toEqual(['all 2 record sets of example.com. would be deleted, which leaves the zone empty'])
    expect(message(two, 'x TXT "new"')).toEqual(['all 2 record sets of example.com. would be deleted, and only 1 other would be created'])
  })
  it('ignore removed exact duplicates at any limit', () => {
    const thresholds = { max_delete_percent: 0, max_update_percent: 0, min_existing: 0, max_deletes: 0, max_updates: 0 }
    const managed = { thresholds, desired: desiredZone(ORIGIN, 'a A 192.0.2.1\n@ NS ns1.example.net.', { apexNs: 'manage' }) }
    const plan = planOf('a A 192.0.2.1\na A 192.0.2.1\n@ NS ns1.example.net.\n@ NS ns1.example.net.', '', managed)
    expect(changesOf(plan)).toEqual(['- @ NS ns1.example.net.', '- a A 192.0.2.1'])
    expect(plan.refusals).toEqual([])
  })
  it('describe the change of apex NS', () => {
    const messages = (existing: string, wanted: string): string[] =>
      planOf(existing, '', { desired: desiredZone(ORIGIN, wanted, { apexNs: 'manage' }) }).refusals.map(({ message }) => message)
    const prefix = 'NS records at the apex of example.com. would change:'
    expect(messages('@ NS a.example.net.\n@ NS b.example.net.', '@ NS b.example.net.\n@ NS c.example.net.')).toEqual([
      `${prefix} a.example.net. would be removed, c.example.net. would be added`,
    ])
    expect(messages('@ 300 NS a.example.net.', '@ 3600 NS a.example.net.')).toEqual([`${prefix} a.example.net. would have another TTL`])
    expect(messages('@ 300 NS a.example.net.\n@ 3600 NS a.example.net.', '@ 3600 NS a.example.net.')).toEqual([
      `${prefix} a.example.net. would have another TTL`,
    ])
  })
  it('use the absolute limits of the config', () => {
    const thresholds = { max_delete_percent: 100, max_update_percent: 100, min_existing: 0, max_deletes: 1, max_updates: 0 }
    const plan = planOf('a A 192.0.2.1\nb A 192.0.2.1\nc A 192.0.2.1', 'c A 192.0.2.9', { thresholds })
    expect(plan.refusals.map(({ name, message }) => [name, message])).toEqual([
      ['deletes', '2 of 3 record sets of example.com. would be deleted; the limit is 1'],
      ['updates', '1 of 3 record sets of example.com. would change; the limit is 0'],
    ])
  })
  it('also protect managed apex NS from additions', () => {
    const desired = desiredZone(ORIGIN, '@ NS ns1.example.net.\n@ NS ns2.example.net.', { apexNs: 'manage' })
    expect(names(planOf('@ NS ns1.example.net.', '', { desired }))).toEqual(['apex-ns'])
    expect(names(planOf('', '', { desired }))).toEqual([])
  })
  it('are lifted by name', () =>
    expect(names(planOf('n0 A 192.0.2.1', '', { allow: new Set(['empty-zone']) }))).toEqual(['empty-zone allowed']))
  it('protect a zone from deletion', () =>
    expect(names(planOf('', '', { desired: desiredZone(ORIGIN, '', { absent: true }) }))).toEqual(['delete-zone']))
  it('protect managed apex NS', () => {
    const desired = desiredZone(ORIGIN, '@ NS ns2.example.net.\nwww A 192.0.2.1', { apexNs: 'manage' })
    expect(names(planOf('@ NS ns1.example.net.\nwww A 192.0.2.1', '', { desired }))).toEqual(['apex-ns'])
  })
})

it.each([
  ['sync', ['~ a A 192.0.2.1 -> a A 192.0.2.9', '- b TXT "x"', '+ c AAAA 2001:db8::1']],
  ['upsert-only', ['~ a A 192.0.2.1 -> a A 192.0.2.9', '+ c AAAA 2001:db8::1']],
  ['create-only', ['+ c AAAA 2001:db8::1']],
] as const)('policies: %s', (policy, expected) => {
  const plan = planOf('a A 192.0.2.1\nb TXT "x"', 'a A 192.0.2.9\nc AAAA 2001:db8::1', { policy })
  expect(changesOf(plan)).toEqual(expected)
})

it.each([
  [
    'create-only',
    'a A 192.0.2.1',
    ['example.com. at cloud: the policy create-only keeps what differs from the definition: a.example.com. A'],
  ],
  ['create-only', 'a A 192.0.2.9', []],
  [
    'create-only',
    'other A 192.0.2.1',
    ['example.com. at cloud: the policy create-only keeps 1 record set that no definition has: other.example.com. A'],
  ],
  ['upsert-only', 'a A 192.0.2.1', []],
] as const)('policy %s for an RRset that exists as %s reports %j', (policy, existing, expected) => {
  expect(planOf(existing, 'a A 192.0.2.9', { policy }).diagnostics.map(({ message }) => message)).toEqual(expected)
})

describe('never changes', () => {
  it('unmanaged records', () => {
    const desired = desiredZone(ORIGIN, 'www A 192.0.2.1', { unmanaged: [{ name: '_acme-challenge*', type: 'TXT' }] })
    expect(changesOf(planOf('www A 192.0.2.1\n_acme-challenge.www TXT "token"', '', { desired }))).toEqual([])
  })
  it('apex NS records of the service, unless they are managed', () => {
    const plan = planOf('@ NS ns1.example.net.\nwww A 192.0.2.1', '@ NS ns9.example.net.\nwww A 192.0.2.1')
    expect(changesOf(plan)).toEqual([])
    expect(plan.diagnostics.map(({ code }) => code)).toEqual(['apex-ns-kept'])
  })
  it('apex NS records that a definition without any leaves to a target that needs them, unless they are managed', () => {
    const changes = (apexNs: 'keep' | 'manage'): string[] =>
      changesOf(
        planOf('@ NS ns1.example.net.\nwww A 192.0.2.1', '', {
          desired: desiredZone(ORIGIN, 'www A 192.0.2.1', { apexNs }),
          capabilities: { ...CLOUD_CAPABILITIES, servesApexNs: false },
        }),
      )
    expect(changes('keep')).toEqual([])
    expect(changes('manage')).toEqual(['- @ NS ns1.example.net.'])
  })
  it('RRsets that octoDNS excludes from the target', () => {
    const rrsetTargets = [{ name: ORIGIN, type: 'TXT', ignored: true, included: [], excluded: [] }]
    const desired = desiredZone(ORIGIN, 'www A 192.0.2.1\n@ TXT "mine"', { rrsetTargets })
    expect(changesOf(planOf('www A 192.0.2.1\n@ TXT "theirs"', '', { desired }))).toEqual([])
  })
})

it.each([
  ['one is kept', 'a A 192.0.2.1', ['delete 2', 'delete 3']],
  ['one is changed', 'a 300 A 192.0.2.1', ['update 1', 'delete 2', 'delete 3']],
  ['one is renamed', 'b A 192.0.2.1', ['update 1', 'delete 2', 'delete 3']],
])('uses the exact duplicate with the lowest ID, in any order of the list: %s', (_, desired, expected) => {
  const zone = existingZone(ORIGIN, 'a A 192.0.2.1\na A 192.0.2.1\na A 192.0.2.1')
  const [first, second, third] = zone.records as [ExistingRecord, ExistingRecord, ExistingRecord]
  for (const records of [zone.records, zone.records.toReversed(), [second, first, third], [third, first, second]]) {
    const { changes } = planOf('', desired, { existing: { ...zone, records } })
    expect(changes.map(({ action, id }) => `${action} ${id}`).sort()).toEqual(expected.toSorted())
  }
})

it('fields of the SOA record that the target does not take are a notice for a new zone only', () => {
  const soa = { primary: name('ns1.example.net.'), serial: serialNumber(7) } as SoaFields
  const desired = { ...desiredZone(ORIGIN, 'www A 192.0.2.1'), soa }
  const notices = (plan: ReturnType<typeof planOf>): string[] =>
    plan.diagnostics.filter(({ code }) => code === 'setting-unsupported').map(({ message }) => message)
  const capabilities = { ...CLOUD_CAPABILITIES, servesApexNs: false }
  expect(notices(planOf('', '', { desired, existing: null, capabilities }))).toEqual([
    'example.com.: cloud sets the SOA record of new zones: soa.primary and soa.serial are not used',
  ])
  const own = planOf('', '', { desired, existing: null, capabilities: { ...capabilities, setsSerials: true } })
  expect([notices(own), own.serial]).toEqual([['example.com.: cloud sets the SOA record of new zones: soa.primary is not used'], 7])
  expect(notices(planOf('', '', { desired, existing: null }))).toEqual([])
  expect(notices(planOf('www A 192.0.2.1', '', { desired }))).toEqual([])
})

import { describe, expect, test } from 'vitest'
import type { DesiredZone, ExistingZone } from '../../../src/dns/zone.ts'
import type { CallRules } from '../../../src/plan/capabilities.ts'
import { fingerprint } from '../../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../../src/providers/cloud/capabilities.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { checkTargets } from '../../../src/run/saved/open-saved-plan.ts'
import { type ParsedSavedPlan, parseSavedPlan } from '../../../src/stored/plans/parse-saved-plan.ts'
import { fc } from '../../support/fast-check.ts'
import { CALL_RULES, ORIGIN, planOf } from '../../support/plan.ts'
import { planSchemaErrors } from '../../support/plan-schema.ts'
import { rounds, seededRandom } from '../../support/random.ts'
import { randomRecords } from '../../support/random-records.ts'
import { desiredZone, existingZone } from '../../support/records.ts'
import { type Corruption, put, resealed, samplePlan, savedText, TARGET } from './saved-text.ts'

const CODES = ['plan-file-invalid', 'plan-file-changed', 'plan-file-signature', 'plan-file-version']
const parse = (text: string, key: string | null = null): ParsedSavedPlan => parseSavedPlan(text, 'plan.json', key)

/** `code message` of the only diagnostic. */
function refusal({ saved, diagnostics }: ParsedSavedPlan): string {
  expect(saved).toBeNull()
  expect(diagnostics).toHaveLength(1)
  return `${diagnostics[0]?.code} ${diagnostics[0]?.message}`
}

const SAMPLE = samplePlan()
const TEXT = savedText([SAMPLE])

describe('a saved plan', () => {
  test('is read unchanged, with the existing zone', () => {
    const { saved, diagnostics } = parse(TEXT)
    expect(diagnostics).toEqual([])
    expect(saved).toMatchObject({ created: '2026-01-02T03:04:05.000Z', tool: 'zonewright 0.1.0', zones: [{ plan: SAMPLE.plan }] })
    expect(saved?.zones[0]?.existing).toEqual(SAMPLE.existing)
    expect(saved?.targets).toEqual([TARGET])
    expect(saved?.signed).toBe(false)
    expect(SAMPLE.plan.changes.length).toBeGreaterThan(5)
    expect(SAMPLE.plan.changes.some(({ after }) => after.length > 0)).toBe(true)
  })

  test('follows the schema', () => expect(planSchemaErrors(JSON.parse(savedText([SAMPLE], 'key')))).toEqual([]))

  test.each<[string, ExistingZone | null, string, boolean]>([
    ['a new zone', null, 'www A 192.0.2.1', false],
    ['a zone without changes, saved without its state', existingZone(ORIGIN, 'www A 192.0.2.1'), 'www A 192.0.2.1', false],
    ['a zone to be deleted', existingZone(ORIGIN, 'www A 192.0.2.1'), '', true],
  ])('%s', (_, existing, desired, absent) => {
    const plan = planOf('', '', { existing, desired: desiredZone(ORIGIN, desired, { absent }), allow: new Set(['delete-zone']) })
    const { saved } = parse(savedText([{ plan, existing }]))
    expect(saved?.zones).toMatchObject([{ plan }])
    expect(saved?.zones[0]?.existing ?? null).toEqual(plan.changes.length === 0 ? null : existing)
  })

  test('with any records is read unchanged and fits its target', () => {
    const provider = { ...TARGET, capabilities: CLOUD_CAPABILITIES } as Provider
    fc.assert(
      fc.property(randomRecords, randomRecords, (before, after) => {
        // Definitions with a CNAME or a null MX beside other records are refused before planning.
        const mustBeAlone = (record: (typeof before)[number]): boolean => record.type === 'CNAME' || record.data === '0 .'
        const isSound = (records: typeof before): boolean =>
          records.every((one) => !mustBeAlone(one) || records.every((other) => other === one || other.name !== one.name))
        fc.pre(isSound(before) && isSound(after))
        const fitted = (records: typeof before) => planOf(null, '', { desired: { ...desiredZone(ORIGIN, ''), records } })
        const existing = {
          ...existingZone(ORIGIN, ''),
          records: fitted(before).changes.flatMap((change, id) =>
            change.subject === 'record' && change.desired ? [{ id, ...change.desired }] : [],
          ),
        }
        const planned = planOf('', '', { existing, desired: { ...desiredZone(ORIGIN, ''), records: after } })
        // The cause of a diagnostic only groups it in reports.
        const diagnosticsOf = planned.diagnostics
          .filter(({ severity }) => severity !== 'error')
          .map(({ cause: _cause, ...diagnostic }) => diagnostic)
        const plan = { ...planned, diagnostics: diagnosticsOf }
        const { saved, diagnostics } = parse(savedText([{ plan, existing }]))
        expect(diagnostics).toEqual([])
        expect(saved?.zones).toMatchObject([{ plan }])
        expect(saved && checkTargets(saved, 'plan.json', new Map([['cloud', provider]]))).toEqual([])
      }),
      { numRuns: rounds(50), maxSkipsPerRun: 1000 },
    )
  })

  test('with many lines is small and read quickly', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `n${index} A 192.0.2.${index % 250}`)
    const existing = existingZone(ORIGIN, lines.join('\n'))
    const plan = planOf('', '', {
      existing,
      desired: desiredZone(ORIGIN, lines.map((line, index) => (index % 4 === 0 ? line.replace(/\d+$/, '251') : line)).join('\n')),
    })
    const text = savedText([{ plan, existing }])
    expect(parse(text).saved?.zones[0]?.plan.changes).toHaveLength(250)
    expect(text.length).toBeLessThan(350_000)
  })

  test('with the largest TXT record is read', () => {
    const data = Array.from({ length: 255 }, () => `"${'\\200'.repeat(255)}"`).join(' ')
    const plan = { ...planOf('', 'www TXT "x"') }
    const changes = plan.changes.map((change) =>
      change.subject === 'record' && change.desired ? { ...change, desired: { ...change.desired, data } } : change,
    )
    expect(parse(savedText([{ plan: { ...plan, changes }, existing: existingZone(ORIGIN, '') }])).diagnostics).toEqual([])
  })
})

describe('unmanaged records', () => {
  const SELECTORS = [{ name: '_acme-challenge*', type: 'TXT' }, { target: '198.51.100.*' }]
  const existing = existingZone(ORIGIN, 'www A 192.0.2.1\n_acme-challenge TXT "x"\nlab A 198.51.100.7')
  const planWith = (unmanaged: DesiredZone['unmanaged']) =>
    planOf('', '', { existing, desired: desiredZone(ORIGIN, 'www A 192.0.2.2', { unmanaged }), allow: new Set(['deletes']) })

  test('are listed in the plan; its fingerprint is that of the other records', () => {
    const plan = planWith(SELECTORS.map((selector) => ({ ...selector, at: { file: 'zone', line: 1, column: 1 } })))
    expect(plan.fingerprint).toBe(fingerprint({ ...existing, records: existing.records.slice(0, 1) }))
    const text = savedText([{ plan, existing }])
    expect(planSchemaErrors(JSON.parse(text))).toEqual([])
    const { saved, diagnostics } = parse(text)
    expect(diagnostics).toEqual([])
    expect(saved?.zones[0]?.plan.unmanaged).toEqual(SELECTORS)
    expect(saved?.zones[0]?.existing).toEqual(existing)
  })

  test('are not listed if the zone is deleted', () => {
    const desired = desiredZone(ORIGIN, '', { absent: true, unmanaged: SELECTORS })
    const plan = planOf('', '', { existing, desired, allow: new Set(['delete-zone']) })
    expect(plan.fingerprint).toBe(fingerprint(existing))
    expect(parse(savedText([{ plan, existing }])).saved?.zones[0]?.plan.unmanaged).toBeUndefined()
    const forged = resealed(savedText([{ plan, existing }]), (document) => void Object.assign(document.zones[0], { unmanaged: SELECTORS }))
    expect(refusal(parse(forged))).toMatch(/\.unmanaged selects records that the plan changes/)
  })

  test.each<[string, unknown, RegExp]>([
    ['all records', [{ name: '*' }], /\.unmanaged selects records that the plan changes/],
    ['a record that the plan deletes', [...SELECTORS, { target: '192.0.2.1' }], /\.unmanaged selects records that the plan changes/],
    ['a record that the plan creates', [...SELECTORS, { target: '192.0.2.2' }], /\.unmanaged selects records that the plan changes/],
    ['something else', [{ name: 'elsewhere' }], /\.fingerprint does not match the state/],
    ['nothing', [], /unmanaged must NOT have fewer than 1 items/],
    ['a selector of everything', [{}], /unmanaged\/0 must NOT have fewer than 1 properties/],
    ['a selector that is text', ['*'], /unmanaged\/0 must be object/],
    ['an invalid name', [{ name: 1 }], /unmanaged\/0\/name must be string/],
    ['an unknown key', [{ name: 'a', file: 'b' }], /unmanaged\/0 .*"file"/],
    ['too many selectors', Array.from({ length: 20_001 }, () => ({ name: 'a' })), /unmanaged must NOT have more than 20000/],
  ])('edited by hand are refused: %s', (_, unmanaged, expected) => {
    const text = savedText([{ plan: planWith(SELECTORS), existing }])
    expect(refusal(parse(resealed(text, put('zones.0.unmanaged', unmanaged))))).toMatch(expected)
  })
})

describe('damage', () => {
  test('detects every changed byte and every truncation', () => {
    const octets = Buffer.from(savedText([SAMPLE], 'key'))
    const random = seededRandom(1)
    const step = Math.max(1, Math.floor(octets.length / rounds(300)))
    const seen = new Set<string>()
    for (let at = 0; at < octets.length; at += step) {
      const offset = Math.min(octets.length - 2, at + random.below(step))
      const damaged = Buffer.from(octets)
      damaged[offset] = (damaged[offset] as number) ^ (1 << random.below(8))
      const parsed = parse(damaged.toString('utf8'))
      expect(parsed.saved, `offset ${offset}`).toBeNull()
      for (const { code } of parsed.diagnostics) seen.add(code)
      expect(parse(octets.subarray(0, offset).toString('utf8')).saved).toBeNull()
    }
    expect([...seen].every((code) => CODES.includes(code))).toBe(true)
    expect(seen).toContain('plan-file-changed')
  })

  test('whitespace and key order do not matter', () => {
    const { zones, ...rest } = JSON.parse(TEXT)
    expect(parse(JSON.stringify({ zones, ...rest })).diagnostics).toEqual([])
  })
})

describe('a file edited by hand, with a new checksum', () => {
  const change =
    (patch: object, at = 0): Corruption =>
    (document) =>
      void Object.assign(document.zones[0].changes[at], patch)
  const desired =
    (patch: object): Corruption =>
    (document) => {
      const changes: { subject: string; desired: object | null }[] = document.zones[0].changes
      const one = changes.find((each) => each.subject === 'record' && each.desired !== null)
      Object.assign(one?.desired as object, patch)
    }
  const zone =
    (patch: object): Corruption =>
    (document) =>
      void Object.assign(document.zones[0], patch)
  const top =
    (patch: object): Corruption =>
    (document) =>
      void Object.assign(document, patch)
  const firstUpdate = SAMPLE.plan.changes.findIndex(({ subject, action }) => subject === 'record' && action === 'update')
  const firstRecord = SAMPLE.plan.changes.findIndex(({ subject, id }) => subject === 'record' && id !== null)

  test.each<[string, Corruption, RegExp]>([
    ['another format', top({ format: 'terraform' }), /^plan-file-invalid .*"format"/],
    ['a newer version', top({ version: 3 }), /^plan-file-version .*version 3 .*version 2/],
    ['an older version', top({ version: 1 }), /^plan-file-version .*version 1 .*version 2/],
    ['a version that is text', top({ version: '1' }), /^plan-file-invalid .*\/version/],
    ['an unknown key', top({ extra: 1 }), /^plan-file-invalid .*"extra"/],
    ['an object key', (plan) => JSON.parse(JSON.stringify(plan).replace('{', '{"__proto__":{"a":1},')), /^plan-file-invalid .*__proto__/],
    ['no targets', top({ targets: undefined }), /"targets" is missing/],
    ['a duplicate target', top({ targets: [TARGET, TARGET] }), /a target is listed twice/],
    ['a target without a provider', top({ targets: [{ ...TARGET, name: 'lab' }] }), /"cloud", which "targets" does not have/],
    ['no time', top({ created: 'yesterday' }), /"created"/],
    ['an impossible time', top({ created: '2026-02-30T00:00:00.000Z' }), /"created"/],
    ['a duplicate zone', (document) => void document.zones.push(document.zones[0]), /zones\[1\] is a duplicate of/],
    ['a zone without the final dot', zone({ zone: 'example.com' }), /\/zones\/0\/zone/],
    ['a zone in upper case', zone({ zone: 'EXAMPLE.com.' }), /zones\[0\]\.zone "EXAMPLE.com." is not a canonical name/],
    ['a zone that does not exist', zone({ exists: false }), /\.state must be absent/],
    ['no state', zone({ state: undefined }), /\.state is missing/],
    ['another fingerprint', zone({ fingerprint: `sha256:${'0'.repeat(64)}` }), /\.fingerprint does not match the state/],
    ['another state', put('zones.0.state.settings.soa_email', 'evil@example.com'), /zones\[0\]/],
    ['a removed record of the state', (document) => void document.zones[0].state.records.pop(), /\.state does not have as many records/],
    ['a record of the state with six fields', (document) => void document.zones[0].state.records[0].push(1), /state\/records\/0/],
    ['wrong counts', zone({ calls: { create: 0, update: 0, delete: 0, total: 0 } }), /contradicts itself at zones\[0\]\.calls\.create/],
    ['a wrong summary', put('summary.calls', 1), /contradicts itself at summary\.calls/],
    [
      'an error among the diagnostics',
      zone({ diagnostics: [{ severity: 'error', code: 'x', message: 'm', file: null, line: null, column: null }] }),
      /has errors/,
    ],
    [
      'a position without a line',
      zone({ diagnostics: [{ severity: 'notice', code: 'x', message: 'm', file: '/etc/passwd', line: null, column: null }] }),
      /contradicts itself at zones\[0\]\.diagnostics\[0\]\.file/,
    ],
    ['an unknown refusal', zone({ refusals: [{ name: 'everything', message: '', allowed: true }] }), /refusals\/0\/name/],
    ['an outcome', change({ outcome: { state: 'applied' } }, 1), /changes\[1\] has an outcome/],
    ['an unknown record ID', change({ id: 4711 }, firstRecord), /\.id: the saved state has no unused record 4711/],
    ['an identifier that is a path', change({ id: '../../account/users/1' }, firstRecord), /\.id: the saved state has no unused record/],
    ['an identifier above the safe integers', change({ id: 2 ** 53 }, firstRecord), /\.id is not an identifier/],
    ['a negative identifier', change({ id: -1 }, firstRecord), /\.id is not an identifier/],
    ['a fraction as identifier', change({ id: 1.5 }, firstRecord), /\/id/],
    ['the identifier of another zone', change({ id: 2 }, 0), /\.changes\[0\]\.id is not the identifier of the zone/],
    [
      'the same record twice',
      (document) => void document.zones[0].changes.push({ ...document.zones[0].changes[firstRecord], after: [] }),
      /\.id: the saved state has no unused record/,
    ],
    [
      'another existing side',
      change({ existing: { name: 'mail.example.com.', type: 'A', ttl: null, data: '203.0.113.1' } }, firstRecord),
      /contradicts itself at zones\[0\]\.changes\[\d+\]\.existing/,
    ],
    ['another action', change({ action: 'delete' }, 0), /contradicts itself at zones\[0\]\.changes\[0\]\.action/],
    ['neither an existing nor a desired side', change({ existing: null, desired: null }, firstRecord), /changes nothing/],
    ['another field', change({ fields: [] }, firstUpdate), /contradicts itself at zones\[0\]\.changes\[\d+\]\.fields/],
    ['a name above the zone', desired({ name: 'com.' }), /\.desired\.name com\. is not in the zone/],
    ['a name beside the zone', desired({ name: 'wwwexample.com.' }), /is not in the zone/],
    ['a name in upper case', desired({ name: 'WWW.example.com.' }), /is not a canonical name/],
    ['a name with a label too long', desired({ name: `${'a'.repeat(64)}.example.com.` }), /is not a canonical name/],
    ['an invalid type', desired({ type: 'a' }), /\.type is not a record type/],
    ['a JavaScript property as type', desired({ type: 'constructor' }), /\.type is not a record type/],
    ['a TTL beyond any', desired({ ttl: 2 ** 31 }), /desired\/ttl|desired must/],
    ['invalid rdata', desired({ data: 'x" y' }), /\.desired\.data/],
    ['rdata with a line feed', desired({ data: '192.0.2.1\nevil A 192.0.2.2' }), /\.desired\.data/],
    ['no rdata', desired({ data: '' }), /\.desired\.data/],
    ['very long rdata', desired({ data: 'a'.repeat(400_000) }), /\.desired\.data is longer than any record/],
    ['deeply nested quotes', desired({ data: '="'.repeat(100_000) }), /\.desired\.data/],
    ['a change that waits for itself', change({ after: [0] }, 0), /\.changes\[0\]\.after names change 0, which the same call carries/],
    [
      'two changes that wait for each other',
      (document) => {
        document.zones[0].changes[1].after = [2]
        document.zones[0].changes[2].after = [1]
      },
      /\.changes\[1\]\.after has a cycle/,
    ],
    ['a change that waits for an unknown change', change({ after: [99] }, 1), /\.after names change 99/],
    ['a change that waits for index -1', change({ after: [-1] }, 1), /after\/0/],
    ['a change that waits for index 0.5', change({ after: [0.5] }, 1), /after\/0/],
    ['a change that waits for one change twice', change({ after: [0, 0] }, 1), /after/],
    ['a hundred thousand waits', change({ after: Array.from({ length: 100_000 }, (_, index) => index) }, 1), /\.after names change/],
    [
      'two changes of the zone',
      (document) => void document.zones[0].changes.push({ ...document.zones[0].changes[0], after: [] }),
      /changes the zone itself and is not the first/,
    ],
    ['an unknown setting', put('zones.0.changes.0.desired.token', 'x'), /token/],
  ])('%s is refused', (_, spoil, expected) => {
    const message = refusal(parse(resealed(TEXT, spoil)))
    expect(message).toMatch(expected)
    expect(message.length).toBeLessThan(3000)
  })

  test('refuses a zone that is created late or never', () => {
    const plan = planOf(null, 'www A 192.0.2.1')
    const text = savedText([{ plan, existing: null }])
    expect(parse(text).diagnostics).toEqual([])
    expect(refusal(parse(resealed(text, put('zones.0.changes.1.after', []))))).toMatch(/\[1\]\.after does not wait for the zone/)
    expect(refusal(parse(resealed(text, (document) => void document.zones[0].changes.shift())))).toMatch(/\[0\] does not create the zone/)
  })

  test.each<[string, string, RegExp]>([
    ['nothing', '', /is not valid JSON/],
    ['a list', '[]', /is not a JSON object/],
    ['null', 'null', /is not a JSON object/],
    ['a plan report without the data for apply', '{"format":"zonewright-plan","version":2}', /is only a report of a plan/],
    ['deep lists', '['.repeat(1_000_000), /nested more than 16 levels/],
    ['deep objects', '{"a":'.repeat(1_000_000), /nested more than 16 levels/],
    ['too many values', `[${'[],'.repeat(9_000_000)}[]]`, /more than 8000000 values/],
    ['an open string', '{"format":"zonewright-plan', /is not valid JSON/],
    ['half a surrogate pair', '{"format":"zonewright-plan\\udc00"}', /is not valid JSON/],
    ['a trailing escape', '{"a":"\\', /is not valid JSON/],
  ])('%s is not a plan', (_, text, expected) => {
    const message = refusal(parse(text))
    expect(message).toMatch(/^plan-file-invalid plan\.json /)
    expect(message).toMatch(expected)
  })

  test('reports only the first of many errors', () => {
    const text = resealed(
      TEXT,
      put(
        'zones',
        Array.from({ length: 500_000 }, () => 0),
      ),
    )
    expect(refusal(parse(text))).toMatch(/\/zones\/0 must be object/)
  })

  test('never throws for random values in random places', () => {
    const values = [null, true, -1, 1e308, '', 'x', '\ud800', [], {}, [[]], { a: 1 }, 'example.com.', 0]
    const random = seededRandom(2)
    for (let round = 0; round < rounds(200); round += 1) {
      const text = resealed(TEXT, (document) => {
        let at = document
        for (let depth = random.below(7); ; depth -= 1) {
          const key = random.pick(Object.keys(at))
          if (depth <= 0 || typeof at[key] !== 'object' || at[key] === null || Object.keys(at[key]).length === 0) {
            at[key] = random.pick(values)
            return
          }
          at = at[key]
        }
      })
      for (const { code } of parse(text).diagnostics) expect(CODES).toContain(code)
    }
  })
})

describe('signature', () => {
  const SIGNED = savedText([SAMPLE], 'a key')

  test('with the same key is accepted, and the key is not in the file', () => {
    expect(parse(savedText([SAMPLE], 'hunter2-hunter2'), 'hunter2-hunter2')).toMatchObject({ saved: { signed: true }, diagnostics: [] })
    expect(savedText([SAMPLE], 'hunter2-hunter2')).not.toContain('hunter2')
  })

  test('gives a notice without the key', () => {
    const { saved, diagnostics } = parse(SIGNED)
    expect(saved).not.toBeNull()
    expect(diagnostics).toMatchObject([{ severity: 'notice', code: 'plan-file-signature' }])
  })

  test.each<[string, string, RegExp]>([
    ['another key', savedText([SAMPLE], 'a kez'), /another key/],
    ['no signature', TEXT, /is not signed/],
    ['a changed plan with a new checksum', resealed(SIGNED, put('tool', 'zonewright 9')), /another key/],
    ['a changed plan, signed with another key', resealed(SIGNED, put('tool', 'zonewright 9'), 'other'), /another key/],
    ['an invalid signature', resealed(SIGNED, put('signature', null)), /another key/],
    ['a short signature', resealed(SIGNED, put('signature', 'hmac-sha256:')), /another key/],
  ])('%s is refused', (_, text, expected) => {
    expect(refusal(parse(text, 'a key'))).toMatch(/^plan-file-signature /)
    expect(refusal(parse(text, 'a key'))).toMatch(expected)
  })
})

describe('targets', () => {
  const saved = parse(TEXT).saved
  const check = (patch: object): string[] => {
    const provider = { ...TARGET, capabilities: CLOUD_CAPABILITIES, ...patch } as Provider
    return saved === null
      ? ['no plan']
      : checkTargets(saved, 'plan.json', new Map([['cloud', provider]])).map(({ code, message }) => `${code} ${message}`)
  }

  test('the same one is accepted', () => expect(check({})).toEqual([]))
  test('another address is refused', () =>
    expect(check({ address: 'https://dns.example.org/v4' })).toEqual([
      'plan-file-target plan.json was made for cloud at https://dns.example.net/v4; in this config cloud is https://dns.example.org/v4',
    ]))
  test('another type is refused', () => expect(check({ type: 'zonefile' })[0]).toMatch(/made for cloud at type cloud; .* is type zonefile/))

  test.each<[string, object, RegExp]>([
    ['a TTL that the target does not store', { ttl: 301 }, /records\[0\]\.ttl would be stored differently/],
    ['a type that the target does not hold', { type: 'HINFO', data: '"a" "b"' }, /does not support HINFO/],
  ])('%s is refused', (_, patch, expected) => {
    const plan = planOf('', 'www A 192.0.2.1')
    const text = resealed(savedText([{ plan, existing: existingZone(ORIGIN, '') }]), (document) => {
      const [change] = document.zones[0].changes
      Object.assign(change.desired, patch)
      change.type = change.desired.type
    })
    const forged = parse(text).saved
    const provider = { ...TARGET, capabilities: CLOUD_CAPABILITIES } as Provider
    expect(forged && checkTargets(forged, 'plan.json', new Map([['cloud', provider]]))).toMatchObject([
      { code: 'plan-file-invalid', message: expect.stringMatching(expected) },
    ])
  })

  test.each<[string, CallRules, RegExp]>([
    ['two records in one call', CALL_RULES.record, /call 0 carries more than 1 record$/],
    ['two record sets in one call', CALL_RULES.rrset, /call 0 carries more than 1 record set$/],
  ])('%s are refused if the target takes one', (_, calls, expected) => {
    const plan = planOf('', 'www A 192.0.2.1\nmail A 192.0.2.2')
    const forged = parse(resealed(savedText([{ plan, existing: existingZone(ORIGIN, '') }]), joinCalls)).saved
    const provider = { ...TARGET, capabilities: { ...CLOUD_CAPABILITIES, calls } } as Provider
    expect(forged && checkTargets(forged, 'plan.json', new Map([['cloud', provider]]))).toMatchObject([
      { code: 'plan-file-invalid', message: expect.stringMatching(expected) },
    ])
  })
})

describe('a zone that is created with its records', () => {
  const capabilities = { ...CLOUD_CAPABILITIES, calls: CALL_RULES.zone }
  const plan = planOf(null, '', { desired: desiredZone(ORIGIN, 'www A 192.0.2.1\nmail A 192.0.2.2'), capabilities })
  const text = savedText([{ plan, existing: null }])

  test('is read unchanged', () => {
    expect(plan.calls).toMatchObject({ create: 3, total: 1 })
    expect(parse(text).saved?.zones).toMatchObject([{ plan }])
  })

  test.each<[string, Corruption, RegExp]>([
    ['after its records', swapCalls, /changes\[0\]\.call is not the first call/],
    ['in an update', put('zones.0.changes.0.action', 'update'), /changes\[0\]/],
  ])('is refused %s', (_, corrupt, expected) => expect(refusal(parse(resealed(text, corrupt)))).toMatch(expected))

  test('is refused by a target that does not take both in one call', () => {
    const { saved } = parse(text)
    const provider = { ...TARGET, capabilities: { ...capabilities, calls: { ...CALL_RULES.zone, createsZoneWithRecords: false } } }
    expect(saved && checkTargets(saved, 'plan.json', new Map([['cloud', provider as Provider]]))).toMatchObject([
      { code: 'plan-file-invalid', message: expect.stringMatching(/call 0 creates the zone and carries a record$/) },
    ])
  })
})

/** Puts the last change of a document with one call before the others. */
function swapCalls(document: Parameters<Parameters<typeof resealed>[1]>[0]): void {
  const { changes, calls } = document.zones[0]
  for (const change of changes.slice(0, -1)) change.call = 1
  changes.at(-1).after = [0]
  calls.total = 2
  document.summary.calls = 2
}

/** Puts the changes of a document with two calls into one. */
function joinCalls(document: Parameters<Parameters<typeof resealed>[1]>[0]): void {
  document.zones[0].changes[1].call = 0
  document.zones[0].calls.total = 1
  document.summary.calls = 1
}

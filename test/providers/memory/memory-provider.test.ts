/** The provider in memory is no kinder than real services: it accepts, refuses and stores what they do. */
import { describe, expect, test } from 'vitest'
import { type ResourceRecord, rrsetKey } from '../../../src/dns/record.ts'
import type { Ttl } from '../../../src/dns/ttl.ts'
import type { Capabilities } from '../../../src/plan/capabilities.ts'
import { type RrsetChange, rrsetImage } from '../../../src/plan/changesets.ts'
import type { RecordChange } from '../../../src/plan/plan.ts'
import { CLOUD_CAPABILITIES } from '../../../src/providers/cloud/capabilities.ts'
import { cloudflareCapabilities } from '../../../src/providers/cloudflare/capabilities.ts'
import { desecCapabilities } from '../../../src/providers/desec/capabilities.ts'
import { DIGITALOCEAN_CAPABILITIES } from '../../../src/providers/digitalocean/capabilities.ts'
import { createMemory, type Memory } from '../../../src/providers/memory/memory-provider.ts'
import { type Provider, type ProviderCall, ProviderError } from '../../../src/providers/provider.ts'
import { DESEC, DIGITALOCEAN, ROUTE53 } from '../../conformance/scripted-target.ts'
import { openProvider, type TargetKind } from '../../conformance/targets.ts'
import { type Exchange, readRecording } from '../../scripted/replay.ts'
import { rounds, seededRandom } from '../../support/random.ts'
import { name, records } from '../../support/records.ts'

const ORIGIN = name('example.com.')

const change = (
  action: RecordChange['action'],
  existing: (ResourceRecord & { id?: unknown }) | null,
  desired: ResourceRecord | null,
): RecordChange => ({
  subject: 'record',
  action,
  id: (existing?.id ?? null) as string | number | null,
  call: 0,
  after: [],
  name: (desired ?? existing)?.name ?? ORIGIN,
  type: (desired ?? existing)?.type ?? '',
  existing,
  desired,
  fields: ['data'],
})

/** A call that makes RRsets of a zone as given. */
function replacing(
  before: readonly ResourceRecord[],
  after: readonly ResourceRecord[],
  owners: readonly Pick<ResourceRecord, 'name' | 'type'>[],
): ProviderCall {
  const of = (some: readonly ResourceRecord[], key: string): ResourceRecord[] => some.filter((record) => rrsetKey(record) === key)
  const rrsets = owners.map(({ name: owner, type }): RrsetChange => {
    const key = rrsetKey({ name: owner, type })
    return { name: owner, type, existing: rrsetImage(of(before, key)), desired: rrsetImage(of(after, key)) }
  })
  return { changes: [change('update', before[0] ?? null, after[0] ?? null)], rrsets }
}

const accepted = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      if (error instanceof ProviderError) return false
      throw error
    },
  )

interface RecordedService {
  readonly zone: string
  readonly memory: Memory
  /** Makes the change of an exchange in memory; null if the exchange only reads. */
  apply(exchange: Exchange, memory: Memory, provider: Provider): Promise<unknown> | null
  /** The records that the answer states, as `owner type data`, and the part of the zone that they are; null if it states none. */
  listed(exchange: Exchange): { readonly records: readonly string[]; readonly isPart: (record: ResourceRecord) => boolean } | null
}

/** A service with single records that have identifiers. */
function singleRecords(zone: string, memory: Memory, listKey: string, field: 'content' | 'data', isFull: boolean): RecordedService {
  const idOf = new Map<string, string | number | undefined>()
  const owner = (text: string): string => (isFull ? `${text}.` : text === '@' ? zone : `${text}.${zone}`)
  const recordOf = (body: Record<string, unknown>): ResourceRecord => {
    const data = String(body[field])
    const text = body['type'] === 'TXT' ? `"${data}"` : body['type'] === 'CNAME' ? `${data}.` : data
    return records(name(zone), `${owner(String(body['name']))} ${body['ttl']} ${body['type']} ${text}`)[0] as ResourceRecord
  }
  return {
    zone,
    memory,
    async apply({ method, uri, request, response, status }, _, provider) {
      const [reference] = (await provider.listZones()).zones
      const recorded = uri.split('/').at(-1) ?? ''
      const id = idOf.get(recorded)
      const existing = method === 'POST' ? null : { ...records(name(zone), 'gone A 192.0.2.1')[0], id }
      const desired = method === 'DELETE' ? null : recordOf(JSON.parse(request))
      const action = method === 'POST' ? 'create' : method === 'PUT' ? 'update' : 'delete'
      const result = await provider.apply(reference ?? null, { changes: [change(action, existing as never, desired)], rrsets: [] })
      const body = response === '' ? {} : JSON.parse(response)
      if (status < 300) idOf.set(String((body.result ?? body.domain_record)?.id), result.changes?.[0]?.id)
    },
    listed({ uri, response }) {
      const body = response === '' ? {} : JSON.parse(response)
      const { searchParams } = new URL(uri)
      const [wanted, type, content] = ['name', 'type', 'content'].map((key) => searchParams.get(key))
      if (!Array.isArray(body[listKey]) || !uri.includes('records') || wanted == null) return null
      const isPart = (record: ResourceRecord): boolean =>
        record.name === `${wanted}.` && (type ?? record.type) === record.type && record.data.includes(content ?? '')
      return { records: body[listKey].map((item: Record<string, unknown>) => lineOf(recordOf(item))), isPart }
    },
  }
}

const lineOf = (record: ResourceRecord): string => `${record.name} ${record.ttl} ${record.type} ${record.data}`

/** A service that stores whole RRsets. */
function wholeRrsets(zone: string, memory: Memory): RecordedService {
  type Body = { readonly subname: string; readonly type: string; readonly ttl: number; readonly records: readonly string[] }
  const recordsOf = ({ subname, type, ttl, records: some }: Body): ResourceRecord[] =>
    some.map((data) => ({ name: name(`${subname}.${zone}`), type, ttl: ttl as Ttl, data }))
  return {
    zone,
    memory,
    async apply({ method, uri, request }, _, provider) {
      const [reference] = (await provider.listZones()).zones
      const [, subname = '', type = ''] = /rrsets\/([^/]+)\/([A-Z]+)\/+$/.exec(uri) ?? []
      const body: Body = method === 'DELETE' ? { subname, type, ttl: 3600, records: [] } : JSON.parse(request)
      const of = { name: name(`${body.subname}.${zone}`), type: body.type }
      const before = (await provider.readZone(reference as never)).records
      await provider.apply(reference ?? null, replacing(before, recordsOf(body), [of]))
    },
    listed({ uri, response }) {
      const { searchParams } = new URL(uri)
      const [subname, type] = [searchParams.get('subname'), searchParams.get('type')]
      if (subname === null || response === '') return null
      const isPart = (record: ResourceRecord): boolean => record.name === `${subname}.${zone}` && (type ?? record.type) === record.type
      return { records: (JSON.parse(response) as Body[]).flatMap(recordsOf).map(lineOf), isPart }
    },
  }
}

const inMemory = (capabilities: Parameters<typeof createMemory>[0]['capabilities'], zone: string, text = ''): Memory =>
  createMemory({ capabilities, zones: { [zone]: text } })

describe('answers as a service was recorded to answer', () => {
  // A record that the recording refuses to create again was created before it began.
  const NOOP = '_acme-challenge.noop 3600 TXT "challengetoken"'
  test.each<readonly [string, RecordedService]>([
    [
      'cloudflare',
      singleRecords('byemike.org.', inMemory(cloudflareCapabilities('free', true), 'byemike.org.', NOOP), 'result', 'content', true),
    ],
    [
      'digitalocean',
      singleRecords('foxwoodswebsites.com.', inMemory(DIGITALOCEAN_CAPABILITIES, 'foxwoodswebsites.com.'), 'domain_records', 'data', false),
    ],
    [
      'desec',
      wholeRrsets(
        'desec.lexicon.',
        inMemory(
          desecCapabilities(() => null),
          'desec.lexicon.',
        ),
      ),
    ],
  ])('%s', async (service, { zone, memory, apply, listed }) => {
    const provider = memory.open()
    const compared = { changes: 0, lists: 0 }
    for (const { exchanges } of readRecording(service)) {
      for (const exchange of exchanges) {
        const { method, uri, status } = exchange
        if (method !== 'GET') {
          compared.changes += 1
          expect(await accepted(apply(exchange, memory, provider) ?? Promise.resolve()), `${method} ${uri}`).toBe(status < 300)
          continue
        }
        const list = listed(exchange)
        if (list === null) continue
        compared.lists += 1
        const [reference] = (await provider.listZones()).zones
        const now = (await provider.readZone(reference as never)).records.filter(list.isPart)
        expect(now.map(lineOf).sort(), uri).toEqual([...list.records].sort())
      }
    }
    expect(compared.changes).toBeGreaterThanOrEqual(20)
    if (service !== 'digitalocean') expect(compared.lists).toBeGreaterThan(10)
    expect(memory.zone(zone)).not.toEqual([])
  })
})

/** Changes that services refuse are among them: clashes with a CNAME, duplicates, records that do not exist. */
const LINES = [
  'a 300 A 192.0.2.1',
  'a 300 A 192.0.2.2',
  'a 300 AAAA 2001:db8::1',
  'a 300 CNAME b',
  'a 300 CNAME c',
  'b 300 A 192.0.2.1',
  'b 300 CNAME a',
  'b 300 TXT "text"',
  '@ 300 A 192.0.2.1',
  '@ 300 CNAME a',
  '@ 300 MX 10 a',
  'c 300 LOC 1 0 0 N 1 0 0 E 0m',
]

describe('accepts and refuses random calls like the provider at a server that answers as recorded', () => {
  const kinds: readonly TargetKind[] = [DIGITALOCEAN, DESEC, ROUTE53]
  test.each(kinds.map((kind) => [kind.name, kind] as const))('%s', async (_, kind) => {
    const running = await kind.start()
    const real = await openProvider(running)
    const [reference] = (await real.listZones()).zones
    if (reference === undefined) throw new Error('no zone')
    const isApex = ({ name: owner, type }: ResourceRecord): boolean => owner === ORIGIN && (type === 'NS' || type === 'SOA')
    const memory = inMemory(real.capabilities, 'example.com.')
    const ours = memory.open()
    const [own] = (await ours.listZones()).zones
    const random = seededRandom(28)
    const refused = { real: 0, total: 0 }
    const pool = records(ORIGIN, LINES.join('\n'))
    for (let round = 0; round < rounds(180); round += 1) {
      const [live, held] = [await real.readZone(reference), await ours.readZone(own as never)]
      const picked = random.pick(pool)
      const call = (existing: readonly (ResourceRecord & { id?: unknown })[]): ProviderCall => {
        const known = existing.find((one) => one.name === picked.name && one.type === picked.type && one.data === picked.data)
        if (real.capabilities.calls.unit === 'record') {
          if (known === undefined) return { changes: [change('create', null, picked)], rrsets: [] }
          if (chance < 0.5) return { changes: [change('delete', known, null)], rrsets: [] }
          return { changes: [change('update', known, { ...picked, ttl: 600 as Ttl })], rrsets: [] }
        }
        const same = existing.filter((one) => rrsetKey(one) === rrsetKey(picked))
        const after = known === undefined ? [...same, picked] : same.filter((one) => one !== known)
        return replacing(same, after, [picked])
      }
      const chance = random.below(100) / 100
      const callOfReal = call(live.records)
      const outcome = await accepted(real.apply(reference, callOfReal))
      refused.total += 1
      refused.real += Number(!outcome)
      expect(
        await accepted(ours.apply(own ?? null, call(held.records))),
        `${round}: ${lineOf(picked)} beside ${held.records.map(lineOf)}`,
      ).toBe(outcome)
      const after = (await real.readZone(reference)).records.filter((record) => !isApex(record)).map(lineOf)
      expect(memory.zone('example.com.'), `${round}: ${lineOf(picked)}`).toEqual(after.sort())
    }
    // Both kinds are common, or the comparison says nothing.
    expect(refused.real).toBeGreaterThan(refused.total / 10)
    expect(refused.real).toBeLessThan(refused.total * 0.9)
    await real.close()
    await running.stop()
  })
})

describe('its settings', () => {
  test('an atomic call is carried out as a whole or not at all; another one as far as it goes', async () => {
    for (const atomic of [true, false]) {
      const memory = inMemory(
        { ...desecCapabilities(() => null), calls: { ...desecCapabilities(() => null).calls, atomic } },
        'example.com.',
      )
      const provider = memory.open()
      const [reference] = (await provider.listZones()).zones
      const [good, bad] = records(ORIGIN, 'a 300 A 192.0.2.1\nb 300 TYPE65280 \\# 1 00')
      const call = replacing([], [good, bad] as ResourceRecord[], [good, bad] as ResourceRecord[])
      expect(await accepted(provider.apply(reference ?? null, call))).toBe(false)
      expect(memory.zone('example.com')).toEqual(atomic ? [] : ['a.example.com. 3600 A 192.0.2.1'])
    }
  })

  test.each<readonly [string, Partial<Capabilities>, number]>([
    ['a call beside another one, if one at a time is carried out', { calls: { ...CLOUD_CAPABILITIES.calls, oneAtATime: true } }, 2],
    ['any call, if zones are only read', { readOnly: true }, 1],
    ['records of a slave zone', {}, 1],
  ])('refuses %s', async (_, capabilities, calls) => {
    const memory = inMemory({ ...CLOUD_CAPABILITIES, ...capabilities }, 'example.com.')
    if (Object.keys(capabilities).length === 0) memory.changeSettings('example.com', { type: 'slave' })
    const provider = memory.open()
    const [reference] = (await provider.listZones()).zones
    const created = records(ORIGIN, 'a 300 A 192.0.2.1\nb 300 A 192.0.2.1').slice(0, calls)
    const outcomes = created.map((one) =>
      accepted(provider.apply(reference as never, { changes: [change('create', null, one)], rrsets: [] })),
    )
    expect(await Promise.all(outcomes)).toEqual([false, true].slice(0, calls))
  })

  test('a limit of records, a missing zone, a zone that exists, a record that another client removed', async () => {
    const memory = inMemory({ ...CLOUD_CAPABILITIES, maxRecords: 1 }, 'example.com.')
    const provider = memory.open()
    const [reference] = (await provider.listZones()).zones
    const [one, two] = records(ORIGIN, 'a 300 A 192.0.2.1\nb 300 A 192.0.2.1') as readonly ResourceRecord[] as [
      ResourceRecord,
      ResourceRecord,
    ]
    const apply = (action: RecordChange['action'], existing: ResourceRecord | null, desired: ResourceRecord | null) =>
      provider.apply(reference ?? null, { changes: [change(action, existing, desired)], rrsets: [] })
    await apply('create', null, one)
    await expect(apply('create', null, two)).rejects.toMatchObject({ code: 'limit-exceeded' })
    await expect(apply('delete', { ...one, id: 99 } as ResourceRecord, null)).rejects.toMatchObject({ code: 'provider-not-found' })
    memory.removeZone('example.com')
    await expect(apply('create', null, two)).rejects.toMatchObject({ code: 'provider-not-found' })
  })
})

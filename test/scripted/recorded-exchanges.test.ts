/** The scripted services answer as the real ones did: every recorded exchange is replayed, in order, and compared in status, structure and values. */
import type { RecordSet } from './azure/record-sets.ts'
import { createAzure } from './azure/service.ts'
import type { Fields } from './base.ts'
import type { CloudflareRecord } from './cloudflare/records.ts'
import { type CloudflareZone, createCloudflare } from './cloudflare/service.ts'
import type { DesecRrset } from './desec/rrsets.ts'
import { createDesec } from './desec/service.ts'
import type { DigitalOceanRecord } from './digitalocean/records.ts'
import { createDigitalOcean } from './digitalocean/service.ts'
import type { GoogleRrset } from './google/rrsets.ts'
import { createGoogle, type GoogleZone } from './google/service.ts'
import type { HetznerRrset } from './hetzner/rrsets.ts'
import { createHetzner } from './hetzner/service.ts'
import type { HetznerZone } from './hetzner/zones.ts'
import type { Exchange } from './replay.ts'
import { replayTests } from './replay-tests.ts'
import { readRecordSet } from './route53/record-sets.ts'
import { createRoute53 } from './route53/service.ts'
import { elementAt, parseXml, textAt, xmlToJson } from './route53/xml.ts'
import type { ScalewayRecord } from './scaleway/records.ts'
import { createScaleway } from './scaleway/service.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const MICROSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const RATE = { 'ratelimit-remaining': /^\d{1,4}$/, 'ratelimit-reset': /^\d{10}$/ }
const token = 'test-token'
const isNumber = (field: string, value: string | number): RegExp | null => (field === 'id' && typeof value === 'number' ? /^\d+$/ : null)
const bodyOf = <T>({ response }: Exchange): T => JSON.parse(response || '{}') as T

type AzureSet = { name: string; type: string; etag: string; properties: Fields & { readonly TTL: number } }

replayTests('azure', {
  size: [26, 129],
  generated: { pattern: (field) => (field === 'etag' ? UUID : null) },
  seed({ exchanges }) {
    const lists = exchanges.flatMap((one) => (one.method === 'GET' ? [bodyOf<{ value: readonly AzureSet[] }>(one).value] : []))
    const [zone] = lists[0] ?? []
    const sets = (lists.find((list) => list.some(({ type }) => type.endsWith('/SOA'))) ?? []).slice(0, 2).map((set): RecordSet => {
      const type = set.type.split('/').at(-1) ?? ''
      const records = type === 'SOA' ? [set.properties['SOARecord'] as Fields] : (set.properties['NSRecords'] as readonly Fields[])
      return { name: set.name, type, etag: set.etag, ttl: set.properties.TTL, records, metadata: undefined, targetResource: {} }
    })
    const [, subscription = '', resourceGroup = ''] = /subscriptions\/([^/]+)\/resourceGroups\/([^/]+)/.exec(exchanges[0]?.uri ?? '') ?? []
    const zones = [{ name: zone?.name ?? '', etag: zone?.etag ?? '', sets }]
    const { service } = createAzure({ subscription, resourceGroup, token, zones })
    return { service, shared: [zone?.etag ?? '', ...sets.map(({ etag }) => etag)] }
  },
})

replayTests('cloudflare', {
  size: [26, 88],
  generated: {
    pattern: (field) =>
      field === 'id' ? /^[0-9a-f]{32}$/ : /^(?:created|modified)_on$/.test(field) ? /^\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d{1,6})?Z$/ : null,
  },
  seed({ exchanges }) {
    const resultOf = <T>(one: Exchange): T => bodyOf<{ readonly result: T }>(one).result
    const zones = resultOf<readonly CloudflareZone[]>(exchanges[0] as Exchange)
    const created = new Set(exchanges.flatMap((one) => (one.method === 'POST' ? (resultOf<{ id: string } | null>(one)?.id ?? []) : [])))
    const records = new Map<string, CloudflareRecord[]>()
    const known = new Set<string>()
    for (const one of exchanges) {
      const [, zone] = /\/zones\/([^/]+)\/dns_records\?/.exec(one.uri) ?? []
      if (zone === undefined) continue
      for (const record of resultOf<readonly CloudflareRecord[]>(one)) {
        if (created.has(record.id) || known.has(record.id)) continue
        known.add(record.id)
        records.set(zone, [...(records.get(zone) ?? []), record])
      }
    }
    const owners = ['owner', 'account', 'tenant', 'tenant_unit', 'plan']
    return {
      service: createCloudflare({ token, zones, records }).service,
      shared: [
        ...[...zones, ...[...records.values()].flat()].flatMap((one) => [one.id, String(one['created_on']), String(one['modified_on'])]),
        ...zones.flatMap((zone) => owners.map((key) => (zone[key] as { readonly id: string }).id)),
      ],
    }
  },
})

const DOMAIN = 'desec.lexicon'

replayTests('desec', {
  size: [26, 123],
  headers: { authorization: `Token ${token}` },
  generated: {
    pattern: (field) => (field === 'created' || field === 'touched' ? MICROSECONDS : null),
    isUnordered: (field) => field === 'records',
  },
  // The recording has no content of the domain, which has keys.
  isRemoved: ({ uri, response }) => uri.endsWith(`/domains/${DOMAIN}/`) && response === '{}',
  seed({ exchanges }) {
    const list = exchanges.find(({ method, uri }) => method === 'GET' && uri.endsWith('/rrsets//')) as Exchange
    // The only RRset that no client created.
    const rrsets = bodyOf<readonly DesecRrset[]>(list).filter(({ type, subname }) => type === 'NS' && subname === '')
    const { service } = createDesec({ token, domains: [{ name: DOMAIN, rrsets }] })
    return { service, shared: rrsets.flatMap(({ created, touched }) => [created, touched]) }
  },
})

interface DigitalOceanBody {
  readonly domain?: { readonly name: string; readonly zone_file: string }
  readonly domain_records?: readonly DigitalOceanRecord[]
  readonly domain_record?: DigitalOceanRecord
}

replayTests('digitalocean', {
  size: [25, 143],
  generated: { pattern: isNumber, timed: { ...RATE, etag: /^(?:W\/)?"[0-9a-f]{32}"$/ } },
  seed({ exchanges }) {
    const bodies = exchanges.map((one) => bodyOf<DigitalOceanBody>(one))
    const created = new Set(bodies.flatMap((body) => body.domain_record?.id ?? []))
    const all = new Map(bodies.flatMap((body) => body.domain_records ?? []).map((record) => [record.id, record]))
    const seeded = [...all.values()].filter(({ id }) => !created.has(id)).sort((a, b) => a.id - b.id)
    const name = bodies[0]?.domain?.name ?? ''
    const serials = bodies.flatMap(({ domain }) => / (\d{10}) /.exec(domain?.zone_file ?? '')?.[1] ?? [])
    const { service } = createDigitalOcean({ token, domains: [name], records: new Map([[name, seeded]]), serials })
    return { service, shared: seeded.map(({ id }) => id) }
  },
})

replayTests('googleclouddns', {
  size: [26, 129],
  generated: { pattern: (field) => (field === 'startTime' ? MILLISECONDS : null) },
  seed({ exchanges }) {
    const answers = exchanges.map(({ response }) => JSON.parse(response))
    const zones = answers[0].managedZones as readonly GoogleZone[]
    const [list] = answers.flatMap((answer) => (answer.rrsets?.length > 1 ? [answer.rrsets as readonly GoogleRrset[]] : []))
    const { service } = createGoogle({
      project: /projects\/([^/]+)/.exec(exchanges[0]?.uri ?? '')?.[1] ?? '',
      token,
      zones,
      rrsets: new Map([[zones[0]?.id ?? '', (list ?? []).slice(0, 2)]]),
      firstChange: Number(answers.find(({ kind }) => kind === 'dns#change').id),
    })
    return { service, shared: [] }
  },
})

type HetznerBody = { zone: HetznerZone; rrsets: readonly HetznerRrset[]; action: { readonly id: number; progress: number } }

replayTests('hetzner', {
  size: [23, 360],
  generated: { pattern: isNumber, timed: { ...RATE, started: SECONDS, finished: SECONDS } },
  seed({ exchanges: all }) {
    const exchanges = all.map((one) => ({ ...one, path: one.uri.replace(/^https:\/\/[^/]+/, ''), body: bodyOf<HetznerBody>(one) }))
    const [first] = exchanges
    const { zone } = (first as NonNullable<typeof first>).body
    const changes = exchanges.filter(({ method }) => method !== 'GET')
    const created = new Set(changes.map(({ path }) => path.split('/').slice(5, 7).join('/')))
    const list = exchanges.findIndex(({ path }) => path === `/v1/zones/${zone.id}/rrsets`)
    const before = exchanges.slice(0, list).filter(({ method }) => method !== 'GET').length
    // Each change has raised the serial by one.
    const earlier = (soa: string): string => soa.replace(/\d{10}/, (serial) => String(Number(serial) - before))
    const rrsets = (exchanges[list]?.body.rrsets ?? [])
      .filter(({ id }) => !created.has(id))
      .map((rrset) => {
        const records = rrset.records.map((one) => ({ ...one, value: rrset.type === 'SOA' ? earlier(one.value) : one.value }))
        return { ...rrset, records }
      })
    /** The progress that the reads of each action showed, the last one excepted, which showed its end. */
    const steps = changes.map(({ body: { action } }) =>
      exchanges
        .filter(({ method, body }) => method === 'GET' && body.action?.id === action.id)
        .map(({ body }) => body.action.progress)
        .slice(0, -1),
    )
    const { service } = createHetzner({ token, zones: [zone], rrsets, stepsOf: (_, count) => steps[count] ?? [] })
    return { service, shared: [zone.id] }
  },
})

const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE'
const PATTERNS: Record<string, RegExp> = { Id: /^\/(?:change\/C|hostedzone\/Z)[A-Z0-9]{20}$/, RequestId: UUID }

replayTests('route53', {
  size: [28, 124],
  headers: {
    authorization: `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/20220419/us-east-1/route53/aws4_request, SignedHeaders=host, Signature=00`,
  },
  // Two changes may have the same millisecond.
  generated: { pattern: (field) => PATTERNS[field] ?? null, timed: { SubmittedAt: MILLISECONDS }, parse: xmlToJson },
  last: ['test_provider_authenticate_private_zone_false', 'test_provider_authenticate_private_zone_only'],
  seed({ exchanges }) {
    const read = (element: string) => {
      const found = exchanges.find((one) => one.status === 200 && one.response.includes(`<${element}>`))
      return elementAt(parseXml(found?.response ?? ''), element)
    }
    const zone = elementAt(read('HostedZones'), 'HostedZone')
    const text = (...path: readonly string[]): string => textAt(zone, ...path) ?? ''
    const [id, name] = [text('Id').replace('/hostedzone/', ''), text('Name')]
    const all = (read('ResourceRecordSets')?.children ?? []).map((element) => readRecordSet(element, name))
    const sets = all.filter((set) => set.name !== name)
    const zones = [{ id, name, callerReference: text('CallerReference'), comment: text('Config', 'Comment'), sets }]
    return { service: createRoute53({ key: { id: ACCESS_KEY, secret: null }, zones }).service, shared: [`/hostedzone/${id}`] }
  },
})

type ScalewayList = { readonly total_count: number; readonly records: readonly ScalewayRecord[] }

const listsOf = (exchanges: readonly Exchange[]): ScalewayList[] =>
  exchanges.filter(({ method, status }) => method === 'GET' && status === 200).map((one) => bodyOf<ScalewayList>(one))

replayTests('scaleway', {
  size: [28, 124],
  headers: { 'x-auth-token': token },
  generated: {
    pattern: (field) => (field === 'id' ? UUID : null),
    // Records with the same name are in any order.
    keyOf: (field) => (field === 'records' ? (item) => ['name', 'type', 'data'].map((key) => String(item[key])).join(' ') : null),
  },
  // The cases are not stored in the order in which they were recorded; each begins where another ended: by the records at its start, and how many it adds.
  orderOf({ exchanges }) {
    const creates = exchanges.filter(({ request }) => request.includes('"add"')).length
    const deletes = exchanges.flatMap(({ request }) => request.match(/"delete"/g) ?? []).length
    return [listsOf(exchanges)[0]?.total_count ?? 0, creates - deletes]
  },
  seed({ cases }) {
    const first = cases.find((one) => one.case === 'test_provider_authenticate')
    const records = listsOf(first?.exchanges ?? [])[0]?.records ?? []
    const { service } = createScaleway({ token, zones: [{ domain: 'example.com', records }] })
    return { service, shared: records.map(({ id }) => id) }
  },
})

/** What plans and runs do at every scripted cloud: pages, calls, refusals that pass, lost answers, a wrong token, and responses that are not of the API. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PROVIDER_NOTES, type ProviderNotes, requestsOf } from '../../scripts/providers-page/notes.ts'
import { plainSet } from '../scripted/route53/service.ts'
import { isRead, type ScriptedResponse } from '../scripted/scripted-server.ts'
import { CLOUD_TYPES, CLOUDFLARE_ZONE, type CloudType } from '../scripted/services.ts'
import { expectEnd } from '../support/cli.ts'
import { hostSet, startAzureScene } from './azure/scene.ts'
import { startCloudflareScene } from './cloudflare/scene.ts'
import { startDesecScene } from './desec/scene.ts'
import { record, startDigitalOceanScene } from './digitalocean/scene.ts'
import { startGoogleScene } from './google/scene.ts'
import { rrset, startHetznerScene } from './hetzner/scene.ts'
import { startRoute53Scene } from './route53/scene.ts'
import { startScalewayScene } from './scaleway/scene.ts'
import { APPLY, hostLines, PLAN, type SceneOptions, type ScriptedScene, startCloudScene, TOKEN, UNCHANGED, WWW } from './scripted-scene.ts'

const times = <T>(count: number, make: (host: number) => T): T[] => Array.from({ length: count }, (_, host) => make(host))

/** A zone with an address at each of many hosts, and a definition with this address there. */
const WITH_HOSTS: Readonly<
  Record<CloudType, (count: number, definition: string, respond?: SceneOptions['respond']) => Promise<ScriptedScene>>
> = {
  azure: (count, definition, respond) =>
    startAzureScene({ definition, respond, sets: times(count, (host) => hostSet(`h${host}`, '192.0.2.1')) }),
  cloudflare(count, definition, respond) {
    const posts = times(count, (host) => ({ type: 'A', name: `h${host}`, content: '192.0.2.1', ttl: 3600 }))
    return startCloudflareScene({ definition, respond, posts, settings: ', plan: pro', maxRecords: 20_000 })
  },
  desec(count, definition, respond) {
    const rrsets = times(count, (host) => ({ subname: `h${host}`, type: 'A', ttl: 3600, records: ['192.0.2.1'] }))
    return startDesecScene({ definition, respond, rrsets })
  },
  digitalocean: (count, definition, respond) =>
    startDigitalOceanScene({ definition, respond, records: times(count, (host) => record(host + 1, `h${host}`, 'A', '192.0.2.1')) }),
  gandi(count, definition, respond) {
    const rrsets = times(count, (host) => ({ rrset_name: `h${host}`, rrset_type: 'A', rrset_ttl: 3600, rrset_values: ['192.0.2.1'] }))
    return startCloudScene('gandi', { definition, respond, rrsets })
  },
  google: (count, definition, respond) =>
    startGoogleScene({ definition, respond, rrsets: times(count, (host) => `h${host} 3600 A 192.0.2.1`) }),
  hetzner: (count, definition, respond) =>
    startHetznerScene({ definition, respond, rrsets: times(count, (host) => rrset(`h${host}`, 'A', ['192.0.2.1'])) }),
  ovh(count, definition, respond) {
    const record = { zone: 'example.com', fieldType: 'A', target: '192.0.2.1', ttl: 3600 }
    return startCloudScene('ovh', {
      definition,
      respond,
      records: times(count, (host) => ({ id: host + 1, subDomain: `h${host}`, ...record })),
    })
  },
  porkbun(count, definition, respond) {
    const record = { type: 'A', content: '192.0.2.1', ttl: '3600', prio: '0', notes: null }
    const records = times(count, (host) => ({ id: String(host + 1), name: `h${host}.example.com`, ...record }))
    return startCloudScene('porkbun', { definition, respond, records })
  },
  route53: (count, definition, respond) =>
    startRoute53Scene({ definition, respond, sets: times(count, (host) => plainSet(`h${host}.example.com.`, 'A', 3600, '192.0.2.1')) }),
  scaleway(count, definition, respond) {
    const added = times(count, (host) => ({ name: `h${host}`, type: 'A', ttl: 3600, data: '192.0.2.1' }))
    return startScalewayScene({ definition, respond, added })
  },
  vultr(count, definition, respond) {
    const records = times(count, (host) => ({ id: randomUUID(), name: `h${host}`, type: 'A', ttl: 3600, data: '192.0.2.1', priority: 0 }))
    return startCloudScene('vultr', { definition, respond, records })
  },
}

/** A zone without records of its own, or no zone. */
const EMPTY: Readonly<Record<CloudType, (definition: string, isMissing: boolean) => Promise<ScriptedScene>>> = {
  azure: (definition, isMissing) => startAzureScene({ definition, ...(isMissing && { zones: [] }) }),
  cloudflare(definition, isMissing) {
    const account = '2'.repeat(32)
    return startCloudflareScene({ definition, ...(isMissing && { zones: [], account, settings: `, account_id: '${account}'` }) })
  },
  desec: (definition, isMissing) => startDesecScene({ definition, ...(isMissing && { domains: [] }) }),
  digitalocean: (definition, isMissing) => startDigitalOceanScene({ definition, ...(isMissing && { domains: [] }) }),
  gandi: (definition) => startCloudScene('gandi', { definition, rrsets: [] }),
  google: (definition, isMissing) => startGoogleScene({ definition, ...(isMissing && { zones: [] }) }),
  hetzner: (definition, isMissing) => startHetznerScene({ definition, ...(isMissing && { zones: [], rrsets: [] }) }),
  route53: (definition, isMissing) => startRoute53Scene({ definition, ...(isMissing && { zones: [] }) }),
  ovh: (definition) => startCloudScene('ovh', { definition }),
  porkbun: (definition) => startCloudScene('porkbun', { definition }),
  scaleway: (definition) => startScalewayScene({ definition }),
  vultr: (definition, isMissing) => startCloudScene('vultr', { definition, ...(isMissing && { domains: [] }) }),
}

/** The requests that change something. */
const writesOf = (scene: ScriptedScene): number => scene.server.requests.filter((one) => !isRead(one)).length

/** Expects that nothing is left to do. */
const expectUnchanged = async (scene: ScriptedScene): Promise<void> => expect(await scene.run(PLAN)).toMatchObject(UNCHANGED)

describe('reads', () => {
  /** The numbers of docs/providers.md. Two further record sets are the SOA and NS records of the apex at Azure and Google. */
  async function expectReads(type: CloudType, records: number): Promise<void> {
    const hosts = type === 'azure' || type === 'google' ? records - 2 : records
    const scene = await WITH_HOSTS[type](hosts, hostLines(hosts))
    const { status, stdout, requests } = await scene.requestsOf(PLAN)
    expect({ status, stdout }).toEqual(UNCHANGED)
    expect(requests.length).toBe(requestsOf((PROVIDER_NOTES[type] as ProviderNotes).requests, records))
  }

  test.each(CLOUD_TYPES)('a plan of one record more than a page has at %s reads each page once', (type) =>
    expectReads(type, Math.min(1001, (PROVIDER_NOTES[type]?.requests.recordsPerRequest ?? 0) + 1)),
  )
  // The records of the apex are on the last page, too.
  test.each(CLOUD_TYPES)('a plan of 9,990 records at %s', { tags: ['long'] }, (type) => expectReads(type, 9990))
})

test('a full page of Gandi that does not state how many record sets there are is not taken for all', async () => {
  const rrsets = times(500, (host) => ({ rrset_name: `h${host}`, rrset_type: 'A', rrset_ttl: 3600, rrset_values: ['192.0.2.1'] }))
  const page = { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(rrsets) }
  const scene = await WITH_HOSTS.gandi(500, hostLines(501), ({ path }) => (path.endsWith('/records') ? page : undefined))
  expect(await scene.run(PLAN)).toMatchObject({ status: 1, stderr: expect.stringContaining('provider-garbled') })
})

describe('calls', () => {
  /** Requests that change 20 records, or 1,000 of them. */
  const COUNTS: readonly (readonly [type: CloudType, few: number, many: number])[] = [
    ['azure', 20, 1000],
    ['cloudflare', 1, 1],
    ['desec', 1, 1],
    ['digitalocean', 20, 1000],
    ['gandi', 20, 1000],
    ['google', 1, 1],
    ['hetzner', 20, 1000],
    ['route53', 1, 2],
    ['ovh', 20, 1000],
    ['porkbun', 20, 1000],
    ['scaleway', 1, 1],
    ['vultr', 20, 1000],
  ]

  async function expectCalls(type: CloudType, records: number, calls: number): Promise<void> {
    const scene = await WITH_HOSTS[type](records, hostLines(records, '192.0.2.2'))
    expect((await scene.run(APPLY)).status).toBe(0)
    expect(writesOf(scene)).toBe(calls)
    await expectUnchanged(scene)
  }

  test.each(COUNTS)('20 records are changed at %s', (type, few) => expectCalls(type, 20, few))
  test.each(COUNTS)('1,000 records changed at %s', { tags: ['long'] }, (type, _, many) => expectCalls(type, 1000, many))
})

describe('requests', () => {
  test.each(CLOUD_TYPES)('a rate limit is waited out at %s', async (type) => {
    const scene = await startCloudScene(type, { definition: WWW, requestsPerPause: 4 } as SceneOptions)
    expect((await scene.run(APPLY)).status).toBe(0)
    await expectUnchanged(scene)
  })

  test.each(CLOUD_TYPES)('a lost answer is looked up at %s, and the change is not sent again', async (type) => {
    const scene = await EMPTY[type](WWW, false)
    scene.server.loseAnswers(1)
    expect((await scene.run(APPLY)).status).toBe(0)
    // Azure is sent a request again with the condition that nothing has changed.
    expect(writesOf(scene)).toBe(type === 'azure' ? 2 : 1)
    await expectUnchanged(scene)
  })

  test.each(['digitalocean', 'gandi', 'ovh', 'vultr'] as const)(
    'a lost answer to a deletion at %s is confirmed when nothing is found to delete again',
    async (type) => {
      const scene = await WITH_HOSTS[type](2, hostLines(1))
      scene.server.loseAnswers(1)
      expectEnd(await scene.run(APPLY), 0)
      expect(writesOf(scene)).toBe(2)
      // The zone is read for the plan, and at most once after the changes.
      expect(scene.server.requests.filter(({ path }) => /\/records?$/.test(path)).length).toBeLessThan(3)
    },
  )

  test.each(CLOUD_TYPES.filter((type) => !/^(?:gandi|ovh|porkbun|scaleway)$/.test(type)))(
    'a lost answer to the creation of a zone is looked up at %s',
    async (type) => {
      const scene = await EMPTY[type](WWW, true)
      scene.server.loseAnswers(1)
      expect((await scene.run(APPLY)).status).toBe(0)
      // The zone and its record are created once.
      expect(scene.server.requests.filter(({ method, body }) => method !== 'GET' && /example[.-]com/.test(body)).length).toBeLessThan(3)
      await expectUnchanged(scene)
    },
  )
})

test.each<[CloudType, RegExp, RegExp]>([
  ['azure', /401 The access token is invalid\./, /Azure accepts the token/],
  ['cloudflare', /Authentication error \(10000\).*Zone:Read and DNS:Edit/s, /Cloudflare accepts the token/],
  ['desec', /401 Invalid token\..*Token Management/s, /deSEC accepts the token/],
  ['digitalocean', /it needs the scopes domain:read/, /DigitalOcean accepts the token/],
  ['gandi', /401 The server could not verify/, /Gandi accepts the token/],
  ['google', /401 Request had invalid authentication credentials\. \(authError\)/, /Google accepts the token/],
  ['hetzner', /an API token of the project/, /Hetzner accepts the token/],
  ['ovh', /400 Invalid signature.*the consumer key is complete/s, /OVHcloud accepts the token/],
  ['porkbun', /400 Invalid API key\. \(001\).*API ACCESS/s, /Porkbun accepts the token/],
  ['vultr', /401 Invalid API token\..*the API key is complete/s, /Vultr accepts the token/],
  ['scaleway', /401 authentication is denied.*DomainsDNSFullAccess/s, /Scaleway accepts the token/],
])('a token: %s: errors name what to do, and never the token', async (type, refusal, accepted) => {
  const scene = await startCloudScene(type, { definition: WWW })
  const refused = await scene.run(PLAN, { TOKEN: 'wrong-token' })
  expect([refused.status, refused.stdout + refused.stderr]).toEqual([1, expect.stringMatching(refusal)])
  const doctor = expectEnd(await scene.run(['doctor']), 0, { out: accepted })
  const wrong = expectEnd(await scene.run(['doctor'], { TOKEN: 'wrong-token' }), 1)
  for (const { stdout, stderr } of [refused, doctor, wrong])
    for (const secret of ['wrong-token', TOKEN]) expect(stdout + stderr).not.toContain(secret)
})

test.each<[CloudType, hint: string]>([
  ['digitalocean', 'domain:update'],
  ['hetzner', 'create one with the permission Read & Write'],
])('a token at %s that may only read is told that it needs %s', async (type, hint) => {
  const scene = await startCloudScene(type, { definition: WWW })
  const { stdout, stderr } = await scene.run(APPLY, { TOKEN: `${TOKEN}-readonly` })
  expect(stdout + stderr).toContain(hint)
  expect(stdout + stderr).not.toContain(TOKEN)
})

/** Answers of proxies and gateways; the last one looks like a confirmation. */
const FOREIGN: readonly (readonly [status: number, body: unknown])[] = [
  [404, '<html>Not Found</html>'],
  [409, { message: 'Conflict' }],
  [404, { error: { message: 'no route' } }],
  [409, { errors: [{ message: 'Conflict' }] }],
  [404, '<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>'],
]

/** The answer of something between, in JSON unless it is a text. */
const foreign = (status: number, body: unknown): ScriptedResponse => {
  const isText = typeof body === 'string'
  return { status, headers: { 'content-type': isText ? 'text/html' : 'application/json' }, body: isText ? body : JSON.stringify(body) }
}

describe('answers of a gateway', () => {
  test.each(CLOUD_TYPES)('%s: a change that was made is read again, and is not sent again', async (type) => {
    let answers: ScriptedResponse[] = []
    const scene = await WITH_HOSTS[type](1, hostLines(1), (request) => {
      if (isRead(request) || answers.length === 0) return undefined
      scene.scripted.service(request)
      return answers.pop()
    })
    for (const [index, definition] of [hostLines(2), hostLines(2, '192.0.2.2')].entries()) {
      answers = [foreign(...(FOREIGN[index] as (typeof FOREIGN)[number]))]
      const before = writesOf(scene)
      scene.define(definition)
      const { status, stdout } = await scene.run(APPLY)
      expect([status, stdout]).toEqual([0, expect.not.stringContaining('another client')])
      expect(writesOf(scene) - before).toBeLessThan(3)
      await expectUnchanged(scene)
    }
  })

  test.each(CLOUD_TYPES)('%s: a zone is not missing because something between says so', async (type) => {
    let answer: ScriptedResponse | undefined
    const scene = await startCloudScene(type, { definition: WWW, respond: () => answer } as SceneOptions)
    for (const [status, body] of FOREIGN) {
      answer = foreign(status, body)
      const { status: exit, stdout, stderr } = await scene.run(PLAN)
      expect([exit, stdout + stderr]).toEqual([1, expect.stringContaining(`${status} the response is not from the API`)])
    }
  })

  test.each<[CloudType, (body: string) => string]>([
    ['azure', (body) => body.replace('"name":"www"', '"name":"ftp"')],
    ['azure', (body) => body.replace(/"type":"[^"]*\/A"/, '"type":"Microsoft.Network/dnszones/AAAA"')],
    ['google', (body) => body.replace('www.example.com.', 'ftp.example.com.')],
    ['google', (body) => body.replace(/"additions":\[.*?\]\}?\]/, '"additions":[]')],
    ['scaleway', (body) => body.replace('"name":"www"', '"name":"ftp"')],
  ])('%s: a confirmation that names another record is not believed', async (type, alter) => {
    const scene = await startCloudScene(type, {
      definition: WWW,
      respond(request) {
        if (isRead(request)) return undefined
        const answer = scene.scripted.service(request)
        const body = alter(answer.body)
        expect(body).not.toBe(answer.body)
        return { ...answer, body }
      },
    } as SceneOptions)
    expect((await scene.run(APPLY)).status).toBe(0)
    // The records are read again.
    const { requests } = scene.server
    const after = requests.slice(requests.findIndex((one) => !isRead(one)) + 1)
    expect(after.filter(({ path }) => !path.includes('/changes/'))).not.toEqual([])
    await expectUnchanged(scene)
  })
})

describe('responses that are not of the API', () => {
  const properties = { TTL: 300, ARecords: [{ ipv4Address: '192.0.2.1' }] }
  const SET = { name: 'www', type: 'Microsoft.Network/dnszones/A', etag: '1', properties }
  const INFO = { page: 1, per_page: 5000, count: 1, total_count: 1, total_pages: 1 }
  const RECORD = { id: 'a1', name: 'www.example.com', type: 'A', content: '192.0.2.1', ttl: 300 }
  const cloudflare = (one: unknown, info: unknown = INFO): object => ({ result: [one], result_info: info })
  const RRSET = { name: 'www.example.com.', type: 'A', ttl: 3600, records: ['192.0.2.1'] }
  const DO_RECORD = record(1, 'www', 'A', '192.0.2.1')
  const digitalOcean = (domain_records: unknown, total = 1): object => ({ domain_records, links: {}, meta: { total } })
  const GOOGLE_RRSET = { name: 'www.example.com.', type: 'A', ttl: 300, rrdatas: ['192.0.2.1'] }
  const HETZNER_RRSET = { name: 'www', type: 'A', ttl: 300, records: [{ value: '192.0.2.1' }] }
  const hetzner = (rrsets: unknown, more: object = {}): object => ({
    rrsets,
    meta: { pagination: { page: 1, last_page: 1, total_entries: 1, ...more } },
  })
  const SCW_RECORD = { name: 'www', type: 'A', ttl: 3600, data: '192.0.2.1', id: '11111111-2222-4333-8444-555555555555' }
  const VULTR_RECORD = { ...SCW_RECORD, priority: 0 }
  const vultr = (records: unknown, links: object = {}): object => ({ records, meta: { total: 1, links: { next: '', prev: '', ...links } } })
  const scaleway = (records: unknown, total_count: unknown = 1): object => ({ total_count, records })
  const RECORDS = /\/(?:records|dns_records|rrsets|recordsets)\/?$/
  const DOMAIN = /\/domains\/example\.com\/$/

  const CASES: readonly (readonly [type: CloudType, name: string, body: unknown, message: RegExp, path?: RegExp])[] = [
    ['azure', 'no list', {}, /value is not a list/],
    ['azure', 'a list without end', { value: [SET], nextLink: 'https://management.azure.com/x?page=2' }, /the list has no end/],
    ['azure', 'a next page that is no address', { value: [], nextLink: 'x' }, /next page is no URL/],
    ['azure', 'an ETag that is none', { value: [{ ...SET, etag: 'a\r\nb' }] }, /an ETag with spaces/],
    ['azure', 'a name that is none', { value: [{ ...SET, name: 'a..b' }] }, /a record set is named/],
    ['azure', 'a TTL that is none', { value: [{ ...SET, properties: { ...properties, TTL: '300' } }] }, /no whole number "TTL"/],
    ['azure', 'records that are none', { value: [{ ...SET, properties: { ...properties, ARecords: 1 } }] }, /A records is not a list/],
    ['cloudflare', 'no list', { result: {}, result_info: INFO }, /result is not a list/],
    ['cloudflare', 'no pages', { result: [RECORD] }, /result_info is not an object/],
    ['cloudflare', 'too many pages', cloudflare(RECORD, { ...INFO, total_pages: 100_000 }), /100000 pages/],
    ['cloudflare', 'an identifier that is a path', cloudflare({ ...RECORD, id: '../../zones' }), /has the id/],
    ['cloudflare', 'a name that is none', cloudflare({ ...RECORD, name: 'a..b' }), /a record is named/],
    ['cloudflare', 'a TTL that is none', cloudflare({ ...RECORD, ttl: '300' }), /no whole number "ttl"/],
    ['cloudflare', 'fewer records than stated', cloudflare(RECORD, { ...INFO, total_count: 2 }), /states 2 items/],
    ['desec', 'no list', {}, /the list is not a list/],
    ['desec', 'a TTL that is none', [{ ...RRSET, ttl: '3600' }], /no whole number "ttl"/],
    ['desec', 'a name that is none', [{ ...RRSET, name: 'a..b.' }], /a record is named/],
    ['desec', 'a name outside the domain', [{ ...RRSET, name: 'www.example.net.' }], /is outside example\.com\./],
    ['desec', 'a record that is no text', [{ ...RRSET, records: [1] }], /a value that is no text/],
    ['desec', 'another domain', { name: 'example.net', minimum_ttl: 1 }, /was returned as "example\.net"/, DOMAIN],
    ['desec', 'no minimum TTL', { name: 'example.com' }, /no whole number "minimum_ttl"/, DOMAIN],
    ['digitalocean', 'no list', digitalOcean({}), /domain_records is not a list/],
    ['digitalocean', 'no total', { domain_records: [DO_RECORD] }, /meta is not an object/],
    ['digitalocean', 'too many pages', digitalOcean([DO_RECORD], 10_000_000), /50000 pages/],
    ['digitalocean', 'a name that is none', digitalOcean([{ ...DO_RECORD, name: 'a..b' }]), /a record is named/],
    ['digitalocean', 'an identifier that is a path', digitalOcean([{ ...DO_RECORD, id: '../1' }]), /no whole number "id"/],
    ['digitalocean', 'a TTL that is none', digitalOcean([{ ...DO_RECORD, ttl: '300' }]), /no whole number "ttl"/],
    ['digitalocean', 'fewer records than stated', digitalOcean([DO_RECORD], 2), /states 2 items/],
    ['google', 'no list', { rrsets: {} }, /rrsets is not a list/],
    ['google', 'a list without end', { rrsets: [GOOGLE_RRSET], nextPageToken: 'again' }, /the list has no end/],
    ['google', 'a long token of a page', { rrsets: [], nextPageToken: 'x'.repeat(5000) }, /token of the next page/],
    ['google', 'a name that is none', { rrsets: [{ ...GOOGLE_RRSET, name: 'a..b.' }] }, /a record is named/],
    ['google', 'a TTL that is none', { rrsets: [{ ...GOOGLE_RRSET, ttl: '300' }] }, /no whole number "ttl"/],
    ['google', 'rrdata that is none', { rrsets: [{ ...GOOGLE_RRSET, rrdatas: [1] }] }, /no text/],
    ['hetzner', 'no list', hetzner({}), /rrsets is not a list/],
    ['hetzner', 'no pages', { rrsets: [HETZNER_RRSET] }, /meta is not an object/],
    ['hetzner', 'too many pages', hetzner([HETZNER_RRSET], { last_page: 100_000 }), /100000 pages/],
    ['hetzner', 'a name that is none', hetzner([{ ...HETZNER_RRSET, name: 'a..b' }]), /a record is named/],
    ['hetzner', 'an absolute name', hetzner([{ ...HETZNER_RRSET, name: 'www.other.example.' }]), /a record is named/],
    ['hetzner', 'a TTL that is none', hetzner([{ ...HETZNER_RRSET, ttl: '300' }]), /no whole number "ttl"/],
    ['hetzner', 'fewer record sets than stated', hetzner([HETZNER_RRSET], { total_entries: 2 }), /states 2 items/],
    ['vultr', 'no cursor', { records: [], meta: { total: 0 } }, /links is not an object/],
    ['vultr', 'a list without end', vultr([], { next: 'again' }), /the list has no end/],
    ['vultr', 'fewer records than stated', vultr([]), /the list changed during each of/],
    ['vultr', 'an identifier that is a path', vultr([{ ...VULTR_RECORD, id: '../../x' }]), /a record has the id/],
    ['scaleway', 'no list', scaleway({}, 0), /records is not a list/],
    ['scaleway', 'no count', { records: [SCW_RECORD] }, /no whole number "total_count"/],
    ['scaleway', 'a count beyond all pages', scaleway([SCW_RECORD], 1e9), /the list has 1000000000 pages/],
    ['scaleway', 'more than there is', scaleway([], 2), /states 2 items/],
    ['scaleway', 'a record twice', scaleway([SCW_RECORD, SCW_RECORD], 2), /the list changed/],
    ['scaleway', 'an identifier that is a path', scaleway([{ ...SCW_RECORD, id: '../..' }]), /a record has the id/],
    ['scaleway', 'a name that is none', scaleway([{ ...SCW_RECORD, name: 'a..b' }]), /a record is named/],
    ['scaleway', 'a TTL that is none', scaleway([{ ...SCW_RECORD, ttl: '300' }]), /no whole number "ttl"/],
  ]
  test.each(CASES.map((one) => [one[0], one[1], one] as const))('%s: %s', async (type, _, [, , body, message, path = RECORDS]) => {
    const answer: SceneOptions['answer'] = (request) => (path.test(request.path) ? body : undefined)
    const zones = type === 'cloudflare' ? { zones: [CLOUDFLARE_ZONE] } : type === 'desec' ? { domains: [{ name: 'example.com' }] } : {}
    const scene = await startCloudScene(type, { definition: '', answer, ...zones } as SceneOptions)
    expectEnd(await scene.run(PLAN), 1, { said: message })
  })
})

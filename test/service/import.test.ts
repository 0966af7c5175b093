import { describe, expect, test } from 'vitest'
import { startBind } from '../support/dns-servers.ts'
import { freePort } from '../support/free-port.ts'
import { describeWithTools } from '../support/skip.ts'
import { checkZone, transferZone } from '../support/tools.ts'
import { type Client, LOOPBACK, startForTest } from './harness.ts'
import { record, type Script, scriptedMaster, serving, soa } from './transfers/scripted-master.ts'

const NS_NAMES = ['ns1.dns.test', 'ns2.dns.test']

/** Records that the service stores exactly: valid TTLs, all types, names of many shapes. */
const SUPPORTED = `$TTL 3600
@ SOA ns1.dns.test. host\\.master.example.org. 2026010101 7200 3600 1209600 300
@ NS ns1.dns.test.
@ NS ns2.dns.test.
@ NS ns.elsewhere.example.
@ A 192.0.2.1
@ A 192.0.2.2
@ AAAA 2001:db8::1
@ MX 10 mail
@ MX 255 mail.example.net.
@ 300 TXT "v=spf1 -all"
@ 300 TXT "plain"
@ CAA 0 issue "ca.example.net"
@ CAA 0 issuewild ";"
@ CAA 0 iodef "mailto:security@example.org"
www 300 CNAME web
web A 192.0.2.3
*.wild A 192.0.2.4
quiet MX 0 .
_sip._tcp SRV 1 2 5060 sip.example.net.
_sip._tcp.sub SRV 0 0 0 web
sub 86400 NS ns.sub
ns.sub A 192.0.2.5
1.0 PTR host.example.net.
_dmarc TXT "quote \\" backslash \\\\ semicolon ; \\195\\164"
long TXT "${'x'.repeat(255)}" "${'y'.repeat(20)}"
xn--mnchen-3ya A 192.0.2.6
`

/** Records that it cannot store. */
const UNSUPPORTED = `${SUPPORTED}
@ HINFO "a" "b"
dnskey DNSKEY 256 3 13 4HAFAfMSnUcc1UJvoqzvHTiSNlvSyqHTrTQ/dsfmFYNmXlpUfZyC0glLYHaVDUvPCB5vJ12GOsmWQKjzHNOt5g==
odd TYPE65280 \\# 3 010203
ttl 60 A 192.0.2.7
ttl0 0 A 192.0.2.7
ttlmax 2147483647 A 192.0.2.7
under\\.dot A 192.0.2.8
mx300 MX 300 mail
a\\@b TXT "name"
bytes TXT "\\255\\254"
empty TXT ""
parts TXT "one" "two"
flags CAA 128 issue "ca.example.net"
param CAA 0 issue "ca.example.net; account=1"
tagged CAA 0 contactemail "security@example.org"
_odd SRV 1 2 3 web
host\\.name MX 1 mail
space CNAME a\\032b
${'l'.repeat(60)}.${'l'.repeat(50)} A 192.0.2.9
`

const NAME = 'example.test'

/** The records of a transfer in one form: lower-case names, no classes, and without the SOA's primary, serial and second copy. */
async function content(port: number, name = NAME): Promise<string[]> {
  const lines = await transferZone({ port, name, options: ['+onesoa', '+nottlunits'] })
  return lines
    .map((line) => line.replace(/\s+/g, ' '))
    .map((line) => line.replace(/ SOA \S+ (\S+) \d+ /, ' SOA $1 '))
    .sort()
}

/** The service sets the TTL of its NS and SOA records to the MINIMUM of the source. */
const withoutApexTtl = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/^example\.test\. [0-9]+ IN (SOA|NS) /, 'example.test. IN $1 ')).sort()

const recordsOf = async (client: Client, id: number) => (await client.ok('GET', `/domains/${id}/records?page_size=500`)).data

const serviceFor = (server: { readonly port: number }, options = {}) =>
  startForTest({ dns: LOOPBACK, nsNames: NS_NAMES, peerPort: server.port, ...options })

const dnsPort = (service: { readonly dnsAddress: { readonly port: number } | null }): number => service.dnsAddress?.port ?? 0

describeWithTools(['named', 'dig', 'named-checkzone'], 'an import', async () => {
  const server = await startBind({
    zones: [
      { name: NAME, text: SUPPORTED },
      { name: 'odd.test', text: UNSUPPORTED },
    ],
  })
  const { service, client } = await serviceFor(server)

  test('serves the same records as its source', async () => {
    const domain = await client.ok('POST', '/domains/import', { domain: 'Example.TEST.', remote_nameserver: '127.0.0.1' })
    expect(domain).toMatchObject({
      domain: NAME,
      type: 'master',
      status: 'active',
      soa_email: 'host.master@example.org',
      refresh_sec: 7200,
      retry_sec: 3600,
      expire_sec: 1209600,
      ttl_sec: 300,
      errors: '',
      master_ips: [],
      axfr_ips: [],
      tags: [],
    })
    await client.ok('PUT', `/domains/${domain.id}`, { axfr_ips: ['127.0.0.1'] })
    await service.flush()
    expect(withoutApexTtl(await content(dnsPort(service)))).toEqual(withoutApexTtl(await content(server.port)))
    const lines: string[] = (await client.ok('GET', `/domains/${domain.id}/zone-file`)).zone_file
    expect(await checkZone(NAME, `${lines.join('\n')}\n`)).toMatchObject({ status: 0 })
    const records = await recordsOf(client, domain.id)
    expect(records.length).toBe(23)
    expect(records.find(({ type, name }: Record<string, string>) => type === 'SRV' && name === '_sip._tcp.sub')).toMatchObject({
      service: 'sip',
      protocol: 'tcp.sub',
      priority: 0,
      target: 'web.example.test',
      ttl_sec: 3600,
    })
  })

  test('reports everything that it could not import', async () => {
    const domain = await client.ok('POST', '/domains/import', { domain: 'odd.test', remote_nameserver: 'localhost' })
    const reported = domain.errors.split('\n')
    expect(reported).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^skipped, the service does not support this type: .*odd TYPE65280/),
        expect.stringMatching(/^skipped, the service does not support this type: .*@ HINFO/),
        'skipped, its priority is above 255: mx300 MX',
        'skipped, its text is not UTF-8: bytes TXT',
        'skipped, target is required: empty TXT',
        'skipped, its tag is not issue, issuewild or iodef: tagged CAA',
        'skipped, You have entered an invalid target: param CAA',
        'skipped, target is not valid: space CNAME',
        expect.stringMatching(/^skipped, the service cannot store this name for this type: _odd SRV$/),
        'strings joined and split every 255 octets: parts TXT',
        'flags dropped: flags CAA',
        'TTL changed to 2419200: ttlmax A (2147483647)',
        expect.stringMatching(/^TTL changed to 300: .*ttl A \(60\)/),
        expect.stringMatching(/^skipped, Length must be 1-100 characters: l{60}\.l{50} A$/),
        expect.stringMatching(/^skipped, Name contains invalid characters, Invalid hostname: .*under\\\.dot A/),
      ]),
    )
    const held = await recordsOf(client, domain.id)
    const named = reported
      .filter((line: string) => line.startsWith('skipped'))
      .flatMap((line: string) => line.split(': ')[1]?.split(', ') ?? [])
    // Every record of the source is imported, skipped, the SOA, or an NS record of the service.
    expect(held.length + named.length + 3).toBe((await content(server.port, 'odd.test')).length)
    // The messages stay until the domain changes.
    expect((await client.ok('GET', `/domains/${domain.id}`)).errors).toBe(domain.errors)
    expect((await client.ok('PUT', `/domains/${domain.id}`, { description: 'seen' })).errors).toBe('')
  })
})

describe('an import through a firewall', async () => {
  const { client } = await serviceFor({ port: await freePort() }, { transferAddresses: ['192.0.2.1', '2001:db8::1'] })

  test('names the addresses to allow', async () => {
    expect(await client.problems('POST', '/domains/import', { domain: NAME, remote_nameserver: '127.0.0.1' })).toEqual([
      'remote_nameserver: The zone could not be transferred: 127.0.0.1 cannot be reached over TCP (ECONNREFUSED). ' +
        'It must allow transfers (AXFR) to 192.0.2.1, 2001:db8::1.',
    ])
  })
})

describe('an import', async () => {
  let script: Script = () => {}
  const port = await scriptedMaster((...request) => script(...request), { keep: true })
  const limits = { connect: 3_000, idle: 3_000, total: 4_000 }
  const { client } = await serviceFor({ port }, { transferLimits: limits, limits: { recordsPerDomain: 100 } })
  const imported = (domain: string, remote_nameserver = '127.0.0.1') =>
    client.call('POST', '/domains/import', { domain, remote_nameserver })

  test.each<[string, object, unknown[]]>([
    ['without fields', {}, ['domain: domain is required', 'remote_nameserver: remote_nameserver is required']],
    [
      'without names',
      { domain: 'a b', remote_nameserver: 'x y' },
      ['domain: domain is not valid', 'remote_nameserver: remote_nameserver is not valid'],
    ],
    ['from address with port', { domain: NAME, remote_nameserver: '127.0.0.1:53' }, ['remote_nameserver: remote_nameserver is not valid']],
    ['from nowhere', { domain: NAME, remote_nameserver: '0.0.0.0' }, [expect.stringMatching(/^remote_nameserver: .*does not connect to/)]],
    ['no DNS', { domain: NAME, remote_nameserver: 'nowhere.invalid' }, [expect.stringMatching(/^remote_nameserver: .*(address|resolved)/)]],
  ])('%s is refused', async (_, body, problems) => expect(await client.problems('POST', '/domains/import', body)).toEqual(problems))

  test('of an existing domain', async () => {
    script = serving([soa()])
    await client.ok('POST', '/domains', { domain: NAME, type: 'slave', master_ips: ['192.0.2.1'] })
    expect(await client.problems('POST', '/domains/import', { domain: NAME, remote_nameserver: '127.0.0.1' })).toEqual([
      'domain: DNS zone already exists.',
    ])
  })

  test('of one domain, many times concurrently, creates one domain', async () => {
    script = serving([soa(1, '1 1 1 1', 'once.test.'), record('www.once.test.', 'A', '192.0.2.1')])
    const answers = await Promise.all(Array.from({ length: 6 }, () => imported('once.test')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400])
    const [domain] = (await client.ok('GET', '/domains', undefined, { 'x-filter': '{"domain":"once.test"}' })).data
    expect((await recordsOf(client, domain.id)).length).toBe(1)
  })

  test('of conflicting records keeps the first ones', async () => {
    const zone = 'conflict.test.'
    script = serving([
      soa(1, '3600 600 604800 300', zone),
      record(`a.${zone}`, 'CNAME', 'b.example.net.'),
      record(`a.${zone}`, 'CNAME', 'c.example.net.'),
      record(`a.${zone}`, 'A', '192.0.2.1'),
      record(`m.${zone}`, 'MX', '0 .'),
      record(`m.${zone}`, 'MX', '10 mail.example.net.'),
      record(`d.${zone}`, 'A', '192.0.2.1'),
      record(`d.${zone}`, 'A', '192.0.2.1', 3600),
      record('www.example.org.', 'A', '192.0.2.1'),
      record(`d.${zone}`, 'CNAME', 'b.example.net.'),
      record(`*.n.${zone}`, 'NS', 'ns.example.net.'),
    ])
    const { body } = await imported('conflict.test')
    expect(body.errors.split('\n')).toEqual([
      'SOA RETRY changed: 600 to 3600',
      'skipped, a CNAME allows no other records at its name: a CNAME, a A, d CNAME',
      'skipped, a null MX allows no other MX records: m MX',
      'skipped, duplicate: d A',
      'skipped, NS records cannot have wildcard names: *.n NS',
      'skipped, outside the zone: 1 records',
    ])
    expect((await recordsOf(client, body.id)).map(({ name, type }: Record<string, string>) => `${name} ${type}`)).toEqual([
      'a CNAME',
      'm MX',
      'd A',
    ])
  })

  test('of too many records leaves no domain', async () => {
    const zone = 'full.test.'
    const hosts = (count: number) => Array.from({ length: count }, (_, i) => record(`h${i}.${zone}`, 'A', '192.0.2.1'))
    script = serving([soa(1, '1 1 1 1', zone), ...hosts(101)])
    expect((await imported('full.test')).body.errors).toEqual([{ field: null, reason: 'A domain can have at most 100 records.' }])
    script = serving([soa(1, '1 1 1 1', zone), ...hosts(100), record(zone, 'NS', 'ns1.dns.test.')])
    const { status, body } = await imported('full.test')
    expect(status).toBe(200)
    expect(await client.problems('POST', `/domains/${body.id}/records`, { type: 'A', target: '192.0.2.1' })).toEqual([
      'A domain can have at most 100 records.',
    ])
  })

  test.each<[string, Script, RegExp]>([
    ['does not respond', () => {}, /sent no complete message within 3 s/],
    ['closes', (_, socket) => void socket.end(), /closed the connection/],
    ['sends another zone', serving([soa(1, '1 1 1 1', 'example.org.')]), /invalid zone transfer/],
  ])('from a master that %s leaves no domain', async (_, master, reason) => {
    script = master
    const { status, body } = await imported('broken.test')
    expect([status, body.errors[0].field, body.errors[0].reason]).toEqual([400, 'remote_nameserver', expect.stringMatching(reason)])
    expect((await client.ok('GET', '/domains', undefined, { 'x-filter': '{"domain":"broken.test"}' })).results).toBe(0)
  })

  test('is limited to a number of concurrent imports', async () => {
    script = () => {}
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => imported(`busy${i}.test`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(8).fill(400), ...Array(4).fill(503)])
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseDomainName } from '../../../src/dns/domain-name.ts'
import { fitToTarget } from '../../../src/plan/fit-to-target.ts'
import { domainShape, recordShape, zoneFileShape } from '../../../src/providers/cloud/api-responses.ts'
import { CLOUD_CAPABILITIES } from '../../../src/providers/cloud/capabilities.ts'
import { recordFromApi, recordToApi } from '../../../src/providers/cloud/record-codec.ts'
import { anyCharacter, fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { desiredZone, name, records } from '../../support/records.ts'

const ZONE = name('example.com.')

/** The record as the service returns it: numbers are never null, and the service computes the names of SRV records. */
function stored(type: string, sent: Record<string, string | number>): unknown {
  const made = type === 'SRV' ? { name: `_${sent['service']}._${sent['protocol']}` } : {}
  return { id: 1, type, priority: 0, weight: 0, port: 0, service: null, protocol: null, tag: null, ...sent, ...made }
}

describe('a record sent to the service and read back', () => {
  const cases = [
    ['www A 192.0.2.1', { name: 'www', target: '192.0.2.1' }],
    ['@ 300 AAAA 2001:db8::1', { name: '', target: '2001:db8::1', ttl_sec: 300 }],
    ['www CNAME @', { name: 'www', target: 'example.com' }],
    ['*.dev CNAME www', { name: '*.dev', target: 'www.example.com' }],
    ['@ MX 10 mail', { name: '', target: 'mail.example.com', priority: 10 }],
    ['@ MX 0 .', { name: '', target: '', priority: 0 }],
    ['sub NS ns1.example.net.', { name: 'sub', target: 'ns1.example.net' }],
    ['@ TXT "ends in a dot."', { name: '', target: 'ends in a dot.' }],
    ['t TXT "a\\"b\\\\c; \\195\\182"', { name: 't', target: 'a"b\\c; ö' }],
    ['_sip._tcp SRV 0 5 5060 sip', { service: 'sip', protocol: 'tcp', target: 'sip.example.com', priority: 0, weight: 5, port: 5060 }],
    ['_my-s._tcp.sub SRV 1 0 0 sip', { service: 'my-s', protocol: 'tcp.sub', target: 'sip.example.com', priority: 1, weight: 0, port: 0 }],
    ['@ CAA 0 issue ";"', { name: '', target: ';', tag: 'issue' }],
    ['1 PTR host.example.net.', { name: '1', target: 'host.example.net' }],
  ] as const
  it.each(cases)('%s', (line, sent) => {
    const [record] = records(ZONE, line)
    if (!record) throw new Error('no record')
    const fields = recordToApi(record, ZONE)
    expect(fields).toEqual({ ttl_sec: 0, ...sent })
    const back = recordFromApi(recordShape(stored(record.type, fields)), ZONE)
    expect(back).toEqual({ id: 1, name: record.name, type: record.type, ttl: record.ttl, data: record.data })
  })

  it('is unchanged for every valid TXT', () => {
    forAll(rounds(200), fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1000 }), (text) => {
      const record = recordFromApi(recordShape(stored('TXT', { name: '', target: text, ttl_sec: 0 })), ZONE)
      expect(recordToApi(record, ZONE)['target']).toBe(text)
    })
  })
})

describe('reading records of the service', () => {
  const api = (more: object): ReturnType<typeof recordShape> => recordShape({ id: 1, type: 'A', name: 'a', target: '192.0.2.1', ...more })
  it.each([
    ['a trailing dot on the target', { type: 'CNAME', target: 'x.example.net.' }, 'a.example.com. CNAME x.example.net.'],
    ['capitals', { type: 'CNAME', name: 'WWW', target: 'X.Example.NET' }, 'www.example.com. CNAME x.example.net.'],
    [
      'underscores in service and protocol',
      { type: 'SRV', name: '_sip._tcp', service: '_sip', protocol: '_tcp', target: 'x.example.net' },
      '_sip._tcp.example.com. SRV 0 0 0 x.example.net.',
    ],
    ['SRV without service', { type: 'SRV', name: '_sip._tcp', target: 'x.example.net' }, '_sip._tcp.example.com. SRV 0 0 0 x.example.net.'],
    ['an address that is not canonical', { target: '010.020.030.040' }, 'a.example.com. A 010.020.030.040'],
    ['an invalid name', { name: 'a..b c' }, 'a.b\\032c.example.com. A 192.0.2.1 (named "a..b c")'],
    ['an unknown type', { type: 'HTTPS', target: '1 . alpn=h2' }, null],
  ])('%s', (_, more, expected) => {
    const record = recordFromApi(api(more), ZONE)
    if (expected !== null) expect(`${record.name} ${record.type} ${record.data}`).toBe(expected)
  })
})

describe('records that the service does not support', () => {
  it.each([
    ['TXT that is not UTF-8', 't TXT "\\255"', 'record-unsupported'],
    ['an empty TXT', 't TXT ""', 'record-unsupported'],
    ['a name of 101 characters', `${'a'.repeat(50)}.${'b'.repeat(50)} A 192.0.2.1`, 'limit-exceeded'],
    ['a name with other characters', 'a#b A 192.0.2.1', 'record-unsupported'],
    ['a preference above 255', '@ MX 256 mail', 'limit-exceeded'],
    ['a CAA flag', '@ CAA 128 issue "ca.example.net"', 'record-unsupported'],
    ['a CAA tag of its own', '@ CAA 0 contactemail "a@example.com"', 'record-unsupported'],
    ['a CAA URL with what is no ASCII', '@ CAA 0 iodef "https://ca.example.net/\\195\\164"', 'record-unsupported'],
    ['a CAA URL without a host', '@ CAA 0 iodef "https://?x"', 'record-unsupported'],
    ['a CAA name of 259 characters', `@ CAA 0 iodef "${'a.'.repeat(126)}example"`, 'record-unsupported'],
    ['CAA parameters', '@ CAA 0 issue "ca.example.net; policy=ev"', 'record-unsupported'],
    ['NS at a wildcard', '*.x NS ns1.example.net.', 'record-unsupported'],
    ['SRV at a name without service and protocol', 'sip SRV 0 0 5060 sip', 'record-unsupported'],
    ['NS to the root', 'x NS .', 'record-unsupported'],
    ['an unsupported type', '@ SSHFP 1 1 bf6b6825d2977c511a475bbefb88aad54a92ac73', 'type-unsupported'],
  ])('%s', (_, line, code) => {
    const zone = desiredZone(ZONE, line)
    const fitted = fitToTarget(zone, 'cloud', CLOUD_CAPABILITIES)
    expect(fitted.records).toEqual([])
    expect(fitted.diagnostics.map((one) => [one.severity, one.code, one.at?.line])).toEqual([['error', code, 1]])
    const skipping = fitToTarget({ ...zone, unsupported: 'skip' }, 'cloud', CLOUD_CAPABILITIES)
    expect(skipping.diagnostics.map((one) => one.severity)).toEqual(['warning'])
  })

  it.each([
    [0, null],
    [1, 300],
    [300, 300],
    [301, 300],
    [1950, 300],
    [1951, 3600],
    [5400, 3600],
    [5401, 7200],
    [86_400, 86_400],
    [2_419_200, 2_419_200],
    [2_147_483_647, 2_419_200],
  ])('a TTL of %i becomes %s', (ttl, expected) => {
    const fitted = fitToTarget(desiredZone(ZONE, `a ${ttl} A 192.0.2.1`), 'cloud', CLOUD_CAPABILITIES)
    expect(fitted.records[0]?.ttl).toBe(expected)
    expect(fitted.diagnostics.map(({ code }) => code)).toEqual(ttl === expected ? [] : ['ttl-rounded'])
  })

  it('rounds a domain’s times up', () => {
    const zone = desiredZone(ZONE, '', { settings: { ttl_sec: 301, retry_sec: 0, expire_sec: 9_999_999 } })
    expect(fitToTarget(zone, 'cloud', CLOUD_CAPABILITIES).settings).toEqual({ ttl_sec: 3600, retry_sec: 0, expire_sec: 2_419_200 })
  })

  it('does not change fitted settings', () => {
    const zone = desiredZone(ZONE, 'a 299 A 192.0.2.1\nt TXT "a" "b"\n_a._tcp.b 1 SRV 1 2 3 c\n@ MX 0 .')
    const once = fitToTarget(zone, 'cloud', CLOUD_CAPABILITIES)
    expect(fitToTarget({ ...zone, records: once.records }, 'cloud', CLOUD_CAPABILITIES).records).toEqual(once.records)
  })
})

describe('recorded exchanges of the real service', () => {
  type Exchange = { readonly method: string; readonly path: string; readonly status: number; readonly response_body: unknown }
  const exchanges: Exchange[] = readFileSync(new URL('../../corpora/linode/linodego.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const oneOrAll = (shape: (item: unknown) => unknown) => (body: unknown) => ((body as { data?: unknown[] }).data ?? [body]).map(shape)
  const shapes: [RegExp, (body: unknown) => unknown][] = [
    [/^\/domains\/\d+\/records$/, oneOrAll(recordShape)],
    [/^\/domains\/\d+\/records\/\d+$/, recordShape],
    [/^\/domains\/\d+\/zone-file$/, zoneFileShape],
    [/^\/domains(?:\/\d+(?:\/clone)?)?$/, oneOrAll(domainShape)],
  ]
  const read = exchanges.filter((one) => one.status === 200 && one.method !== 'DELETE')
  it('match the schemas of the provider', () => {
    expect(read.length).toBeGreaterThan(20)
    for (const { method, path, response_body } of read) {
      const shape = shapes.find(([pattern]) => pattern.test(path))?.[1]
      expect(shape, `${method} ${path}`).toBeDefined()
      expect(() => shape?.(response_body), `${method} ${path}`).not.toThrow()
    }
  })
  it('give records that are encoded unchanged', () => {
    const bodies = read
      .filter((one) => /\/records/.test(one.path))
      .flatMap((one) => (one.response_body as { data?: unknown[] }).data ?? [one.response_body])
    expect(bodies.length).toBeGreaterThan(5)
    for (const body of bodies) {
      const api = recordShape(body)
      const zone = parseDomainName('linodego-test.example.')
      if (!zone.ok) throw new Error(zone.message)
      const sent = recordToApi(recordFromApi(api, zone.value), zone.value)
      expect({ target: sent['target'], ttl: sent['ttl_sec'] }).toEqual({ target: api.target, ttl: api.ttl_sec })
    }
  })
})

/** octoDNS's provider reads what Zonewright wrote to a PowerDNS server by its HTTP API, and plans no change. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiOf, define, originOf, run, workspace } from '../providers/powerdns/scene.ts'
import { type PowerDnsServer, startPowerDns } from '../support/dns-servers.ts'
import { describeWithTools } from '../support/skip.ts'
import { describeWithOctodns, linesOfLoaded, loadFromPowerDns, planWithPowerDns } from './octodns-judge.ts'

/** octoDNS 1.22 with octodns-powerdns 1.2 keeps the escapes of quotes and of other octets than ASCII in texts, so the texts have none. */
const RECORDS = `
  '':
    - {type: NS, values: [ns1.example.net., ns2.example.net.]}
    - {type: MX, values: [{preference: 10, exchange: mx}, {preference: 20, exchange: mx.example.net.}]}
    - {type: CAA, value: {flags: 0, tag: issue, value: ca.example.net}}
    - {type: TXT, values: [v=spf1 -all, 'a=b; c=d']}
  www: [{type: A, ttl: 300, values: [192.0.2.1, 192.0.2.2]}, {type: AAAA, values: ['2001:db8::1', '::ffff:192.0.2.1']}]
  '*.wild': {type: CNAME, value: www}
  mx: {type: A, value: 192.0.2.3}
  long: {type: TXT, value: ${'x'.repeat(600)}}
  _sip._tcp: {type: SRV, value: {priority: 1, weight: 2, port: 5060, target: www}}
  svc: {type: HTTPS, value: {svcpriority: 1, targetname: ., svcparams: {alpn: [h2, h3], ipv4hint: [192.0.2.1], port: 8443}}}
  ph: {type: NAPTR, value: {order: 100, preference: 10, flags: U, service: E2U+sip, regexp: '!^.*$!sip:a@example.com!', replacement: .}}
  key: {type: SSHFP, value: {algorithm: 4, fingerprint_type: 2, fingerprint: ${'00ff'.repeat(16)}}}
  _443._tcp: {type: TLSA, value: {certificate_usage: 3, selector: 1, matching_type: 1, certificate_association_data: ${'ab'.repeat(32)}}}
  sub: [{type: NS, value: ns1.example.net.}, {type: DS, value: {key_tag: 60485, algorithm: 13, digest_type: 2, digest: ${'ab'.repeat(32)}}}]
  here: {type: LOC, value: {lat_degrees: 51, lat_minutes: 30, lat_seconds: 12.748, lat_direction: N, long_degrees: 0, long_minutes: 7, long_seconds: 39.612, long_direction: W, altitude: 10, size: 1, precision_horz: 100, precision_vert: 10}}
  p: {type: PTR, value: www}
`

describeWithOctodns('octoDNS on a zone that was written by the HTTP API of PowerDNS', () =>
  describeWithTools(['pdns_server', 'pdnsutil'], 'PowerDNS', () => {
    let server: PowerDnsServer
    beforeAll(async () => {
      server = await startPowerDns()
    })
    afterAll(() => server.stop())

    test('reads the same records, and would change none', async () => {
      const folder = workspace(originOf(server))
      define(folder, 'judged.example', `default_ttl: 3600\nrecords:${RECORDS}`)
      const applied = await run(folder, server, 'apply', '--yes')
      expect([applied.status, applied.stderr]).toEqual([0, expect.not.stringContaining('error')])
      const port = Number(new URL(server.api.url).port)
      const loaded = (await loadFromPowerDns('judged.example.', port, server.api.key)).flatMap(linesOfLoaded)
      const exported = await run(folder, server, 'export', 'octodns', '-o', 'octodns')
      expect([exported.status, exported.stderr]).toEqual([0, expect.not.stringContaining('error')])
      expect(loaded).toHaveLength((await apiOf(server).lines('judged.example.')).length)
      expect(await planWithPowerDns(join(folder, 'octodns'), 'judged.example.', port, server.api.key)).toEqual([])
    })
  }),
)

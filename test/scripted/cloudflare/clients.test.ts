/** The clients of Cloudflare work at the scripted one. */
import { clientTests } from '../client-tests.ts'
import { createCloudflare } from './service.ts'

/** Records of every type that octoDNS's Cloudflare provider supports. */
const TYPES_OF_CLOUDFLARE = {
  '': [
    { type: 'ALIAS', ttl: 300, value: 'target.example.net.' },
    { type: 'CAA', ttl: 300, value: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
    { type: 'MX', ttl: 300, values: [{ preference: 10, exchange: 'mail.example.com.' }] },
  ],
  www: [
    { type: 'A', ttl: 300, values: ['192.0.2.1', '192.0.2.2'], octodns: { cloudflare: { comment: 'two servers' } } },
    { type: 'AAAA', ttl: 300, value: '2001:db8::1' },
    { type: 'TXT', ttl: 300, values: ['one', `v=DKIM1\\; p=${'A'.repeat(300)}`] },
    { type: 'HTTPS', ttl: 300, value: { svcpriority: 1, targetname: '.', svcparams: { alpn: ['h2', 'h3'] } } },
    { type: 'LOC', ttl: 300, value: LOC() },
    { type: 'SSHFP', ttl: 300, value: { algorithm: 1, fingerprint_type: 1, fingerprint: 'ab'.repeat(20) } },
  ],
  alias: [{ type: 'CNAME', ttl: 300, value: 'www.example.com.', octodns: { cloudflare: { proxied: true, 'auto-ttl': true } } }],
  sub: [
    { type: 'NS', ttl: 300, values: ['ns1.example.net.', 'ns2.example.net.'] },
    { type: 'DS', ttl: 300, value: { key_tag: 1, algorithm: 13, digest_type: 2, digest: 'AB'.repeat(32) } },
  ],
  '1': [{ type: 'PTR', ttl: 300, value: 'host.example.com.' }],
  naptr: [{ type: 'NAPTR', ttl: 300, value: { order: 1, preference: 2, flags: 'S', service: 'SIP+D2U', regexp: '', replacement: '.' } }],
  '_sip._tcp': [{ type: 'SRV', ttl: 300, value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
  '_443._tcp.www': [
    {
      type: 'TLSA',
      ttl: 300,
      value: { certificate_usage: 3, selector: 1, matching_type: 1, certificate_association_data: 'ab'.repeat(32) },
    },
  ],
}

function LOC() {
  const [lat, long] = [
    { lat_degrees: 51, lat_minutes: 30, lat_seconds: 12.748, lat_direction: 'N' },
    { long_degrees: 0, long_minutes: 7, long_seconds: 39.612, long_direction: 'W' },
  ]
  return { ...lat, ...long, altitude: 0, size: 1, precision_horz: 10000, precision_vert: 10 }
}

clientTests({
  name: 'cloudflare',
  hosts: ['api.cloudflare.com'],
  start: () =>
    createCloudflare({ token: 'test-token', zones: [{ id: '1'.repeat(32), name: 'example.com', plan: { legacy_id: 'pro' } }] }).service,
  startWithoutZone: () => createCloudflare({ token: 'test-token', zones: [], account: '2'.repeat(32) }).service,
  lexicon: { auth_token: 'test-token' },
  octodns: ['octodns_cloudflare.CloudflareProvider', { token: 'test-token', pagerules: false, retry_period: 0 }],
  states: [
    TYPES_OF_CLOUDFLARE,
    {
      ...TYPES_OF_CLOUDFLARE,
      www: [{ type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }],
      alias: [{ type: 'CNAME', ttl: 300, value: 'www.example.com.' }],
    },
  ],
})

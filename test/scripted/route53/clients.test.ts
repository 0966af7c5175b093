/** The clients of Route 53 work at the scripted one. */
import { clientTests } from '../client-tests.ts'
import { createRoute53 } from './service.ts'

const KEY = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }

/** Records of every plain type that octoDNS's Route 53 provider supports. */
const TYPES_OF_ROUTE53 = {
  '': [
    { type: 'CAA', ttl: 300, value: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
    { type: 'MX', ttl: 300, values: [{ preference: 10, exchange: 'mail.example.com.' }] },
  ],
  www: [
    { type: 'A', ttl: 300, values: ['192.0.2.1', '192.0.2.2'] },
    { type: 'AAAA', ttl: 300, value: '2001:db8::1' },
    { type: 'TXT', ttl: 300, values: ['one', `v=DKIM1\\; p=${'A'.repeat(300)}`] },
  ],
  '*.sub': [{ type: 'A', ttl: 60, value: '192.0.2.3' }],
  alias: [{ type: 'CNAME', ttl: 300, value: 'www.example.com.' }],
  own: [{ type: 'Route53Provider/ALIAS', ttl: 300, values: [{ type: 'A', name: 'www' }] }],
  delegated: [
    { type: 'NS', ttl: 300, values: ['ns1.example.net.', 'ns2.example.net.'] },
    { type: 'DS', ttl: 300, value: { key_tag: 1, algorithm: 13, digest_type: 2, digest: 'AB'.repeat(32) } },
  ],
  '1': [{ type: 'PTR', ttl: 300, value: 'host.example.com.' }],
  naptr: [{ type: 'NAPTR', ttl: 300, value: { order: 1, preference: 2, flags: 'S', service: 'SIP+D2U', regexp: '', replacement: '.' } }],
  '_sip._tcp': [{ type: 'SRV', ttl: 300, value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
}

clientTests({
  name: 'route53',
  hosts: ['route53.amazonaws.com'],
  start: () => createRoute53({ key: KEY, zones: [{ id: 'Z1', name: 'example.com.' }] }).service,
  lexicon: { auth_access_key: KEY.id, auth_access_secret: KEY.secret },
  octodns: ['octodns_route53.Route53Provider', { access_key_id: KEY.id, secret_access_key: KEY.secret }],
  states: [
    TYPES_OF_ROUTE53,
    {
      ...TYPES_OF_ROUTE53,
      www: [{ type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }],
      alias: [{ type: 'CNAME', ttl: 300, value: 'other.example.com.' }],
    },
  ],
})

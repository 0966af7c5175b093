/** The clients of Hetzner work at the scripted one. */
import { clientTests } from '../client-tests.ts'
import { createHetzner } from './service.ts'
import { defaultRrsets } from './zones.ts'

const ID = 53_091

/** Records of every type that octoDNS's Hetzner provider supports. */
const TYPES_OF_HETZNER = {
  '': [
    { type: 'CAA', ttl: 300, value: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
    { type: 'MX', ttl: 300, values: [{ preference: 10, exchange: 'mail.example.com.' }] },
  ],
  www: [
    { type: 'A', ttl: 300, values: ['192.0.2.1', '192.0.2.2'] },
    { type: 'AAAA', ttl: 300, value: '2001:db8::1' },
  ],
  alias: [{ type: 'CNAME', ttl: 300, value: 'www.example.com.' }],
  sub: [
    { type: 'NS', ttl: 300, values: ['ns1.example.net.', 'ns2.example.net.'] },
    { type: 'DS', ttl: 300, value: { key_tag: 1, algorithm: 13, digest_type: 2, digest: 'AB'.repeat(32) } },
  ],
  '1': [{ type: 'PTR', ttl: 300, value: 'host.example.com.' }],
  '_sip._tcp': [{ type: 'SRV', ttl: 300, value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
  '_443._tcp.www': [
    {
      type: 'TLSA',
      ttl: 300,
      value: { certificate_usage: 3, selector: 1, matching_type: 1, certificate_association_data: 'ab'.repeat(32) },
    },
  ],
}

clientTests({
  name: 'hetzner',
  hosts: ['api.hetzner.cloud'],
  start: () =>
    createHetzner({
      token: 'test-token',
      zones: [{ id: ID, name: 'example.com' }],
      rrsets: defaultRrsets(ID),
    }).service,
  lexicon: { auth_token: 'test-token', retry_wait_time: '1' },
  octodns: ['octodns_hetzner.HetznerProvider', { token: 'test-token', backend: 'hcloud' }],
  states: [TYPES_OF_HETZNER, { ...TYPES_OF_HETZNER, www: [{ type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }] }],
})

/** The clients of Scaleway work at the scripted one. */
import { clientTests } from '../client-tests.ts'
import { createScaleway } from './service.ts'

/** Records of the types that octoDNS's provider supports and reads back as it writes them. */
const TYPES_OF_SCALEWAY = {
  '': [
    { type: 'ALIAS', ttl: 300, value: 'target.example.net.' },
    { type: 'CAA', ttl: 300, value: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
    { type: 'MX', ttl: 300, values: [{ preference: 10, exchange: 'mail.example.com.' }] },
  ],
  www: [
    { type: 'A', ttl: 300, values: ['192.0.2.1', '192.0.2.2'] },
    { type: 'AAAA', ttl: 300, value: '2001:db8::1' },
    { type: 'TXT', ttl: 300, values: ['one'] },
    { type: 'SSHFP', ttl: 300, value: { algorithm: 1, fingerprint_type: 1, fingerprint: 'ab'.repeat(20) } },
  ],
  alias: [{ type: 'CNAME', ttl: 300, value: 'www.example.com.' }],
  sub: [{ type: 'NS', ttl: 300, values: ['ns1.example.net.', 'ns2.example.net.'] }],
  '1': [{ type: 'PTR', ttl: 300, value: 'host.example.com.' }],
  naptr: [{ type: 'NAPTR', ttl: 300, value: { order: 1, preference: 2, flags: 'S', service: 'SIP+D2U', regexp: '', replacement: '.' } }],
  '_sip._tcp': [{ type: 'SRV', ttl: 300, value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
}

clientTests({
  name: 'scaleway',
  hosts: ['api.scaleway.com'],
  start: () => createScaleway({ token: 'test-token', zones: [{ domain: 'example.com' }] }).service,
  lexicon: { auth_secret_key: 'test-token' },
  octodns: ['octodns_scaleway.ScalewayProvider', { token: 'test-token' }],
  states: [
    TYPES_OF_SCALEWAY,
    {
      ...TYPES_OF_SCALEWAY,
      www: [{ type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }],
      alias: [{ type: 'CNAME', ttl: 300, value: 'other.example.com.' }],
    },
  ],
})

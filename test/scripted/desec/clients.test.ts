/** The clients of deSEC work at the scripted one. */
import { clientTests } from '../client-tests.ts'
import { createDesec } from './service.ts'

const DIGEST = 'ab'.repeat(32)

/** Records of every type that octoDNS's provider supports. */
const TYPES_OF_DESEC = {
  '': [
    { type: 'CAA', ttl: 3600, value: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
    { type: 'MX', ttl: 3600, values: [{ preference: 10, exchange: 'mail.example.com.' }] },
  ],
  www: [
    { type: 'A', ttl: 3600, values: ['192.0.2.1', '192.0.2.2'] },
    { type: 'AAAA', ttl: 3600, value: '2001:db8::1' },
    { type: 'TXT', ttl: 3600, values: ['one', 'v=DKIM1\\; p=two'] },
    { type: 'HTTPS', ttl: 3600, value: { svcpriority: 1, targetname: '.', svcparams: { alpn: ['h2', 'h3'] } } },
    { type: 'SSHFP', ttl: 3600, value: { algorithm: 1, fingerprint_type: 1, fingerprint: 'ab'.repeat(20) } },
  ],
  alias: [{ type: 'CNAME', ttl: 3600, value: 'www.example.com.' }],
  sub: [
    { type: 'NS', ttl: 3600, values: ['ns1.example.net.', 'ns2.example.net.'] },
    { type: 'DS', ttl: 3600, value: { key_tag: 1, algorithm: 13, digest_type: 2, digest: DIGEST } },
  ],
  '1': [{ type: 'PTR', ttl: 3600, value: 'host.example.com.' }],
  '_sip._tcp': [{ type: 'SRV', ttl: 3600, value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
  '_443._tcp.www': [
    { type: 'TLSA', ttl: 3600, value: { certificate_usage: 3, selector: 1, matching_type: 1, certificate_association_data: DIGEST } },
  ],
  _openpgpkey: [{ type: 'OPENPGPKEY', ttl: 3600, value: 'bWc4RVh0Vkk=' }],
}

clientTests({
  name: 'desec',
  hosts: ['desec.io'],
  start: () => createDesec({ token: 'test-token', domains: [{ name: 'example.com', minimum_ttl: 60 }] }).service,
  lexicon: { auth_token: 'test-token', token: 'test-token' },
  octodns: ['octodns_desec.DesecProvider', { token: 'test-token', retries: 1, backoff: 0 }],
  states: [
    TYPES_OF_DESEC,
    {
      ...TYPES_OF_DESEC,
      www: [{ type: 'A', ttl: 7200, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }],
      alias: [{ type: 'CNAME', ttl: 3600, value: 'other.example.com.' }],
    },
  ],
})

/** The clients of DigitalOcean work at the scripted one. */
import { clientTests } from '../client-tests.ts'
import { createDigitalOcean } from './service.ts'

/** Records of every type that octoDNS's DigitalOcean provider supports. */
const TYPES_OF_DIGITALOCEAN = {
  '': [
    { type: 'CAA', ttl: 300, value: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
    { type: 'MX', ttl: 300, values: [{ preference: 10, exchange: 'mail.example.com.' }] },
  ],
  www: [
    { type: 'A', ttl: 300, values: ['192.0.2.1', '192.0.2.2'] },
    { type: 'AAAA', ttl: 300, value: '2001:db8::1' },
    { type: 'TXT', ttl: 300, values: ['one', `v=DKIM1\\; p=${'A'.repeat(300)}`] },
  ],
  alias: [{ type: 'CNAME', ttl: 300, value: 'www.example.com.' }],
  sub: [{ type: 'NS', ttl: 300, values: ['ns1.example.net.', 'ns2.example.net.'] }],
  '_sip._tcp': [{ type: 'SRV', ttl: 300, value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
}

clientTests({
  name: 'digitalocean',
  hosts: ['api.digitalocean.com'],
  start: () => createDigitalOcean({ token: 'test-token', domains: ['example.com'] }).service,
  lexicon: { auth_token: 'test-token' },
  octodns: ['octodns_digitalocean.DigitalOceanProvider', { token: 'test-token' }],
  states: [
    TYPES_OF_DIGITALOCEAN,
    { ...TYPES_OF_DIGITALOCEAN, www: [{ type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }] },
  ],
})

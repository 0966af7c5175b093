/** The clients of DigitalOcean work at the scripted one. */
import { clientTests, recordsOfTypes } from '../client-tests.ts'
import { createDigitalOcean } from './service.ts'

/** Records of every type that octoDNS's DigitalOcean provider supports. */
const TYPES_OF_DIGITALOCEAN = recordsOfTypes('CAA MX A AAAA TXT CNAME NS SRV')

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

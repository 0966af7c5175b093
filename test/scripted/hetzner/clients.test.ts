/** The clients of Hetzner work at the scripted one. */
import { clientTests, recordsOfTypes } from '../client-tests.ts'
import { createHetzner } from './service.ts'
import { defaultRrsets } from './zones.ts'

const ID = 53_091

/** Records of every type that octoDNS's Hetzner provider supports. */
const TYPES_OF_HETZNER = recordsOfTypes('CAA MX A AAAA CNAME NS DS PTR SRV TLSA')

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

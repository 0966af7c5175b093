/** The clients of Route 53 work at the scripted one. */
import { clientTests, recordsOfTypes } from '../client-tests.ts'
import { createRoute53 } from './service.ts'

const KEY = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }

/** Records of every plain type that octoDNS's Route 53 provider supports. */
const TYPES_OF_ROUTE53 = {
  ...recordsOfTypes('CAA MX A AAAA TXT CNAME NS DS PTR NAPTR SRV'),
  '*.sub': [{ type: 'A', ttl: 60, value: '192.0.2.3' }],
  own: [{ type: 'Route53Provider/ALIAS', ttl: 300, values: [{ type: 'A', name: 'www' }] }],
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

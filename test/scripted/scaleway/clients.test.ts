/** The clients of Scaleway work at the scripted one. */
import { clientTests, recordsOfTypes } from '../client-tests.ts'
import { createScaleway } from './service.ts'

/** Records of the types that octoDNS's provider supports and reads back as it writes them. */
const TYPES_OF_SCALEWAY = {
  ...recordsOfTypes('ALIAS CAA MX A AAAA SSHFP CNAME NS PTR NAPTR SRV'),
  text: [{ type: 'TXT', ttl: 300, values: ['one'] }],
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

/** The clients of Cloud DNS work at the scripted one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { clientTests, recordsOfTypes } from '../client-tests.ts'
import { createTestAccount, PROJECT } from './account.ts'
import { createGoogle } from './service.ts'

/** Records of every type that octoDNS's provider of Cloud DNS supports; SPF, which is obsolete, left out. */
const TYPES_OF_GOOGLE = recordsOfTypes('ALIAS CAA MX A AAAA TXT CNAME NS DS PTR NAPTR SRV')

const { account, keyFile } = createTestAccount()
const credentials = join(temporaryDirectory(), 'key.json')
writeFileSync(credentials, keyFile)

clientTests({
  name: 'googleclouddns',
  hosts: ['oauth2.googleapis.com', 'www.googleapis.com', 'content.googleapis.com', 'dns.googleapis.com'],
  start: () =>
    createGoogle({
      project: PROJECT,
      token: 'test-token',
      account,
      zones: [{ id: '699036609868956548', name: 'example-com', dnsName: 'example.com.' }],
    }).service,
  lexicon: { auth_service_account_info: `base64::${Buffer.from(keyFile).toString('base64')}` },
  octodns: ['octodns_googlecloud.GoogleCloudProvider', { project: PROJECT, credentials_file: credentials }],
  states: [
    TYPES_OF_GOOGLE,
    {
      ...TYPES_OF_GOOGLE,
      www: [{ type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }],
      alias: [{ type: 'CNAME', ttl: 300, value: 'other.example.com.' }],
    },
  ],
})

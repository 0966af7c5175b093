/** The clients of Cloud DNS work at the scripted one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { clientTests } from '../client-tests.ts'
import { createTestAccount, PROJECT } from './account.ts'
import { createGoogle } from './service.ts'

/** Records of every type that octoDNS's provider of Cloud DNS supports; SPF, which is obsolete, left out. */
const TYPES_OF_GOOGLE = {
  '': [
    { type: 'ALIAS', ttl: 300, value: 'target.example.net.' },
    { type: 'CAA', ttl: 300, value: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
    { type: 'MX', ttl: 300, values: [{ preference: 10, exchange: 'mail.example.com.' }] },
  ],
  www: [
    { type: 'A', ttl: 300, values: ['192.0.2.1', '192.0.2.2'] },
    { type: 'AAAA', ttl: 300, value: '2001:db8::1' },
    { type: 'TXT', ttl: 300, values: ['one', `v=DKIM1\\; p=${'A'.repeat(300)}`] },
  ],
  alias: [{ type: 'CNAME', ttl: 300, value: 'www.example.com.' }],
  sub: [
    { type: 'NS', ttl: 300, values: ['ns1.example.net.', 'ns2.example.net.'] },
    { type: 'DS', ttl: 300, value: { key_tag: 1, algorithm: 13, digest_type: 2, digest: 'ab'.repeat(32) } },
  ],
  '1': [{ type: 'PTR', ttl: 300, value: 'host.example.com.' }],
  naptr: [{ type: 'NAPTR', ttl: 300, value: { order: 1, preference: 2, flags: 'S', service: 'SIP+D2U', regexp: '', replacement: '.' } }],
  '_sip._tcp': [{ type: 'SRV', ttl: 300, value: { priority: 1, weight: 2, port: 5060, target: 'sip.example.com.' } }],
}

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

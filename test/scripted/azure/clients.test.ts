/** The clients of Azure DNS work at the scripted one. */
import { clientTests, recordsOfTypes } from '../client-tests.ts'
import { createAzure } from './service.ts'

/** Records of every type that octoDNS's provider of Azure DNS supports. */
const TYPES_OF_AZURE = recordsOfTypes('CAA MX A AAAA TXT CNAME NS PTR SRV')

const SUBSCRIPTION = '11111111-1111-4111-8111-111111111111'
const TENANT = '22222222-2222-4222-8222-222222222222'
const CLIENT = '33333333-3333-4333-8333-333333333333'
const SECRET = 'secret-of-the-application'

clientTests({
  name: 'azure',
  hosts: ['login.microsoftonline.com', 'management.azure.com'],
  start: () =>
    createAzure({
      subscription: SUBSCRIPTION,
      resourceGroup: 'dns',
      token: 'test-token',
      application: { tenant: TENANT, clientId: CLIENT, clientSecret: SECRET },
      zones: [{ name: 'example.com' }],
    }).service,
  lexicon: {
    auth_client_id: CLIENT,
    auth_client_secret: SECRET,
    auth_tenant_id: TENANT,
    auth_subscription_id: SUBSCRIPTION,
    resource_group: 'dns',
  },
  octodns: [
    'octodns_azure.AzureProvider',
    { client_id: CLIENT, key: SECRET, directory_id: TENANT, sub_id: SUBSCRIPTION, resource_group: 'dns' },
  ],
  states: [
    TYPES_OF_AZURE,
    {
      ...TYPES_OF_AZURE,
      www: [{ type: 'A', ttl: 600, values: ['192.0.2.2', '192.0.2.3', '192.0.2.4'] }],
      alias: [{ type: 'CNAME', ttl: 300, value: 'other.example.com.' }],
    },
  ],
})

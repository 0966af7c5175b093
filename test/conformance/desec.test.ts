import { DESEC } from './desec-target.ts'
import { conformanceTests } from './provider-suite.ts'

/** The types of `src/providers/desec/capabilities.ts`, with its limits. */
conformanceTests(DESEC, {
  '42. SOA': 7,
  '52. DNSKEY': 4,
  '53. ALIAS on apex': 2,
  '54. ALIAS to nonfqdn': 1,
  '55. ALIAS on subdomain': 2,
  'TTL of the zone': 3,
  'unusual names': 2,
  'types without a form of their own': 2,
})

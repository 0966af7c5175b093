import { conformanceTests } from './provider-suite.ts'
import { ROUTE53 } from './route53-target.ts'

/** The types of `src/providers/route53/capabilities.ts`, and aliases of names outside the zone. */
conformanceTests(ROUTE53, {
  '8. RP': 3,
  '9. RP': 3,
  '39. LOC': 3,
  '42. SOA': 7,
  '50. DHCID': 2,
  '51. DNAME': 3,
  '52. DNSKEY': 4,
  '53. ALIAS on apex': 2,
  '55. ALIAS on subdomain': 2,
  '102. OPENPGPKEY': 3,
  '103. SMIMEA': 5,
  'TTL of the zone': 3,
  'types without a form of their own': 3,
})

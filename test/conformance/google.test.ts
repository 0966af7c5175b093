import { GOOGLE } from './google-target.ts'
import { conformanceTests } from './provider-suite.ts'

/** The types of `src/providers/google/capabilities.ts`, with its limits. */
conformanceTests(GOOGLE, {
  '8. RP': 3,
  '9. RP': 3,
  '39. LOC': 3,
  '42. SOA': 7,
  '50. DHCID': 2,
  '51. DNAME': 3,
  '52. DNSKEY': 4,
  '55. ALIAS on subdomain': 2,
  '102. OPENPGPKEY': 3,
  '103. SMIMEA': 5,
  'octets in TXT': 3,
  'unusual names': 1,
  'types without a form of their own': 3,
  'TTL of the zone': 3,
})

import { CLOUDFLARE } from './cloudflare-target.ts'
import { conformanceTests } from './provider-suite.ts'

/** The types of `src/providers/cloudflare/capabilities.ts`, with its limits. */
conformanceTests(CLOUDFLARE, {
  '8. RP': 3,
  '9. RP': 3,
  '27. complex TXT': 1,
  '42. SOA': 7,
  '50. DHCID': 2,
  '51. DNAME': 3,
  '55. ALIAS on subdomain': 2,
  'octets in TXT': 3,
  'unusual names': 1,
  'types without a form of their own': 3,
})

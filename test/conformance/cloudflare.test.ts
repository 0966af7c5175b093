import { CLOUDFLARE } from './cloudflare-target.ts'
import { conformanceTests, withoutTypes } from './provider-suite.ts'

/** The types of `src/providers/cloudflare/capabilities.ts`, with its limits. */
conformanceTests(CLOUDFLARE, {
  ...withoutTypes('RP DHCID DNAME'),
  '27. complex TXT': 1,
  '42. SOA': 7,
  '55. ALIAS on subdomain': 2,
  'octets in TXT': 3,
  'unusual names': 1,
  'types without a form of their own': 3,
})

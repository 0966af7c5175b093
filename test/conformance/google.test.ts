import { GOOGLE } from './google-target.ts'
import { conformanceTests, withoutTypes } from './provider-suite.ts'

/** The types of `src/providers/google/capabilities.ts`, with its limits. */
conformanceTests(GOOGLE, {
  ...withoutTypes('RP LOC DHCID DNAME DNSKEY OPENPGPKEY SMIMEA'),
  '42. SOA': 7,
  '55. ALIAS on subdomain': 2,
  'octets in TXT': 3,
  'unusual names': 1,
  'types without a form of their own': 3,
  'TTL of the zone': 3,
})

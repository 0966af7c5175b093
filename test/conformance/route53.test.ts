import { conformanceTests, withoutTypes } from './provider-suite.ts'
import { ROUTE53 } from './route53-target.ts'

/** The types of `src/providers/route53/capabilities.ts`, and aliases of names outside the zone. */
conformanceTests(ROUTE53, {
  ...withoutTypes('RP LOC DHCID DNAME DNSKEY OPENPGPKEY SMIMEA'),
  '42. SOA': 7,
  '53. ALIAS on apex': 2,
  '55. ALIAS on subdomain': 2,
  'TTL of the zone': 3,
  'types without a form of their own': 3,
})

import { conformanceTests, withoutTypes } from './provider-suite.ts'
import { SCALEWAY } from './scaleway-target.ts'

/** The types of `src/providers/scaleway/capabilities.ts`, with its limits. */
conformanceTests(SCALEWAY, {
  ...withoutTypes('DHCID DNSKEY OPENPGPKEY SMIMEA'),
  '26. NS only APEX': 2,
  '27. complex TXT': 1,
  '42. SOA': 7,
  'TTL of the zone': 3,
  'octets in TXT': 3,
  'unusual names': 1,
  'types without a form of their own': 2,
})

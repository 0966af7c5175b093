import { conformanceTests, withoutTypes } from './provider-suite.ts'
import { OCTODNS_POWERDNS } from './targets.ts'

/** The types of octodns-powerdns, and texts that octoDNS would change. */
conformanceTests(OCTODNS_POWERDNS, {
  ...withoutTypes('RP DHCID DNAME DNSKEY OPENPGPKEY SMIMEA'),
  '19. Ech': 4,
  '27. complex TXT': 1,
  '28. TXT backslashes': 1,
  '42. SOA': 7,
  'TTL of the zone': 3,
  'octets in TXT': 2,
  'types without a form of their own': 3,
})

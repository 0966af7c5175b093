import { conformanceTests } from './provider-suite.ts'
import { OCTODNS_POWERDNS } from './targets.ts'

/** The types of octodns-powerdns, and texts that octoDNS would change. */
conformanceTests(OCTODNS_POWERDNS, {
  '8. RP': 3,
  '9. RP': 3,
  '19. Ech': 4,
  '27. complex TXT': 1,
  '28. TXT backslashes': 1,
  '42. SOA': 7,
  '50. DHCID': 2,
  '51. DNAME': 3,
  '52. DNSKEY': 4,
  '102. OPENPGPKEY': 3,
  '103. SMIMEA': 5,
  'TTL of the zone': 3,
  'octets in TXT': 2,
  'types without a form of their own': 3,
})

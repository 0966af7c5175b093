import { conformanceTests } from './provider-suite.ts'
import { OCTODNS_BIND } from './targets.ts'

/** The types of octodns-bind without LOC, which it cannot read again, and texts that octoDNS would change. */
conformanceTests(OCTODNS_BIND, {
  '8. RP': 3,
  '9. RP': 3,
  '19. Ech': 4,
  '27. complex TXT': 2,
  '28. TXT backslashes': 1,
  '39. LOC': 3,
  '42. SOA': 7,
  '50. DHCID': 2,
  '51. DNAME': 3,
  '52. DNSKEY': 4,
  '53. ALIAS on apex': 2,
  '54. ALIAS to nonfqdn': 1,
  '55. ALIAS on subdomain': 2,
  '102. OPENPGPKEY': 3,
  '103. SMIMEA': 5,
  'TTL of the zone': 3,
  'octets in TXT': 2,
  'types without a form of their own': 3,
})

import { conformanceTests } from './provider-suite.ts'
import { OCTODNS } from './targets.ts'

/** What octoDNS's files cannot hold: types that it lacks, the ECH parameter, octets that are not text, and records without a TTL. */
conformanceTests(OCTODNS, {
  '8. RP': 3,
  '9. RP': 3,
  '19. Ech': 4,
  '42. SOA': 7,
  '50. DHCID': 2,
  '52. DNSKEY': 4,
  '103. SMIMEA': 5,
  'TTL of the zone': 3,
  'octets in TXT': 1,
  'types without a form of their own': 3,
})

import { conformanceTests, withoutTypes } from './provider-suite.ts'
import { OCTODNS } from './targets.ts'

/** What octoDNS's files does not support: types that it lacks, the ECH parameter, octets that are not text, and records without a TTL. */
conformanceTests(OCTODNS, {
  ...withoutTypes('RP DHCID DNSKEY SMIMEA'),
  '19. Ech': 4,
  '42. SOA': 7,
  'TTL of the zone': 3,
  'octets in TXT': 1,
  'types without a form of their own': 3,
})

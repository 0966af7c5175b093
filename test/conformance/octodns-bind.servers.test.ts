import { conformanceTests, withoutTypes } from './provider-suite.ts'
import { OCTODNS_BIND } from './targets.ts'

/** The types of octodns-bind without LOC, which it cannot read again, and texts that octoDNS would change. */
conformanceTests(OCTODNS_BIND, {
  ...withoutTypes('RP LOC DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
  '19. Ech': 4,
  '27. complex TXT': 2,
  '28. TXT backslashes': 1,
  '42. SOA': 7,
  'TTL of the zone': 3,
  'octets in TXT': 2,
  'types without a form of their own': 3,
})

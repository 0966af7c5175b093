import { AZURE } from './azure-target.ts'
import { conformanceTests, withoutTypes } from './provider-suite.ts'

/** The types of `src/providers/azure/capabilities.ts`, with its limits. */
conformanceTests(AZURE, {
  ...withoutTypes('RP HTTPS SVCB LOC NAPTR SSHFP TLSA DS DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
  '23. NullMX': 2,
  '24. NullMXApex': 2,
  '27. complex TXT': 1,
  '42. SOA': 7,
  'octets in TXT': 3,
  'unusual names': 1,
  'types without a form of their own': 3,
  'TTL of the zone': 3,
})

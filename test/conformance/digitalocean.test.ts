import { DIGITALOCEAN } from './digitalocean-target.ts'
import { conformanceTests, withoutTypes } from './provider-suite.ts'

/** The types of `src/providers/digitalocean/capabilities.ts`, with its limits. */
conformanceTests(DIGITALOCEAN, {
  ...withoutTypes('RP HTTPS SVCB LOC NAPTR SSHFP TLSA DS DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
  '23. NullMX': 2,
  '24. NullMXApex': 2,
  '27. complex TXT': 7,
  '28. TXT backslashes': 1,
  '38. CAA': 2,
  '41. PTR': 2,
  '42. SOA': 7,
  'TTL of the zone': 3,
  'octets in TXT': 4,
  'types without a form of their own': 3,
  'unusual names': 1,
})

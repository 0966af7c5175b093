import { conformanceTests, withoutTypes } from './provider-suite.ts'
import { CLOUD } from './targets.ts'

/** The types A, AAAA, NS, MX, CNAME, TXT, SRV, PTR and CAA, with the limits of `src/providers/cloud/record-rules.ts`. */
conformanceTests(CLOUD, {
  ...withoutTypes('RP HTTPS SVCB LOC NAPTR SSHFP TLSA DS DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
  '27. complex TXT': 1,
  '38. CAA': 2,
  '42. SOA': 7,
  'octets in TXT': 1,
  'unusual names': 2,
  'types without a form of their own': 3,
})

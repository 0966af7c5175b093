/** The types of the row, and texts without quotes and backslashes. */
import { conformanceTests, withoutTypes } from './provider-suite.ts'
import { LEXICON_CLOUDFLARE } from './scripted-target.ts'

const NO_MX = { '7. MX': 5, '12. manyTypesAtOnce': 3, '16. TypeChange': 1, '22. ApexMX': 1, '23. NullMX': 3, '24. NullMXApex': 3 }
const NO_SRV_CAA = { '38. CAA': 6, '43. SRV': 9, '44. SRV': 2 }

conformanceTests(LEXICON_CLOUDFLARE, {
  ...withoutTypes('RP HTTPS SVCB LOC NAPTR SSHFP TLSA DS DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
  ...NO_MX,
  ...NO_SRV_CAA,
  '26. NS only APEX': 2,
  '27. complex TXT': 6,
  '28. TXT backslashes': 1,
  '30. testByLabel': 4,
  '31. testByRecordSet': 4,
  '42. SOA': 7,
  'TTL of the zone': 3,
  'octets in TXT': 4,
  'types without a form of their own': 3,
  'unusual names': 1,
})

import { AZURE } from './azure-target.ts'
import { conformanceTests } from './provider-suite.ts'

/** The types of `src/providers/azure/capabilities.ts`, with its limits. */
conformanceTests(AZURE, {
  '8. RP': 3,
  '9. RP': 3,
  '18. HTTPS': 6,
  '19. Ech': 5,
  '20. SVCB': 6,
  '23. NullMX': 2,
  '24. NullMXApex': 2,
  '27. complex TXT': 1,
  '39. LOC': 3,
  '40. NAPTR': 10,
  '42. SOA': 7,
  '45. SSHFP': 3,
  '46. TLSA': 5,
  '47. DS': 13,
  '48. DS (children only)': 7,
  '49. DS (children only) CLOUDNS': 7,
  '50. DHCID': 2,
  '51. DNAME': 3,
  '52. DNSKEY': 4,
  '53. ALIAS on apex': 2,
  '54. ALIAS to nonfqdn': 1,
  '55. ALIAS on subdomain': 2,
  '102. OPENPGPKEY': 3,
  '103. SMIMEA': 5,
  'octets in TXT': 3,
  'unusual names': 1,
  'types without a form of their own': 3,
  'TTL of the zone': 3,
})

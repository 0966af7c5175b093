import { HETZNER } from './hetzner-target.ts'
import { conformanceTests } from './provider-suite.ts'

/** The types of `src/providers/hetzner/capabilities.ts`, with its limits. */
conformanceTests(HETZNER, {
  '39. LOC': 3,
  '40. NAPTR': 10,
  '42. SOA': 7,
  '45. SSHFP': 3,
  '50. DHCID': 2,
  '51. DNAME': 3,
  '52. DNSKEY': 4,
  '53. ALIAS on apex': 2,
  '54. ALIAS to nonfqdn': 1,
  '55. ALIAS on subdomain': 2,
  '102. OPENPGPKEY': 3,
  '103. SMIMEA': 5,
  'unusual names': 1,
  'types without a form of their own': 3,
})

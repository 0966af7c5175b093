/** The types of each cloud's `capabilities.ts`, with its limits. */
import { conformanceTests, withoutTypes } from './provider-suite.ts'
import {
  AZURE,
  CLOUDFLARE,
  DESEC,
  DIGITALOCEAN,
  GANDI,
  GOOGLE,
  HETZNER,
  OVH,
  PORKBUN,
  ROUTE53,
  SCALEWAY,
  VULTR,
} from './scripted-target.ts'

const USUAL = { '42. SOA': 7, 'types without a form of their own': 3, 'unusual names': 1 }
const TEXTS = { '27. complex TXT': 1, 'octets in TXT': 3 }
const OWN_TTLS = { 'TTL of the zone': 3 }
const NO_NULL_MX = { '23. NullMX': 2, '24. NullMXApex': 2 }
const FEW_TYPES = withoutTypes('RP HTTPS SVCB LOC NAPTR SSHFP TLSA DS DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA')
const OTHERS = withoutTypes('RP LOC DHCID DNAME DNSKEY OPENPGPKEY SMIMEA')
const ALIAS_AT_APEX = { '55. ALIAS on subdomain': 2 }

conformanceTests(AZURE, { ...USUAL, ...FEW_TYPES, ...NO_NULL_MX, ...TEXTS, ...OWN_TTLS })
conformanceTests(CLOUDFLARE, { ...USUAL, ...withoutTypes('RP DHCID DNAME'), ...TEXTS, ...ALIAS_AT_APEX })
conformanceTests(DESEC, {
  ...{ ...USUAL, ...withoutTypes('DNSKEY ALIAS'), ...OWN_TTLS },
  ...{ 'unusual names': 2, 'types without a form of their own': 2 },
})
conformanceTests(DIGITALOCEAN, {
  ...{ ...USUAL, ...FEW_TYPES, ...NO_NULL_MX, ...OWN_TTLS },
  ...{ '27. complex TXT': 7, '28. TXT backslashes': 1, '38. CAA': 1, '41. PTR': 2, 'octets in TXT': 4 },
})
conformanceTests(GANDI, { ...USUAL, ...withoutTypes('DHCID DNSKEY SMIMEA'), ...TEXTS, ...OWN_TTLS })
conformanceTests(GOOGLE, { ...USUAL, ...OTHERS, ...ALIAS_AT_APEX, ...OWN_TTLS, 'octets in TXT': 3 })
conformanceTests(HETZNER, { ...USUAL, ...withoutTypes('LOC NAPTR SSHFP DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA') })
/** Aliases of names outside the zone are left out, too. */
const { 'unusual names': _, ...ROUTE53_SKIPS } = { ...USUAL, ...OTHERS, ...ALIAS_AT_APEX, ...OWN_TTLS, '53. ALIAS on apex': 2 }
conformanceTests(ROUTE53, ROUTE53_SKIPS)
conformanceTests(SCALEWAY, {
  ...{ ...USUAL, ...withoutTypes('DHCID DNSKEY OPENPGPKEY SMIMEA'), ...TEXTS, ...OWN_TTLS },
  ...{ '26. NS only APEX': 2, 'types without a form of their own': 2 },
})
conformanceTests(VULTR, {
  ...{
    ...USUAL,
    ...withoutTypes('RP HTTPS SVCB LOC NAPTR TLSA DS DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
    ...NO_NULL_MX,
    ...OWN_TTLS,
  },
  ...{ '27. complex TXT': 5, '38. CAA': 1, '41. PTR': 2, 'octets in TXT': 4 },
})
conformanceTests(PORKBUN, {
  ...{ ...USUAL, ...withoutTypes('RP HTTPS SVCB LOC NAPTR SSHFP DS DHCID DNAME DNSKEY OPENPGPKEY SMIMEA'), ...NO_NULL_MX, ...OWN_TTLS },
  ...{ '26. NS only APEX': 2, '27. complex TXT': 2, '38. CAA': 1, '41. PTR': 2, 'octets in TXT': 3 },
})
conformanceTests(OVH, {
  ...{ ...USUAL, ...withoutTypes('DS DHCID DNSKEY ALIAS OPENPGPKEY SMIMEA'), ...NO_NULL_MX, ...OWN_TTLS },
  ...{ '27. complex TXT': 5, '28. TXT backslashes': 1, 'octets in TXT': 4 },
})

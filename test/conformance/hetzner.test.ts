import { HETZNER } from './hetzner-target.ts'
import { conformanceTests, withoutTypes } from './provider-suite.ts'

/** The types of `src/providers/hetzner/capabilities.ts`, with its limits. */
conformanceTests(HETZNER, {
  ...withoutTypes('LOC NAPTR SSHFP DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
  '42. SOA': 7,
  'unusual names': 1,
  'types without a form of their own': 3,
})

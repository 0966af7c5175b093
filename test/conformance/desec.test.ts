import { DESEC } from './desec-target.ts'
import { conformanceTests, withoutTypes } from './provider-suite.ts'

/** The types of `src/providers/desec/capabilities.ts`, with its limits. */
conformanceTests(DESEC, {
  ...withoutTypes('DNSKEY ALIAS'),
  '42. SOA': 7,
  'TTL of the zone': 3,
  'unusual names': 2,
  'types without a form of their own': 2,
})

import { faultTests } from './fault-suite.ts'
import { MEMORY_BATCHES, MEMORY_MESSAGES, MEMORY_RECORDS, MEMORY_RRSETS, MEMORY_ZONES } from './memory-target.ts'
import { conformanceTests, withoutTypes } from './provider-suite.ts'

conformanceTests(MEMORY_RECORDS, {
  ...withoutTypes('RP HTTPS SVCB LOC NAPTR SSHFP TLSA DS DHCID DNAME DNSKEY ALIAS OPENPGPKEY SMIMEA'),
  '27. complex TXT': 1,
  '38. CAA': 2,
  '42. SOA': 7,
  'octets in TXT': 1,
  'unusual names': 2,
  'types without a form of their own': 3,
})

for (const kind of [MEMORY_RRSETS, MEMORY_BATCHES, MEMORY_MESSAGES, MEMORY_ZONES])
  conformanceTests(kind, { '42. SOA': 7, 'TTL of the zone': 3 })

for (const kind of [MEMORY_RECORDS, MEMORY_RRSETS, MEMORY_BATCHES, MEMORY_MESSAGES, MEMORY_ZONES]) faultTests(kind)

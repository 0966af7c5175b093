import { conformanceTests } from './provider-suite.ts'
import { POWERDNS_API } from './targets.ts'

/** Every type, with the limits of `src/providers/powerdns/capabilities.ts`. */
conformanceTests(POWERDNS_API, { '39. LOC': 1, '42. SOA': 7, '52. DNSKEY': 4, 'TTL of the zone': 3, 'unusual names': 1 })

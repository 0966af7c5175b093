import { LONG_SERVERS } from '../support/skip.ts'
import { faultTests } from './fault-suite.ts'
import { BIND, CLOUD, KNOT, POWERDNS, ZONEFILE } from './targets.ts'

for (const kind of [CLOUD, BIND, ZONEFILE]) faultTests(kind)
for (const kind of [KNOT, POWERDNS]) faultTests(kind, LONG_SERVERS)

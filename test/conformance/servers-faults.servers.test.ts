import { faultTests } from './fault-suite.ts'
import { BIND, CLOUD, KNOT, POWERDNS, ZONEFILE } from './targets.ts'

for (const kind of [CLOUD, BIND, KNOT, POWERDNS, ZONEFILE]) faultTests(kind)

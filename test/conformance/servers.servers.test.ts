import { CLOUD_SKIPS, conformanceTests, UPDATE_SKIPS } from './provider-suite.ts'
import { BIND, CLOUD, KNOT, POWERDNS, ZONEFILE } from './targets.ts'

conformanceTests(CLOUD, CLOUD_SKIPS)
for (const kind of [BIND, KNOT, POWERDNS, ZONEFILE]) conformanceTests(kind, UPDATE_SKIPS)

import { LONG_SERVERS } from '../support/skip.ts'
import { CLOUD_SKIPS, conformanceTests, UPDATE_SKIPS } from './provider-suite.ts'
import { BIND, CLOUD, KNOT, POWERDNS, ZONEFILE } from './targets.ts'

conformanceTests(CLOUD, CLOUD_SKIPS)
for (const kind of [BIND, ZONEFILE]) conformanceTests(kind, UPDATE_SKIPS)
for (const kind of [KNOT, POWERDNS]) conformanceTests(kind, UPDATE_SKIPS, LONG_SERVERS)

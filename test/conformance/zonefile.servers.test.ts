import { conformanceTests, UPDATE_SKIPS } from './provider-suite.ts'
import { ZONEFILE } from './targets.ts'

conformanceTests(ZONEFILE, UPDATE_SKIPS)

import { conformanceTests, UPDATE_SKIPS } from './provider-suite.ts'
import { POWERDNS } from './targets.ts'

conformanceTests(POWERDNS, UPDATE_SKIPS)

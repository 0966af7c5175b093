import { conformanceTests, UPDATE_SKIPS } from './provider-suite.ts'
import { KNOT } from './targets.ts'

conformanceTests(KNOT, UPDATE_SKIPS)

import { conformanceTests, UPDATE_SKIPS } from './provider-suite.ts'
import { BIND } from './targets.ts'

conformanceTests(BIND, UPDATE_SKIPS)

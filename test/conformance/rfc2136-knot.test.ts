import { conformanceTests } from './provider-suite.ts'
import { KNOT } from './targets.ts'

conformanceTests(KNOT, {})

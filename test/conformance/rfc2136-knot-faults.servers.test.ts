import { faultTests } from './fault-suite.ts'
import { KNOT } from './targets.ts'

faultTests(KNOT)

import { faultTests } from './fault-suite.ts'
import { ZONEFILE } from './targets.ts'

faultTests(ZONEFILE)

import { faultTests } from './fault-suite.ts'
import { POWERDNS } from './targets.ts'

faultTests(POWERDNS)

import { faultTests } from './fault-suite.ts'
import { OCTODNS_POWERDNS } from './targets.ts'

faultTests(OCTODNS_POWERDNS)

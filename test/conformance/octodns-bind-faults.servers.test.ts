import { faultTests } from './fault-suite.ts'
import { OCTODNS_BIND } from './targets.ts'

faultTests(OCTODNS_BIND)

import { faultTests } from './fault-suite.ts'
import { POWERDNS_API } from './targets.ts'

faultTests(POWERDNS_API)

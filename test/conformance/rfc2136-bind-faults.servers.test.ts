import { faultTests } from './fault-suite.ts'
import { BIND } from './targets.ts'

faultTests(BIND)

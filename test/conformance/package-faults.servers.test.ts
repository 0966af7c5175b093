import { faultTests } from './fault-suite.ts'
import { PACKAGE } from './targets.ts'

faultTests(PACKAGE)

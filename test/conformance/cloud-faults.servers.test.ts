import { faultTests } from './fault-suite.ts'
import { CLOUD } from './targets.ts'

faultTests(CLOUD)

import { DESEC } from './desec-target.ts'
import { faultTests } from './fault-suite.ts'

faultTests(DESEC)

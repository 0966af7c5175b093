import { faultTests } from './fault-suite.ts'
import { SCALEWAY } from './scaleway-target.ts'

faultTests(SCALEWAY)

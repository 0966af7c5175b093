import { faultTests } from './fault-suite.ts'
import { GOOGLE } from './google-target.ts'

faultTests(GOOGLE)

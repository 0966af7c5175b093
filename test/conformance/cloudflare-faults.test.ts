import { faultTests } from './fault-suite.ts'
import { CLOUDFLARE } from './targets.ts'

faultTests(CLOUDFLARE)

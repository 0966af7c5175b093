import { CLOUDFLARE } from './cloudflare-target.ts'
import { faultTests } from './fault-suite.ts'

faultTests(CLOUDFLARE)

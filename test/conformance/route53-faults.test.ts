import { faultTests } from './fault-suite.ts'
import { ROUTE53 } from './route53-target.ts'

faultTests(ROUTE53)

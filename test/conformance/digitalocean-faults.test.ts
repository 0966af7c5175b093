import { DIGITALOCEAN } from './digitalocean-target.ts'
import { faultTests } from './fault-suite.ts'

faultTests(DIGITALOCEAN)

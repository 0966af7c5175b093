import { faultTests } from './fault-suite.ts'
import { HETZNER } from './hetzner-target.ts'

faultTests(HETZNER)

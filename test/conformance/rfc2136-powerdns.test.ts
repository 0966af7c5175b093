import { conformanceTests } from './provider-suite.ts'
import { POWERDNS } from './targets.ts'

conformanceTests(POWERDNS, {})

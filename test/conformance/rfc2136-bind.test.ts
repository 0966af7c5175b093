import { conformanceTests } from './provider-suite.ts'
import { BIND } from './targets.ts'

conformanceTests(BIND, {})

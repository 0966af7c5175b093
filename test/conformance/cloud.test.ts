import { conformanceTests } from './provider-suite.ts'
import { CLOUD } from './targets.ts'

conformanceTests(CLOUD, {})

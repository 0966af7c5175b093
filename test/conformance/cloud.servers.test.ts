import { CLOUD_SKIPS, conformanceTests } from './provider-suite.ts'
import { CLOUD } from './targets.ts'

conformanceTests(CLOUD, CLOUD_SKIPS)

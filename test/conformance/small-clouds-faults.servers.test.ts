import { faultTests } from './fault-suite.ts'
import { OVH, PORKBUN, VULTR } from './scripted-target.ts'

for (const kind of [OVH, PORKBUN, VULTR]) faultTests(kind)

import { faultTests } from './fault-suite.ts'
import { GOOGLE, HETZNER, ROUTE53, SCALEWAY } from './scripted-target.ts'

for (const kind of [GOOGLE, HETZNER, ROUTE53, SCALEWAY]) faultTests(kind)

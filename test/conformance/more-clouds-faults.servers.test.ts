import { faultTests } from './fault-suite.ts'
import { GANDI, GOOGLE, HETZNER, ROUTE53, SCALEWAY } from './scripted-target.ts'

for (const kind of [GANDI, GOOGLE, HETZNER, ROUTE53, SCALEWAY]) faultTests(kind)

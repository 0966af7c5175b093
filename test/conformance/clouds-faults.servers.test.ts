import { faultTests } from './fault-suite.ts'
import { AZURE, CLOUDFLARE, DESEC, DIGITALOCEAN } from './scripted-target.ts'

for (const kind of [AZURE, CLOUDFLARE, DESEC, DIGITALOCEAN]) faultTests(kind)

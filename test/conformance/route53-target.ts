import { createRoute53 } from '../scripted/route53/service.ts'
import { zoneFileLines } from '../scripted/route53/zone-file-line.ts'
import { startScriptedTarget } from './scripted-target.ts'
import { type TargetKind, ZONE } from './targets.ts'

const KEY = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const ID = 'Z0123456789'

export const ROUTE53: TargetKind = {
  name: 'route53',
  tools: ['named-checkzone'],
  start() {
    const route53 = createRoute53({ key: KEY, zones: [{ id: ID, name: `${ZONE}.` }] })
    return startScriptedTarget({
      service: route53.service,
      entry: (origin, more) => `{type: route53, endpoint: '${origin}'${more}}`,
      env: { AWS_ACCESS_KEY_ID: KEY.id, AWS_SECRET_ACCESS_KEY: KEY.secret },
      lines: () => route53.sets(ID).flatMap((set) => (set.type === 'SOA' ? [] : zoneFileLines(set))),
    })
  },
}

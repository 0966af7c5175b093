import { createDesec } from '../scripted/desec/service.ts'
import { startScriptedTarget } from './scripted-target.ts'
import { type TargetKind, ZONE } from './targets.ts'

const TOKEN = 'desec-test-token'

export const DESEC: TargetKind = {
  name: 'desec',
  tools: ['named-checkzone'],
  start() {
    const desec = createDesec({ token: TOKEN, domains: [{ name: ZONE, minimum_ttl: 60 }] })
    return startScriptedTarget({
      service: desec.service,
      entry: (origin, more) => `{type: desec, base_url: '${origin}/api/v1', token: env:DESEC_TOKEN${more}}`,
      env: { DESEC_TOKEN: TOKEN },
      lines: () =>
        (desec.rrsets(ZONE) ?? []).flatMap(({ name, ttl, type, records }) =>
          records.map((content) => `${name} ${ttl} IN ${type} ${content}`),
        ),
    })
  },
}

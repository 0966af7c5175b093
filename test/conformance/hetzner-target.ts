import { createHetzner } from '../scripted/hetzner/service.ts'
import { defaultRrsets } from '../scripted/hetzner/zones.ts'
import { startScriptedTarget } from './scripted-target.ts'
import { type TargetKind, ZONE } from './targets.ts'

const ID = 53_091
const TOKEN = 'hetzner-test-token'

export const HETZNER: TargetKind = {
  name: 'hetzner',
  tools: ['named-checkzone'],
  start() {
    const hetzner = createHetzner({
      token: TOKEN,
      zones: [{ id: ID, name: ZONE }],
      rrsets: defaultRrsets(ID),
      // Waiting for each action would take minutes.
      stepsOf: (_, count) => (count % 100 === 0 ? [50] : null),
    })
    return startScriptedTarget({
      service: hetzner.service,
      entry: (origin, more) => `{type: hetzner, base_url: '${origin}/v1', token: env:HETZNER_TOKEN${more}}`,
      env: { HETZNER_TOKEN: TOKEN },
      lines: () =>
        hetzner
          .rrsets(ID)
          .flatMap(({ name, type, ttl, records }) =>
            type === 'SOA' ? [] : records.map(({ value }) => `${name} ${ttl ?? 86_400} IN ${type} ${value}`),
          ),
    })
  },
}

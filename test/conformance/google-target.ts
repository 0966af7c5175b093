import { createGoogle, type GoogleZone } from '../scripted/google/service.ts'
import { startScriptedTarget } from './scripted-target.ts'
import { type TargetKind, ZONE } from './targets.ts'

const TOKEN = 'google-test-token'
const GOOGLE_ZONE: GoogleZone = { id: '699036609868956548', name: 'example-com', dnsName: `${ZONE}.` }

export const GOOGLE: TargetKind = {
  name: 'google',
  tools: ['named-checkzone'],
  start() {
    const google = createGoogle({ project: 'test-project', token: TOKEN, zones: [GOOGLE_ZONE], pageSize: 100 })
    return startScriptedTarget({
      service: google.service,
      entry: (origin, more) => `{type: google, project: test-project, base_url: '${origin}', token: env:GOOGLE_TOKEN${more}}`,
      env: { GOOGLE_TOKEN: TOKEN },
      // An ALIAS has no form in a zone file, and the frame has an SOA record.
      lines: () =>
        google
          .rrsets(GOOGLE_ZONE.id)
          .flatMap(({ name, type, ttl, rrdatas }) =>
            type === 'ALIAS' || type === 'SOA' ? [] : rrdatas.map((rrdata) => `${name} ${ttl} IN ${type} ${rrdata}`),
          ),
    })
  },
}

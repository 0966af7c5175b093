import { createCloudflare } from '../scripted/cloudflare/service.ts'
import { zoneFileLine } from '../scripted/cloudflare/zone-file-line.ts'
import { startScriptedTarget } from './scripted-target.ts'
import { type TargetKind, ZONE } from './targets.ts'

const ACCOUNT = '2'.repeat(32)
const TOKEN = 'cloudflare-test-token'

/** The provider creates the zone. */
export const CLOUDFLARE: TargetKind = {
  name: 'cloudflare',
  tools: ['named-checkzone'],
  rejoinsTexts: true,
  start() {
    const cloudflare = createCloudflare({ token: TOKEN, zones: [], account: ACCOUNT, plan: 'free', maxRecords: 20_000 })
    return startScriptedTarget({
      service: cloudflare.service,
      entry: (origin, more) =>
        `{type: cloudflare, base_url: '${origin}/client/v4', token: env:CLOUDFLARE_TOKEN, account_id: '${ACCOUNT}'${more}}`,
      env: { CLOUDFLARE_TOKEN: TOKEN },
      // An ALIAS has no form in a zone file.
      lines: () =>
        cloudflare
          .records(cloudflare.zones()[0]?.id ?? '')
          .flatMap((record) => (record.type === 'CNAME' && record.name === ZONE ? [] : [zoneFileLine(record)])),
    })
  },
}

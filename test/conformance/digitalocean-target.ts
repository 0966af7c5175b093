import type { DigitalOceanRecord } from '../scripted/digitalocean/records.ts'
import { zoneFileLine } from '../scripted/digitalocean/records.ts'
import { createDigitalOcean } from '../scripted/digitalocean/service.ts'
import { startScriptedTarget } from './scripted-target.ts'
import { type TargetKind, ZONE } from './targets.ts'

const TOKEN = 'digitalocean-test-token'

export const DIGITALOCEAN: TargetKind = {
  name: 'digitalocean',
  tools: ['named-checkzone'],
  rejoinsTexts: true,
  start() {
    const digitalOcean = createDigitalOcean({ token: TOKEN, domains: [ZONE] })
    return startScriptedTarget({
      service: digitalOcean.service,
      entry: (origin, more) => `{type: digitalocean, base_url: '${origin}/v2', token: env:DIGITALOCEAN_TOKEN${more}}`,
      env: { DIGITALOCEAN_TOKEN: TOKEN },
      lines: () => (digitalOcean.records(ZONE) ?? []).flatMap((record) => (record.type === 'SOA' ? [] : [lineOf(record)])),
    })
  },
}

/** Texts have no quotes at DigitalOcean. */
function lineOf(record: DigitalOceanRecord): string {
  if (record.type !== 'TXT') return zoneFileLine(record, ZONE)
  const strings = record.data.match(/.{1,255}/gs) ?? []
  return zoneFileLine({ ...record, data: strings.map((text) => `"${text.replace(/"/g, '\\"')}"`).join(' ') }, ZONE)
}

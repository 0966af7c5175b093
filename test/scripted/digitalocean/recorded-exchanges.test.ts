/** The scripted DigitalOcean answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import type { DigitalOceanRecord } from './records.ts'
import { createDigitalOcean } from './service.ts'

const TIMED: Readonly<Record<string, RegExp>> = {
  etag: /^(?:W\/)?"[0-9a-f]{32}"$/,
  'ratelimit-remaining': /^\d{1,4}$/,
  'ratelimit-reset': /^\d{10}$/,
}

interface Body {
  readonly domain?: { readonly name: string; readonly zone_file: string }
  readonly domain_records?: readonly DigitalOceanRecord[]
  readonly domain_record?: DigitalOceanRecord
}

replayTests({
  name: 'digitalocean',
  size: [25, 143],
  generated: {
    pattern: (field, value) => (field === 'id' && typeof value === 'number' ? /^\d+$/ : null),
    timed: (field) => TIMED[field] ?? null,
  },
  seed(cases) {
    const bodies = cases.flatMap((one) => one.exchanges).map(({ response }) => (response === '' ? {} : (JSON.parse(response) as Body)))
    const created = new Set(bodies.flatMap((body) => body.domain_record?.id ?? []))
    const records = new Map(bodies.flatMap((body) => body.domain_records ?? []).map((record) => [record.id, record]))
    const name = bodies[0]?.domain?.name ?? ''
    const { service } = createDigitalOcean({
      token: 'test-token',
      domains: [name],
      records: new Map([[name, [...records.values()].filter(({ id }) => !created.has(id)).sort((a, b) => a.id - b.id)]]),
      serials: bodies.flatMap(({ domain }) => / (\d{10}) /.exec(domain?.zone_file ?? '')?.[1] ?? []),
    })
    return {
      service,
      headers: { authorization: 'Bearer test-token' },
      shared: [...records.keys()].filter((id) => !created.has(id)),
    }
  },
})

/** The scripted Cloudflare answers as the real one did. */
import { replayTests } from '../replay-tests.ts'
import type { CloudflareRecord } from './records.ts'
import { type CloudflareZone, createCloudflare } from './service.ts'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/

replayTests({
  name: 'cloudflare',
  size: [26, 88],
  generated: { pattern: (field) => (field === 'id' ? /^[0-9a-f]{32}$/ : /^(?:created|modified)_on$/.test(field) ? TIME : null) },
  seed(cases) {
    const exchanges = cases.flatMap((one) => one.exchanges)
    const resultOf = <T>({ response }: { readonly response: string }): T => (JSON.parse(response) as { readonly result: T }).result
    const zones = resultOf<readonly CloudflareZone[]>(exchanges[0] as (typeof exchanges)[number])
    const created = new Set(exchanges.flatMap((one) => (one.method === 'POST' ? (resultOf<{ id: string } | null>(one)?.id ?? []) : [])))
    const records = new Map<string, CloudflareRecord[]>()
    const known = new Set<string>()
    for (const one of exchanges) {
      const [, zone] = /\/zones\/([^/]+)\/dns_records\?/.exec(one.uri) ?? []
      if (zone === undefined) continue
      for (const record of resultOf<readonly CloudflareRecord[]>(one)) {
        if (created.has(record.id) || known.has(record.id)) continue
        known.add(record.id)
        records.set(zone, [...(records.get(zone) ?? []), record])
      }
    }
    const seeded = [...records.values()].flat()
    const { service } = createCloudflare({ token: 'test-token', zones, records })
    return {
      service,
      headers: { authorization: 'Bearer test-token' },
      shared: [
        ...zones.map(({ id }) => id),
        ...[...zones, ...seeded].flatMap((one) => [one.id, String(one['created_on']), String(one['modified_on'])]),
        ...zones.flatMap((zone) =>
          ['owner', 'account', 'tenant', 'tenant_unit', 'plan'].map((key) => String((zone[key] as { id: string }).id)),
        ),
      ],
    }
  },
})

/** The scripted servers answer as the real services did: every recorded exchange is replayed, in order, and compared in status, structure and values. */
import { describe, expect, test } from 'vitest'
import type { CloudflareRecord } from './cloudflare/records.ts'
import { type CloudflareZone, createCloudflare } from './cloudflare/service.ts'
import { createReplay, type GeneratedValues, type RecordedCase, readRecording } from './replay.ts'
import { type ScriptedService, startScriptedServer } from './scripted-server.ts'

interface Recorded {
  readonly name: string
  /** Cases and exchanges in the recording. */
  readonly size: readonly [cases: number, exchanges: number]
  readonly generated: GeneratedValues
  /** A service in the state at the start of the recording, how to sign in, and the generated values of that state. */
  seed(cases: readonly RecordedCase[]): { service: ScriptedService; headers: Readonly<Record<string, string>>; shared: readonly string[] }
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/

const CLOUDFLARE: Recorded = {
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
}

describe.each([CLOUDFLARE])('$name', async ({ name, size, generated, seed }) => {
  const cases = readRecording(name)
  const { service, headers, shared } = seed(cases)
  const { origin } = await startScriptedServer(service)
  const replay = createReplay(origin, headers, generated)
  replay.share(shared)

  test('the recording is complete', () => expect([cases.length, cases.flatMap(({ exchanges }) => exchanges).length]).toEqual(size))

  test.each(cases.map((one) => [one.case, one] as const))('%s', async (_, { exchanges }) => {
    for (const exchange of exchanges) {
      const { answer, expected } = await replay.run(exchange)
      expect(answer, `${exchange.method} ${exchange.uri}`).toEqual(expected)
    }
  })
})

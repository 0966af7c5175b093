/** The requests of a `plan`, counted by a proxy before real servers: the numbers of docs/providers.md. Those of the scripted clouds are counted in `clouds.test.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROVIDER_NOTES, type ProviderNotes, requestsOf } from '../../scripts/providers-page/notes.ts'
import { startService, UNLIMITED } from '../../src/service/index.ts'
import { cli } from '../support/cli.ts'
import { startDnsFaultProxy } from '../support/dns-fault-proxy.ts'
import { type DnsServerOptions, startBind, startKnot, startPowerDns, TEST_KEY } from '../support/dns-servers.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const SIZES = [3, 1201]

const definition = (records: number): string =>
  Array.from({ length: records }, (_, index) => `  h${index}: {type: A, value: 192.0.2.${index % 250}}\n`).join('')

const zoneFile = (records: number): string =>
  [
    '$TTL 3600',
    '@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300',
    '@ NS ns1.example.net.',
    ...Array.from({ length: records }, (_, index) => `h${index} A 192.0.2.${index % 250}`),
    '',
  ].join('\n')

/** A folder with this entry of `providers` and a definition of `records` addresses. */
function workspace(entry: string, records: number, more = ''): string {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    `providers:\n  live: ${entry}\ndefaults: {soa_email: hostmaster@example.com, default_ttl: 1h}\n`,
  )
  writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\n${more}records:\n${definition(records)}`)
  return folder
}

/** Plans a zone without changes, and returns the requests that the proxy counted. */
async function requestsOfPlan(folder: string, env: Readonly<Record<string, string>>, proxy: { count(): number }): Promise<number> {
  const before = proxy.count()
  const plan = await cli(['plan', '--detailed-exitcode', '--no-color'], { cwd: folder, env })
  expect([plan.status, plan.stdout]).toEqual([0, 'No changes. 1 zone matches.\n'])
  return proxy.count() - before
}

const expected = (type: string, records: number): number => requestsOf((PROVIDER_NOTES[type] as ProviderNotes).requests, records)

describe.each(SIZES)('%i records', (records) => {
  test('cloud', { tags: records > 3 ? ['long'] : [] }, async () => {
    const loopback = { host: '127.0.0.1', port: 0 }
    const service = await startService({ ...UNLIMITED, dataFolder: null, listen: loopback, dns: loopback })
    const { origin, pathname } = new URL(service.baseUrl)
    const proxy = await startFaultProxy(origin)
    const folder = workspace(`{type: cloud, base_url: '${proxy.origin}${pathname}', token: env:TOKEN}`, records)
    const env = { TOKEN: service.token ?? '' }
    try {
      expect((await cli(['apply', '--yes'], { cwd: folder, env })).status).toBe(0)
      // A zone file that is not rendered yet would be a line of the plan.
      await service.flush()
      expect(await requestsOfPlan(folder, env, proxy)).toBe(expected('cloud', records))
    } finally {
      await proxy.close()
      await service.stop()
    }
  })

  const updatable = [
    ['rfc2136 on BIND', 'rfc2136', 'named', startBind],
    ['rfc2136 on Knot DNS', 'rfc2136', 'knotd', startKnot],
    ['axfr on BIND', 'axfr', 'named', startBind],
  ] as const
  describe.each(updatable)('%s', (name, type, tool, start: (options: DnsServerOptions) => ReturnType<typeof startBind>) =>
    describeWithTools([tool], name, () => {
      test('requests', async () => {
        const server = await start({ zones: [{ name: 'example.com', text: zoneFile(records) }], key: TEST_KEY })
        const proxy = await startDnsFaultProxy(server.port)
        const entry = `{type: ${type}, server: '${proxy.origin}', tsig: {name: ${TEST_KEY.name}, secret: env:KEY}}`
        const settings = type === 'axfr' ? 'ttl_sec: 300\n' : ''
        const folder = workspace(entry, records, settings)
        try {
          expect(await requestsOfPlan(folder, { KEY: TEST_KEY.secret }, proxy)).toBe(expected(type, records))
        } finally {
          await proxy.close()
          await server.stop()
        }
      })
    }),
  )

  describeWithTools(['pdns_server', 'pdnsutil'], 'powerdns', () => {
    test('requests', async () => {
      const server = await startPowerDns({ zones: [{ name: 'example.com', text: zoneFile(records) }] })
      const proxy = await startFaultProxy(new URL(server.api.url).origin)
      const folder = workspace(`{type: powerdns, base_url: '${proxy.origin}', api_key: env:KEY}`, records, 'ttl_sec: 300\n')
      try {
        expect(await requestsOfPlan(folder, { KEY: server.api.key }, proxy)).toBe(expected('powerdns', records))
      } finally {
        await proxy.close()
        await server.stop()
      }
    })
  })

  test.each([
    ['zonefile', 'example.com.zone'],
    ['octodns', 'example.com.yaml'],
  ])('%s reads the file of the zone and no other', async (type, file) => {
    const settings = type === 'zonefile' ? 'ttl_sec: 300\n' : ''
    const folder = workspace(`{type: ${type}, directory: served}`, records, settings)
    mkdirSync(join(folder, 'served'))
    writeFileSync(
      join(folder, 'served', file),
      type === 'zonefile'
        ? zoneFile(records)
        : `---\n${definition(records).replaceAll(/^ {2}/gm, '').replaceAll('{type', '{ttl: 3600, type')}`,
    )
    writeFileSync(join(folder, 'served', file.replace('example.com', 'broken.example')), '{ this is no zone')
    expect(await requestsOfPlan(folder, {}, { count: () => 0 })).toBe(expected(type, records))
  })
})

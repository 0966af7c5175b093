/** The commands against real servers with dynamic update: BIND, Knot DNS and PowerDNS, judged by dig. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { type DnsServer, startBind, startKnot, startPowerDns, TEST_KEY } from '../../support/dns-servers.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { dig, transferZone } from '../../support/tools.ts'

const ZONE = [
  '$TTL 3600',
  '@ SOA ns1.example.net. hostmaster.example.com. 1 14400 14400 1209600 300',
  '@ NS ns1.example.net.',
  '@ NS ns2.example.net.',
  'www 300 A 192.0.2.1',
  'www 300 A 192.0.2.2',
  'old 300 CNAME www',
  '',
].join('\n')

const SERVERS = [
  { name: 'BIND', tool: 'named', start: startBind },
  { name: 'Knot DNS', tool: 'knotd', start: startKnot },
  { name: 'PowerDNS', tool: 'pdns_server', start: startPowerDns },
]

/** A folder with a config for the server and one definition. */
function workspace(port: number, records: string, more = ''): string {
  const folder = temporaryDirectory()
  mkdirSync(join(folder, 'zones'))
  writeFileSync(
    join(folder, 'zonewright.yaml'),
    `providers:\n  lab: {type: rfc2136, server: '127.0.0.1:${port}', tsig: {name: ${TEST_KEY.name}, secret: env:LAB_KEY}${more}}\nzones: [{files: zones/*.yaml, targets: [lab]}]\n`,
  )
  define(folder, records)
  return folder
}

const define = (folder: string, records: string): void =>
  writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\nrecords:\n${records}`)

const KEPT = '  www: {type: A, ttl: 300, values: [192.0.2.1, 192.0.2.2]}\n  old: {type: CNAME, ttl: 300, value: www}\n'
const env = { LAB_KEY: TEST_KEY.secret }
const run = (folder: string, ...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env })

/** The records without those of the server itself, in the order of their text. */
async function contents(port: number): Promise<string[]> {
  const lines = await transferZone({ port, name: 'example.com', key: TEST_KEY })
  const records = lines.filter((line) => !/\sSOA\s/.test(line)).map((line) => line.replace(/\s+/g, ' '))
  return [...new Set(records)].sort()
}

describe.each(SERVERS)('$name', ({ name: server, tool, start }) =>
  describeWithTools([tool, 'dig', 'nsupdate'], server, () => {
    let running: DnsServer
    beforeAll(async () => {
      running = await start({ zones: [{ name: 'example.com', text: ZONE }], key: TEST_KEY })
    })
    afterAll(() => running.stop())

    test('a definition like the zone changes nothing, and apex NS records stay without being named', async () => {
      const folder = workspace(running.port, KEPT)
      expectEnd(await run(folder, 'plan', '--detailed-exitcode'), 0, { out: 'No changes' })
    })

    test('a change of several RRsets is one call, read back and planned to empty', async () => {
      const folder = workspace(
        running.port,
        "  '': {type: NS, ttl: 600, values: [ns1.example.net., ns2.example.net.]}\n  www: {type: A, ttl: 600, values: [192.0.2.1, 192.0.2.3]}\n  old: {type: A, value: 192.0.2.9}\n  txt: {type: TXT, value: 'a \"quoted\" text'}\n  '*.w': {type: MX, values: [{preference: 10, exchange: www}]}\n",
      )
      const applied = await run(folder, 'apply', '--yes', '--allow', 'apex-ns', '--format', 'json')
      expect(applied.stderr).toBe('')
      const document = JSON.parse(applied.stdout)
      expect([applied.status, document.zones[0].readBack, document.zones[0].calls.total]).toEqual([0, 'equal', 1])
      expect(await contents(running.port)).toEqual([
        '*.w.example.com. 3600 IN MX 10 www.example.com.',
        'example.com. 600 IN NS ns1.example.net.',
        'example.com. 600 IN NS ns2.example.net.',
        'old.example.com. 3600 IN A 192.0.2.9',
        'txt.example.com. 3600 IN TXT "a \\"quoted\\" text"',
        'www.example.com. 600 IN A 192.0.2.1',
        'www.example.com. 600 IN A 192.0.2.3',
      ])
      expectEnd(await run(folder, 'plan', '--detailed-exitcode'), 0, { out: 'No changes' })
      define(folder, KEPT)
      expect((await run(folder, 'apply', '--yes', '--allow', 'updates', '--allow', 'deletes')).status).toBe(0)
      expect(await dig({ port: running.port, name: 'old.example.com', type: 'CNAME' })).toEqual(['www.example.com.'])
    })

    test('a plan of more than one message arrives whole', async () => {
      const folder = workspace(running.port, KEPT)
      const many = Array.from({ length: 1201 }, (_, index) => `  h${index}: {type: TXT, value: '${'x'.repeat(200)}'}\n`).join('')
      define(folder, KEPT + many)
      const applied = await run(folder, 'apply', '--yes', '--format', 'json')
      const document = JSON.parse(applied.stdout)
      expect([applied.status, document.zones[0].readBack]).toEqual([0, 'equal'])
      expect(document.zones[0].calls.total).toBeGreaterThan(1)
      expect(document.zones[0].calls.total).toBeLessThan(10)
      expect((await contents(running.port)).filter((line) => line.startsWith('h'))).toHaveLength(1201)
      define(folder, KEPT)
      expect((await run(folder, 'apply', '--yes', '--allow', 'deletes')).status).toBe(0)
    })

    test('a wrong key, a missing zone and a missing server are one clear error each', async () => {
      const folder = workspace(running.port, KEPT)
      const wrong = await cli(['plan', '--no-color'], { cwd: folder, env: { LAB_KEY: Buffer.alloc(32, 1).toString('base64') } })
      expect([wrong.status, wrong.stderr.match(/error\[/g)?.length]).toEqual([1, 1])
      expect(wrong.stderr).toMatch(/error\[provider-(?:unauthorized|forbidden)\]/)
      writeFileSync(join(folder, 'zones/missing.example.yaml'), 'domain: missing.example\nrecords: {www: {type: A, value: 192.0.2.1}}\n')
      expectEnd(await run(folder, 'plan', 'missing.example'), 1, { err: /error\[zone-fixed\] missing\.example\. does not exist at lab/ })
    })
  }),
)

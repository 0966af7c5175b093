/** A read-only target at real servers: BIND, Knot DNS and NSD. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli, expectEnd } from '../../support/cli.ts'
import { type DnsServer, startBind, startKnot, startNsd, TEST_KEY } from '../../support/dns-servers.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'

const ZONE = [
  '$TTL 3600',
  '@ SOA ns1.example.net. Host\\.Master.example.com. 1 14400 7200 1209600 300',
  '@ NS ns1.example.net.',
  'www 300 A 192.0.2.1',
  'old 300 CNAME www',
  '',
].join('\n')

const SETTINGS = 'soa_email: Host.Master@example.com\nrefresh_sec: 4h\nretry_sec: 2h\n'
const RECORDS = '  www: {type: A, ttl: 300, value: 192.0.2.1}\n  old: {type: CNAME, ttl: 300, value: www}\n'

const SERVERS = [
  { name: 'BIND', tool: 'named', start: startBind },
  { name: 'Knot DNS', tool: 'knotd', start: startKnot },
  { name: 'NSD', tool: 'nsd', start: startNsd },
]

describe.each(SERVERS)('$name', ({ name: server, tool, start }) =>
  describeWithTools([tool], server, () => {
    let running: DnsServer
    beforeAll(async () => {
      running = await start({ zones: [{ name: 'example.com', text: ZONE }], key: TEST_KEY, unsignedTransfer: false })
    })
    afterAll(() => running.stop())

    function workspace(records = RECORDS, settings = SETTINGS, tsig = ', tsig: {name: upd., secret: env:KEY}') {
      const folder = temporaryDirectory()
      mkdirSync(join(folder, 'zones'))
      writeFileSync(join(folder, 'zonewright.yaml'), `providers:\n  live: {type: axfr, server: '127.0.0.1:${running.port}'${tsig}}\n`)
      writeFileSync(join(folder, 'zones/example.com.yaml'), `domain: example.com\n${settings}records:\n${records}`)
      return { folder, run: (...args: string[]) => cli([...args, '--no-color'], { cwd: folder, env: { KEY: TEST_KEY.secret } }) }
    }

    test('verify compares records and settings', async () => {
      expect(await workspace().run('verify', '--no-dns')).toMatchObject({ status: 0, stderr: '' })
      const { run } = workspace(RECORDS.replace('192.0.2.1', '192.0.2.2'), SETTINGS.replace('2h', '3h'))
      expect(await run('verify', '--no-dns')).toMatchObject({ status: 2, stderr: expect.not.stringContaining('read-only') })
    })

    test('plan and apply refuse changes before anything else', async () => {
      const { run } = workspace(`${RECORDS}  new: {type: A, value: 192.0.2.9}\n`)
      for (const command of [['plan'], ['apply', '--yes'], ['plan', '--out', 'plan.json']])
        expectEnd(await run(...command), 1, { err: '[zone-read-only] example.com. at live cannot be changed: a transfer only reads it' })
      expect((await workspace().run('apply', '--yes')).status).toBe(0)
    })

    test('import writes a definition with an empty plan', async () => {
      const { folder, run } = workspace()
      const imported = await run('import', '--from', 'live', 'example.com', '-o', 'zones', '--force')
      expect([imported.status, imported.stderr]).toEqual([0, expect.stringContaining('1 zone with 3 records, read back and compared.\n')])
      expect(readFileSync(join(folder, 'zones/example.com.yaml'), 'utf8')).toContain('soa_email: host.master@example.com')
      expect((await run('plan', '--detailed-exitcode')).status).toBe(0)
    })

    test('a transfer without the key is refused, with a hint', async () => {
      const { run } = workspace(RECORDS, SETTINGS, '')
      expectEnd(await run('plan'), 1, { err: 'allow the transfer to this host or key' })
      expect((await run('doctor')).status).toBe(1)
      expect((await workspace().run('doctor')).status).toBe(0)
    })
  }),
)

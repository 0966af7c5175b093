/** A signed zone with capital letters passes through the service: the tools of BIND and ldns verify it at a secondary of the service, over AXFR and over IXFR. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startBind, waitForZone } from '../../support/dns-servers.ts'
import { freePort } from '../../support/free-port.ts'
import { describeWithTools } from '../../support/skip.ts'
import { temporaryDirectory } from '../../support/temp-directory.ts'
import { runTool, transferZone } from '../../support/tools.ts'
import { LOOPBACK, startForTest } from '../harness.ts'
import { sendNotify } from './notify.ts'

const ZONE = 'example.com'
const JUDGES = ['ldns-verify-zone', 'dnssec-verify', 'delv']

const zoneText = (serial: number): string => `$ORIGIN Example.com.
$TTL 300
@ SOA NS1 Host.Master ${serial} 7200 3600 1209600 300
@ NS NS1.Example.COM.
NS1 A 192.0.2.${serial}
WWW HTTPS 1 Svc.Example.NET. alpn=h2
WWW CAA 0 Issue "ca.example"
_x._tcp SVCB ${serial} Svc.Example.com.
_x._tcp SRV 1 2 3 NS1
Host LP 10 L64.Example.com.
Host NAPTR 1 2 "U" "E2U+sip" "" Relay.Example.com.
zz${serial} CNAME Www.Example.com.
ZZ TXT "end"
${Array.from({ length: 20 }, (_, i) => `Host${i} A 192.0.2.1\n`).join('')}`

/** Names and types to validate. */
const ASKED = [
  ['www', 'HTTPS'],
  ['www', 'CAA'],
  ['_x._tcp', 'SVCB'],
  ['host', 'LP'],
  ['ns1', 'A'],
] as const

describeWithTools([...JUDGES, 'named', 'dnssec-keygen', 'dnssec-signzone', 'dig'], 'a signed zone with capital letters', () => {
  test('verifies at a secondary of the service, by AXFR and by IXFR', async () => {
    const cwd = temporaryDirectory()
    const run = async (tool: string, ...args: string[]): Promise<string> => {
      const { status, stdout, stderr } = await runTool(tool, args, { cwd })
      expect({ tool, status, stderr }).toMatchObject({ status: 0 })
      return stdout
    }
    const key = (await run('dnssec-keygen', '-q', '-a', '13', '-f', 'KSK', ZONE)).trim()
    await run('dnssec-keygen', '-q', '-a', '13', ZONE)
    /** Signs again only what has changed: valid signatures are kept. */
    const signed = async (serial: number, signatures = ''): Promise<string> => {
      writeFileSync(join(cwd, 'zone'), zoneText(serial) + signatures)
      await run('dnssec-signzone', '-q', '-S', '-O', 'full', '-o', 'Example.com', '-f', 'signed', 'zone')
      return readFileSync(join(cwd, 'signed'), 'utf8')
    }
    const [, , , flags, protocol, algorithm, ...publicKey] = readFileSync(join(cwd, `${key}.key`), 'utf8')
      .replace(/^;.*\n/gm, '')
      .split(/\s+/)
    writeFileSync(join(cwd, 'anchor'), `trust-anchors { ${ZONE}. static-key ${flags} ${protocol} ${algorithm} "${publicKey.join('')}"; };`)
    const masterPort = await freePort()
    const logged: string[] = []
    const log = { level: 'debug', write: (line: string) => void logged.push(line) } as const
    const { service, client } = await startForTest({ dns: LOOPBACK, peerPort: masterPort, log })
    const port = service.dnsAddress?.port ?? 0
    const first = await signed(1)
    const master = await startBind({ port: masterPort, zones: [{ name: ZONE, text: first }], notify: [port], incremental: true })
    await client.ok('POST', '/domains', { domain: ZONE, type: 'slave', master_ips: ['127.0.0.1'], axfr_ips: ['127.0.0.1'] })
    await waitForZone(port, ZONE, { serial: 1 })
    const { port: at } = await startBind({ secondaryZones: [{ name: ZONE, primaryPort: port }] })
    for (const serial of [1, 2]) {
      if (serial > 1) {
        master.replaceZone(ZONE, await signed(serial, first.replace(/^(?!.*\bRRSIG\b).*\n/gm, '')))
        await waitForZone(port, ZONE, { serial })
        await sendNotify(at, ZONE, { serial })
      }
      await waitForZone(at, ZONE, { serial })
      const zone = await transferZone({ port: at, name: ZONE, options: ['+onesoa'] })
      // BIND itself sends IXFR with owners in lower case.
      const lines = (all: readonly string[]): string[] => all.map((line) => line.replace(/^\S+\s+/, (owner) => owner.toLowerCase())).sort()
      expect(lines(zone)).toEqual(lines(await transferZone({ port: masterPort, name: ZONE, options: ['+onesoa'] })))
      writeFileSync(join(cwd, 'received'), `${zone.join('\n')}\n`)
      await run('ldns-verify-zone', 'received')
      await run('dnssec-verify', '-q', '-o', ZONE, 'received')
      for (const [name, type] of ASKED) {
        const answer = await run('delv', '@127.0.0.1', '-p', String(at), '-a', 'anchor', `+root=${ZONE}`, `${name}.${ZONE}`, type)
        expect({ name, type, answer }).toMatchObject({ answer: expect.stringContaining('; fully validated') })
      }
    }
    const outcomes = logged
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message.startsWith('zone transferred') || message === 'transfer requested')
    expect(outcomes.map(({ method, outcome }) => method ?? outcome).filter((outcome) => outcome !== 'SOA')).toEqual([
      'AXFR',
      'AXFR',
      'IXFR',
      'IXFR',
    ])
  })
})

import { expect, test } from 'vitest'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { queryDns } from '../../src/transport/dns-client.ts'
import { type DnsServer, startBind, startKnot, startNsd, startPowerDns } from '../support/dns-servers.ts'
import { freePort } from '../support/free-port.ts'
import { describeWithTools } from '../support/skip.ts'
import { checkZone, transferZone } from '../support/tools.ts'
import { startForTest } from './harness.ts'
import { eventually } from './transfers/eventually.ts'

const ZONE = 'example.test'
const HOSTS = 2000

/** More than a domain of the service may have. */
const text = (serial: number, host: number): string => `$TTL 60
@ SOA ns1 host\\.master ${serial} 60 60 604800 30
@ NS ns1
ns1 A 192.0.2.53
www A 192.0.2.${host}
*.wild CNAME www
odd TYPE65280 \\# 3 010203
svc HTTPS 1 . alpn=h2 ipv4hint=192.0.2.1
_443._tcp TLSA 3 1 1 ${'0123456789abcdef'.repeat(4)}
a\\.b TXT "one" "two" "\\255"
sub NS ns.sub
ns.sub AAAA 2001:db8::1
sub DS 12345 13 2 ${'0123456789abcdef'.repeat(4)}
other DNAME example.net.
${Array.from({ length: HOSTS }, (_, i) => `h${i} A 192.0.${i >> 8}.${i & 255}`).join('\n')}
`

interface Options {
  readonly zones: readonly { readonly name: string; readonly text: string }[]
  readonly notify: readonly number[]
}

const MASTERS: readonly (readonly [string, string, (options: Options) => Promise<DnsServer>])[] = [
  ['BIND', 'named', startBind],
  ['Knot', 'knotd', startKnot],
  ['NSD', 'nsd', startNsd],
]

for (const [make, tool, start] of MASTERS) {
  describeWithTools([tool, 'dig', 'named-checkzone'], `a slave of ${make}`, async () => {
    const port = await freePort()
    const master = await start({ zones: [{ name: ZONE, text: text(1, 1) }], notify: [port] })
    const { client } = await startForTest({ dns: { host: '127.0.0.1', port }, peerPort: master.port })
    const domain = await client.ok('POST', '/domains', { domain: ZONE, type: 'slave', master_ips: ['127.0.0.1'], axfr_ips: ['127.0.0.1'] })
    const answer = async () =>
      (await queryDns({ host: '127.0.0.1', port }, { name: `www.${ZONE}.` as DomainName, type: 'A' })).answers[0]?.data

    test('serves, transfers and exports the zone of its master', async () => {
      await eventually(async () => expect(await answer()).toBe('192.0.2.1'))
      const [theirs, ours] = await Promise.all(
        [master.port, port].map((from) => transferZone({ port: from, name: ZONE, options: ['+onesoa'] })),
      )
      const plain = (lines: readonly string[] = []): string[] => lines.map((line) => line.replace(/\s+/g, ' ')).sort()
      expect(plain(ours)).toEqual(plain(theirs))
      expect(ours?.length).toBe(13 + HOSTS)
      const lines: string[] = (await client.ok('GET', `/domains/${domain.id}/zone-file`)).zone_file
      expect(await checkZone(ZONE, `${lines.join('\n')}\n`, ['-k', 'ignore'])).toMatchObject({ status: 0 })
    })

    test('follows a change after NOTIFY', async () => {
      await eventually(async () => expect(await answer()).toBe('192.0.2.1'))
      for (const serial of [2, 3]) {
        master.replaceZone(ZONE, text(serial, serial))
        // The time of the master to read its file does not belong to the slave.
        await eventually(async () => {
          const { answers } = await queryDns({ host: '127.0.0.1', port: master.port }, { name: `www.${ZONE}.` as DomainName, type: 'A' })
          expect(answers[0]?.data).toBe(`192.0.2.${serial}`)
        })
        await eventually(async () => expect(await answer()).toBe(`192.0.2.${serial}`))
      }
    })
  })
}

describeWithTools(['pdns_server', 'sqlite3'], 'a slave of PowerDNS', async () => {
  const port = await freePort()
  const master = await startPowerDns()
  const { client } = await startForTest({ dns: { host: '127.0.0.1', port }, peerPort: master.port })

  test('serves the zone of its master', async () => {
    const rrset = { name: `www.${ZONE}.`, type: 'A', ttl: 60, changetype: 'REPLACE', records: [{ content: '192.0.2.1', disabled: false }] }
    const created = await fetch(`${master.api.url}/servers/localhost/zones`, {
      method: 'POST',
      headers: { 'x-api-key': master.api.key, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `${ZONE}.`, kind: 'Master', nameservers: ['ns1.example.net.'], rrsets: [rrset] }),
    })
    expect(created.status).toBe(201)
    await client.ok('POST', '/domains', { domain: ZONE, type: 'slave', master_ips: ['127.0.0.1'] })
    await eventually(async () => {
      const { answers } = await queryDns({ host: '127.0.0.1', port }, { name: `www.${ZONE}.` as DomainName, type: 'A' })
      expect(answers).toMatchObject([{ data: '192.0.2.1', ttl: 60 }])
    })
  })
})

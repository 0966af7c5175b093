/** Imports zones from real name servers by transfer. The definitions have the records of the server, with any signatures and message sizes. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { defaultConfig } from '../../src/config/read-config.ts'
import { importByTransfer } from '../../src/convert/import-transfer.ts'
import type { DomainName } from '../../src/dns/domain-name.ts'
import { decodeMessage } from '../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../src/dns/wire/encode-message.ts'
import { CLASS, frameMessage } from '../../src/dns/wire/message.ts'
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts'
import { transferZone } from '../../src/transport/dns-transfer.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { type DnsServer, type DnsServerOptions, startBind, startKnot, startNsd, startPowerDns, TEST_KEY } from '../support/dns-servers.ts'
import { name, records } from '../support/records.ts'
import { describeWithTools } from '../support/skip.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const ORIGIN = name('example.com.')

const HEAD = `$ORIGIN example.com.
$TTL 3600
@ SOA ns1.example.net. first\\.last.example.com. 7 7200 3600 1209600 300
@ NS ns1.example.net.
@ NS ns2
ns2 A 192.0.2.2
`

/** Records that all four servers accept. */
const UNUSUAL = `${HEAD}
xn--bcher-kva A 192.0.2.3
\\000\\001\\255bin TXT "octets"
dot\\.ted.sub TXT "a" "b" "" "\\000\\255\\"\\\\"
* 60 A 192.0.2.4
_sip._tcp SRV 0 5 5060 sip.example.net.
@ MX 10 mail.example.net.
@ CAA 128 issue "ca.example.net; a=b"
@ CAA 0 issue "letsencrypt.org."
@ CAA 0 issue "ca.example.org ; ; a = b ; "
@ TXT "${'x'.repeat(255)}" "${'y'.repeat(200)}"
deleg NS ns.deleg
deleg DS 12345 13 2 ${'ab'.repeat(32)}
ns.deleg AAAA 2001:db8::53
loc LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000.00m 10.00m
naptr NAPTR 100 10 "U" "E2U+sip" "!^.*$!sip:x@example.com!" .
hinfo HINFO "a b" "c"
rp RP hostmaster.example.com. txt.example.com.
ssh SSHFP 4 2 ${'cd'.repeat(32)}
tlsa TLSA 3 1 1 ${'ef'.repeat(32)}
https HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.1
uri URI 10 1 "https://example.com/"
unknown TYPE65280 \\# 3 abcdef
eui EUI48 00-00-5e-00-53-2a
openpgp OPENPGPKEY ${Buffer.from('a key of somebody').toString('base64')}
cert CERT 1 2 3 ${Buffer.from('certificate').toString('base64')}
dname DNAME example.net.
`

/** More records than fit in a hundred messages. */
const LARGE = `${HEAD}${Array.from({ length: 12_500 }, (_, i) => `h${i} ${300 + (i % 3)} A 192.0.2.${i % 250}`).join('\n')}
`

const linesOf = (records: readonly { name: string; ttl: number | null; type: string; data: string }[]): string[] =>
  records
    .filter(({ type }) => type !== 'SOA')
    .map(({ name: owner, ttl, type, data }) => `${owner} ${ttl} ${type} ${data}`)
    .sort()

const wanted = (text: string): string[] => {
  const parsed = parseZoneFile(text, { origin: ORIGIN, file: 'wanted' })
  expect(parsed.diagnostics).toEqual([])
  return linesOf([...parsed.records])
}

const SERVERS: readonly { make: string; tools: readonly string[]; start: (options: DnsServerOptions) => Promise<DnsServer> }[] = [
  { make: 'BIND', tools: ['named'], start: startBind },
  { make: 'Knot DNS', tools: ['knotd'], start: startKnot },
  { make: 'NSD', tools: ['nsd'], start: startNsd },
  { make: 'PowerDNS', tools: ['pdns_server', 'pdnsutil'], start: startPowerDns },
]

for (const { make, tools, start } of SERVERS) {
  describeWithTools(tools, make, () => {
    const setting = { cwd: temporaryDirectory(), env: { SECRET: TEST_KEY.secret, OTHER: Buffer.alloc(32, 1).toString('base64') } }
    const run = (...args: string[]) => cli(['import', 'axfr', ...args, '--timeout', '5'], setting)
    let server: DnsServer
    let at = ''
    beforeAll(async () => {
      server = await start({
        key: TEST_KEY,
        unsignedTransfer: false,
        zones: [
          { name: 'example.com', text: UNUSUAL },
          { name: 'large.example', text: LARGE.replaceAll('example.com.', 'large.example.') },
        ],
      })
      at = `127.0.0.1:${server.port}`
    })
    afterAll(() => server?.stop())

    const transfer = (zone: string, tsig: string | undefined) =>
      importByTransfer({
        source: at,
        zones: [name(zone)],
        cwd: setting.cwd,
        env: setting.env,
        config: defaultConfig({ folder: setting.cwd, cwd: setting.cwd }),
        options: { tsig, timeout: 5 },
      })

    it('transfers every type and name, signed', async () => {
      const result = await run(at, 'example.com', '--tsig', 'upd:env:SECRET')
      expect(result).toMatchObject({ status: 0, stderr: expect.stringContaining('read back and compared') })
      expect(result.stdout).toContain('soa_email: first.last@example.com\n')
      const { zones, diagnostics } = await transfer('example.com.', 'upd:env:SECRET')
      expect(diagnostics).toEqual([])
      expect(linesOf(zones[0]?.records ?? [])).toEqual(wanted(UNUSUAL))
    })

    it('transfers 12,500 records in many messages, with every signature verified', async () => {
      const { zones, diagnostics } = await transfer('large.example.', 'hmac-sha256:upd.:env:SECRET')
      expect(diagnostics).toEqual([])
      expect(zones[0]?.records).toHaveLength(12_503)
    })

    it.each([
      ['another secret', ['example.com', '--tsig', 'upd:env:OTHER'], /BADSIG|NOTAUTH|REFUSED/],
      ['a key the server does not have', ['example.com', '--tsig', 'nobody:env:SECRET'], /BADKEY|NOTAUTH|REFUSED/],
      ['another algorithm', ['example.com', '--tsig', 'hmac-sha512:upd:env:SECRET'], /BADKEY|BADSIG|NOTAUTH|REFUSED/],
      ['no key', ['example.com'], /REFUSED|NOTAUTH/],
      ['a zone the server does not have', ['example.org', '--tsig', 'upd:env:SECRET'], /REFUSED|NOTAUTH/],
    ])('reports the reason: %s', async (_, args, reason) => {
      expectEnd(await run(at, ...args), 1, {
        err: [
          /^error\[nameserver-failed\] the transfer of example\.(?:com|org)\. from 127\.0\.0\.1 port [0-9]+ failed: /,
          reason,
          'Nothing was written.',
        ],
        out: '',
      })
    })

    it('reports the reason: another clock', async () => {
      const now = Date.now
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - 7_200_000)
      const { status, stderr } = await run(at, 'example.com', '--tsig', 'upd:env:SECRET').finally(() => clock.mockRestore())
      // PowerDNS reports only a refusal.
      const late =
        make === 'PowerDNS'
          ? /the answer is NOTAUTH \(.* clock must match\)/
          : /BADTIME: .* its clock is 7[0-9]{3} s ahead of the local one/
      expect([status, stderr]).toEqual([1, expect.stringMatching(late)])
    })
  })
}

/** Starts a server that handles every connection with `handle`, and returns its port. */
async function serverOf(handle: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    handle(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const importFrom = (port: number, ...more: string[]) =>
  cli(['import', 'axfr', `127.0.0.1:${port}`, 'example.com', '--timeout', '1', ...more], {
    cwd: temporaryDirectory(),
    env: { SECRET: TEST_KEY.secret },
  })

/** Starts a server that answers a transfer query with messages of these records. */
const transferOf = (answer: (send: (...lines: string[]) => void, socket: Socket) => void): Promise<number> =>
  serverOf((socket) => {
    socket.once('data', (piece: Buffer) => {
      const query = decodeMessage(piece.subarray(2))
      if (!query.ok) throw new Error(query.message)
      answer((...lines) => {
        const answers = lines.flatMap((line) => records('.' as DomainName, line)).map((one) => ({ ...one, ttl: 300, class: CLASS.IN }))
        if (!socket.destroyed) socket.write(frameMessage(encodeMessage({ ...query.value, response: true, authoritative: true, answers })))
      }, socket)
    })
  })

const SOA = 'example.com. 300 SOA ns1.example.net. hostmaster.example.com. 1 3600 600 604800 300'

it.each([
  ['octets', { maxOctets: 20_000 }, 'sent more than 20000 octets over TCP'],
  ['time', { total: 200 }, 'did not finish its answer over TCP within 0.2 s'],
])('sends without end: bounded in %s', async (_, limits, message) => {
  const port = await transferOf((send, socket) => {
    send(SOA)
    const timer = setInterval(() => send(`h.example.com. 300 TXT "${'x'.repeat(200)}"`), 5)
    socket.on('close', () => clearInterval(timer))
  })
  await expect(transferZone({ host: '127.0.0.1', port }, ORIGIN, { timeout: 5000, ...limits })).rejects.toThrow(message)
})

it.each([
  ['silent', (_: Socket) => undefined, 'did not answer over TCP within 1000 ms'],
  ['closes the connection', (socket: Socket) => void socket.end(), 'closed the connection before its answer was complete'],
  ['not DNS', (socket: Socket) => void socket.write('\0\u0005hello'), 'failed: '],
  ['resets', (socket: Socket) => void socket.resetAndDestroy(), '127.0.0.1 port'],
] as readonly [string, (socket: Socket) => void, string][])('%s', async (_, handle, text) => {
  const result = await importFrom(await serverOf(handle))
  expect(result).toMatchObject({ status: 1, stdout: '' })
  expect(result.stderr).toMatch(/^error\[nameserver-failed\] /)
  expect(result.stderr).toContain(text)
})

it.each([
  ['example.com', 'import axfr needs the zones to transfer', ['127.0.0.1:1']],
  ['no server', 'is not a name server', ['a b', 'example.com']],
  ['a plain secret', 'the secret must be env:NAME or file:PATH', ['127.0.0.1:1', 'example.com', '--tsig', `upd:${TEST_KEY.secret}`]],
  ['no secret', 'the environment variable NOT_THERE is not set', ['127.0.0.1:1', 'example.com', '--tsig', 'upd:env:NOT_THERE']],
  ['MD5', 'the algorithm must be one of', ['127.0.0.1:1', 'example.com', '--tsig', 'hmac-md5:upd:env:SECRET']],
])('refuses without asking: %s', async (_, text, args) => {
  const result = await cli(['import', 'axfr', ...args], { cwd: temporaryDirectory(), env: { SECRET: TEST_KEY.secret } })
  expect(result).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(text) })
  expect(result.stderr).not.toContain(TEST_KEY.secret)
})

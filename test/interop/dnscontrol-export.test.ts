/** `export dnscontrol` from the command line, checked with DNSControl itself if it is installed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runDnsconfig } from '../convert/dnscontrol/run-dnsconfig.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const DEFINITION = `domain: example.com
soa_email: Host.Master@example.com
ttl_sec: 1h
unmanaged: [{name: _acme-challenge*, type: TXT}]
records:
  '': [{type: NS, ttl: 300, values: [ns1.example.net., ns2.example.net.]}, {type: MX, ttl: 300, value: {preference: 10, exchange: mail}}]
  mail: {type: A, ttl: 60, value: 192.0.2.1}
  txt: {type: TXT, ttl: 300, value: "it's; \\"so\\""}
`

async function exportInto(cwd: string): Promise<void> {
  mkdirSync(join(cwd, 'zones'))
  writeFileSync(join(cwd, 'zones/example.com.yaml'), DEFINITION)
  const result = await cli(['export', 'dnscontrol', '-o', 'out', '--lossy'], { cwd })
  expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
}

it.each([4, 5] as const)('export dnscontrol and import for DNSControl %i keep the zone', async (version) => {
  const cwd = temporaryDirectory()
  await exportInto(cwd)
  const ir = JSON.stringify(runDnsconfig(readFileSync(join(cwd, 'out/dnsconfig.js'), 'utf8'), version))
  writeFileSync(join(cwd, 'ir.json'), ir)
  expect((await cli(['import', 'dnscontrol', 'ir.json', '-o', 'back', '--lossy'], { cwd })).status).toBe(0)
  const text = readFileSync(join(cwd, 'back/example.com.yaml'), 'utf8')
  // DNSControl writes the mailbox in small letters.
  for (const part of ['host.master@example.com', '_acme-challenge*', 'ns1.example.net.', '192.0.2.1', 'it\'s; "so"'])
    expect(text).toContain(part)
})

it('export dnscontrol reports dropped records with their place in the definition', async () => {
  const cwd = temporaryDirectory()
  mkdirSync(join(cwd, 'zones'))
  const text = `domain: example.com
include: [more.inc]
records:
  '': [{type: NS, values: [ns1.example.net., ns+2.example.net.]}, {type: CAA, value: {flags: 1, tag: issue, value: a}}]
  a\\.b: {type: A, value: 192.0.2.1}
  zero: {type: A, ttl: 0, value: 192.0.2.1}
`
  writeFileSync(join(cwd, 'zones/example.com.yaml'), text)
  writeFileSync(join(cwd, 'zones/more.inc'), 'x: {type: HIP, value: 2 200100107b1a74df365639cc39f1d578 AwEAAQ==}\n')
  const result = await cli(['export', 'dnscontrol', '-o', 'out'], { cwd })
  const places = [...result.stderr.matchAll(/^(\S+): error\[export-lossy\] (\S+ \w+):/gm)].map(([, place, what]) => `${place} ${what}`)
  expect(places).toEqual([
    'zones/example.com.yaml:4:46 example.com. NS',
    'zones/example.com.yaml:4:86 example.com. CAA',
    'zones/example.com.yaml:5:26 a\\.b.example.com. A',
    'zones/example.com.yaml:6:34 zero.example.com. A',
    'zones/more.inc:1:23 x.example.com. HIP',
  ])
})

/** `import dnscontrol` from the command line. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mutatedConfigs } from '../convert/dnscontrol/mutated-configs.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { fc } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const files = (folder: string): string[] => readdirSync(folder).sort()

describe('import dnscontrol', () => {
  it('reads several zones from one file, and reports errors with their lines', async () => {
    const cwd = temporaryDirectory()
    const text = (zone: string): string =>
      `$ORIGIN ${zone}.\n$TTL 300\n@ IN SOA ns.example.net. h.example.net. 1 3600 600 604800 300\nwww IN A 192.0.2.1\n\n`
    writeFileSync(join(cwd, 'two.zone'), text('example.com') + text('example.org'))
    expect((await cli(['import', 'dnscontrol', 'two.zone', '-o', 'out'], { cwd })).status).toBe(0)
    expect(files(join(cwd, 'out'))).toEqual(['example.com.yaml', 'example.org.yaml'])
    writeFileSync(join(cwd, 'bad.zone'), `${text('example.com')}${text('example.org')}x IN A nowhere\n`)
    expect((await cli(['import', 'dnscontrol', 'bad.zone', '-o', 'bad'], { cwd })).stderr).toContain('bad.zone:11:')
    writeFileSync(join(cwd, 'bad.tsv'), 'www.example.com\twww\t300\tIN\tA\t192.0.2.1\nx.example.com\tx\t300\tIN\tA\tnowhere\n')
    expect((await cli(['import', 'dnscontrol', 'bad.tsv', '-o', 'bad'], { cwd })).stderr).toContain(
      'bad.tsv:2:1: error[import-lossy] x.example.com. A: a definition cannot express nowhere: "nowhere" is not an IPv4 address',
    )
    writeFileSync(join(cwd, 'bad.json'), '{"domains": [\n  {"name": "secret" oops}]}')
    expect((await cli(['import', 'dnscontrol', 'bad.json', '-o', 'bad'], { cwd })).stderr).toMatch(
      /bad\.json:2:\d+: error\[schema-type\] the file is not JSON/,
    )
  })
})

it('import dnscontrol says how a program must be named', async () => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, 'zones.txt'), 'var DSP = NewDnsProvider(\'x\');\n\n  D("example.com", REG,\n')
  expect(await cli(['import', 'dnscontrol', 'zones.txt'], { cwd })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('error[file-format] zones.txt is a program of DNSControl, but its name does not end in .js'),
  })
})

const UNHELD = {
  domains: [
    {
      name: 'example.com',
      keepunknown: true,
      unmanaged: [{ label_pattern: 'mine', rType_pattern: 'TXT', target_pattern: '*' }],
      unmanaged_disable_safety_check: true,
      records: [
        { type: 'CNAME', name: '@', target: 'app.example.net.' },
        { type: 'MX', name: '@', mxpreference: 10, target: 'mail.example.net.' },
        { type: 'TLSA', name: '_443._tcp', tlsausage: 3, tlsaselector: 1, tlsamatchingtype: 1, target: 'bm90IGhleA==' },
        { type: 'MX', name: 'two', mxpreference: 10, target: 'mail.example.net.' },
        { type: 'MX', name: 'two', mxpreference: 70000, target: 'other.example.net.' },
        { type: 'A', name: 'long', ttl: 2 ** 31, target: '192.0.2.1' },
        { type: 'A', name: '*', target: 'x' },
        { type: 'A', name: 'a', target: '192.0.2.1' },
        { type: 'TXT', name: 'mine', target: 'text' },
        { type: 'A', name: 'x.example.org.', target: '192.0.2.1' },
      ],
    },
  ],
}

it('import dnscontrol reports records that no definition can express, and leaves them unmanaged', async () => {
  const cwd = temporaryDirectory()
  writeFileSync(join(cwd, 'ir.json'), JSON.stringify(UNHELD))
  const strict = expectEnd(await cli(['import', 'dnscontrol', 'ir.json'], { cwd }), 1, { out: '' })
  expect(strict.stderr.match(/error\[(?!import-lossy).*$/gm)).toBeNull()
  const lossy = await cli(['import', 'dnscontrol', 'ir.json', '--lossy'], { cwd })
  expect([lossy.status, lossy.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
  expect(lossy.stdout).toBe(`domain: example.com
default_ttl: 300
policy: upsert-only
unmanaged:
  - {name: mine, type: TXT}
  - {name: _443._tcp, type: TLSA}
  - {name: two, type: MX, target: 70000 other.example.net.}
  - {name: long, type: A}
  - {name: '*', type: A, target: x}
  - {name: '@', type: CNAME}
records:
  '': {type: MX, value: {preference: 10, exchange: mail.example.net.}}
  a: {type: A, value: 192.0.2.1}
  two: {type: MX, value: {preference: 10, exchange: mail.example.net.}}
`)
  const named = [...lossy.stderr.matchAll(/warning\[import-lossy\] (\S+ \w+): .*\((?:.*, )?(it is left out.*)\)$/gm)].map(
    ([, what, how]) => [what, how],
  )
  const left = 'it is left out, and "unmanaged" keeps it unchanged'
  expect(named).toEqual(
    [
      ...['*.example.com. A', '_443._tcp.example.com. TLSA', 'example.com. CNAME', 'long.example.com. A', 'mine.example.com. TXT'],
      'two.example.com. MX',
    ].map((what) => [what, left]),
  )
  expect(lossy.stderr).toContain('cannot express the record x.example.org. A: the name is not in the zone')
})

it('import dnscontrol --lossy drops what it cannot read, and writes only what reads back the same', async () => {
  for (const text of fc.sample(mutatedConfigs, { numRuns: rounds(80), seed: 5 })) {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'ir.json'), text)
    const { status, stderr } = await cli(['import', 'dnscontrol', 'ir.json', '-o', 'out', '--lossy'], { cwd })
    const codes = [...stderr.matchAll(/error\[([\w-]+)\]/g)].map(([, code]) => code)
    // Problems of the document itself and of domain names.
    expect([text, codes.filter((code) => !['schema-type', 'zone-name', 'no-definitions'].includes(code ?? ''))]).toEqual([text, []])
    expect(status).toBe(codes.length > 0 ? 1 : 0)
  }
})

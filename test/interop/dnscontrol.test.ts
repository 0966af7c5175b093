/** `import dnscontrol` and `export dnscontrol` from the command line; and DNSControl itself as the judge, where it is installed. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readIntermediate } from '../../src/formats/dnscontrol/read-intermediate.ts'
import { runDnsconfig } from '../formats/dnscontrol/run-dnsconfig.ts'
import { cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'
import { findTool, runTool } from '../support/tools.ts'

const CORPUS = fileURLToPath(new URL('../corpora/dnscontrol', import.meta.url))

const JSONS = readdirSync(join(CORPUS, 'parse_tests')).filter((name) => /^\d.*\.json$/.test(name))

/** Whose records no name server takes: base64 where hexadecimal belongs. */
const FAULTY = ['015-tlsa.json', '057-smimea.json']

const files = (folder: string): string[] => readdirSync(folder).sort()

describe('import dnscontrol', () => {
  it.each(JSONS)('%s', async (name) => {
    const cwd = temporaryDirectory()
    const result = await cli(['import', 'dnscontrol', join(CORPUS, 'parse_tests', name), '-o', 'out', '--lossy'], { cwd })
    if (FAULTY.includes(name)) {
      expect([result.status, result.stderr]).toEqual([1, expect.stringContaining('error[value-invalid]')])
      return
    }
    const json = JSON.parse(readFileSync(join(CORPUS, 'parse_tests', name), 'utf8')) as { domains: { name: string }[] }
    if (json.domains.length === 0) {
      expect([result.status, result.stderr]).toEqual([1, expect.stringContaining('has no zones')])
      return
    }
    expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    expect(files(join(cwd, 'out'))).toEqual([...new Set(json.domains.map((domain) => `${domain.name}.yaml`))].sort())
  })

  it('takes the variant of a split horizon that is asked for, and names the others', async () => {
    const source = join(CORPUS, 'parse_tests', '037-splithor.json')
    const cwd = temporaryDirectory()
    const refused = await cli(['import', 'dnscontrol', source, 'example.com', '-o', 'out'], { cwd })
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/second variant of a zone \("inside"\).*example\.com!inside/),
    ])
    await cli(['import', 'dnscontrol', source, 'example.com', '-o', 'plain', '--lossy'], { cwd })
    expect(readFileSync(join(cwd, 'plain/example.com.yaml'), 'utf8')).toContain('3.3.3.3')
    const inside = await cli(['import', 'dnscontrol', source, 'example.com!inside', '-o', 'inside', '--lossy'], { cwd })
    expect(inside.status).toBe(0)
    expect(files(join(cwd, 'inside'))).toEqual(['example.com.yaml'])
    expect(readFileSync(join(cwd, 'inside/example.com.yaml'), 'utf8')).toContain('11.11.11.11')
  })

  it.each(['apex.com', 'ds.com', 'simple.com'])('the zone file and the list that get-zones writes of %s are one zone', async (zone) => {
    const cwd = temporaryDirectory()
    for (const format of ['zone', 'tsv']) {
      const result = await cli(['import', 'dnscontrol', join(CORPUS, 'get-zones', `${zone}.zone.${format}`), '-o', format], { cwd })
      // A CNAME at the apex, which octoDNS and DNSControl let pass with a word, is none that a definition may have.
      if (zone === 'apex.com') expect([result.status, result.stderr]).toEqual([1, expect.stringContaining('cname-at-apex')])
      else expect([result.status, result.stderr.match(/^.*error\[.*$/gm)]).toEqual([0, null])
    }
    if (zone === 'apex.com') return
    expect(readFileSync(join(cwd, 'tsv', `${zone}.yaml`), 'utf8')).toBe(readFileSync(join(cwd, 'zone', `${zone}.yaml`), 'utf8'))
  })

  it('reads several zones of one file, and tells faults with their lines', async () => {
    const cwd = temporaryDirectory()
    const text = (zone: string): string =>
      `$ORIGIN ${zone}.\n$TTL 300\n@ IN SOA ns.example.net. h.example.net. 1 3600 600 604800 300\nwww IN A 192.0.2.1\n\n`
    writeFileSync(join(cwd, 'two.zone'), text('example.com') + text('example.org'))
    expect((await cli(['import', 'dnscontrol', 'two.zone', '-o', 'out'], { cwd })).status).toBe(0)
    expect(files(join(cwd, 'out'))).toEqual(['example.com.yaml', 'example.org.yaml'])
    writeFileSync(join(cwd, 'bad.zone'), `${text('example.com')}${text('example.org')}x IN A nowhere\n`)
    expect((await cli(['import', 'dnscontrol', 'bad.zone', '-o', 'bad'], { cwd })).stderr).toContain('bad.zone:11:')
    writeFileSync(join(cwd, 'bad.tsv'), 'www.example.com\twww\t300\tIN\tA\t192.0.2.1\nx.example.com\tx\t300\tIN\tA\tnowhere\n')
    expect((await cli(['import', 'dnscontrol', 'bad.tsv', '-o', 'bad'], { cwd })).stderr).toContain('bad.tsv:2:1: error[value-invalid]')
    writeFileSync(join(cwd, 'bad.json'), '{"domains": [\n  {"name": "secret" oops}]}')
    expect((await cli(['import', 'dnscontrol', 'bad.json', '-o', 'bad'], { cwd })).stderr).toMatch(
      /bad\.json:2:\d+: error\[schema-type\] the file is not JSON/,
    )
  })

  it('takes the proxy column of get-zones for what it is', async () => {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'a.tsv'), 'www.example.com\twww\t300\tIN\tA\t192.0.2.1\tcloudflare_proxy=true\n')
    const result = await cli(['import', 'dnscontrol', 'a.tsv', '-o', 'out'], { cwd })
    expect([result.status, result.stderr]).toEqual([
      1,
      expect.stringMatching(/www\.example\.com\. A: a definition cannot hold cloudflare_proxy=true/),
    ])
  })
})

const DEFINITION = `domain: example.com
soa_email: hostmaster@example.com
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

describe('export dnscontrol', () => {
  it('and import again is the same zone', async () => {
    const cwd = temporaryDirectory()
    await exportInto(cwd)
    const ir = JSON.stringify(runDnsconfig(readFileSync(join(cwd, 'out/dnsconfig.js'), 'utf8')))
    writeFileSync(join(cwd, 'ir.json'), ir)
    expect((await cli(['import', 'dnscontrol', 'ir.json', '-o', 'back', '--lossy'], { cwd })).status).toBe(0)
    const text = readFileSync(join(cwd, 'back/example.com.yaml'), 'utf8')
    for (const part of ['hostmaster@example.com', '_acme-challenge*', 'ns1.example.net.', '192.0.2.1', 'it\'s; "so"'])
      expect(text).toContain(part)
  })
})

const skip = findTool('dnscontrol') === null
if (skip) {
  const line = 'dnsconfig.js before DNSControl itself (needs dnscontrol on the PATH)'
  process.stderr.write(`!!! SKIPPED: ${line}\n`)
  const log = process.env['ZONEWRIGHT_SKIP_LOG']
  if (log !== undefined) appendFileSync(log, `${line}\n`)
}

describe.skipIf(skip)('DNSControl', () => {
  it('comes to the same from a dnsconfig.js as the run in this process', async () => {
    const cwd = temporaryDirectory()
    await exportInto(cwd)
    const config = join(cwd, 'out/dnsconfig.js')
    const { status, stdout, stderr } = await runTool('dnscontrol', ['print-ir', '--config', config])
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('ERROR')])
    const own = readIntermediate(JSON.stringify(runDnsconfig(readFileSync(config, 'utf8'))), '')
    const { domains } = readIntermediate(stdout, '')
    expect(domains.map(({ records }) => new Set(records.map(({ name, type, ttl, data }) => `${name} ${ttl} ${type} ${data}`)))).toEqual(
      own.domains.map(({ records }) => new Set(records.map(({ name, type, ttl, data }) => `${name} ${ttl} ${type} ${data}`))),
    )
  })
})

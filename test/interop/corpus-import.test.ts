/** Real configurations of octoDNS and DNSControl, and their own test data, import without `--lossy` unless a record is lost. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { cli } from '../support/cli.ts'

/** The text of each error with `--verbose`, and the exit status without `--lossy` and with it. */
async function imported(cwd: string, format: string, source: string): Promise<{ statuses: (number | null)[]; errors: string[] }> {
  const strict = await cli(['import', format, source, '-o', 'strict', '--verbose'], { cwd })
  const lossy = await cli(['import', format, source, '-o', 'lossy', '--lossy'], { cwd })
  return { statuses: [strict.status, lossy.status], errors: (strict.stderr.match(/(?<=error\[).*$/gm) ?? []).sort() }
}

describe('lenient record sets of octoDNS with invalid data, or that break a rule', () => {
  const files = {
    'in/example.com.yaml': `---
'':
  type: MX
  octodns: {lenient: true}
  values:
    - {exchange: mail.example.com., preference: ten}
    - {exchange: mail2.example.com., preference: 5}
bad: {type: A, value: 192.0.2.300, octodns: {lenient: true}}
late: {type: A, ttl: soon, value: 192.0.2.3, octodns: {lenient: true}}
none: {type: A, octodns: {lenient: true}}
same: {type: A, value: &same 192.0.2.301, octodns: {lenient: true}}
same2: {type: A, value: *same, octodns: {lenient: true}}
# The web server
www:
- {type: A, value: 192.0.2.1}
# An alias beside it breaks a rule.
- {type: CNAME, value: web.example.net., octodns: {lenient: true}}
`,
    'in/example.net.yaml': '---\nwww: {type: A, value: 192.0.2.1}\n',
  }

  it('are losses', async () => {
    const { statuses, errors } = await imported(folderWith(files), 'octodns', 'in')
    expect(statuses).toEqual([1, 0])
    expect(errors.map((line) => /^import-lossy\] (\S+ \S+): a definition cannot express this lenient/.exec(line)?.[1] ?? line)).toEqual(
      ['bad', 'late', 'none', 'same', 'same2']
        .flatMap((label) => `${label}.example.com. A`)
        .concat('example.com. MX', 'www.example.com. CNAME')
        .sort(),
    )
  })

  it('are left out with --lossy, and the other records and zones are imported', async () => {
    const cwd = folderWith(files)
    expect((await cli(['import', 'octodns', 'in', '-o', 'out', '--lossy'], { cwd })).status).toBe(0)
    const text = readFileSync(join(cwd, 'out/example.com.yaml'), 'utf8')
    for (const label of ['bad', 'late', 'none', 'same', 'same2']) expect(text).toContain(`{name: ${label}, type: A}`)
    for (const part of ["{name: '@', type: MX}", '{name: www, type: CNAME}', '# The web server', 'value: 192.0.2.1}'])
      expect(text).toContain(part)
    expect(text).not.toMatch(/mail2|web\.example\.net/)
    expect(readFileSync(join(cwd, 'out/example.net.yaml'), 'utf8')).toBe(files['in/example.net.yaml'])
  })

  it('are left out only by name if others may do more without them', async () => {
    const cwd = folderWith({
      'in/example.com.yaml':
        "---\n'': {type: CAA, values: [{tag: is?ue, value: ca.example}, {tag: issue, value: ca.example}], octodns: {lenient: true}}\n",
    })
    const args = ['import', 'octodns', 'in', '-o', 'out']
    expect((await cli([...args, '--lossy'], { cwd })).status).toBe(1)
    expect((await cli([...args, '--lossy=CAA'], { cwd })).status).toBe(0)
  })

  it('have no selector if it would match managed records', async () => {
    const text = "---\n'*': {type: CNAME, value: 'a..b.', octodns: {lenient: true}}\na: {type: CNAME, value: b.example.}\n"
    const cwd = folderWith({ 'in/example.com.yaml': text })
    const { status, stderr } = await cli(['import', 'octodns', 'in', '-o', 'out', '--lossy'], { cwd })
    expect([status, stderr]).toEqual([0, expect.stringContaining('separate it from managed records, so plans delete it')])
    expect(readFileSync(join(cwd, 'out/example.com.yaml'), 'utf8')).not.toContain('unmanaged')
  })
})

it('needs no --lossy for a zone without a file, and for a processor that keeps all records', async () => {
  const cwd = folderWith({
    'production.yaml': `providers: {config: {class: octodns.provider.yaml.YamlProvider, directory: ./zones, ignore_missing_zones: true}}
processors: {meta: {class: octodns.processor.meta.MetaProcessor}, spf: {class: octodns.processor.spf.SpfDnsLookupProcessor}}
zones:
  example.com.: {sources: [config], processors: [meta, spf]}
  example.net.: {sources: [config]}
`,
    'zones/example.com.yaml': '---\nwww: {type: A, value: 192.0.2.1}\n',
  })
  const { status, stderr } = await cli(['import', 'octodns', 'production.yaml', '-o', 'out'], { cwd })
  expect([status, stderr.match(/(?<=warning\[import-aside\] ).*$/gm)]).toEqual([
    0,
    expect.arrayContaining([
      expect.stringContaining('example.net.: a definition cannot express a zone without a file'),
      expect.stringContaining('the processor meta'),
      expect.stringContaining('the processor spf'),
    ]),
  ])
})

/** Server data reaches a terminal, a log, a page or a pull request only as text. */
import { describe, expect, test } from 'vitest'
import { REPORT_FORMATS } from '../../src/report/formats.ts'
import { expectEnd } from '../support/cli.ts'
import { rounds } from '../support/random.ts'
import type { Script } from './recording-proxy.ts'
import { openScene } from './scene.ts'
import { openWireScene } from './service-scene.ts'

const HOSTILE = [
  '\u001b[2J\u001b[1;1Herased',
  '\u001b]0;title\u0007\u001b]8;;http://evil.example\u0007link',
  'line\n::error::forged\r\nline',
  '\u202egnp.exe',
  '\u0000\u0008\u007f\u009b31m',
  '<script>alert(1)</script>&"\'',
  '`code` | table ](x) ![i](y) @everyone',
  'x'.repeat(70_000),
]

/** Control characters except line feeds, line separators and bidirectional marks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain them
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u
const page = (data: readonly unknown[]) => ({ body: JSON.stringify({ data, page: 1, pages: 1, results: data.length }) })

/** A zone in which every text is hostile. */
const holding =
  (evil: string): Script =>
  ({ method, path, body }) => {
    if (method !== 'GET') return { status: 400, body: JSON.stringify({ errors: [{ field: evil, reason: `${evil} ${body.length}` }] }) }
    if (path.includes('/records'))
      return page(
        ['A', 'TXT', 'CNAME', 'MX', 'SRV', 'CAA', evil].map((type, id) => {
          return { id, type, name: evil, target: evil, tag: evil, service: evil, protocol: evil, ttl_sec: 300 }
        }),
      )
    if (path.includes('/zone-file')) return { body: JSON.stringify({ zone_file: ['$ORIGIN example.com.', `www IN TXT ${evil}`, evil] }) }
    return page([
      { id: 1, domain: 'example.com', type: 'master', status: 'active', soa_email: evil, description: evil, group: evil, tags: [evil] },
      { id: 2, domain: evil, type: 'master', status: 'active', soa_email: 'a@example.com' },
    ])
  }

/** All of them in one text. */
const ALL = HOSTILE.join(' ')

describe.each([...HOSTILE, ALL])('%.40j', (evil) => {
  /** `npm test` has all of them together. */
  const options = evil === ALL ? {} : { tags: ['long'] }
  const open = () => openWireScene(holding(evil))

  for (const format of REPORT_FORMATS.plan)
    test(`plan and apply as ${format}`, options, async () => {
      const scene = await open()
      const allow = ['deletes', 'updates', 'empty-zone'].flatMap((name) => ['--allow', name])
      // The report of an apply has all of the plan, and the refusals of the service.
      for (const command of [...(format === 'text' ? [['plan', '--verbose']] : []), ['apply', '--yes', '--verbose', ...allow]]) {
        const { stdout, stderr } = await scene.run(...command, '--format', format)
        expect(stdout.length).toBeGreaterThan(100)
        // The page has tabs between the fields of a change.
        expect(format === 'html' ? stdout.replaceAll('\t', ' ') : stdout).not.toMatch(UNSAFE)
        expect(stderr).not.toMatch(UNSAFE)
        if (format === 'html' || format === 'junit') expect(stdout).not.toContain('<script>alert')
        if (format === 'json' || format === 'sarif') JSON.parse(stdout)
        else expect(stdout + stderr).not.toMatch(/^::error::forged/m)
      }
    })

  test('verify in every format', options, async () => {
    const scene = await open()
    for (const format of REPORT_FORMATS.verification) {
      const { status, stdout, stderr } = await scene.run('verify', '--no-dns', '--verbose', '--format', format)
      expect(status).toBeGreaterThan(0)
      expect(stdout.replaceAll('\t', format === 'html' ? ' ' : '\t') + stderr).not.toMatch(UNSAFE)
      expect(stdout).not.toMatch(/^::error::forged/m)
    }
  })

  test('in the text of an error', options, async () => {
    const scene = await openWireScene(() => ({ status: 400, body: JSON.stringify({ errors: [{ field: evil, reason: evil }] }) }))
    const { stdout, stderr } = expectEnd(await scene.run('plan', '--verbose'), 1)
    expect(stdout + stderr).not.toMatch(UNSAFE)
    expect(stderr.length).toBeLessThan(5_000)
  })

  const text = JSON.stringify(evil)
  const D = "const DNS = NewDnsProvider('cloud'), REG = NewRegistrar('none')\n"
  test.each<[kind: string, files: Readonly<Record<string, string>>]>([
    [
      'definitions',
      {
        'zones/example.com.yaml': JSON.stringify({
          domain: 'example.com',
          [evil]: 1,
          records: { [evil]: { type: evil, value: evil }, x: { type: 'A', value: evil } },
        }),
      },
    ],
    [
      'programs',
      {
        'a.ts': `import { record, zone } from 'zonewright/definition'
console.log(${text})
zone('a.example', { [${text}]: 1 }, [record(${text}, ${text}, ${text}, { owner: ${text}, [${text}]: ${text} }), record('x', 'A', ${text}), record('y', 'TXT', ${text})])`,
        'b.ts': `import { zone } from 'zonewright/definition'\nzone(${text}, {}, [])`,
        'c.ts': `({ [${text}]() { throw new Error(${text}) } })[${text}]()`,
        'd.ts': `throw ${text}`,
        'e.ts': `import ${text}`,
        'dnsconfig.js': `${D}console.log(${text})
D('b.example', REG, DnsProvider(DNS), { [${text}]: ${text} }, A('x', '192.0.2.1', { [${text}]: ${text} }), TXT('t', ${text}), (domain) => {
  domain.records.push({ type: ${text}, name: 'x', target: ${text}, meta: {}, filepos: ${text} + ':1:1' }, { type: 'A', name: 'z', target: '192.0.2.1', meta: {}, filepos: 'zonewright.yaml:1:1' })
})`,
        'dnsconfig-b.js': `${D}D(${text}, REG, DnsProvider(DNS))`,
        'dnsconfig-c.js': `D('c.example', REG, DnsProvider(DNS), A(${text}, '192.0.2.1'), A('x', ${text}), CNAME('y', ${text}))`,
        'dnsconfig-d.js': `require(${text})`,
      },
    ],
  ])('in %s', options, async (kind, files) => {
    const scene = openScene({ files, ...(kind === 'programs' && { config: "zones: [{files: '*.{ts,js}'}]\n" }) })
    const formats = REPORT_FORMATS.validation
      // The renderers of the other formats get the same from programs as from definitions.
      .filter((one) => one !== 'text' && evil === ALL && (kind !== 'programs' || one === 'github' || rounds(1) > 1))
      .map((format) => ['validate', '--format', format])
    for (const command of [['validate', '--verbose'], ...formats, ['plan'], ['fmt', '--check']]) {
      const { stdout, stderr } = await scene.run(...command)
      expect(stdout + stderr).not.toMatch(UNSAFE)
      expect(stdout).not.toMatch(/^::error::forged/m)
      // A place is one that the program has.
      if (kind === 'programs') expect(stdout + stderr).not.toContain('zonewright.yaml')
      expect(stdout.length).toBeLessThan(2_000_000)
    }
  })
})

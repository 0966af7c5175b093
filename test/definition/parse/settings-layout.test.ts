// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of definitions are written like that
import { describe, expect, test } from 'vitest'
import { diagnosticLines, expectProblems, parse, recordLines } from '../parse.ts'

const DEFINITION = `# yaml-language-server: $schema=../schemas/zone.schema.json
domain: example.com
type: master
soa_email: hostmaster@example.com
ttl_sec: 1h
expire_sec: 2w
default_ttl: 300
tags: [production, 1]
axfr_ips: [192.0.2.53, 2001:DB8::0053]
targets: [cloud]
policy: upsert-only
allow: [deletes, apex-ns]
apex_ns: manage
unsupported: skip
unmanaged: [{name: _acme-challenge*, type: TXT}, {owner: external-dns, name: '*.dev'}, {preset: dhcp}]
records:
  '':
  - {type: A, value: 192.0.2.1}
  - {type: MX, ttl: 1h30m, values: [{preference: 10, exchange: mail}]}
  www: {type: CNAME, value: '@'}
`

describe('a definition with settings', () => {
  const parsed = parse(DEFINITION)

  test('has no errors', () => expect(diagnosticLines(parsed)).toEqual([]))

  test('gives the settings of the zone', () => {
    expect(parsed).toMatchObject({ layout: 'settings', enabled: true })
    const { records: _, settingPositions: __, ...zone } = parsed.zone ?? { records: [] }
    expect(zone).toEqual({
      name: 'example.com.',
      defaultTtl: { ttl: 300, at: { file: 'zone.yaml', line: 7, column: 14 } },
      at: { file: 'zone.yaml', line: 2, column: 9 },
      settings: {
        type: 'master',
        soa_email: 'hostmaster@example.com',
        ttl_sec: 3600,
        expire_sec: 1209600,
        tags: ['production', '1'],
        axfr_ips: ['192.0.2.53', '2001:db8::53'],
      },
      providerSpecific: [],
      rrsetTargets: [],
      unmanaged: [
        { name: '_acme-challenge*', type: 'TXT', at: { file: 'zone.yaml', line: 15, column: 13 } },
        { name: '*.dev', owner: 'external-dns', at: { file: 'zone.yaml', line: 15, column: 50 } },
        { preset: 'dhcp', at: { file: 'zone.yaml', line: 15, column: 88 } },
      ],
      apexNs: 'manage',
      unsupported: 'skip',
      absent: false,
      targets: ['cloud'],
      policy: 'upsert-only',
      allow: ['deletes', 'apex-ns'],
    })
  })

  test('gives the positions of settings', () => {
    const places = Object.entries(parsed.zone?.settingPositions ?? {}).flatMap(([key, at]) =>
      [at].flat().map((one) => `${key} ${one.line}:${one.column}`),
    )
    expect(places.sort()).toEqual([
      'axfr_ips 9:11',
      'expire_sec 6:13',
      'soa_email 4:12',
      'tags 8:7',
      'targets 10:11',
      'ttl_sec 5:10',
      'type 3:7',
    ])
  })

  test('gives records with their positions', () => {
    expect(recordLines(parsed)).toEqual([
      'example.com. 300 A 192.0.2.1',
      'example.com. 5400 MX 10 mail.example.com.',
      'www.example.com. 300 CNAME example.com.',
    ])
    expect(parsed.zone?.records.map(({ at }) => `${at.line}:${at.column}`)).toEqual(['18:22', '19:37', '20:29'])
  })

  test.each([
    ['enabled: false', { enabled: false }],
    ['enabled: true', { enabled: true }],
  ])('%s', (line, expected) => expect(parse(`domain: example.com\n${line}\n`)).toMatchObject(expected))

  test('without default_ttl a record has the default TTL of the zone', () => {
    expect(recordLines(parse('domain: example.com\nrecords: {www: {type: A, value: 192.0.2.1}}\n'))).toEqual([
      'www.example.com. - A 192.0.2.1',
    ])
  })

  test('accepts a domain with the final dot, in capitals or in Unicode', () => {
    const names = ['example.com.', 'EXAMPLE.com', 'bücher.example', '1.2.0.192.in-addr.arpa'].map(
      (name) => parse(`domain: ${name}\n`).zone?.name,
    )
    expect(names).toEqual(['example.com.', 'example.com.', 'xn--bcher-kva.example.', '1.2.0.192.in-addr.arpa.'])
  })

  test('a record map may contain the name domain', () => {
    const records = parse('domain: {type: A, value: 192.0.2.1}\n')
    expect(records.layout).toBe('octodns')
    expect(recordLines(records)).toEqual(['domain.example.com. 3600 A 192.0.2.1'])
  })
})

/** A line with an error, and its diagnostics, or how they begin. */
const INVALID: readonly (readonly [definition: string, ...problems: string[]])[] = [
  ['records: {a: {type: CNAME, value: "https://www.example.net/x"}}', '2:35 error target-is-url a.example.com. CNAME:'],
  ['records: {a: {type: A, value: "${ip}"}}', '2:31 error variable-unknown a.example.com. A: the variable ${ip} has no value here'],
  ['records: {a: {type: CNAME, value: "${host}.example.net."}}', '2:35 error variable-unknown a.example.com. CNAME:'],
  ['records: {a: {type: TXT, value: "v=spf1 ip4:${ip} -all"}}', '2:33 warning variable-unknown a.example.com. TXT:'],
  ['records: {"${name}": {type: A, value: 192.0.2.1}}', '2:11 error variable-unknown example.com.: the variable ${name} has no value here'],
  ['tags: production', '2:7 error schema-type example.com.: tags must be a list, not "production"'],
  ['tags: [a, [b]]', '2:11 error schema-type example.com.: tags[1] must be text, not a list'],
  ['enabled: yes', '2:10 error schema-type example.com.: enabled must be true or false, not "yes"'],
  ['soa_emial: a@example.com', '2:1 error schema-unknown-key example.com.: unknown key "soa_emial"'],
  ['soa_email: hostmaster', '2:12 error setting-invalid example.com.: soa_email: "hostmaster" is not a mail address'],
  ['ttl_sec: 1x', '2:10 error setting-invalid example.com.:'],
  ['default_ttl: -1', '2:14 error ttl-invalid example.com.:'],
  ['policy: synch', '2:9 error setting-invalid example.com.: policy: "synch" is not one of sync, upsert-only, create-only'],
  ['allow: [delete]', '2:9 error setting-invalid example.com.:'],
  ['axfr_ips: [192.0.2.300]', '2:12 error setting-invalid example.com.: axfr_ips: "192.0.2.300" is not an IP address'],
  ['unmanaged: [{nam: a}]', '2:14 error schema-unknown-key example.com.: unknown key "nam" in unmanaged[0]'],
  ['unmanaged: [{preset: certbot}]', '2:22 error schema-value example.com.: unmanaged[0].preset must be'],
  ['unmanaged: [{}]', '2:13 error setting-invalid example.com.: unmanaged: the selector is empty and would match all records'],
  ['unmanaged: [{type: FOO}]', '2:20 error type-unknown example.com.: unmanaged: "FOO" is not a known record type'],
  ['records: [a]', '2:10 error schema-type example.com.: records must be keys with values, not a list'],
  ['records: {a22: []}', '2:16 error value-missing a22.example.com.: the list of records is empty'],
  ['records: {www: }', '2:11 error schema-type www.example.com.: the name has no record'],
  ['records: {www: {value: a}}', '2:16 error schema-missing-key www.example.com.: the record has no type'],
  ['records: {www: {type: A}}', '2:16 error value-missing www.example.com. A: the record has neither value nor values'],
  ['records: {www: {type: A, values: []}}', '2:34 error value-missing www.example.com. A: the list of values is empty'],
  ['records: {www: {type: A, value: ~}}', '2:33 error value-missing www.example.com. A: the value is empty'],
  ['records: {www: {type: A, valeu: 192.0.2.1}}', '2:26 error schema-unknown-key www.example.com. A: unknown key "valeu"'],
  ['records: {www: {type: FOO, value: a}}', '2:23 error type-unknown www.example.com.: "FOO" is not a record type'],
  ['records: {www: {type: a, value: 192.0.2.1}}', '2:23 error type-unknown www.example.com.: "a" is not a record type'],
  [
    'records: {www: {type: A, value: 192.0.2}}',
    '2:33 error value-invalid www.example.com. A: "192.0.2" is not an IPv4 address: it has 3 numbers instead of 4',
  ],
  ['records: {www: {type: A, value: 192.0.2.1, ttl: 1.5}}', '2:49 error ttl-invalid www.example.com. A:'],
  ['records: {www: {type: A, value: 192.0.2.1, ttl: 0300}}', '2:49 error ttl-invalid www.example.com. A:'],
  ['records: {a: {type: CNAME, value: b.example}}', '2:35 error target-ambiguous a.example.com. CNAME:'],
  ['records: {a: {type: MX, value: 10 mail}}', '2:32 error schema-type a.example.com. MX: value must be keys with values, not "10 mail"'],
  ['records: {a: {type: MX, value: {preference: 10}}}', '2:32 error schema-missing-key a.example.com. MX:'],
  ['records: {a: {type: MX, value: {preferense: 10, exchange: b}}}', '2:33 error schema-unknown-key a.example.com. MX:'],
  ['records: {a: {type: MX, values: [{preference: 70000, exchange: b}]}}', '2:47 error value-invalid a.example.com. MX:'],
  ['records: {a: {type: SSHFP, value: {algorithm: 1, fingerprint_type: 2, fingerprint: 00ff}}}', '2:84 error value-invalid'],
  ['records: {a: {type: TYPE65280, value: 0a}}', '2:39 error value-invalid a.example.com. TYPE65280:'],
  ['records: {a..b: {type: A, value: 192.0.2.1}}', '2:11 error name-invalid example.com.:'],
  ['records: {a.example.org.: {type: A, value: 192.0.2.1}}', '2:11 error name-outside-zone example.com.:'],
  ['records: {a: {type: A, value: 192.0.2.1}, A: {type: A, value: 192.0.2.2}}', '2:43 error yaml-duplicate-key a.example.com.:'],
  ['records: {a: {type: A, value: 192.0.2.1, octodns: {ignord: true}}}', '2:52 error schema-unknown-key a.example.com. A:'],
  ['type: slave', '2:1 error schema-missing-key example.com.: a slave zone needs master_ips, the servers that it is transferred from'],
  ['type: slave\nmaster_ips: [192.0.2.1]\nrecords: {a: {type: A, value: 192.0.2.1}}', '4:1 error setting-invalid example.com.:'],
]

describe('reports each error once, at its position', () => {
  test.each(INVALID)('%s', (definition, ...problems) =>
    expectProblems(diagnosticLines(parse(`domain: example.com\n${definition}\n`)), problems),
  )

  test('reports all errors of a file at once', () => {
    const lines = INVALID.filter(([definition]) => definition.startsWith('records: {a: {type: MX')).map(([definition]) => definition)
    const records = lines.map((line, i) => line.replace(/^records: \{a/, `  a${i}`).slice(0, -1))
    expect(diagnosticLines(parse(`domain: example.com\ntags: x\nrecords:\n${records.join('\n')}\n`)).length).toBe(records.length + 1)
  })

  test('reports an error in an aliased value once', () => {
    expect(diagnosticLines(parse('domain: example.com\nrecords:\n  a: &a {type: A, value: 192.0.2}\n  b: *a\n'))).toEqual([
      '3:26 error value-invalid a.example.com. A: "192.0.2" is not an IPv4 address: it has 3 numbers instead of 4',
    ])
  })

  test('hints contain the nearest word or the correct form', () => {
    const hints = ['soa_emial: a', 'records: {a: {type: MX, value: 10 b}}', 'records: {a: {type: CNAM, value: b}}', 'policy: synch'].map(
      (line) => parse(`domain: example.com\n${line}\n`).diagnostics[0]?.hint,
    )
    expect(hints).toEqual([
      'Did you mean "soa_email"?',
      'Write {preference: 10, exchange: b}.',
      'Did you mean "CNAME"?',
      'Did you mean "sync"?',
    ])
  })

  test('the hint for an ambiguous target contains both spellings', () => {
    const { diagnostics } = parse('domain: example.com\nrecords: {a: {type: NS, value: ns.b}}\n')
    expect(diagnostics[0]?.hint).toBe('Write "ns.b." for the absolute name, or "ns.b.example.com." for a name inside the zone.')
  })

  test('reports settings without domain once', () => {
    expect(diagnosticLines(parse('ttl_sec: 300\nrecords: {a: {type: A, value: 192.0.2.1}}\n'))).toEqual([
      '1:1 error schema-missing-key "ttl_sec" is a setting of a zone, but the file has no domain: above its settings',
    ])
  })

  test('a network as the domain is its reverse zone, and an address is refused', () => {
    expect(parse('domain: 192.0.2.0/25\nrecords: {1: {type: PTR, value: a.example.com.}}\n').zone?.name).toBe('0/25.2.0.192.in-addr.arpa.')
    expect(diagnosticLines(parse('domain: 192.0.2.1\n'))[0]).toMatch(/^1:9 error zone-name /)
  })

  test('checks the records of an invalid domain', () => {
    const parsed = parse('domain: a..b\nrecords: {a: {type: A, value: b}}\n', { zoneName: null })
    expect(parsed.zone).toBeNull()
    expect(parsed.diagnostics.map(({ code }) => code)).toEqual(['zone-name', 'value-invalid'])
  })

  test('many errors take little longer than many records', { tags: ['long'] }, () => {
    const records = Array.from({ length: 12_000 }, (_, i) => `  host-${i}: {tttl: 300, type: MX, values: [{preference: 1}, {a: b}]}\n`)
    expect(parse(`domain: example.com\nrecords:\n${records.join('')}`).diagnostics.length).toBeGreaterThan(36_000)
  })
})

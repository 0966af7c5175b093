// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of definitions are written like that
import { describe, expect, test } from 'vitest'
import { diagnosticLines, parse, recordLines } from '../parse.ts'

/** A record at the name `a`, and its rdata in each layout; a leading exclamation mark means an error code. */
const VALUES: readonly (readonly [record: string, settings: string, octodns?: string])[] = [
  ['{type: A, value: 192.0.2.1}', 'A 192.0.2.1'],
  ['{type: A, values: 192.0.2.1}', 'A 192.0.2.1'],
  ['{type: AAAA, value: 2001:DB8:0::1}', 'AAAA 2001:db8::1'],
  ['{type: CNAME, value: b}', 'CNAME b.example.com.', 'CNAME b.'],
  // octoDNS removes the last character, with all its octets.
  ["{type: TXT, value: '\"a\u{1f600}'}", 'TXT "\\"a\\240\\159\\152\\128"', 'TXT "a"'],
  ['{type: CNAME, value: "@"}', 'CNAME example.com.', '!value-invalid'],
  ['{type: CNAME, value: B.Example.}', 'CNAME b.example.'],
  ['{type: CNAME, value: b.example}', '!target-ambiguous', 'CNAME b.example.'],
  ['{type: CNAME, value: "b\\\\.c"}', 'CNAME b\\.c.example.com.', 'CNAME b\\.c.'],
  ['{type: CNAME, value: 123}', 'CNAME 123.example.com.', 'CNAME 123.'],
  ['{type: MX, value: {preference: 10, exchange: b.}}', 'MX 10 b.'],
  ['{type: MX, value: {priority: "10", value: b.}}', 'MX 10 b.'],
  ['{type: MX, value: {preference: 1, priority: 2, exchange: b., value: c.}}', 'MX 1 b.'],
  ['{type: MX, value: {preference: 0, exchange: .}}', 'MX 0 .'],
  ['{type: SRV, value: {priority: 1, weight: 2, port: 3, target: b.}}', 'SRV 1 2 3 b.'],
  ['{type: CAA, value: {tag: ISSUE, value: ca.example}}', 'CAA 0 issue "ca.example"'],
  ['{type: CAA, value: {flags: 128, tag: issue, value: ";"}}', 'CAA 128 issue ";"'],
  ['{type: TLSA, value: {certificate_association_data: 00FF}}', 'TLSA 0 0 0 00ff'],
  [
    `{type: SSHFP, value: {algorithm: 1, fingerprint_type: 1, fingerprint: ${'7491973e10'.repeat(4)}}}`,
    `SSHFP 1 1 ${'7491973e10'.repeat(4)}`,
  ],
  ['{type: SSHFP, value: {algorithm: 1, fingerprint_type: 3, fingerprint: 7491973e10}}', 'SSHFP 1 3 7491973e10'],
  ['{type: DS, value: {key_tag: 1, algorithm: 8, digest_type: 9, digest: 00FF}}', 'DS 1 8 9 00ff'],
  ['{type: DS, value: {flags: 1, protocol: 8, algorithm: 9, public_key: 00FF}}', 'DS 1 8 9 00ff'],
  ['{type: DNSKEY, value: {flags: 257, protocol: 3, algorithm: ECDSAP256SHA256, public_key: AQ ID}}', 'DNSKEY 257 3 13 AQID'],
  ['{type: HINFO, value: {cpu: RFC8482, os: ""}}', 'HINFO "RFC8482" ""'],
  ['{type: RP, value: {mbox: b., txt: .}}', 'RP b. .'],
  ['{type: URI, value: {priority: 1, weight: 2, target: "https://example.com/"}}', 'URI 1 2 "https://example.com/"'],
  ['{type: URLFWD, value: {path: /, target: "https://b.x", code: 301, masking: 2, query: 0}}', 'URLFWD "/" "https://b.x" 301 2 0'],
  ['{type: TYPE65280, value: "\\\\# 2 0A0B"}', 'TYPE65280 \\# 2 0a0b'],
  // RFC 3597 section 5: any type may be written in this form.
  ["{type: A, value: '\\# 4 c0000201'}", 'A 192.0.2.1'],
  ["{type: TYPE1, value: '\\# 4 c0000201'}", 'A 192.0.2.1'],
  ["{type: MX, value: '\\# 5 000a 0162 00'}", 'MX 10 b.'],
  ["{type: MX, values: ['\\# 5 000a016200']}", 'MX 10 b.'],
  ["{type: SSHFP, value: '\\# 4 01030203'}", 'SSHFP 1 3 0203'],
  ["{type: LOC, value: '\\# 16 00121613 80000000 80000000 00989680'}", 'LOC 0 0 0.000 N 0 0 0.000 E 0.00m 1.00m 10000.00m 10.00m'],
  ["{type: HTTPS, value: '\\# 3 0001 00'}", 'HTTPS 1 .'],
  ["{type: APL, value: '\\# 8 00011801c0000200'}", '!value-invalid'],
  ["{type: MX, value: '\\# 6 000a016200'}", '!value-invalid'],
  ["{type: MX, value: '\\# 4 000ac000'}", '!value-invalid'],
  ["{type: URLFWD, value: '\\# 1 00'}", '!value-invalid'],
  ["{type: MX, value: '# 5 000a016200'}", '!schema-type'],
  ["{type: TXT, value: '\\# 2 0161'}", 'TXT "\\\\# 2 0161"'],
  // Field kinds that use all remaining tokens of a line.
  [
    '{type: IPSECKEY, value: 10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==}',
    'IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==',
  ],
  ['{type: IPSECKEY, value: 10 3 2 gw.example.com. AQ ID}', 'IPSECKEY 10 3 2 gw.example.com. AQID'],
  ['{type: HIP, value: 2 200100107B1A74DF365639CC39F1D578 AQID r.example.}', 'HIP 2 200100107b1a74df365639cc39f1d578 AQID r.example.'],
  ["{type: APL, value: '1:192.0.2.0/24 !1:192.0.2.0/28'}", 'APL 1:192.0.2.0/24 !1:192.0.2.0/28'],
  ['{type: AMTRELAY, value: 10 0 1 192.0.2.15}', 'AMTRELAY 10 0 1 192.0.2.15'],
  ["{type: WKS, value: '\\# 12 c0000201 06 00000040 000004'}", 'WKS \\# 12 c00002010600000040000004'],
  ['{type: WKS, value: {address: 192.0.2.1, protocol: TCP, services: smtp domain}}', '!schema-type'],
  ['{type: WKS, value: 192.0.2.1 TCP smtp domain}', '!value-invalid'],
  ['{type: OPENPGPKEY, value: AQ ID}', 'OPENPGPKEY AQID'],
  ['{type: HTTPS, value: {svcpriority: 0, targetname: b.}}', 'HTTPS 0 b.'],
  [
    '{type: HTTPS, value: {svcpriority: 1, targetname: ., svcparams: {port: 8443, alpn: [h3, h2], no-default-alpn: , ipv4hint: [192.0.2.1]}}}',
    'HTTPS 1 . alpn=h3,h2 no-default-alpn port=8443 ipv4hint=192.0.2.1',
  ],
  ['{type: SVCB, value: {svcpriority: 1, targetname: ., svcparams: {key65333: "a b"}}}', 'SVCB 1 . key65333="a b"'],
  ['{type: SVCB, value: {svcpriority: 1, targetname: ., svcparams: {alpn: ["a,b", c]}}}', 'SVCB 1 . alpn="a\\\\,b,c"'],
  ['{type: SVCB, value: {svcpriority: 1}}', '!schema-missing-key'],
  ['{type: SVCB, value: {svcpriority: 1, targetname: ., svcparams: [a]}}', '!schema-type'],
  [
    '{type: LOC, value: {lat_degrees: 31, lat_minutes: 58, lat_seconds: 52.1, lat_direction: S, long_degrees: 115, long_minutes: 49, long_seconds: 11.7, long_direction: E, altitude: -20, size: 10, precision_horz: 10, precision_vert: 2}}',
    'LOC 31 58 52.100 S 115 49 11.700 E -20.00m 10.00m 10.00m 2.00m',
  ],
  ['{type: LOC, value: {lat_degrees: 31}}', '!schema-missing-key'],
  ['{type: NSEC, value: {next_domain_name: b., types: [TXT, A]}}', 'NSEC b. A TXT'],
  ['{type: NSEC, value: {next_domain_name: b., types: A TXT}}', 'NSEC b. A TXT'],
  ['{type: RESINFO, value: \'qnamemin "exterr=15-17"\'}', 'RESINFO "qnamemin" "exterr=15-17"'],
  ['{type: "NULL", value: \'\\# 1 00\'}', 'NULL \\# 1 00'],
  ['{type: TXT, value: ""}', 'TXT ""'],
  ['{type: TXT, value: 1.10}', 'TXT "1.10"'],
  ['{type: TXT, value: yes}', 'TXT "yes"'],
  ['{type: TXT, value: "a; b\\\\; c\\\\d \\"e\\""}', 'TXT "a; b; c\\\\d \\"e\\""'],
  ['{type: TXT, value: "\\"a b\\" \\"c\\""}', 'TXT "\\"a b\\" \\"c\\""', 'TXT "a bc"'],
  ['{type: TXT, value: bücher}', 'TXT "b\\195\\188cher"'],
  [`{type: TXT, value: ${'x'.repeat(256)}}`, `TXT "${'x'.repeat(255)}" "x"`],
  [
    `{type: NAPTR, value: {order: 1, preference: 2, flags: u, service: s, regexp: '!^(.*)$!sip:\\1@b!', replacement: .}}`,
    'NAPTR 1 2 "u" "s" "!^(.*)$!sip:\\\\1@b!" .',
  ],
  [
    `{type: NAPTR, value: {order: 1, preference: 2, flags: u, service: s, regexp: '!^(.*)$!sip:\\\\1@b!', replacement: .}}`,
    'NAPTR 1 2 "u" "s" "!^(.*)$!sip:\\\\\\\\1@b!" .',
    'NAPTR 1 2 "u" "s" "!^(.*)$!sip:\\\\1@b!" .',
  ],
  ['{type: A, value: 192.0.2.300}', '!value-invalid'],
  ['{type: A, value: {a: 192.0.2.1}}', '!schema-type'],
  ['{type: MX, value: {preference: 010, exchange: b.}}', '!value-invalid'],
  ['{type: HINFO, value: {cpu: a}}', '!schema-missing-key'],
  // The schema has no form for rare types: the reader reports the structure.
  ['{type: MD, value: ~}', '!value-missing'],
  ['{type: MINFO, value: a.}', '!schema-type'],
  ['{type: MINFO, value: ~}', '!value-missing'],
  ['{type: MINFO, value: {rmailbx: a.}}', '!schema-missing-key'],
  ['{type: MINFO, value: {rmailbx: a., emailbx: [b.]}}', '!schema-type'],
  ['{type: MINFO, value: {rmailbx: a., emailbx: ~}}', '!value-missing'],
  ['{type: ISDN, value: {address: "1", subaddress: [~]}}', '!schema-type'],
  [`{type: CAA, value: {tag: issue, value: ""}}`, 'CAA 0 issue ""'],
]

/** The rdata of the records, or the code of the first error. */
function outcome(text: string): string {
  const parsed = parse(text)
  const error = parsed.diagnostics.find(({ severity }) => severity === 'error')
  return error
    ? `!${error.code}`
    : recordLines(parsed)
        .map((line) => line.split(' ').slice(2).join(' '))
        .join(' + ')
}

test.each(VALUES)('values: %s', (record, settings, octodns = settings) => {
  expect(outcome(`domain: example.com\nrecords: {a: ${record}}\n`)).toBe(settings)
  expect(outcome(`a: ${record}\n`)).toBe(octodns)
})

describe('names are literal text', () => {
  const LITERAL = "1.10 010 1e2 0x1f 1_000 12:30 null true yes 44.74 2001-01-01 ~ '*' '*.b' _sip._tcp __proto__ constructor".split(' ')
  const NAMES: readonly (readonly [key: string, name: string])[] = [
    ...LITERAL.map((key) => [key, `${key.replaceAll("'", '')}.example.com.`] as const),
    ["''", 'example.com.'],
    ["'@'", 'example.com.'],
    ['"*.b"', '*.b.example.com.'],
    ['WWW', 'www.example.com.'],
    ['bücher', 'xn--bcher-kva.example.com.'],
    ['www.example.com.', 'www.example.com.'],
    ['example.com.', 'example.com.'],
    ["? ''\n", 'example.com.'],
  ]

  test.each(NAMES)('%s', (key, name) => {
    const text = `${key}: {type: A, value: 192.0.2.1}\n`
    expect(parse(text).zone?.records.map((record) => record.name)).toEqual([name])
    const nested = `domain: example.com\nrecords:\n${text.replace(/^/gm, '  ').trimEnd()}\n`
    expect(parse(nested).zone?.records.map((record) => record.name)).toEqual([name])
  })

  test('a Unicode name and its A-label are the same name', () => {
    expect(diagnosticLines(parse('bücher: {type: A, value: 192.0.2.1}\nxn--bcher-kva: {type: A, value: 192.0.2.2}\n'))).toEqual([
      '2:1 error yaml-duplicate-key xn--bcher-kva.example.com.: "bücher" and "xn--bcher-kva" are the same name',
    ])
  })

  test('reports a duplicate key with both positions', () => {
    const { diagnostics } = parse('a: {type: A, value: 192.0.2.1}\nb: {type: A, value: 192.0.2.1}\na: {type: A, value: 192.0.2.2}\n')
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: 'yaml-duplicate-key',
        at: { file: 'zone.yaml', line: 3, column: 1 },
        related: [{ message: 'the first one', at: { file: 'zone.yaml', line: 1, column: 1 } }],
      }),
    ])
  })
})

describe("octoDNS's layout", () => {
  test('refuses a value under a misspelt key, which is only a warning', () => {
    expect(diagnosticLines(parse('a: {type: A, valeu: 192.0.2.1}\n'))).toEqual([
      '1:4 error value-missing a.example.com. A: the record has neither value nor values',
      '1:14 warning schema-unknown-key a.example.com. A: unknown key "valeu"',
    ])
  })

  test('warns of a target without the final dot', () => {
    expect(diagnosticLines(parse('a: {type: CNAME, value: b.example}\n'))).toEqual([
      '1:25 warning target-relative a.example.com. CNAME: "b.example" has no final dot and was read as the absolute name b.example.',
    ])
  })

  test('refuses a URL as a target, with or without the final dot', () => {
    for (const url of ['https://b.example/', 'https://b.example/.'])
      expect(diagnosticLines(parse(`a: {type: CNAME, value: "${url}"}\n`))).toEqual([
        `1:25 error target-is-url a.example.com. CNAME: "${url}" is a URL, but a name is needed`,
      ])
  })

  test('has no variables: a text may have their form', () => expect(diagnosticLines(parse('a: {type: TXT, value: "${ip}"}\n'))).toEqual([]))

  test('warns of a key that octoDNS ignores', () => {
    expect(diagnosticLines(parse('a: {type: A, value: 192.0.2.1, tttl: 5}\n'))).toEqual([
      '1:32 warning schema-unknown-key a.example.com. A: unknown key "tttl"',
    ])
  })

  test('warns once per record of keys that no target supports', () => {
    const text = 'a: {type: A, value: 192.0.2.1, geo: {EU: [192.0.2.2]}, octodns: {route53: {healthcheck: {}}, healthcheck: {path: /}}}\n'
    expect(diagnosticLines(parse(text))).toEqual([
      '1:32 warning record-extra a.example.com. A: no target supports "geo", "octodns.route53", "octodns.healthcheck"; only the values of the record are managed',
    ])
  })

  test('returns targeting as scopes and lenient as a list of RRsets', () => {
    const { zone, lenient, diagnostics } = parse(
      'a: {type: A, value: 192.0.2.1, octodns: {ignored: yes, lenient: true}}\nb: {type: A, value: 192.0.2.1, octodns: {included: [x], excluded: y}}\n',
    )
    expect(diagnostics).toEqual([])
    expect(zone?.rrsetTargets).toEqual([
      { name: 'a.example.com.', type: 'A', ignored: true, included: [], excluded: [] },
      { name: 'b.example.com.', type: 'A', ignored: false, included: ['x'], excluded: ['y'] },
    ])
    expect([...lenient]).toEqual(['a.example.com. A'])
  })

  test('uses the given default TTL', () => {
    expect(recordLines(parse('a: {type: A, value: 192.0.2.1}\n', { octodnsDefaultTtl: 60 }))).toEqual(['a.example.com. 60 A 192.0.2.1'])
  })

  test('an empty file is an empty zone', () => {
    for (const text of ['', '---\n', '# nothing\n', '{}\n']) expect(parse(text)).toMatchObject({ zone: { records: [] }, diagnostics: [] })
  })

  test('returns no zone without a name', () => {
    expect(parse('a: {type: A, value: 192.0.2.1}\n', { zoneName: null })).toMatchObject({
      zone: null,
      diagnostics: [{ code: 'zone-name' }],
    })
  })
})

test("warns of an empty list in octoDNS's layout, since octoDNS ignores it", () => {
  expect(diagnosticLines(parse('a22: []\nwww: {type: A, value: 192.0.2.1}\n'))).toEqual([
    '1:6 warning value-missing a22.example.com.: the list of records is empty',
  ])
})

import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import type { Diagnostic } from '../../../src/base/diagnostic.ts'
import { createLinter } from '../../../src/checks/lints/lints.ts'
import type { LintedZone } from '../../../src/checks/lints/managed-names.ts'
import { TAKEOVER_SERVICES } from '../../../src/checks/lints/target-lints.ts'
import { octetsToTxtRdata } from '../../../src/dns/character-string.ts'
import type { DesiredZone } from '../../../src/dns/zone.ts'
import { desiredZone, name } from '../../support/records.ts'

type Lines = readonly string[]

const linted = (zone: string, lines: Lines, more: Partial<DesiredZone> = {}, other: Partial<LintedZone> = {}): LintedZone => {
  return { zone: desiredZone(name(zone), lines.join('\n'), more), internal: false, isIncomplete: false, ...other }
}

const lintZones = (...zones: readonly LintedZone[]): Diagnostic[][] => zones.map(createLinter(zones))

const codes = (...zones: readonly LintedZone[]): string[] =>
  lintZones(...zones).flatMap((found) => found.map(({ at, severity, code }) => `${at?.line} ${severity} ${code}`))

const messages = (...zones: readonly LintedZone[]): string[] => lintZones(...zones).flatMap((found) => found.map(({ message }) => message))
const ofExample = (...lines: Lines): string[] => codes(linted('example.com.', lines))
const txt = (owner: string, text: string): string => `${owner} 300 TXT ${octetsToTxtRdata(Buffer.from(text))}`

/** An SPF record with these terms. */
const spf = (terms: string, owner = '@'): string => txt(owner, `v=spf1 ${terms} -all`)

const rsaKey = (bits: number): Buffer =>
  generateKeyPairSync('rsa', {
    modulusLength: bits,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  }).publicKey
const RSA = rsaKey(1024).toString('base64')
const SHORT_RSA = rsaKey(768).toString('base64')
const ED25519 = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='

/** Seconds of processor time, which other processes do not lengthen. */
describe('SPF', () => {
  const A = (count: number): string => Array.from({ length: count }, (_, i) => `a:h${i}.example.org`).join(' ')

  test.each<[string, Lines, Lines]>([
    ['ten queries', [spf(A(10))], []],
    ['eleven queries', [spf(A(11))], ['1 warning spf-lookups']],
    ['terms after all do not matter', [txt('@', `v=spf1 ${A(9)} -all a:x.example.org a:y.example.org`)], []],
    ['an include in the zone', [spf(`${A(5)} include:_s.example.com`), spf(A(5), '_s')], ['1 warning spf-lookups']],
    ['redirect', [txt('@', `v=spf1 ${A(5)} redirect=_s.example.com`), spf(A(5), '_s')], ['1 warning spf-lookups']],
    ['a loop', [spf('include:_s.example.com'), spf('include:example.com', '_s')], ['1 warning spf-lookups', '2 warning spf-lookups']],
    ['an include of nothing', [spf('include:_s.example.com')], ['1 warning spf-target-missing']],
    ['mx without MX records', [spf('mx')], ['1 warning spf-target-missing']],
    ['mx of a name with an unmanaged type', ['@ 300 MX 10 m.example.org.', spf('mx')], []],
    ['two queries unanswered', [spf('a:x.example.com a:y.example.com')], ['1 warning spf-target-missing', '1 warning spf-target-missing']],
    [
      'three queries without an answer',
      [spf('a:x.example.com a:y.example.com a:z.example.com')],
      [...Array<string>(3).fill('1 warning spf-target-missing'), '1 warning spf-lookups'],
    ],
    ['an address by a CNAME', ['m 300 CNAME h', 'h 300 A 192.0.2.1', spf('a:m.example.com')], []],
    ['an address by a wildcard', ['*.m 300 A 192.0.2.1', spf('a:x.m.example.com')], []],
    ['a name below a delegation', ['s 300 NS ns.example.org.', spf('a:x.s.example.com')], []],
    ['11 MX records', [...Array.from({ length: 11 }, (_, i) => `@ 300 MX 10 m${i}.example.org.`), spf('mx')], ['12 warning spf-lookups']],
    ['macros', [spf('exists:%{i}._spf.example.com')], []],
    ['an unknown mechanism', [spf('ip:192.0.2.1')], ['1 warning spf-invalid']],
    ['another spelling of the version', [txt('@', 'v = spf1 -all')], ['1 warning spf-invalid']],
    ['a text that mentions SPF', [txt('@', 'spf is fun'), txt('@', 'v=spf10')], []],
  ])('%s', (_, lines, expected) => expect(ofExample(...lines)).toEqual(expected))

  it('shows characters beyond ASCII as they are', () => {
    expect(messages(linted('example.com.', [txt('@', 'v=spf1 mx –all')]))).toEqual([expect.stringContaining('"–all" is not a mechanism')])
  })

  it('follows includes through all managed zones, and says which it cannot follow', () => {
    const lines = [spf('include:_spf.example.net include:a.example.org')]
    const provider = linted('example.net.', [spf(`include:b.example.org ${A(8)}`, '_spf')])
    expect(messages(linted('example.com.', lines), provider)).toEqual([
      'example.com. TXT: the SPF record needs 11 DNS queries; receivers allow 10 (permerror); b.example.org. and a.example.org. are not managed here and counted as one each',
    ])
    expect(messages(linted('example.com.', lines))).toEqual([])
  })

  it('has short messages about long names', () => {
    const long = 'x'.repeat(9000)
    const includes = Array.from({ length: 6 }, (_, i) => `include:%{d}.${long}${i}.example.org`).join(' ')
    const lines = [spf(`${includes}`), txt('a', `v=spf1 ${long} -all`), txt('_dmarc', `v=DMARC1; p=none; rua=${long}`)]
    for (const { message, hint = '' } of lintZones(linted('example.com.', lines)).flat())
      expect(`${message}${hint}`.length).toBeLessThan(1000)
  })

  it('leaves an include of two SPF records to policy-multiple', () => {
    const two = [txt('_s', 'v=spf1 -all'), spf('a:x.example.org', '_s')]
    expect(messages(linted('example.com.', [spf(`${A(9)} include:_s.example.com`), ...two]))).toEqual([])
  })

  it('gives a notice if unmanaged includes may exceed the limit', () => {
    const includes = Array.from({ length: 6 }, (_, i) => `include:s${i}.example.org`).join(' ')
    expect(ofExample(spf(`${includes}`))).toEqual(['1 notice spf-lookups'])
  })

  it('counts a chain of 5,000 records, and records that double at each step', { tags: ['long'] }, () => {
    const chain = Array.from({ length: 5000 }, (_, i) => txt(`s${i}`, `v=spf1 include:s${i + 1}.example.com -all`))
    expect(messages(linted('example.com.', [...chain, txt('s5000', 'v=spf1 -all')]))[0]).toContain('needs more than 1000 DNS queries')
    const doubling = Array.from({ length: 2000 }, (_, i) =>
      txt(`s${i}`, `v=spf1 include:s${i + 1}.example.com include:s${i + 1}.example.com -all`),
    )
    expect(messages(linted('example.com.', [...doubling, txt('s2000', 'v=spf1 -all')])).length).toBe(1998)
    const large = [
      'big 300 A 192.0.2.1',
      txt('big', `v=spf1 ${'ip4:192.0.2.1 '.repeat(4000)}-all`),
      txt('@', `v=spf1 ${'include:big.example.com '.repeat(2500)}-all`),
    ]
    expect(ofExample(...large)).toEqual(['3 warning spf-lookups'])
  })
})

describe('DKIM', () => {
  const dkim = (text: string, owner = 's1._domainkey'): string[] => ofExample(txt(owner, text))

  test.each([
    ['an RSA key', `v=DKIM1; k=rsa; p=${RSA}`],
    ['without the version', `p=${RSA}`],
    ['with white space in the key', `v=DKIM1; p=${RSA.slice(0, 40)} ${RSA.slice(40)};`],
    ['an Ed25519 key', `v=DKIM1; k=ed25519; p=${ED25519}`],
    ['a revoked key', 'v=DKIM1; p='],
    ['lists', `v=DKIM1; h=sha1 : sha256; s=email:other; p=${RSA}`],
    ['all services', `v=DKIM1; s=*; t=y:s; p=${RSA}`],
    ['unknown tags', `v=DKIM1; x=1; p=${RSA}; n=some words`],
  ])('%s is fine', (_, text) => expect(dkim(text)).toEqual([]))

  test.each([
    ['no tags', 'fmk7.dkim.example.net', 'not TAG=VALUE'],
    ['no key', 'v=DKIM1; k=rsa', 'no tag p'],
    ['another version', `v=DKIM2; p=${RSA}`, 'version is "DKIM2"'],
    ['the version is not first', `p=${RSA}; v=DKIM1`, 'not its first tag'],
    ['a tag twice', `p=${RSA}; p=${RSA}`, 'the tag p twice'],
    ['a key that is cut off', `v=DKIM1; p=${RSA.slice(0, 100)}`, 'cut off'],
    ['a short key', `v=DKIM1; p=${SHORT_RSA}`, '768 bits'],
    ['quotation marks', `v=DKIM1; p=${RSA.slice(0, 40)}""${RSA.slice(40)}`, 'quotation mark'],
    ['not base64', 'v=DKIM1; p=MIGf-_', 'not base64'],
    ['backslashes', `v=DKIM1\\; p=${RSA}`, 'backslash'],
    ['an Ed25519 key of the wrong length', `v=DKIM1; k=ed25519; p=${RSA}`, 'an Ed25519 key has 32'],
    ['another type', `v=DKIM1; k=dsa; p=${RSA}`, '"dsa" is unknown'],
    ['a hash that verifiers ignore', `v=DKIM1; h=sha1; p=${RSA}`, 'h="sha1" lacks sha256'],
    ['another service', `v=DKIM1; s=other; p=${RSA}`, 's="other" is not for mail'],
    ['a long text', `v=DKIM1; p=${'A'.repeat(5000)}`, '5000 characters'],
  ])('%s is reported', (_, text, words) => {
    expect(messages(linted('example.com.', [txt('s1._domainkey', text)]))).toEqual([expect.stringContaining(words)])
  })

  it('leaves names alone that are no keys', () => {
    expect(dkim('dkim=all', '_adsp._domainkey')).toEqual([])
    expect(dkim('o=~', '_domainkey')).toEqual([])
  })
})

describe('DMARC', () => {
  test.each([
    'v=DMARC1; p=none',
    'v=DMARC1;p=reject;sp=quarantine;adkim=s;aspf=r;fo=1:d:s;pct=50;rf=afrf;ri=86400;',
    'v=DMARC1; p=none; rua=mailto:a@example.com!10m, mailto:b@example.com; ruf=mailto:c@example.com',
    'v=DMARC1; p=none; np=reject; psd=n; t=y',
    'v=DMARC1; p=none; np=none; psd=u; t=n; pct=100',
    'google-site-verification=1',
    'dmarc-verification=1',
  ])('%s is fine', (text) => expect(ofExample(txt('_dmarc', text))).toEqual([]))

  test.each([
    ['v=DMARC1', 'no tag p'],
    ['p=none; v=DMARC1', 'must begin with'],
    ['v=dmarc1; p=none', 'must begin with'],
    ['"v=DMARC1; p=none"', 'must begin with'],
    ['v=DMARC1; sp=none; p=none', 'not the second'],
    ['v=DMARC1; p=rejct', '"rejct"'],
    ['dmarc1; p=none', 'must begin with'],
    ['spf; v=DMARC1; p=none', 'must begin with'],
    ['v=DMARC1; p=none; np=rejct', 'np='],
    ['v=DMARC1; p=none; psd=1', 'psd='],
    ['v=DMARC1; p=none; t=yes', 't='],
    ['v=DMARC1; p=none; p=reject', 'twice'],
    ['v=DMARC1; p=none; adkim=x', 'adkim='],
    ['v=DMARC1; p=none; pct=101', 'pct='],
    ['v=DMARC1; p=none; rua=a@example.com', 'not mailto:'],
    ['v=DMARC1; p=none; rua=https://example.com/', 'only by mail'],
    ['v=DMARC1; p=none; rua=', 'rua has no address'],
    ['v=DMARC1; p=none,', '"none,"'],
    ['v=DMARC1; p=none; none', 'not TAG=VALUE'],
  ])('%s is reported', (text, words) => {
    expect(messages(linted('example.com.', [txt('_dmarc', text)]))).toEqual([expect.stringContaining(words)])
  })

  test.each(['v=DMARC1; sp=none; p=none', 'v=DMARC1; rua=mailto:a@example.com'])('%s is a notice: only some receivers ignore it', (text) =>
    expect(ofExample(txt('_dmarc', text))).toEqual(['1 notice dmarc-invalid']),
  )

  const reports = txt('_dmarc', 'v=DMARC1; p=none; rua=mailto:d@example.net, mailto:d@sub.example.com, mailto:d@elsewhere.example')

  it('reports addresses in managed domains that do not agree', () => {
    expect(codes(linted('example.com.', [reports]), linted('example.net.', []))).toEqual(['1 warning dmarc-report-refused'])
  })

  test.each([
    ['a record', 'example.com._report._dmarc'],
    ['a wildcard', '*._report._dmarc'],
  ])('%s agrees', (_, owner) => {
    expect(codes(linted('example.com.', [reports]), linted('example.net.', [txt(owner, 'v=DMARC1')]))).toEqual([])
  })

  it('says nothing about domains that are not managed', () => expect(ofExample(reports)).toEqual([]))
})

describe('targets', () => {
  const NET = [
    ...['www 300 A 192.0.2.1', 'text 300 TXT "x"', 'c 300 CNAME gone.example.org.', 'sub 300 NS ns.example.org.'],
    '*.w 300 A 192.0.2.2',
  ]

  test.each<[string, string, Lines]>([
    ['a name that exists', 'a 300 CNAME www.example.net.', []],
    ['a name that does not exist', 'a 300 CNAME gone.example.net.', ['1 warning target-dangling']],
    ['MX to a name without addresses', '@ 300 MX 10 text.example.net.', ['1 warning target-dangling']],
    ['CNAME to a name without addresses', 'a 300 CNAME text.example.net.', []],
    ['SRV to nothing', '_sip._tcp 300 SRV 0 0 5060 gone.example.net.', ['1 warning target-dangling']],
    ['NS to nothing', 's 300 NS gone.example.net.', ['1 warning target-dangling']],
    ['MX to a CNAME', '@ 300 MX 10 c.example.net.', []],
    ['a name below a delegation', 'a 300 CNAME x.sub.example.net.', []],
    ['a name that a wildcard has', 'a 300 CNAME x.w.example.net.', []],
    ['a name in no managed zone', 'a 300 CNAME gone.example.org.', []],
    ['a null MX', '@ 300 MX 0 .', []],
    ['a target in the same zone is for a rule', 'a 300 CNAME gone', []],
  ])('%s', (_, line, expected) => expect(codes(linted('example.com.', [line]), linted('example.net.', NET))).toEqual(expected))

  const dangling = linted('example.com.', ['a 300 CNAME gone.example.net.'])

  test.each<[string, LintedZone]>([
    ['that has unmanaged names', linted('example.net.', NET, { unmanaged: [{ name: 'go*' }] })],
    ['whose policy keeps other records', linted('example.net.', NET, { policy: 'upsert-only' })],
    ['that is transferred', linted('example.net.', [], { settings: { type: 'slave' } })],
    ['with errors', linted('example.net.', NET, {}, { isIncomplete: true })],
  ])('a zone %s may have the name', (_, other) => expect(codes(dangling, other)).toEqual([]))

  it('knows names whose addresses come from an inventory', () => {
    const query = { kind: 'instances', provider: null, tag: 'web' } as const
    const at = { file: 'zone', line: 9, column: 1 }
    const sourced = [{ name: name('gone.example.net.'), type: 'A', ttl: null, query, at }] as const
    const policy = spf('a:gone.example.net')
    expect(codes(linted('example.com.', ['a 300 CNAME gone.example.net.', policy]), linted('example.net.', NET, { sourced }))).toEqual([])
    expect(codes(linted('example.net.', ['gone 300 NS gone'], { sourced }))).toEqual([])
  })

  it('knows names that a source may have', () => {
    const at = { file: 'zone', line: 9, column: 1 }
    const lines = [
      'c 300 CNAME gone.example.net.',
      spf('a:gone.example.net include:_spf.example.net mx:gone.example.net'),
      txt('_dmarc', 'v=DMARC1; p=none; rua=mailto:d@example.net'),
    ]
    const query = { kind: 'zone', provider: 'hidden', zone: name('example.net.'), name: name('example.net.') } as const
    const from = (owner: string, type: string) => ({ name: name(`${owner}.example.net.`), type, ttl: null, query, at }) as const
    const found = (more: Partial<DesiredZone>): string[] => codes(linted('example.com.', lines), linted('example.net.', NET, more))
    expect(found({})).toHaveLength(6)
    expect(found({ sources: [{ provider: 'hidden', zone: name('example.net.'), at }] })).toEqual([])
    const owners = ['gone', '_spf', 'example.com._report._dmarc']
    expect(found({ sourced: owners.map((owner) => from(owner, 'CNAME')) })).toEqual([])
    expect(found({ sourced: [from('gone', 'A'), from('gone', 'MX'), from('_spf', 'TXT'), from(owners[2] as string, 'TXT')] })).toEqual([])
  })

  it('knows names that records of one provider answer for', () => {
    const providerSpecific = [{ name: name('*.example.net.') }] as unknown as DesiredZone['providerSpecific']
    expect(codes(dangling, linted('example.net.', NET, { providerSpecific }))).toEqual([])
  })

  it('takes several definitions of a zone together', () => {
    const other = linted('example.net.', ['gone 300 A 192.0.2.1'])
    expect(codes(dangling, linted('example.net.', NET), other)).toEqual([])
  })

  test.each<[string, Lines]>([
    ['shop.azurewebsites.net.', ['1 notice target-takeover']],
    ['a.b.trafficmanager.net.', ['1 notice target-takeover']],
    ['azurewebsites.net.', []],
    ['notazurewebsites.net.', []],
    ['shop-abcdefgh01234567.westeurope-01.azurewebsites.net.', []],
    ['bucket.s3.amazonaws.com.', ['1 notice target-takeover']],
    ['bucket.s3.eu-west-1.amazonaws.com.', ['1 notice target-takeover']],
    ['bucket.s3-website-eu-west-1.amazonaws.com.', ['1 notice target-takeover']],
    ['bucket.s3-website.eu-central-1.amazonaws.com.', ['1 notice target-takeover']],
    ['site.z6.web.core.windows.net.', ['1 notice target-takeover']],
    ['blog.ghost.io.', ['1 notice target-takeover']],
    ['bucket.s3.dualstack.us-east-1.amazonaws.com.', ['1 notice target-takeover']],
    ['lb.elb.amazonaws.com.', []],
    ['d111111abcdef8.cloudfront.net.', []],
  ])('takeover: %s', (target, expected) => expect(ofExample(`a 300 CNAME ${target}`)).toEqual(expected))

  it('says nothing if a record proves to Azure who owns the name', () => {
    const alias = (owner: string): string => `${owner} 300 CNAME shop.azurewebsites.net.`
    expect(ofExample(alias('a'), 'asuid.a 300 TXT "x"')).toEqual([])
    expect(ofExample(alias('*.a'), 'asuid.a 300 TXT "x"')).toEqual([])
    expect(ofExample(alias('a'), 'asuid.b 300 TXT "x"')).toEqual(['1 notice target-takeover'])
  })

  it('has a source for each service, and its page lists them', () => {
    const page = readFileSync(new URL('../../../docs/lints/target-takeover.md', import.meta.url), 'utf8')
    for (const { service, source, suffixes } of TAKEOVER_SERVICES) {
      expect(source).toMatch(/^https:\/\//)
      for (const suffix of suffixes) expect(suffix).toMatch(/^[a-z0-9.-]+\.[a-z]+$/)
      expect(page).toContain(`| ${service} | ${suffixes.map((suffix) => `\`${suffix}\``).join(', ')} |`)
    }
  })
})

describe('addresses', () => {
  test.each(['10.0.0.1', '172.16.0.1', '172.31.255.1', '192.168.1.1', '100.64.0.1', '127.0.0.2', '169.254.1.1', '0.0.0.0'])(
    'A %s',
    (address) => expect(ofExample(`a 300 A ${address}`)).toEqual(['1 warning address-private']),
  )
  test.each(['fd00::1', 'fc00::1', 'fe80::1', '::1', '::', '::ffff:192.0.2.1', '::FFFF:c000:201'])('AAAA %s', (address) =>
    expect(ofExample(`a 300 AAAA ${address}`)).toEqual(['1 warning address-private']),
  )
  test.each(['192.0.2.1', '172.32.0.1', '172.15.0.1', '100.128.0.1', '100.63.0.1', '192.169.0.1', '11.0.0.1'])(
    'A %s is public',
    (address) => expect(ofExample(`a 300 A ${address}`)).toEqual([]),
  )
  test.each(['2001:db8::1', 'fec0::1', 'f::c', 'fc::1', 'fe8::1', '::2', '::fffe:1:1'])('AAAA %s is not reported', (address) =>
    expect(ofExample(`a 300 AAAA ${address}`)).toEqual([]),
  )

  it('are fine in internal zones, in zones that are not public, and for localhost', () => {
    expect(codes(linted('example.com.', ['a 300 A 10.0.0.1'], {}, { internal: true }))).toEqual([])
    for (const zone of ['home.arpa.', 'corp.internal.', 'office.lan.']) expect(codes(linted(zone, ['a 300 A 10.0.0.1'])), zone).toEqual([])
    expect(ofExample('localhost 300 A 127.0.0.1', 'localhost 300 AAAA ::1')).toEqual([])
  })
})

describe('glue', () => {
  test.each<[string, Lines, Lines]>([
    ['missing', ['s 300 NS ns1.s', 's 300 NS ns.example.org.'], ['1 warning glue-missing']],
    ['missing below', ['s 300 NS ns1.a.s'], ['1 warning glue-missing']],
    ['the delegated name itself', ['s 300 NS s'], ['1 warning glue-missing']],
    ['an IPv4 address', ['s 300 NS ns1.s', 'ns1.s 300 A 192.0.2.1'], []],
    ['an IPv6 address', ['s 300 NS ns1.s', 'ns1.s 300 AAAA 2001:db8::1'], []],
    ['a server elsewhere', ['s 300 NS ns.example.org.', 's 300 NS ns1', 'ns1 300 A 192.0.2.1'], []],
    ['the apex', ['@ 300 NS ns1', 'ns1 300 A 192.0.2.1'], []],
  ])('%s', (_, lines, expected) => expect(ofExample(...lines)).toEqual(expected))

  test.each<[string, Lines, Lines]>([
    ['of two delegations that need each other', ['s 300 NS ns.t', 't 300 NS ns.s'], ['1 warning glue-missing', '2 warning glue-missing']],
    ['of a delegation that needs such', ['s 300 NS ns.t', 't 300 NS ns.t'], ['1 warning glue-missing', '2 warning glue-missing']],
    ['not if one has another server', ['s 300 NS ns.t', 't 300 NS ns.s', 't 300 NS ns.example.org.'], []],
    ['not if one has an address', ['s 300 NS ns.t', 't 300 NS ns.s', 'ns.s 300 A 192.0.2.1'], []],
    ['not at the end of a chain', ['s 300 NS ns.t', 't 300 NS ns.u', 'u 300 NS ns.example.org.'], []],
    ['not below another delegation', ['s 300 NS ns.example.org.', 'a.s 300 NS ns.a.s'], []],
  ])('cyclic: %s', (_, lines, expected) => expect(ofExample(...lines)).toEqual(expected))

  test.each<[string, LintedZone]>([
    ['unmanaged', linted('example.com.', ['s 300 NS ns1.s'], { unmanaged: [{ name: 'ns*' }] })],
    ['in a line with an error', linted('example.com.', ['s 300 NS ns1.s'], {}, { isIncomplete: true })],
    ['in the live zone only', linted('example.com.', ['s 300 NS ns1.s'], { policy: 'upsert-only' })],
  ])('may be %s', (_, zone) => expect(codes(zone)).toEqual([]))
})

describe('similar names', () => {
  /** The findings about these lines, each of another owner. */
  const found = (lines: Lines, more: Partial<DesiredZone> = {}): string[] => {
    const { zone, ...other } = linted('example.com.', lines, more)
    return codes({ ...other, zone: { ...zone, records: zone.records.map((one) => ({ ...one, owner: `team ${one.name}` })) } })
  }
  const pair = (a: string, b: string): string[] => found([`${a} 300 A 192.0.2.1`, `${b} 60 A 192.0.2.1`])

  test.each([
    ['mail', 'mial'],
    ['www', 'wwww'],
    ['suport', 'support'],
    ['a.mail', 'a.mial'].map((one) => `${one.split('.')[1]}.x`) as [string, string],
  ])('%s and %s', (a, b) => expect(pair(a, b)).toEqual(['2 notice name-similar']))

  test.each([
    ['web1', 'web2'],
    ['web12', 'web21'],
    ['web11', 'web1'],
    ['map', 'maps'],
    ['color', 'colour'],
    ['mail', 'mali.x'],
    ['ab', 'ba'],
    ['ams', 'asm'],
    ['stage-eu', 'stage-us'],
    ['_dmarc', '_drmac'],
  ])('%s and %s are meant', (a, b) => expect(pair(a, b)).toEqual([]))

  it('needs the same data', () => expect(found(['mail 300 A 192.0.2.1', 'mial 300 A 192.0.2.2'])).toEqual([]))

  it('compares all records of a name, in any order', () => {
    const both = (label: string): string[] => [`${label} 300 A 192.0.2.1`, `${label} 300 TXT "x"`]
    expect(found([...both('mail'), ...both('mial').reverse()])).toEqual(['3 notice name-similar'])
  })

  it('needs different owners or targets', () => {
    const lines = ['mail 300 A 192.0.2.1', 'mial 300 A 192.0.2.1']
    const only = { name: name('mial.example.com.'), type: 'A', ignored: false, included: ['lab'], excluded: [] }
    expect(ofExample(...lines)).toEqual([])
    expect(codes(linted('example.com.', lines, { rrsetTargets: [only] }))).toEqual(['2 notice name-similar'])
  })
})

it('leaves zones alone that are to be deleted', () => {
  expect(codes(linted('example.com.', ['a 300 A 10.0.0.1'], { absent: true }))).toEqual([])
})

it('costs little for 400 zones of 60 records', { tags: ['long'] }, () => {
  const zones = Array.from({ length: 400 }, (_, zone) =>
    linted(`zone-${zone}.example.`, [
      ...Array.from({ length: 50 }, (_, i) => `host-${i} 300 A 192.0.2.${i}`),
      ...Array.from({ length: 6 }, (_, i) => `alias-${i} 300 CNAME host-${i}.zone-${(zone + 1) % 400}.example.`),
      '@ 300 MX 10 host-1',
      txt('@', `v=spf1 mx include:_spf.zone-0.example ~all`),
      spf('ip4:192.0.2.1', '_spf'),
      txt('s1._domainkey', `v=DKIM1; p=${RSA}`),
    ]),
  )
  expect(lintZones(...zones).flat()).toEqual([])
})

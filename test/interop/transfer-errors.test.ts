/** Invalid transfers: each is reported, and nothing is written. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CliResult, cli, expectEnd } from '../support/cli.ts'
import { TEST_KEY } from '../support/dns-servers.ts'
import { type CraftedMessage, type SignatureParts, signingServer, wireName, wireRecord, wireSoa } from '../support/signing-server.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

const SECRET = Buffer.from(TEST_KEY.secret, 'base64')
const SOA = wireSoa('example.com')
const address = (name: string, last = 1): Buffer => wireRecord(name, 1, Buffer.of(192, 0, 2, last))

/** Runs the import into a folder, and checks that a failure writes nothing. */
async function importFrom(port: number, ...more: string[]): Promise<CliResult> {
  const cwd = temporaryDirectory()
  const env = { SECRET: TEST_KEY.secret }
  const result = await cli(['import', 'axfr', `127.0.0.1:${port}`, 'example.com', '--timeout', '5', '-o', 'zones', ...more], { cwd, env })
  expect(readdirSync(cwd)).toEqual(result.status === 0 ? ['zones'] : [])
  return result
}

const SIGNED = ['--tsig', 'upd:env:SECRET']

async function expectRefused(messages: readonly CraftedMessage[], reason: string | RegExp, ...more: string[]): Promise<void> {
  const { status, stdout, stderr } = await importFrom(await signingServer(SECRET, messages), ...SIGNED, ...more)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^error\[nameserver-failed\] the transfer of example\.com\. from 127\.0\.0\.1 port [0-9]+ failed: /)
  if (typeof reason === 'string') expect(stderr).toContain(reason)
  else expect(stderr).toMatch(reason)
  expect(stderr).toMatch(/\nNothing was written\.\n$/)
}

/** A zone in one message per signature: the SOA, one record in each message, the SOA again. */
const inMessages = (signatures: readonly (SignatureParts | null)[]): CraftedMessage[] =>
  signatures.map((signature, index) => ({
    records: [...(index === 0 ? [SOA] : []), address(`h${index}.example.com`), ...(index === signatures.length - 1 ? [SOA] : [])],
    signature,
  }))

const unsigned = (count: number): null[] => Array.from({ length: count }, () => null)

describe('messages without a signature (RFC 8945 section 5.3.1)', () => {
  it.each([
    ['none', [{}, {}, {}]],
    ['one between', [{}, null, {}]],
    ['99 between', [{}, ...unsigned(99), {}]],
    ['99 between, twice', [{}, ...unsigned(99), {}, ...unsigned(99), {}]],
  ])('are accepted between signed ones: %s', async (_, signatures) => {
    const result = await importFrom(await signingServer(SECRET, inMessages(signatures)), ...SIGNED)
    expect(result).toMatchObject({
      status: 0,
      stderr: expect.stringContaining(`1 zone with ${signatures.length} records, read back and compared.\n`),
    })
  })

  it.each<[string, (SignatureParts | null)[], string]>([
    ['all', [null, null], 'the answer is not signed'],
    ['the first', [null, {}], 'the answer is not signed'],
    ['the last', [{}, null], 'the last message of the answer is not signed'],
    ['the last of many', [{}, {}, null, null], 'the last message of the answer is not signed'],
    ['100 between', [{}, ...unsigned(100), {}], 'more than 99 consecutive messages have no signature'],
  ])('are refused: %s', (_, signatures, reason) => expectRefused(inMessages(signatures), reason))

  it('are verified by the next signature', async () => {
    const messages = inMessages([{}, null, {}])
    const altered = messages.map((one, index) =>
      index === 1 ? { ...one, alter: (message: Buffer) => Buffer.concat([message.subarray(0, -1), Buffer.of(66)]) } : one,
    )
    await expectRefused(altered, 'the signature of the answer is wrong')
  })
})

describe('invalid signatures', () => {
  it.each<[string, SignatureParts, string | RegExp]>([
    ['truncated to half', { mac: (mac) => mac.subarray(0, 16) }, 'the signature of the answer is truncated to 16 of 32 octets'],
    ['truncated to nothing', { withoutDigest: true }, 'the signature of the answer is truncated to 0 of 32 octets'],
    ['longer than its digest', { mac: (mac) => Buffer.concat([mac, Buffer.of(0)]) }, 'the signature of the answer is wrong'],
    ['with one bit changed', { mac: (mac) => Buffer.from(mac.map((octet, i) => (i === 31 ? octet ^ 1 : octet))) }, 'answer is wrong'],
    ['of another key', { keyName: 'other' }, 'the answer is signed with another key, other.'],
    ['by another algorithm', { algorithm: 'hmac-sha1.' }, 'the answer is signed by hmac-sha1., not by hmac-sha256'],
    ['by MD5', { algorithm: 'hmac-md5.sig-alg.reg.int.' }, 'the answer is signed by hmac-md5.sig-alg.reg.int., not by hmac-sha256'],
    [
      'made an hour ago',
      { clockOffset: -3600 },
      /the answer was not signed just now: its clock is 36[0-9]{2} s behind the local one \(a signature is valid for a few minutes/,
    ],
    ['made an hour ahead', { clockOffset: 3600 }, /its clock is 3[56][0-9]{2} s ahead of the local one/],
    ['beyond its own fudge', { clockOffset: -100, fudge: 10 }, /the answer was not signed just now: its clock is 1[0-9]{2} s behind/],
    ['not the last record', { recordsAfter: address('x.example.com') }, 'a TSIG record is not the last one'],
  ])('%s', async (_, signature, reason) => {
    await expectRefused(inMessages([signature]), reason)
    await expectRefused(inMessages([{}, signature]), reason)
  })

  it('an old signature is valid within its own fudge', async () => {
    const port = await signingServer(SECRET, inMessages([{ clockOffset: -3600, fudge: 4000 }]))
    expect(await importFrom(port, ...SIGNED)).toMatchObject({ status: 0 })
  })

  it('made with another secret', async () => {
    const port = await signingServer(Buffer.alloc(32, 7), inMessages([{}]))
    expectEnd(await importFrom(port, ...SIGNED), 1, { err: 'the signature of the answer is wrong' })
  })
})

describe('TSIG errors of the server', () => {
  const later = Buffer.alloc(6)
  later.writeUIntBE(Math.floor(Date.now() / 1000) + 7200, 0, 6)
  it.each<[string, SignatureParts, string | RegExp]>([
    ['BADSIG', { error: 16, withoutDigest: true }, 'BADSIG: the signature does not match, so the server has another secret'],
    ['BADKEY', { error: 17, withoutDigest: true }, 'BADKEY: the server does not know the key'],
    [
      'BADTIME, with the time of the server',
      { error: 18, other: later },
      /BADTIME: the server has another time: its clock is 7[12][0-9]{2} s ahead of the local one/,
    ],
    ['BADTIME, without the time of the server', { error: 18 }, 'BADTIME: the server has another time'],
    ['BADTRUNC', { error: 22 }, 'BADTRUNC: the server refuses the length of the signature'],
    ['an unknown error', { error: 4000 }, 'the server refuses the signature with error 4000'],
  ])('%s', async (_, signature, reason) => {
    await expectRefused([{ records: [], signature, rcode: 9 }], reason)
    // Also if the header has no error.
    await expectRefused(inMessages([signature]), reason)
  })

  it('an unsigned refusal', () => expectRefused([{ records: [], signature: null, rcode: 5 }], 'the answer is REFUSED'))

  it('an error in the middle of a transfer', () =>
    expectRefused([...inMessages([{}, {}]).slice(0, 1), { records: [], signature: {}, rcode: 2 }], 'the answer is SERVFAIL'))
})

describe('records of a transfer', () => {
  const transfer = async (records: readonly Buffer[], ...more: string[]): Promise<CliResult> =>
    importFrom(await signingServer(SECRET, [{ records: [SOA, ...records, SOA], signature: null }]), ...more)

  const NO_ZONE_TYPES = { OPT: 41, TYPE0: 0, TYPE128: 128, TKEY: 249, TSIG: 250, IXFR: 251, AXFR: 252, MAILA: 254, ANY: 255 }
  it.each(Object.entries(NO_ZONE_TYPES))('of types that no zone has are named and may be left out: %s', async (mnemonic, code) => {
    const records = [wireRecord('x.example.com', code, Buffer.of(1, 2, 3)), address('www.example.com')]
    const text = `[import-lossy] x.example.com. ${mnemonic}: a definition cannot express \\# 3 010203: no zone has records of this type (RFC 6895 section 3.1)`
    const strict = await transfer(records)
    expect(strict).toMatchObject({
      status: 1,
      stdout: '',
      stderr: `error${text} (--lossy=${mnemonic} leaves it out)\nNothing was written.\n`,
    })
    expect(await transfer(records, '--lossy')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining(`warning${text}\n1 zone with 1 record, read back and compared.\n`),
    })
  })

  it('of another class make the transfer invalid', async () => {
    const port = await signingServer(SECRET, [
      { records: [SOA, wireRecord('', 41, Buffer.alloc(0), { class: 1232 }), SOA], signature: null },
    ])
    expectEnd(await importFrom(port), 1, { err: 'failed: . OPT is not a record of class IN' })
  })

  it('that are duplicates are kept once and reported (RFC 2181 section 5)', async () => {
    const again = wireRecord('WWW.example.com', 1, Buffer.of(192, 0, 2, 1), { ttl: 600 })
    const result = await transfer([address('www.example.com'), again, address('www.example.com', 2)])
    expect(result).toMatchObject({ status: 0 })
    expect(result.stderr).toContain(
      'warning[record-duplicate] the transfer of example.com. has www.example.com. A 192.0.2.1 more than once; one is kept (RFC 2181 section 5), with TTL 300, not 600\n' +
        '1 zone with 2 records, read back and compared.\n',
    )
  })

  it('of unknown types are imported in the generic form (RFC 3597)', async () => {
    const codes = [10, 54, 69, 98, 103, 110, 127, 270, 3000, 32_767, 65_280, 65_534, 65_535]
    const records = codes.map((code) => wireRecord(`t${code}.example.com`, code, Buffer.of(1, 2, 255)))
    const result = await transfer([...records, wireRecord('empty.example.com', 65_281, Buffer.alloc(0))])
    expect(result).toMatchObject({
      status: 0,
      stderr: expect.stringContaining(`1 zone with ${codes.length + 1} records, read back and compared.\n`),
    })
  })

  it('that conflict are reported and can be left out, without the others of their sets', async () => {
    const mail = (preference: number, name: string): Buffer =>
      wireRecord('m.example.com', 15, Buffer.concat([Buffer.of(0, preference), wireName(name)]))
    const [issuer, other] = ['letsencrypt.org.', 'ca.example ; a = b'].map((value) =>
      wireRecord('example.com', 257, Buffer.from(`\0\x05issue${value}`)),
    ) as [Buffer, Buffer]
    const texts = [mail(0, ''), mail(10, 'mail.example.net'), issuer, other]
    const records = [
      wireRecord('x.example.com', 5, wireName('a.example.net')),
      address('x.example.com'),
      address('www.example.com'),
      ...texts,
    ]
    const text =
      '[import-lossy] x.example.com. CNAME: a definition cannot express a.example.net.: x.example.com. cannot have a CNAME and also A records: '
    expect(await transfer(records)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(`error${text}`) })
    const lossy = await transfer(records, '--lossy')
    expect(lossy).toMatchObject({ status: 0, stderr: expect.stringContaining(`warning${text}`) })
    expect(lossy.stderr).toContain('1 zone with 5 records, read back and compared.\n')
  })

  it('are imported with names of 255 octets, any octets in labels, and texts of 4,000 octets', async () => {
    const label = (length: number, octet: number): Buffer => Buffer.concat([Buffer.of(length), Buffer.alloc(length, octet)])
    // With example.com. these labels have 255 octets, which is the maximum.
    const owner = (last: number): Buffer =>
      Buffer.concat([label(63, 0), label(63, 0x2e), label(63, 0xff), label(last, 0x22), wireName('example.com')])
    const named = (name: Buffer): Buffer => Buffer.concat([name, address('x').subarray(wireName('x').length)])
    const text = Buffer.concat(Array.from({ length: 16 }, (_, index) => label(250, [0x22, 0x5c, 0xc3, 0x00][index % 4] as number)))
    const result = await transfer([named(owner(49)), wireRecord('t.example.com', 16, text)])
    expect(result).toMatchObject({ status: 0, stderr: expect.stringContaining('1 zone with 2 records, read back and compared.\n') })
    expect(await transfer([named(owner(50))])).toMatchObject({ status: 1, stderr: expect.stringContaining('255') })
  })

  it.each<[string, number, Buffer, string]>([
    ['A', 1, Buffer.of(192, 0, 2), '\\# 3 c00002: invalid data for its type: octets expected: 4, left: 3'],
    ['AAAA', 28, Buffer.alloc(17), `\\# 17 ${'00'.repeat(17)}: invalid data for its type: AAAA rdata is longer than its fields`],
    ['A', 1, Buffer.alloc(0), '\\# 0: invalid data for its type: octets expected: 4, left: 0'],
    ['TXT', 16, Buffer.of(200, 65), '\\# 2 c841: invalid data for its type: octets expected: 200, left: 1'],
    ['MX', 15, Buffer.of(0, 10, 0xff, 0xff), '\\# 4 000affff: invalid data for its type: '],
  ])('that are not what their type needs are named and may be left out: %s', async (type, code, data, what) => {
    const records = [address('a.example.com'), wireRecord('x.example.com', code, data), address('www.example.com', 2)]
    const text = `[import-lossy] x.example.com. ${type}: a definition cannot express ${what}`
    expect(await transfer(records)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(`error${text}`) })
    const lossy = await transfer(records, '--lossy')
    expect(lossy).toMatchObject({ status: 0, stderr: expect.stringContaining(`warning${text}`) })
    expect(lossy.stderr).toContain('1 zone with 2 records, read back and compared.\n')
  })

  it('that restrict others are left out only if they are named', async () => {
    const text = (value: string): Buffer =>
      wireRecord('cname.example.com', 16, Buffer.concat([Buffer.of(value.length), Buffer.from(value)]))
    const alias = (name: string): Buffer => wireRecord('cname.example.com', 5, wireName(name))
    const malformed = wireRecord('example.com', 257, Buffer.from('\0\x05is?uex'))
    const records = [
      malformed,
      wireRecord('example.com', 257, Buffer.from('\0\x05issueca.example')),
      text('v=spf1 -all'),
      alias('a'),
      alias('b'),
    ]
    const strange = address('www.example.net')
    const refused = await transfer([...records, strange], '--lossy')
    const hint = 'others may do more without it, so --lossy must name it: --lossy=CAA leaves it out'
    expectEnd(refused, 1, {
      err: [/^warning\[import-lossy\] www\.example\.net/m, /^error\[import-lossy\] example\.com\. CAA: /m, hint],
      out: '',
    })
    expect(refused.stderr.match(/^error/gm)).toHaveLength(1)
    expect(await transfer([...records, strange], '--lossy=CAA')).toMatchObject({ status: 1 })
    for (const options of [
      ['--lossy', '--lossy=CAA'],
      ['--lossy=CAA', '--lossy'],
    ])
      expectEnd(await transfer([...records, strange], ...options), 0, { err: '1 zone with 2 records, read back and compared.' })
  })

  const times = SOA.subarray(-20)
  const words = (...values: readonly number[]): Buffer =>
    Buffer.from(values.flatMap((v) => [24, 16, 8, 0].map((shift) => (v >>> shift) & 0xff)))
  const soaOf = (primary: string, mailbox: Buffer, rest = times, owner = 'example.com'): Buffer =>
    wireRecord(owner, 6, Buffer.concat([wireName(primary), mailbox, rest]))
  const mailboxOf = (...octets: readonly number[]): Buffer => Buffer.concat([Buffer.of(octets.length, ...octets), wireName('example.net')])

  it.each<[string, Buffer, string]>([
    [
      'capital letters of its mailbox, whose host is a compression pointer to the question',
      soaOf('NS1.Example.NET', Buffer.concat([Buffer.of(9), Buffer.from('Jane.Doe!'), Buffer.of(0xc0, 12)]), times, 'EXAMPLE.com'),
      'soa_email: Jane.Doe!@example.com\n',
    ],
    [
      'primary, serial, times of 0 and times above the maximum TTL',
      soaOf('ns1.example.net', wireName('h.example.net'), words(7, 0, 0, 0xffffffff, 0xffffffff)),
      'soa: {primary: ns1.example.net., serial: 7, refresh: 0, retry: 0, expire: 4294967295, minimum: 4294967295, ttl: 300}\n',
    ],
    ['mailbox that is not UTF-8', soaOf('ns1.example.net', mailboxOf(0xff, 0x61, 0x62)), 'mailbox: \\255ab.example.net.,'],
    ['mailbox with a control character', soaOf('ns1.example.net', mailboxOf(0x61, 0, 0x62)), 'mailbox: a\\000b.example.net.,'],
    ['mailbox that is no address', soaOf('ns1.example.net', mailboxOf(0x61, 0x20, 0x62)), 'mailbox: a\\032b.example.net.,'],
  ])('with an SOA keep the %s', async (_, soa, expected) => {
    const port = await signingServer(SECRET, [{ records: [soa, address('www.example.com'), soa], signature: null }])
    const { status, stdout } = await cli(['import', 'axfr', `127.0.0.1:${port}`, 'example.com'], { cwd: temporaryDirectory(), env: {} })
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(expected) })
    if (expected.startsWith('mailbox')) expect(stdout).not.toContain('soa_email')
  })

  it('without an SOA make the transfer invalid', async () => {
    const broken = wireRecord('example.com', 6, Buffer.of(0, 0, 1))
    const port = await signingServer(SECRET, [{ records: [broken, address('a.example.com'), broken], signature: null }])
    expectEnd(await importFrom(port, '--lossy'), 1, { err: 'failed: example.com. SOA: octets expected: 2, left: 1' })
  })
})

it('reports what is left out, even with --quiet', async () => {
  const strange = address('www.example.net')
  const port = await signingServer(SECRET, [{ records: [SOA, strange, address('www.example.com'), SOA], signature: null }])
  const text = 'warning[import-lossy] www.example.net. A: a definition cannot express a record that is not in example.com.\n'
  expect(await importFrom(port, '--lossy', '--quiet')).toMatchObject({ status: 0, stderr: text })
})

it('reports a connection that ends early with the zone', async () => {
  const port = await signingServer(SECRET, [])
  const { status, stderr } = await importFrom(port, 'example.net', '--timeout', '1')
  expect(status).toBe(1)
  for (const zone of ['example.com', 'example.net'])
    expect(stderr).toContain(`error[nameserver-failed] the transfer of ${zone}. failed: 127.0.0.1 port ${port} did not answer over TCP`)
})

it('imports the root zone', async () => {
  const cwd = temporaryDirectory()
  const port = await signingServer(SECRET, [{ records: [wireSoa(''), wireSoa('')], signature: null }])
  expectEnd(await cli(['import', 'axfr', `127.0.0.1:${port}`, '.'], { cwd, env: {} }), 0, { out: /^domain: \.\n/ })
})

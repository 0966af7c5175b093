import { describe, expect, it } from 'vitest'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery } from '../../../src/dns/wire/message.ts'
import { appendSignature, parseTsigSecret, type Signature, splitSignature, type TsigKey } from '../../../src/dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../../../src/dns/wire/tsig-client.ts'
import { type RequestVerdict, signatureOctets, verifyRequest } from '../../../src/dns/wire/tsig-server.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { name } from '../../support/records.ts'

const NOW = 1_700_000_000
const KEY: TsigKey = { name: name('key.example.'), algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 7) }
const find = (wanted: string): TsigKey | undefined => (wanted === KEY.name ? KEY : undefined)
const query = encodeMessage({ ...createQuery(4660, { name: name('example.com.'), type: 'AXFR' }), edns: null })
const answer = encodeMessage({ ...createQuery(4660, { name: name('example.com.'), type: 'AXFR' }), response: true, edns: null })
const verify = (octets: Uint8Array, now = NOW): RequestVerdict => verifyRequest(octets, find, now)

/** The request with a changed TSIG record. */
function resigned(octets: Buffer, change: (signature: Signature) => Partial<Signature>): Buffer {
  const found = splitSignature(octets)
  if (!found.ok || found.value.signature === null) throw new Error('not signed')
  return appendSignature(found.value.unsigned, { ...found.value.signature, ...change(found.value.signature) })
}

/** The TSIG record of the response to a rejected request. */
function rejection(verdict: RequestVerdict, now = NOW): Signature {
  if (verdict.kind !== 'rejected') throw new Error(verdict.kind)
  const found = splitSignature(verdict.sign(answer, now))
  if (!found.ok || found.value.signature === null) throw new Error('not signed')
  return found.value.signature
}

const { octets: request, mac: requestMac } = signMessage(query, KEY, NOW)

describe('a request', () => {
  it('signed now by a known key is verified', () => {
    expect(verify(request)).toMatchObject({ kind: 'verified', key: KEY, validUntil: NOW + 300 })
    expect(verify(request, NOW + 300).kind).toBe('verified')
    expect(verify(request, NOW - 300).kind).toBe('verified')
    expect(verify(query).kind).toBe('unsigned')
  })

  it('with an identifier changed by a forwarder is verified', () => {
    const forwarded = Buffer.from(request)
    forwarded.writeUInt16BE(1, 0)
    expect(verify(forwarded).kind).toBe('verified')
  })

  it('with an unknown key gets BADKEY without a digest and without the time of the client', () => {
    for (const octets of [
      signMessage(query, { ...KEY, name: name('other.example.') }, NOW).octets,
      signMessage(query, { ...KEY, algorithm: 'hmac-sha512' }, NOW).octets,
    ])
      expect(rejection(verify(octets))).toMatchObject({ error: 17, mac: { length: 0 }, other: { length: 0 }, originalId: 4660 })
  })

  it('with another secret gets BADSIG without a digest', () => {
    const octets = signMessage(query, { ...KEY, secret: Buffer.alloc(32, 8) }, NOW).octets
    expect(rejection(verify(octets))).toMatchObject({ error: 16, mac: { length: 0 }, keyName: KEY.name })
  })

  it('with another time gets BADTIME, signed, with the time of the server', () => {
    for (const now of [NOW + 301, NOW - 301]) {
      const signature = rejection(verify(request, now), now)
      expect(signature).toMatchObject({ error: 18, time: NOW })
      expect(Buffer.from(signature.other).readUIntBE(0, 6)).toBe(now)
      expect(signature.mac).toHaveLength(32)
    }
    // A wrong digest is reported first: the time of such a message means nothing.
    expect(
      rejection(
        verify(
          resigned(request, ({ mac }) => ({ mac: mac.map((octet) => octet ^ 1) })),
          NOW + 301,
        ),
      ).error,
    ).toBe(16)
  })

  it('with a truncated correct digest gets BADTRUNC, signed', () => {
    expect(rejection(verify(resigned(request, ({ mac }) => ({ mac: mac.subarray(0, 16) }))))).toMatchObject({ error: 22 })
    expect(rejection(verify(resigned(request, ({ mac }) => ({ mac: mac.subarray(0, 16).map(() => 0) })))).error).toBe(16)
    expect(verify(resigned(request, ({ mac }) => ({ mac: mac.subarray(0, 15) }))).kind).toBe('malformed')
    expect(verify(resigned(request, ({ mac }) => ({ mac: Buffer.concat([mac, Buffer.alloc(1)]) }))).kind).toBe('malformed')
    expect(verify(resigned(request, () => ({ mac: new Uint8Array() }))).kind).toBe('malformed')
  })

  it('is malformed if its signature is not the last record or appears twice', () => {
    expect(verify(signMessage(request, KEY, NOW).octets).kind).toBe('malformed')
    expect(verify(Buffer.concat([request, Buffer.alloc(3)])).kind).toBe('malformed')
  })

  it('is never verified with one octet changed, and nothing is thrown', () => {
    forAll(rounds(3000), fc.nat({ max: request.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const changed = Buffer.from(request)
      changed[at] = (changed[at] as number) ^ change
      // The identifier may change: the digest includes the original one. Names are digested in lower case.
      const isLetter = (changed[at] as number) === ((request[at] as number) ^ 0x20)
      if (at > 1 && !isLetter) expect(verify(changed).kind).not.toBe('verified')
    })
    forAll(100, fc.uint8Array({ maxLength: 200 }), (random) => verify(random).kind !== 'verified')
  })
})

describe('a response', () => {
  const messages = Array.from({ length: 5 }, (_, i) => Buffer.concat([answer, Buffer.from([])]).map((octet, at) => (at === 3 ? i : octet)))

  it('with several messages is verified by the client, message by message', () => {
    const verdict = verify(request)
    if (verdict.kind !== 'verified') throw new Error(verdict.kind)
    const client = createTsigVerifier(KEY, requestMac)
    for (const message of messages) {
      const signed = verdict.sign(Buffer.from(message), NOW)
      expect(signed.length).toBe(message.length + signatureOctets(KEY))
      expect(client.accept(signed, NOW)).toEqual({ ok: true, value: undefined })
    }
    expect(client.finish().ok).toBe(true)
  })

  it('is not verified in another order, with one message missing, or for another request', () => {
    const verdict = verify(request)
    if (verdict.kind !== 'verified') throw new Error(verdict.kind)
    const [first, second, third] = messages.map((message) => verdict.sign(Buffer.from(message), NOW)) as [Buffer, Buffer, Buffer]
    const accepted = (mac: Uint8Array, ...octets: Buffer[]): boolean => {
      const client = createTsigVerifier(KEY, mac)
      return octets.every((message) => client.accept(message, NOW).ok) && client.finish().ok
    }
    expect(accepted(requestMac, first, second, third)).toBe(true)
    expect(accepted(requestMac, first, third)).toBe(false)
    expect(accepted(requestMac, second, first)).toBe(false)
    expect(accepted(signMessage(query, KEY, NOW + 1).mac, first)).toBe(false)
  })

  it('to a replayed request is BADTIME', () => {
    const verdict = verify(request)
    if (verdict.kind !== 'verified') throw new Error(verdict.kind)
    expect(decodeMessage(verdict.signReplayError(answer, NOW + 5)).ok).toBe(true)
    const client = createTsigVerifier(KEY, requestMac).accept(verdict.signReplayError(answer, NOW + 5), NOW)
    expect(client).toEqual({ ok: false, message: 'BADTIME: the server has another time: its clock is 5 s ahead of the local one' })
  })
})

it.each([
  ['AAAAAAAAAAAAAAAAAAAAAA==', 16],
  [' AAAAAAAA\nAAAAAAAAAAAAAA== ', 16],
  ['', null],
  ['AAA', null],
  ['not base64!!', null],
  ['====', null],
])('a secret: %j', (text, octets) => expect(parseTsigSecret(text)?.length ?? null).toBe(octets))

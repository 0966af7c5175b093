import { describe, expect, it } from 'vitest'
import { decodeMessage } from '../../../src/dns/wire/decode-message.ts'
import { encodeMessage } from '../../../src/dns/wire/encode-message.ts'
import { createQuery } from '../../../src/dns/wire/message.ts'
import { TSIG_ALGORITHMS, type TsigKey } from '../../../src/dns/wire/tsig.ts'
import { createTsigVerifier, signMessage } from '../../../src/dns/wire/tsig-client.ts'
import { fc, forAll } from '../../support/fast-check.ts'
import { rounds } from '../../support/random.ts'
import { name } from '../../support/records.ts'

const NOW = 1_700_000_000
const key = (algorithm: TsigKey['algorithm'] = 'hmac-sha256'): TsigKey => ({ name: name('upd.'), algorithm, secret: Buffer.alloc(32) })
const query = encodeMessage({ ...createQuery(4660, { name: name('example.com.'), type: 'AXFR' }), edns: null })

/** Octets of the digest of each algorithm (RFC 8945 section 6, FIPS 180-4). */
const LENGTHS = { 'hmac-sha1': 20, 'hmac-sha224': 28, 'hmac-sha256': 32, 'hmac-sha384': 48, 'hmac-sha512': 64 }

it.each(TSIG_ALGORITHMS)('a signed message ends in one TSIG record: %s', (algorithm) => {
  const { octets, mac } = signMessage(query, key(algorithm), NOW)
  expect(mac).toHaveLength(LENGTHS[algorithm])
  const message = decodeMessage(octets)
  expect(message).toMatchObject({ ok: true, value: { id: 4660, additionals: [{ name: 'upd.', type: 'TSIG', class: 255, ttl: 0 }] } })
})

describe('an invalid signature of a response', () => {
  const verify = (octets: Uint8Array, now = NOW): string => {
    const verdict = createTsigVerifier(key(), Buffer.alloc(32)).accept(octets, now)
    return verdict.ok ? 'ok' : verdict.message
  }

  it.each([
    ['another key', signMessage(query, { ...key(), name: name('other.') }, NOW).octets, 'the answer is signed with another key, other.'],
    ['another algorithm', signMessage(query, key('hmac-sha1'), NOW).octets, 'the answer is signed by hmac-sha1., not by hmac-sha256'],
    ['two signatures', signMessage(signMessage(query, key(), NOW).octets, key(), NOW).octets, 'a TSIG record is not the last one'],
  ])('%s', (_, octets, message) => expect(verify(octets)).toBe(message))

  it('is returned as an error, never thrown, for any octets', () => {
    const { octets } = signMessage(query, key(), NOW)
    forAll(
      rounds(3000),
      fc.array(fc.tuple(fc.nat({ max: octets.length - 1 }), fc.nat({ max: 255 })), { maxLength: 6 }),
      fc.nat({ max: octets.length }),
      (changes, length) => {
        const mutated = Buffer.from(octets)
        for (const [at, octet] of changes) mutated[at] = octet
        expect(verify(mutated.subarray(0, length))).not.toBe('ok')
      },
    )
    forAll(100, fc.uint8Array({ maxLength: 200 }), (random) => {
      expect(verify(random)).not.toBe('ok')
    })
  })
})

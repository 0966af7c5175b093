import { expect, test } from 'vitest'
import { formatLocation, parseLocation } from '../../../src/dns/rdata/location.ts'
import { fc, forAll } from '../../support/fast-check.ts'

const canonical = (text: string): string | null => {
  const location = parseLocation(text.split(' '))
  return location.ok ? formatLocation(location.value) : null
}

test.each([
  ['31 58 52.1 S 115 49 11.7 E 20m 10m 10m 2m', '31 58 52.100 S 115 49 11.700 E 20.00m 10.00m 10.00m 2.00m'],
  ['42 21 54 N 71 06 18 W -24m 30m', '42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m'],
  ['0 N 0 E 0', '0 0 0.000 N 0 0 0.000 E 0.00m 1.00m 10000.00m 10.00m'],
  // Zero degrees south is written as north, zero west as east.
  ['0 S 0 W -0', '0 0 0.000 N 0 0 0.000 E 0.00m 1.00m 10000.00m 10.00m'],
  ['90 S 180 W -100000 0 0 0', '90 0 0.000 S 180 0 0.000 W -100000.00m 0.00m 0.00m 0.00m'],
  ['90 N 180 E 42849672.95 90000000 90000000 90000000', '90 0 0.000 N 180 0 0.000 E 42849672.95m 90000000.00m 90000000.00m 90000000.00m'],
  ['1 2 n 3 4 e 5.5m', '1 2 0.000 N 3 4 0.000 E 5.50m 1.00m 10000.00m 10.00m'],
  // On the wire a size is one digit and a power of ten.
  ['1 N 1 E 1 15 1234.56 0.99', '1 0 0.000 N 1 0 0.000 E 1.00m 10.00m 1000.00m 0.90m'],
])('%s', (text, expected) => {
  expect(canonical(text)).toBe(expected)
  expect(canonical(expected)).toBe(expected)
})

test.each([
  ...['1 N 1 E', '1 N 1', '1 1 1 1 N 1 E 1', 'N 1 E 1', '1 E 1 N 1', '91 N 1 E 1', '90 0 0.001 N 1 E 1', '1 N 180 0 0.001 E 1'],
  ...['1 60 N 1 E 1', '1 1 60 N 1 E 1', '1 1 1.0001 N 1 E 1', '-1 N 1 E 1', '1 N 1 E 1.001', '1 N 1 E -100000.01'],
  ...['1 N 1 E 42849672.96', '1 N 1 E 1 90000000.01', '1 N 1 E 1 -1', '1 N 1 E 1km', '1 N 1 E 1 1 1 1 1'],
])('%s is refused', (text) => expect(canonical(text)).toBe(null))

test('every location survives encoding and decoding', () => {
  const angle = (degrees: number): fc.Arbitrary<number> =>
    fc.integer({ min: 2 ** 31 - degrees * 3_600_000, max: 2 ** 31 + degrees * 3_600_000 })
  const precision = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })).map(([digit, power]) =>
    // Some sizes have two wire forms: zero with any exponent, and ten times a power of ten.
    digit === 0 ? 0 : (digit << 4) | power,
  )
  const location = fc.record({
    size: precision,
    horizontal: precision,
    vertical: precision,
    latitude: angle(90),
    longitude: angle(180),
    altitude: fc.integer({ min: 0, max: 0xffffffff }),
  })
  forAll(100, location, (value) => {
    expect(parseLocation(formatLocation(value).split(' '))).toEqual({ ok: true, value })
  })
})

import { expect, test } from 'vitest'
import { parseTtl, ttlFromSeconds } from '../../src/dns/ttl.ts'

test.each([
  ['0', 0],
  ['300', 300],
  ['2147483647', 2147483647],
  ['30s', 30],
  ['5M', 300],
  ['1h30m', 5400],
  ['1w2d3h4m5s', 788645],
  ['1s1s', 2],
  ['0w', 0],
])('%s is %d seconds', (text, seconds) => expect(parseTtl(text)).toEqual({ ok: true, value: seconds }))

test.each([...'-1 +1 1.5 1e3 2147483648 99999999999 1y h 1h30 3551w'.split(' '), ...['', '1 h'], `${'9'.repeat(10)}w`.repeat(50)])(
  '%j is refused',
  (text) => expect(parseTtl(text).ok).toBe(false),
)

test.each([-1, 1.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY])('%d seconds are refused', (seconds) => {
  expect(ttlFromSeconds(seconds).ok).toBe(false)
})

import { isIPv6 } from 'node:net'
import { describe, expect, test } from 'vitest'
import { formatIpv6, ipv6Groups, parseIpv4, parseIpv6 } from '../../src/dns/ip-address.ts'
import { fc, forAll } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'

describe('IPv4', () => {
  test.each(['0.0.0.0', '192.0.2.1', '255.255.255.255'])('%s', (text) => expect(parseIpv4(text)).toEqual({ ok: true, value: text }))

  test.each([...'1 1.2.3 1.2.3.4.5 1.2.3.256 01.2.3.4 1.2.3.04 1..3.4 0x1.2.3.4 1.2.3.-4 １.2.3.4'.split(' '), ...['', '1.2.3.4 ']])(
    '%j is refused',
    (text) => expect(parseIpv4(text).ok).toBe(false),
  )
})

describe('IPv6 in the form of RFC 5952', () => {
  test.each([
    ['::', '::'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8::ABCD', '2001:db8::abcd'],
    ['2001:0db8:0000:0000:0000:0000:0002:0001', '2001:db8::2:1'],
    // "::" replaces the longest run of zeros, the first of equal runs, never a single group (section 4.2).
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:0:0:2:3:4:5:0', '1::2:3:4:5:0'],
    ['0:0:1::', '0:0:1::'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['::ffff:c000:201', '::ffff:192.0.2.1'],
    ['2001:db8::192.0.2.1', '2001:db8::c000:201'],
    ['::192.0.2.1', '::c000:201'],
  ])('%s is %s', (text, expected) => {
    expect(parseIpv6(text)).toEqual({ ok: true, value: expected })
    expect(parseIpv6(expected)).toEqual({ ok: true, value: expected })
  })

  test.each([
    ...': ::: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 12345:: g:: ::1%eth0 1:2:3:4:5:6:7::8:9 ::1.2.3.256 ::1.2.3 1.2.3.4'.split(' '),
    ...'[::1] :1:: 1::2: ::1.2.3.4:5 1:2:3:4:5:6:7:1.2.3.4'.split(' '),
    ...['', ' ::1'],
  ])('%j is refused', (text) => expect(parseIpv6(text).ok).toBe(false))

  test('any address survives printing and parsing', () => {
    forAll(100, fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), { minLength: 8, maxLength: 8 }), (groups) => {
      const text = formatIpv6(groups)
      expect(isIPv6(text)).toBe(true)
      expect(ipv6Groups(text)).toEqual(groups)
      expect(parseIpv6(groups.map((group) => group.toString(16)).join(':'))).toEqual({ ok: true, value: text })
    })
  })

  test('accepts exactly the text that the platform accepts as an address', () => {
    const part = fc.constantFrom('', '0', '1', 'ab', 'FFFF', '12345', 'g', '1.2.3.4', '1.2.3', ':')
    forAll(rounds(2000), fc.array(part, { maxLength: 10 }), (parts) => {
      const text = parts.join(':')
      expect(parseIpv6(text).ok).toBe(isIPv6(text))
    })
  })
})

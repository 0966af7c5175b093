import { describe, expect, it, test } from 'vitest'
import { parseAbsoluteName } from '../../src/dns/domain-name.ts'
import { classlessBlock, isReverseName, networkZone, reverseName } from '../../src/dns/reverse-name.ts'

const name = (text: string) => {
  const parsed = parseAbsoluteName(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}

describe('reverseName', () => {
  test.each([
    ['192.0.2.1', '1.2.0.192.in-addr.arpa.'],
    ['2001:db8::1', '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.'],
    ['::ffff:192.0.2.1', '1.0.2.0.0.0.0.c.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa.'],
  ])('%s is at %s', (address, owner) => {
    expect(reverseName(address)).toBe(owner)
    expect(isReverseName(name(owner))).toBe(true)
  })

  it('tells reverse names from others', () => {
    expect(['in-addr.arpa', '0/26.2.0.192.in-addr.arpa', 'ip6.arpa'].map((text) => isReverseName(name(text)))).toEqual([true, true, true])
    expect(['arpa', 'example.com', 'xin-addr.arpa'].map((text) => isReverseName(name(text)))).toEqual([false, false, false])
  })
})

describe('classlessBlock', () => {
  test.each([
    ['0/26', [0, 63]],
    ['64/26', [64, 127]],
    ['192/26', [192, 255]],
    ['0/25', [0, 127]],
    ['7/32', [7, 7]],
    ['0-26', [0, 63]],
    ['0-63', [0, 63]],
    ['128-255', [128, 255]],
    ['0-31', [0, 31]],
    ['24-27', [24, 27]],
    ['0-27', [0, 31]],
    ['0/24', null],
    ['1/26', null],
    ['0/33', null],
    ['0-62', null],
    ['0-255', null],
    ['0/63', null],
    ['256/26', null],
    ['sub', null],
  ])('%s has the addresses %j', (label, expected) => {
    const block = classlessBlock(name(`${label}.2.0.192.in-addr.arpa`))
    expect(block && [block.first, block.last]).toEqual(expected)
    if (block) expect(block.parent).toBe('2.0.192.in-addr.arpa.')
  })

  it('needs three octets above the block', () => {
    expect(classlessBlock(name('0/26.0.192.in-addr.arpa'))).toBeNull()
    expect(classlessBlock(name('0/26.2.0.192.example'))).toBeNull()
  })
})

test.each([
  ['192.0.2.0/24', '2.0.192.in-addr.arpa.'],
  ['10.0.0.0/8', '10.in-addr.arpa.'],
  ['192.0.2.64/26', '64/26.2.0.192.in-addr.arpa.'],
  ['192.0.2.7/32', '7/32.2.0.192.in-addr.arpa.'],
  ['2001:DB8::/32', '8.b.d.0.1.0.0.2.ip6.arpa.'],
  ['2001:db8:0:10::/60', '1.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.'],
  ['::/0', 'ip6.arpa.'],
  ['192.0.2.1', /1\.2\.0\.192\.in-addr\.arpa\./],
  ['2001:db8::', /\/128/],
  ['192.0.2.0/33', /longer than 32/],
  ['192.0.0.0/22', /for each \/24/],
  ['2001:db8::/33', /for each \/36/],
  ['192.0.2.1/24', /inside/],
  ['192.0.2.65/26', /inside/],
  ['2001:db8:1::/32', /inside/],
  ['example.com', null],
  ['0/26.2.0.192.in-addr.arpa', null],
  ['10', null],
  ['256.0.0.0/8', /not a network/],
  ['192.168.7/24', /not a network: write its whole first address/],
  ['2001:db8::zz/32', /not a network/],
  ['192.0.2.0/024.', '2.0.192.in-addr.arpa.'],
  ['192.0.2.1.', /a zone needs a network/],
])('networkZone: %s is %s', (network, zone) => {
  const found = networkZone(network)
  if (zone instanceof RegExp) expect(found).toEqual({ ok: false, message: expect.stringMatching(zone) })
  else expect(found?.ok ? found.value : found).toBe(zone)
})

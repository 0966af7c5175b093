import { expect, test } from 'vitest'
import type { Result } from '../../../src/base/result.ts'
import { canonicalSvcParams } from '../../../src/dns/rdata/svc-params.ts'

const canonical = (...tokens: string[]): Result<string> => canonicalSvcParams(tokens.map((text) => ({ text, quoted: false })))

test.each([
  [['port=8443', 'alpn=h2,h3'], 'alpn=h2,h3 port=8443'],
  [['alpn="h2,h3"'], 'alpn=h2,h3'],
  [['alpn=h2', 'no-default-alpn'], 'alpn=h2 no-default-alpn'],
  [['alpn=h2', 'no-default-alpn=""'], 'alpn=h2 no-default-alpn'],
  [['mandatory=port,alpn', 'alpn=h2', 'port=1'], 'mandatory=alpn,port alpn=h2 port=1'],
  [['mandatory=key65000', 'key65000'], 'mandatory=key65000 key65000'],
  [['ipv4hint=192.0.2.1,192.0.2.2'], 'ipv4hint=192.0.2.1,192.0.2.2'],
  [['ipv6hint=2001:DB8::1,::ffff:192.0.2.1'], 'ipv6hint=2001:db8::1,::ffff:192.0.2.1'],
  [['ech=AEj+DQBE'], 'ech=AEj+DQBE'],
  [['dohpath=/dns-query{?dns}'], 'dohpath=/dns-query{?dns}'],
  [['dohpath=/{x}/{+dns}'], 'dohpath=/{x}/{+dns}'],
  [['dohpath=/{?ct,dns:30}'], 'dohpath=/{?ct,dns:30}'],
  [['dohpath=/{dns*}'], 'dohpath=/{dns*}'],
  [['ohttp'], 'ohttp'],
  [['tls-supported-groups=29,23'], 'tls-supported-groups=29,23'],
  [['docpath'], 'docpath'],
  [['docpath=a,b'], 'docpath=a,b'],
  [['key65000="a b"'], 'key65000="a b"'],
  [['key65000=a\\032b\\;\\"\\\\\\255'], 'key65000="a b;\\"\\\\\\255"'],
  [['key65000=ü'], 'key65000="\\195\\188"'],
  [['key65000==='], 'key65000==='],
  // A known key may be written by its number, with the octets of its value.
  [['key3=\\001\\187'], 'port=443'],
  [['key1="\\002h2"'], 'alpn=h2'],
  // Appendix A.1: a comma or backslash in an item is escaped beneath the escapes of the string.
  [['alpn="f\\\\\\\\oo\\\\,bar,h2"'], 'alpn="f\\\\\\\\oo\\\\,bar,h2"'],
  [['alpn=f\\\\\\092oo\\092,bar,h2'], 'alpn="f\\\\\\\\oo\\\\,bar,h2"'],
  [[], ''],
])('%j is %s', (tokens, expected) => expect(canonical(...tokens)).toEqual({ ok: true, value: expected }))

test.each([
  [['nope=1'], 'not a key'],
  [['key01=a'], 'not a key'],
  [['key65535=a'], 'not a key'],
  [['=a'], 'not a key'],
  [['port=1', 'port=2'], 'twice'],
  [['key3=\\000\\001', 'port=2'], 'twice'],
  [['port'], 'not a number'],
  [['port=65536'], 'not a number'],
  [['port=1,2'], 'not a number'],
  [['key3=\\001'], 'octets'],
  [['alpn'], 'no value'],
  [['alpn="h2"port=1'], 'a quote within a value'],
  [['key65000=a\\\\"b'], 'a quote within a value'],
  [['alpn=h2,,h3'], '1 to 255'],
  [['alpn=h2,'], '1 to 255'],
  [['alpn=a\\\\b'], 'backslash'],
  [[`alpn=${'a'.repeat(256)}`], '1 to 255'],
  [['no-default-alpn=1', 'alpn=h2'], 'no value'],
  [['no-default-alpn'], 'needs alpn'],
  [['ipv4hint'], 'IPv4'],
  [['ipv4hint=192.0.2.1,'], 'IPv4'],
  [['ipv6hint=192.0.2.1'], 'IPv6'],
  [['ech=a'], 'base64'],
  [['ech'], 'base64'],
  [['dohpath='], 'no variable dns'],
  [['dohpath=/dns-query{?x}'], 'no variable dns'],
  [['dohpath=/dns'], 'no variable dns'],
  [['dohpath=/{?a.dns}'], 'no variable dns'],
  [['dohpath=/{dnsx}{?'], 'no variable dns'],
  [['ALPN=h2'], 'not a key'],
  [['KEY65000'], 'not a key'],
  [['mandatory=alpn'], 'not given'],
  [['mandatory=port,port', 'port=1'], 'twice'],
  [['mandatory=mandatory'], 'not a key'],
  [['mandatory='], 'not a key'],
  [['key65000=\\999'], 'escape'],
])('%j is refused: %s', (tokens, message) => expect(canonical(...tokens)).toEqual({ ok: false, message: expect.stringContaining(message) }))

test('refuses an unclosed dohpath expression in linear time', () => {
  expect(canonical(`dohpath="{${'dns '.repeat(100_000)}"`)).toEqual({ ok: false, message: 'dohpath: has no variable dns, such as {?dns}' })
})

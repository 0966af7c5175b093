import { expect, test } from 'vitest'
import { isServerAddress, parseServerAddress } from '../../src/dns/server-address.ts'

test.each([
  ['192.0.2.53', '192.0.2.53', 53],
  ['192.0.2.53:5353', '192.0.2.53', 5353],
  ['2001:db8::53', '2001:db8::53', 53],
  ['[2001:db8::53]', '2001:db8::53', 53],
  ['[2001:db8::53]:5353', '2001:db8::53', 5353],
  ['localhost', 'localhost', 53],
  ['ns1.example.net.:5353', 'ns1.example.net.', 5353],
  ['ns.b\u00fccher.example', 'ns.xn--bcher-kva.example', 53],
  ['ns.b\u00fccher.example:5353', 'ns.xn--bcher-kva.example', 5353],
  ['1.2.3.4.example', '1.2.3.4.example', 53],
])('%s is port and host', (text, host, port) => {
  expect(parseServerAddress(text)).toEqual({ host, port })
  expect(isServerAddress(text)).toBe(true)
})

test.each([
  ...'10.1 10.1:53 256.1.1.1 192.0.2 192.0.2.1. 2130706433 192.0.2.1:0 192.0.2.1:65536 http://192.0.2.1 192.0.2.1#53'.split(' '),
  ...'@192.0.2.1 ns.\u202eb.example'.split(' '),
  ...['', ' ', 'a b', 'ns \u00fc.example'],
])('%j is no server', (text) => expect(isServerAddress(text)).toBe(false))

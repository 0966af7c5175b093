import { describe, expect, test } from 'vitest'
import { parseServerAddress } from '../../src/dns/server-address.ts'
import type { Endpoint } from '../../src/transport/allowed-hosts.ts'
import { ALLOWED_HOSTS, endpointOfServer, endpointOfUrl, isLoopback, readHostPolicy } from '../../src/transport/allowed-hosts.ts'

const verdict = (list: string | undefined, endpoint: Endpoint, env: Readonly<Record<string, string>> = {}): string =>
  readHostPolicy({ ...env, ...(list !== undefined && { [ALLOWED_HOSTS]: list }) }).check('x', endpoint)?.code ?? 'allowed'

const url = (text: string): Endpoint => endpointOfUrl(new URL(text))
const server = (text: string): Endpoint => endpointOfServer(parseServerAddress(text))

describe('compares the host to which a URL would be sent', () => {
  test.each([
    ['dns.example.net', 'https://dns.example.net/v4'],
    ['dns.example.net', 'https://DNS.Example.NET/v4'],
    ['DNS.EXAMPLE.NET', 'https://dns.example.net/v4'],
    ['dns.example.net', 'https://dns.example.net./v4'],
    ['dns.example.net.', 'https://dns.example.net/v4'],
    ['dns.example.net', 'https://dns.example.net:8443/v4'],
    ['dns.example.net:443', 'https://dns.example.net/v4'],
    ['dns.example.net:80', 'http://dns.example.net/v4'],
    ['dns.example.net:8443', 'https://dns.example.net:8443/v4'],
    ['*.example.net', 'https://dns.example.net/v4'],
    ['*.example.net', 'https://a.b.example.net/v4'],
    ['*.example.net:8443', 'https://dns.example.net:8443/v4'],
    ['bücher.example', 'https://xn--bcher-kva.example/v4'],
    ['xn--bcher-kva.example', 'https://bücher.example/v4'],
    ['192.0.2.1', 'https://192.0.2.1/v4'],
    ['127.0.0.1', 'http://0x7f.1/v4'],
    ['127.0.0.1', 'http://2130706433/v4'],
    ['[2001:db8::1]', 'https://[2001:DB8:0::1]/v4'],
    ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443/v4'],
    ['2001:db8::1', 'https://[2001:db8::1]/v4'],
    ['a.example,dns.example.net', 'https://dns.example.net/v4'],
    [' a.example\n dns.example.net ', 'https://dns.example.net/v4'],
  ])('%s allows %s', (list, address) => expect(verdict(list, url(address))).toBe('allowed'))

  test.each([
    ['dns.example.net', 'https://evil.example/v4'],
    ['dns.example.net', 'https://dns.example.net@evil.example/v4'],
    ['dns.example.net', 'https://dns.example.net:443@evil.example/v4'],
    ['dns.example.net', 'https://evil.example/dns.example.net'],
    ['dns.example.net', 'https://evil.example?dns.example.net'],
    ['dns.example.net', 'https://evil.example#@dns.example.net'],
    ['dns.example.net', 'https://evil.example\\@dns.example.net/v4'],
    ['dns.example.net', 'https://dns.example.net.evil.example/v4'],
    ['dns.example.net', 'https://evildns.example.net/v4'],
    ['dns.example.net', 'https://sub.dns.example.net/v4'],
    ['dns.example.net', 'https://dns%2eexample.net.evil.example/v4'],
    ['dns.example.net', 'https://dns。example.net.evil.example/v4'],
    ['dns.example.net:443', 'https://dns.example.net:8443/v4'],
    ['dns.example.net:443', 'http://dns.example.net/v4'],
    ['*.example.net', 'https://example.net/v4'],
    ['*.example.net', 'https://evilexample.net/v4'],
    ['*.example.net', 'https://example.net.evil.example/v4'],
    ['*.example.net:8443', 'https://dns.example.net/v4'],
    ['192.0.2.1', 'http://0x7f.1/v4'],
    ['192.0.2.1', 'http://2130706433/v4'],
    ['192.0.2.1', 'http://127.1/v4'],
    ['127.0.0.1', 'http://0300.0250.1.1/v4'],
    ['127.0.0.1', 'http://[::ffff:192.0.2.1]/v4'],
    ['localhost', 'http://127.0.0.1/v4'],
    ['[2001:db8::1]', 'https://[2001:db8::2]/v4'],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]:8443/v4'],
    // Cyrillic letters that look like Latin ones.
    ['dns.example.net', 'https://dns.ехаmple.net/v4'],
  ])('%s does not allow %s', (list, address) => expect(verdict(list, url(address))).toBe('host-not-allowed'))
})

test.each([
  ['ns1.example.net', 'ns1.example.net', 'allowed'],
  ['ns1.example.net', 'NS1.example.net.', 'allowed'],
  ['ns1.example.net', 'ns1.example.net:5353', 'allowed'],
  ['ns1.example.net:53', 'ns1.example.net', 'allowed'],
  ['ns1.example.net:53', 'ns1.example.net:5353', 'host-not-allowed'],
  ['*.example.net', 'ns1.example.net', 'allowed'],
  ['192.0.2.53', '192.0.2.53', 'allowed'],
  ['[2001:db8::53]:53', '2001:db8::53', 'allowed'],
  ['[2001:db8::53]', '[2001:db8::53]:5353', 'allowed'],
  ['ns1.example.net', '192.0.2.53', 'host-not-allowed'],
  ['ns1.example.net', 'ns1.evil.example', 'host-not-allowed'],
  ['127.0.0.1', '0x7f.2', 'host-not-allowed'],
  // The system resolver does not decode percent signs.
  ['ns1.example.net', '%6es1.example.net', 'host-not-allowed'],
  ['ns1.example.net', '', 'host-not-allowed'],
])('a name server: %s and %s: %s', (list, address, expected) => expect(verdict(list, server(address))).toBe(expected))

describe('the list', () => {
  test.each([
    [''],
    [' , '],
    ['https://dns.example.net'],
    ['dns.example.net/v4'],
    ['user@dns.example.net'],
    ['*'],
    ['*.'],
    ['*.*.example.net'],
    ['dns.*.example.net'],
    ['d*s.example.net'],
    ['.example.net'],
    ['dns..example.net'],
    ['-dns.example.net'],
    ['dns.example.net:'],
    ['dns.example.net:0'],
    ['dns.example.net:65536'],
    ['dns.example.net:https'],
    ['dns.example.net:443:443'],
    ['0x7f.1'],
    ['2130706433'],
    ['192.0.2.0/24'],
    ['*.192.0.2.1'],
    ['[192.0.2.1]:80:1'],
    ['[2001:db8::1'],
    ['*.[2001:db8::1]'],
    ['dns%2eexample.net'],
    ['dns.example.net, https://dns.example.net'],
  ])('%j is an error, and no host is allowed', (list) => {
    expect(readHostPolicy({ [ALLOWED_HOSTS]: list }).diagnostics.map(({ code }) => code)).toEqual(['allowed-hosts-invalid'])
    expect(verdict(list, url('https://dns.example.net/v4'))).toBe('allowed-hosts-invalid')
  })

  test('reports each malformed entry, without a password', () => {
    const { diagnostics } = readHostPolicy({ [ALLOWED_HOSTS]: 'a.example,b/c,d e:0,https://me:hunter2@f.example' })
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'ZONEWRIGHT_ALLOWED_HOSTS: "b/c" is not a host',
      'ZONEWRIGHT_ALLOWED_HOSTS: "e:0" is not a host',
      'ZONEWRIGHT_ALLOWED_HOSTS: "***@f.example" is not a host',
    ])
  })
})

describe('without a list', () => {
  test.each([
    ['true', 'http://192.0.2.1/v4', 'insecure-url'],
    ['1', 'http://dns.example.net/v4', 'insecure-url'],
    ['woodpecker', 'http://localhost.evil.example/v4', 'insecure-url'],
    ['true', 'http://[2001:db8::1]/v4', 'insecure-url'],
    ['true', 'https://dns.example.net/v4', 'allowed'],
    ['true', 'http://127.0.0.1:8080/v4', 'allowed'],
    ['true', 'http://localhost:8080/v4', 'allowed'],
    ['true', 'http://[::1]:8080/v4', 'allowed'],
    ['', 'http://192.0.2.1/v4', 'allowed'],
    ['false', 'http://192.0.2.1/v4', 'allowed'],
    ['0', 'http://192.0.2.1/v4', 'allowed'],
  ])('and with CI=%s, %s is %s', (ci, address, expected) => expect(verdict(undefined, url(address), { CI: ci })).toBe(expected))

  test('every name server is allowed, also in CI', () => expect(verdict(undefined, server('192.0.2.53'), { CI: 'true' })).toBe('allowed'))
})

test.each([
  ['localhost', true],
  ['LOCALHOST.', true],
  ['127.0.0.1', true],
  ['127.1', true],
  ['[::1]', true],
  ['::1', true],
  ['127.0.0.1.example.net', false],
  ['localhost.example.net', false],
  ['128.0.0.1', false],
  ['[::ffff:127.0.0.1]', false],
])('%s is this machine: %s', (host, expected) => expect(isLoopback(host)).toBe(expected))

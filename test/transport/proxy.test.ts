import { expect, test } from 'vitest'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import { proxyFor } from '../../src/transport/proxy.ts'

const PROXY = 'http://proxy.example:3128/'

const cases: readonly (readonly [name: string, url: string, env: Readonly<Record<string, string>>, expected: string | null])[] = [
  ['no variable', 'https://api.example.com', {}, null],
  ['HTTPS_PROXY', 'https://api.example.com', { HTTPS_PROXY: PROXY }, PROXY],
  ['lower case takes precedence', 'https://api.example.com', { HTTPS_PROXY: 'http://other.example', https_proxy: PROXY }, PROXY],
  ['an empty variable', 'https://api.example.com', { https_proxy: '', HTTPS_PROXY: PROXY }, null],
  ['ALL_PROXY', 'https://api.example.com', { all_proxy: PROXY }, PROXY],
  ['without a scheme', 'https://api.example.com', { HTTPS_PROXY: 'proxy.example:3128' }, PROXY],
  ['plain HTTP', 'http://127.0.0.1:8080', { HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY, ALL_PROXY: PROXY }, null],
  ...(
    [
      ['https://api.example.com', '*', null],
      ['https://api.example.com', 'localhost, api.example.com', null],
      ['https://api.example.com', 'API.Example.COM.', null],
      ['https://api.example.com', 'example.com', null],
      ['https://api.example.com', '.example.com', null],
      ['https://api.example.com', '*.example.com', null],
      ['https://api.example.com', 'pi.example.com', PROXY],
      ['https://api.example.com', 'example.com.evil', PROXY],
      ['https://api.example.com', 'api.example.com:443', null],
      ['https://api.example.com', 'api.example.com:8443', PROXY],
      ['https://api.example.com:8443', 'api.example.com:8443', null],
      ['https://192.0.2.7', '192.0.2.7', null],
      ['https://192.0.2.7', '192.0.2.0/24', null],
      ['https://192.0.2.7', '192.0.3.0/24', PROXY],
      ['https://192.0.2.7', '2', PROXY],
      ['https://192.0.2.7', '192.0.2.0/33', PROXY],
      ['https://[2001:db8::7]', '2001:db8::/32', null],
      ['https://[2001:db8::7]', '[2001:db8:0::7]:443', null],
      ['https://[2001:db8::7]', '2001:db9::/32', PROXY],
    ] as const
  ).map(([url, list, expected]) => [`${url} and NO_PROXY ${list}`, url, { HTTPS_PROXY: PROXY, NO_PROXY: list }, expected] as const),
]

test.each(cases)('%s', (_, url, env, expected) => {
  const diagnostics: Diagnostic[] = []
  expect(proxyFor(new URL(url), env, diagnostics)?.href ?? null).toBe(expected)
  expect(diagnostics).toEqual([])
})

test.each(['socks5://proxy.example:1080', 'http:///', 'http://user:100%@proxy.example', 'http://pass word@x y'])(
  '%s is no address of a proxy',
  (text) => {
    const diagnostics: Diagnostic[] = []
    expect(proxyFor(new URL('https://api.example.com'), { HTTPS_PROXY: text }, diagnostics)).toBeNull()
    expect(diagnostics).toMatchObject([{ severity: 'error', code: 'proxy-invalid' }])
    expect(JSON.stringify(diagnostics)).not.toContain(text)
  },
)

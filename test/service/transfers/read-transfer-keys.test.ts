import { expect, test } from 'vitest'
import { type Diagnostic, formatDiagnostic } from '../../../src/base/diagnostic.ts'
import { readTransferKeys } from '../../../src/service/index.ts'

const SECRET = Buffer.alloc(32, 3).toString('base64')

const read = async (text: string) => {
  const resolve = async (value: string) => ({ value: value.startsWith('env:') ? SECRET : value, diagnostic: null as Diagnostic | null })
  const { keys, diagnostics } = await readTransferKeys(text, 'keys.yaml', resolve)
  expect(diagnostics.map(formatDiagnostic).join('\n')).not.toContain(SECRET)
  return { keys, errors: diagnostics.map(formatDiagnostic) }
}

test('a key file', async () => {
  const { keys, errors } = await read(`
keys:
  - name: Transfer.Example.net
    account: alice
    secret: env:ALICE
  - name: second.example.net.
    algorithm: hmac-sha512
    account: bob
    secret: ${SECRET}
    zones: [Example.COM, example.org.]
    peers: [192.0.2.1, '2001:DB8:0::1', '::ffff:198.51.100.1']
    transfers: incoming
`)
  expect(errors).toEqual([])
  expect(keys).toEqual([
    {
      name: 'transfer.example.net.',
      algorithm: 'hmac-sha256',
      secret: Buffer.alloc(32, 3),
      account: 'alice',
      zones: null,
      peers: null,
      directions: new Set(['outgoing', 'incoming']),
    },
    {
      name: 'second.example.net.',
      algorithm: 'hmac-sha512',
      secret: Buffer.alloc(32, 3),
      account: 'bob',
      zones: new Set(['example.com.', 'example.org.']),
      peers: new Set(['192.0.2.1', '2001:db8::1', '198.51.100.1']),
      directions: new Set(['incoming']),
    },
  ])
})

const keyOf = (more: string): string => `{name: a.example, account: a, secret: ${SECRET}${more === '' ? '' : `, ${more}`}}`
const fileOf = (more: string): string => `keys: [${keyOf(more)}]`

test.each<[string, string, RegExp]>([
  ['a list', '- a', /^keys\.yaml:1:1: error\[tsig-keys-invalid\] a transfer key file must be a mapping with the key "keys"$/],
  ['without keys', '{}', /keys is required$/],
  ['with another key', 'keys: []\nmore: 1', /:2:\d+: error\[tsig-keys-invalid\] Unknown field$/],
  ['without an account', `keys: [{name: a.example, secret: ${SECRET}}]`, /account is required$/],
  ['with MD5', fileOf('algorithm: hmac-md5'), /algorithm must be hmac-sha256, hmac-sha384 or hmac-sha512$/],
  ['with an invalid name', `keys: [{name: 'a..b', account: a, secret: ${SECRET}}]`, /the name of a key must be a domain name$/],
  ['with the root as a name', `keys: [{name: '.', account: a, secret: ${SECRET}}]`, /the name of a key must be a domain name$/],
  ['a name twice', `keys: [${keyOf('')}, {name: A.example., account: b, secret: ${SECRET}}]`, /two keys with the name a\.example\.$/],
  [
    'with a secret that is not base64',
    `keys: [{name: a.example, account: a, secret: 'not base64'}]`,
    /^keys\.yaml:1:\d+: .*the secret of the key a\.example is not base64$/,
  ],
  ['with a short secret', `keys: [{name: a.example, account: a, secret: AAAA}]`, /has 3 octets; the minimum is 16$/],
  ['without zones', fileOf('zones: []'), /zones must name at least one zone/],
  ['with an invalid zone', fileOf("zones: ['a..b']"), /the name of a zone must be a domain name$/],
  ['with a host name as a peer', fileOf('peers: [ns1.example.net]'), /a peer must be an IPv4 or IPv6 address$/],
  ['with an unknown direction', fileOf('transfers: none'), /transfers must be outgoing, incoming or both$/],
  ['that is not YAML', 'keys: [', /error\[yaml-syntax\]/],
])('a key file %s is refused', async (_, text, message) => {
  const { keys, errors } = await read(text)
  expect(keys).toBeNull()
  expect(errors[0]).toMatch(message)
})

import { expect, test } from 'vitest'
import { parseKeyFile } from '../../../src/providers/name-server-settings.ts'

const SECRET = Buffer.alloc(32).toString('base64')

test.each([
  ['as tsig-keygen writes', `key "upd.example." {\n\talgorithm hmac-sha256;\n\tsecret "${SECRET}";\n};\n`, 'upd.example.', 'hmac-sha256'],
  ['on one line, without quotes', `key upd { secret ${SECRET}; algorithm HMAC-SHA512; }`, 'upd.', 'hmac-sha512'],
  ['comments', `// one\n# two\n/* three\n{ */ key "upd" { algorithm hmac-sha384; /* x */ secret "${SECRET}"; };`, 'upd.', 'hmac-sha384'],
])('is read %s', (_, text, name, algorithm) => {
  expect(parseKeyFile(text)).toMatchObject({ ok: true, value: { name, algorithm, secret: Buffer.alloc(32) } })
})

test.each([
  ['nothing', '', /does not hold one key statement/],
  ['two', `key a { algorithm hmac-sha256; secret ${SECRET}; }; key b { algorithm hmac-sha256; secret ${SECRET}; };`, /one key statement/],
  ['no secret', 'key a { algorithm hmac-sha256; };', /lacks an algorithm or a secret/],
  ['MD5', `key a { algorithm hmac-md5; secret ${SECRET}; };`, /none of hmac-sha1/],
  ['a secret that is not Base64', 'key a { algorithm hmac-sha256; secret "no!"; };', /not Base64/],
  ['a bad name', `key "a..b" { algorithm hmac-sha256; secret ${SECRET}; };`, /not a domain name/],
  ['a text of a megabyte', `key a {${' '.repeat(1_000_000)}`, /does not hold one key statement/],
])('is refused with %s, and the message has no secret', (_, text, expected) => {
  const parsed = parseKeyFile(text)
  expect(parsed.ok ? '' : parsed.message).toMatch(expected)
  expect(JSON.stringify(parsed)).not.toContain(SECRET)
})

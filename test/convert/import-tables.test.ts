/** `import csv` and `import json`: the inverse of `export`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openScene } from '../cli/scene.ts'
import { expectEnd } from '../support/cli.ts'

const ZONE = `domain: example.com
soa_email: hostmaster@example.com
owner: web
expires: 2031-01-01
auto_ptr: false
apex_ns: all-targets
allow: [deletes]
unmanaged: [{name: _acme-challenge*}]
ignore: [{code: spf-target-missing, reason: no mail}]
records:
  '': [{type: MX, ttl: 1h, value: {preference: 10, exchange: mail}}, {type: TXT, value: 'a "b", c; d'}]
  mail: {type: A, value: [192.0.2.1, 192.0.2.2], ttl: 300, auto_ptr: true, owner: mail, expires: 2030-01-01, cloudflare: {proxied: false}}
  '-x': {type: CNAME, value: '@'}
`
const SECOND = 'domain: example.net\nrecords: {www: {type: AAAA, value: "2001:db8::1"}}\n'

test.each(['json', 'csv'])('%s that was exported is imported as the same zones', async (format) => {
  const files = { 'zones/example.com.yaml': ZONE, 'zones/example.net.yaml': SECOND }
  const scene = openScene({ files })
  const { stdout } = expectEnd(await scene.run('export', format, '--lossy'), 0)
  writeFileSync(join(scene.folder, `all.${format}`), stdout)
  expectEnd(await scene.run('import', format, `all.${format}`, '-o', 'again'), 0)
  const read = scene.files()
  const other = openScene({
    files: { 'zones/a.yaml': read['again/example.com.yaml'] ?? '', 'zones/b.yaml': read['again/example.net.yaml'] ?? '' },
  })
  expect(expectEnd(await other.run('export', format, '--lossy'), 0).stdout).toBe(stdout)
  const text = (read['again/example.com.yaml'] ?? '').replaceAll("'", '')
  const parts = 'owner: web|expires: 2031-01-01|auto_ptr: false|apex_ns: all-targets|auto_ptr: true|owner: mail|expires: 2030-01-01'
  for (const part of parts.split('|')) if (format === 'json') expect(text).toContain(part)
})

test.each([
  ['csv', 'zone,name,type,ttl,data\nexample.com.,www.example.com.,A,60,192.0.2.256\n', 'a.csv:2:1: error[value-invalid]'],
  ['csv', 'zone,name,type,ttl,data\nexample.com.,www.example.com.,A,soon,192.0.2.1\n', 'a.csv:2:1: error[value-invalid]'],
  [
    'csv',
    'zone,name,type,ttl,data\nexample.com.,www.example.com.,HTTPS,,1 . alpn=h2,h3\n',
    'a.csv:2:1: error[value-invalid] the row has 6',
  ],
  [
    'csv',
    'zone,name,type,ttl,data\nexample.com.,www,A,,192.0.2.1\n',
    'a.csv:2:1: error[value-invalid] "www" "A": the name is not in example.com.',
  ],
  ['csv', 'zone,name,type,ttl,data\nexample.com.,www.example.com.,MX,,10 mail\n', '"mail" must be an absolute name'],
  [
    'json',
    '{"format": "zonewright-zones", "version": 1, "zones": [{"zone": "example.com.", "settings": {}, "records": [{"name": "x.", "type": "A", "ttl": null, "data": "192.0.2.1"}]}]}',
    'a.json:1:1: error[value-invalid] "x." "A": the name is not in',
  ],
  ['csv', 'zone,name,type,data\n', 'a.csv:1:1: error[value-invalid] the first line must name the columns'],
  ['csv', 'zone,name,type,ttl,data\n"a', 'a.csv:1:1: error[value-invalid] line 2: a quotation mark'],
  ['json', '{"zones": []}', 'a.json:1:1: error[value-invalid] this is no document of "export json"'],
  ['json', 'hunter2', 'this is no document of "export json": Unexpected token \'h\'\n'],
  ['json', '{', 'a.json:1:1: error[value-invalid] this is no document of "export json"'],
])('%s: %j is refused', async (format, text, err) => {
  const scene = openScene({ files: { [`a.${format}`]: text } })
  expectEnd(await scene.run('import', format, `a.${format}`, '-o', 'zones'), 1, { err })
})

test('a table whose last line ends with an empty TTL is imported with that line', async () => {
  const scene = openScene({ files: { 'a.csv': 'zone,name,type,data,ttl\nexample.com.,www.example.com.,A,192.0.2.1,' } })
  expectEnd(await scene.run('import', 'csv', 'a.csv', '-o', 'zones'), 0)
  expect(scene.files()['zones/example.com.yaml']).toContain('192.0.2.1')
})

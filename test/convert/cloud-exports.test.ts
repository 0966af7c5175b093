/** `import route53` and `import cloudflare`: files that these services export. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, expectEnd } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

async function importFile(format: string, text: string, ...zones: string[]) {
  const folder = temporaryDirectory()
  writeFileSync(join(folder, 'export'), text)
  return cli(['import', format, 'export', '--no-color', ...zones], { cwd: folder })
}

const set = (Name: string, Type: string, Value: string, more = {}) => ({ Name, Type, TTL: 300, ResourceRecords: [{ Value }], ...more })
const alias = (Name: string, DNSName: string) => ({
  Name,
  Type: 'A',
  AliasTarget: { HostedZoneId: 'Z1', DNSName, EvaluateTargetHealth: false },
})
const SOA = set('example.com.', 'SOA', 'ns.example.net. h.example.net. 1 2 3 4 5')

test('the record sets of Route 53', async () => {
  const sets = [SOA, alias('\\052.example.com.', 'www.example.com.'), set('www.example.com.', 'A', '192.0.2.1')]
  const weighted = set('w.example.com.', 'A', '192.0.2.2', { SetIdentifier: 'a', Weight: 1 })
  const result = await importFile('route53', JSON.stringify({ ResourceRecordSets: [...sets, weighted] }))
  expectEnd(result, 0, { err: 'w.example.com. A: a definition cannot express 192.0.2.2: the record has the weighted routing policy' })
  expect(result.stdout).toBe(`domain: example.com
records:
  '*': {type: ALIAS, ttl: 60, value: www}
  www: {type: A, ttl: 300, value: 192.0.2.1}
`)
})

test.each([
  [{ ResourceRecordSets: [SOA], NextToken: 'x' }, 'has one page of the zone'],
  [{ ResourceRecordSets: [] }, 'has no SOA record'],
  [{ ResourceRecordSets: [SOA, { Name: 'x.' }] }, 'is malformed'],
  [{ HostedZones: [] }, 'has no list "ResourceRecordSets"'],
  [{ ResourceRecordSets: [SOA, set('www.example.net.', 'A', '192.0.2.1')] }, 'has www.example.net., which is not in example.com.'],
])('other JSON is refused: %j', async (document, message) => {
  expectEnd(await importFile('route53', JSON.stringify(document)), 1, { err: message })
})

test("Cloudflare's zone file: its comments are settings, and a TTL of 1 is automatic", async () => {
  const result = await importFile(
    'cloudflare',
    `;;
;; Domain:     example.com.
;; Exported:   2026-01-01 00:00:00

;; SOA Record
example.com\t3600\tIN\tSOA\tada.ns.cloudflare.com. dns.cloudflare.com. 2051647283 10000 2400 604800 3600

;; NS Records
example.com.\t86400\tIN\tNS\tada.ns.cloudflare.com.

;; A Records
api.example.com.\t300\tIN\tA\t192.0.2.2 ; cf_tags=cf-proxied:false
note.example.com.\t1\tIN\tA\t192.0.2.3 ; see cf_tags= there cf_tags=
www.example.com.\t1\tIN\tA\t192.0.2.1 ; our site; cf_tags=team:web,note:"a \\"b\\", c",new,cf-proxied:true

;; CNAME Records
example.com.\t1\tIN\tCNAME\twww.example.net. ; cf_tags=cf-flatten-cname:true
`,
  )
  expectEnd(result, 0, { err: 'cannot express cf-flatten-cname:true, a setting of Cloudflare' })
  expect(result.stdout).toBe(`domain: example.com
records:
  '': {type: ALIAS, value: www.example.net.}
  api: {type: A, ttl: 300, value: 192.0.2.2}
  note: {type: A, value: 192.0.2.3, cloudflare: {comment: see cf_tags= there}}
  www:
    type: A
    value: 192.0.2.1
    cloudflare: {proxied: true, comment: our site;, tags: [team:web, 'note:a "b", c', 'new:']}
`)
})

test.each(['', 'www.example.com.\t1\tIN\tA\t192.0.2.1\n'])('a file that names no zone is refused: %j', async (text) => {
  expectEnd(await importFile('cloudflare', text), 1, { err: 'the file does not say which zone it defines' })
})

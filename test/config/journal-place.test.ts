import { expect, it } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'

const read = (journal: string) => readConfig(`journal: ${journal}\n`, { file: 'zonewright.yaml', folder: '/srv/dns', cwd: '/srv/dns' })

it.each([
  ['state', { journal: '/srv/dns/state', journalStore: { isShared: false, bucket: null, leaseSeconds: 60 } }],
  ['{dir: ../state, lease: 90s}', { journal: '/srv/state', journalStore: { isShared: false, bucket: null, leaseSeconds: 90 } }],
  ['{lease: 1h}', { journal: '/srv/dns/.zonewright', journalStore: { leaseSeconds: 3600 } }],
  ['{url: "file:///mnt/shared/dns%20journal"}', { journal: '/mnt/shared/dns journal', journalStore: { isShared: true, bucket: null } }],
  [
    '{url: "s3://dns-journal/prod/zones/", region: eu-central-1, profile: dns}',
    {
      journal: '/srv/dns/.zonewright',
      journalStore: {
        isShared: true,
        bucket: { name: 'dns-journal', prefix: 'prod/zones', region: 'eu-central-1', endpoint: null, profile: 'dns', at: { line: 1 } },
      },
    },
  ],
  [
    '{url: "s3://dns-journal", endpoint: "https://minio.example.com:9000", dir: cache}',
    {
      journal: '/srv/dns/cache',
      journalStore: { bucket: { name: 'dns-journal', prefix: '', region: null, endpoint: new URL('https://minio.example.com:9000') } },
    },
  ],
])('%s', (text, expected) => {
  const { config, diagnostics } = read(text)
  expect(diagnostics).toEqual([])
  expect(config).toMatchObject(expected)
})

it.each([
  ['{url: "https://example.com/"}', 'journal.url: "https://example.com/" is not the URL of a store'],
  ['{url: "file://host/path"}', 'journal.url: "file://host/path" is not the URL of a store'],
  ['{url: "s3://A_B/x"}', 'journal.url: "s3://A_B/x" is not the URL of a store'],
  ['{url: "s3://bucket/../x"}', 'journal.url: "s3://bucket/../x" is not the URL of a store'],
  ['{url: "s3://key:hunter2secret@bucket/x"}', 'journal.url: "s3://***@bucket/x" is not the URL of a store'],
  ['{url: "file:///a", dir: b}', 'journal.dir: cannot be used with a file: url, which names the folder'],
  ['{dir: b, region: eu-west-1}', 'journal.region: needs a url that begins with s3://'],
  ['{url: "s3://bucket", endpoint: "ftp://x"}', 'journal.endpoint: is not an https: or http: URL of a host, without a path'],
  ['{url: "s3://bucket", endpoint: "https://u:p@x"}', 'journal.endpoint: is not an https: or http: URL of a host, without a path'],
  ['{lease: 2s}', 'journal.lease: "2" is not a time from 3s to 1h'],
  ['{lease: 2h}', 'journal.lease: "2h" is not a time from 3s to 1h'],
])('refuses %s', (text, message) => {
  const { config, diagnostics } = read(text.replace('2s', '2'))
  expect(config).toBeNull()
  expect(diagnostics.map((one) => one.message)).toEqual([message])
  expect(diagnostics[0]?.at).toMatchObject({ line: 1 })
})

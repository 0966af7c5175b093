import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliResult, cli } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temp-directory.ts'

type Files = Readonly<Record<string, string>>

async function rename(files: Files, ...words: string[]): Promise<CliResult & { files: Files }> {
  const cwd = temporaryDirectory()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  const result = await cli(['record', 'rename', ...words], { cwd })
  return { ...result, files: Object.fromEntries(Object.keys(files).map((path) => [path, readFileSync(join(cwd, path), 'utf8')])) }
}

const ZONE = `# Head.
domain:   example.com   # odd layout, kept
soa_email: hostmaster@example.com
records:
    '': {type: A, value: 192.0.2.1}
    # Web servers.
    www:   # two kinds
        - {type: A, ttl: 300, values: [192.0.2.3, 192.0.2.4]}  # two
        # the text
        - {type: TXT, value: www}
    'a.www': {type: A, value: 192.0.2.5}
    blog: {type: CNAME, value: www}
`

describe('record rename', () => {
  it('changes only the name of the entry, and warns of records that still point at it', async () => {
    const { status, stdout, stderr, files } = await rename({ 'zones/example.com.yaml': ZONE }, 'example.com', 'www', 'web')
    expect(status).toBe(0)
    expect(files['zones/example.com.yaml']).toBe(ZONE.replace('    www:   #', '    web:   #'))
    expect(stdout).toContain('-    www:   # two kinds\n+    web:   # two kinds\n')
    expect(stderr.match(/^.*\[.*$/gm)).toEqual([
      expect.stringMatching(/^zones\/example\.com\.yaml:12:.*warning\[target-nonexistent\] blog\.example\.com\. CNAME points to www/),
    ])
  })

  it.each<readonly [string, string, readonly [string, string], string]>([
    ['keeps quotes', "'a.www'", ['a.www', 'b'], "'b'"],
    ['quotes a name that YAML could read as another', 'blog', ['blog', '010'], "'010'"],
    ['quotes a wildcard', 'blog', ['blog', '*.blog'], "'*.blog'"],
    ['takes absolute names', 'blog', ['blog.example.com.', 'news.example.com.'], 'news'],
    ['moves the apex to a name', "''", ['@', 'old'], "'old'"],
  ])('%s', async (_, key, names, renamed) => {
    const { status, files } = await rename({ 'zones/example.com.yaml': ZONE }, 'example.com', ...names)
    expect([status, files['zones/example.com.yaml']]).toEqual([0, ZONE.replace(`    ${key}:`, `    ${renamed}:`)])
  })

  it.each<readonly [string, Files, Files]>([
    [
      "octoDNS's layout",
      { 'zones/example.com.yaml': '---\n# www\nwww: # at www\n  octodns: {excluded: [a]}\n  type: A\n  value: 192.0.2.1\n' },
      { 'zones/example.com.yaml': '---\n# www\nweb: # at www\n  octodns: {excluded: [a]}\n  type: A\n  value: 192.0.2.1\n' },
    ],
    [
      'a folder of split files',
      { 'zones/example.com./www.yaml': 'www: {type: A, value: 192.0.2.1}\n' },
      { 'zones/example.com./www.yaml': 'web: {type: A, value: 192.0.2.1}\n' },
    ],
    [
      'a zone file',
      {
        'zones/example.com.zone':
          '$TTL 300\n$ORIGIN example.com.\n@ SOA ns h 1 2 3 4 5\n@ NS ns.example.net.\nwww\tA 192.0.2.1 ; one\n\tTXT "www" ; two\nx A 192.0.2.2\nwww.example.com. MX 1 x\n$ORIGIN www.example.com.\n@ CAA 0 issue ";"\n',
      },
      {
        'zones/example.com.zone':
          '$TTL 300\n$ORIGIN example.com.\n@ SOA ns h 1 2 3 4 5\n@ NS ns.example.net.\nweb\tA 192.0.2.1 ; one\n\tTXT "www" ; two\nx A 192.0.2.2\nweb.example.com. MX 1 x\n$ORIGIN www.example.com.\nweb.example.com. CAA 0 issue ";"\n',
      },
    ],
    [
      'a definition and its own included file',
      {
        'zones/example.com.yaml': 'domain: example.com\ninclude: [../shared/a.yaml]\nrecords:\n  www: {type: TXT, value: x}\n',
        'shared/a.yaml': 'www: {type: A, value: 192.0.2.1}\n',
      },
      {
        'zones/example.com.yaml': 'domain: example.com\ninclude: [../shared/a.yaml]\nrecords:\n  web: {type: TXT, value: x}\n',
        'shared/a.yaml': 'web: {type: A, value: 192.0.2.1}\n',
      },
    ],
  ])('works in %s', async (_, before, after) => {
    const { status, stderr, files } = await rename(before, 'example.com', 'www', 'web')
    expect([status, stderr, files]).toEqual([0, '', after])
  })

  it('works in a file with another origin that a zone file includes', async () => {
    const files = {
      'zones/example.com.zone':
        '$TTL 300\n@ SOA ns.example.net. h 1 2 3 4 5\n@ NS ns.example.net.\n$INCLUDE ../shared/a.inc sub.example.com.\n',
      'shared/a.inc': 'www A 192.0.2.1\nx A 192.0.2.2\n',
    }
    const result = await rename(files, 'example.com', 'www.sub', 'web.sub')
    expect([result.status, result.files]).toEqual([0, { ...files, 'shared/a.inc': 'web A 192.0.2.1\nx A 192.0.2.2\n' }])
  })

  const SHARED: Files = {
    'zones/example.com.yaml': 'domain: example.com\ninclude: [../shared/a.yaml]\nrecords: {}\n',
    'zones/example.net.yaml': 'domain: example.net\ninclude: [../shared/a.yaml]\nrecords: {}\n',
    'shared/a.yaml': 'www: {type: A, value: 192.0.2.1}\n',
  }

  it('changes a file that other zones include only with --all-zones', async () => {
    const refused = await rename(SHARED, 'example.com', 'www', 'web')
    expect([refused.status, refused.files]).toEqual([1, SHARED])
    expect(refused.stderr).toContain(
      'error[record-elsewhere] www.example.com.: a change of shared/a.yaml would also change other zones: example.net.',
    )
    const done = await rename(SHARED, 'example.com', 'www', 'web', '--all-zones')
    expect(done.files).toEqual({ ...SHARED, 'shared/a.yaml': 'web: {type: A, value: 192.0.2.1}\n' })
    expect(done.stderr).toContain('Other zones change too: example.net.')
  })

  it.each<readonly [string, string, readonly string[], string]>([
    ['a name with records', ZONE, ['www', 'blog'], 'error[edit-refused] www.example.com.: blog.example.com. already has records (CNAME)'],
    ['an unknown name', ZONE, ['nothing', 'web'], 'error[record-unknown] nothing.example.com.: the definition has no such records'],
    ['a name outside the zone', ZONE, ['www', 'web.example.net.'], 'web.example.net. is not in the zone example.com.'],
    ['an ambiguous name', ZONE, ['www', 'web.example.com'], '"web.example.com" is ambiguous'],
    ['a CNAME that would be at the apex', ZONE.replace(/ {4}'': .*\n/, ''), ['blog', '@'], 'error[cname-at-apex]'],
  ])('refuses %s', async (_, text, names, message) => {
    const { status, stderr, files } = await rename({ 'zones/example.com.yaml': text }, 'example.com', ...names)
    expect([status, stderr, files['zones/example.com.yaml']]).toEqual([1, expect.stringContaining(message), text])
  })

  it('refuses the apex of a zone file, where the SOA record is', async () => {
    const files = { 'zones/example.com.zone': '$TTL 300\n@ SOA ns.example.net. h 1 2 3 4 5\n@ NS ns.example.net.\n@ A 192.0.2.1\n' }
    const result = await rename(files, 'example.com', '@', 'old')
    expect([result.status, result.stderr, result.files]).toEqual([
      1,
      expect.stringContaining('error[edit-refused] example.com.: a zone file has its SOA record at this name; edit it by hand'),
      files,
    ])
  })

  it('takes names of the root zone', async () => {
    const zone = 'domain: .\nsoa_email: nstld@example.com\nrecords:\n  com: {type: NS, value: ns.example.net.}\n'
    const { status, files } = await rename({ 'zones/root.yaml': zone }, '.', 'com', 'org')
    expect([status, files['zones/root.yaml']]).toEqual([0, zone.replace('com: {', 'org: {')])
  })

  it('refuses a name that a variable makes', async () => {
    const files = {
      'zones/example.com.yaml': 'domain: example.com\ninclude: [{file: ../shared/a.yaml, with: {host: www}}]\nrecords: {}\n',
      'shared/a.yaml': '$'.concat('{host}: {type: A, value: 192.0.2.1}\n'),
    }
    const result = await rename(files, 'example.com', 'www', 'web')
    expect([result.status, result.stderr, result.files]).toEqual([
      1,
      expect.stringContaining('www.example.com. is not written there by its own name but by a variable or an included file'),
      files,
    ])
  })

  it('has nothing to do if both names are the same, and writes nothing with --dry-run', async () => {
    const same = await rename({ 'zones/example.com.yaml': ZONE }, 'example.com', 'www', 'www.example.com.')
    expect(same).toMatchObject({ status: 0, stderr: 'There is nothing to change.\n', files: { 'zones/example.com.yaml': ZONE } })
    const shown = await rename({ 'zones/example.com.yaml': ZONE }, 'example.com', 'blog', 'news', '--dry-run')
    expect(shown).toMatchObject({ status: 0, stdout: expect.stringContaining('+    news:'), files: { 'zones/example.com.yaml': ZONE } })
  })
})

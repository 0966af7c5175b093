import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../definition/files.ts'
import { startProgram } from '../support/built-program.ts'
import { cli, expectEnd } from '../support/cli.ts'
import { edit, type Words } from './record-edits.ts'

const ZONE = `# yaml-language-server: $schema=../schemas/zone.schema.json
# Head.
domain:   example.com   # odd layout, kept
soa_email: hostmaster@example.com
records:
    # The apex.
    '':
        - {type: A, value: 192.0.2.1}
        - type: MX
          values:
              # first
              - {preference: 10, exchange: mail}   # behind
              - {preference: 20, exchange: mail2.example.net.}
    mail: {type: A, value: 192.0.2.2} # mail itself

    # Web servers.
    www:   {type: A, ttl: 300, values: [192.0.2.3, 192.0.2.4]}  # two
    zz:
        type: TXT
        value: "last"
`

const MAIL = '    mail: {type: A, value: 192.0.2.2} # mail itself\n'
const WWW = '    www:   {type: A, ttl: 300, values: [192.0.2.3, 192.0.2.4]}  # two\n'

/** Words, the removed lines and the added lines. */
const EDITS: readonly [string, Words, string, string][] = [
  ['add a value to a list in flow style', 'add example.com www A 192.0.2.5', WWW, WWW.replace('2.4]', '2.4, 192.0.2.5]')],
  ['add a second value', 'add example.com mail A 192.0.2.6', MAIL, MAIL.replace('value: 192.0.2.2', 'values: [192.0.2.2, 192.0.2.6]')],
  [
    'add another type',
    'add example.com mail AAAA 2001:db8::1',
    MAIL,
    '    mail:\n      - {type: A, value: 192.0.2.2} # mail itself\n      - {type: AAAA, value: 2001:db8::1}\n',
  ],
  ['add a name', 'add example.com. new CNAME www --ttl 1h', '', '    new: {type: CNAME, ttl: 3600, value: www}\n'],
  [
    'add a name at the end, in the style of the one before',
    ['add', 'example.com', 'zzz.example.com.', 'TXT', 'a; "b" c'],
    '',
    '    zzz:\n      type: TXT\n      value: a; "b" c\n',
  ],
  ['set a value', 'set example.com mail A 192.0.2.9', MAIL, MAIL.replace('2.2}', '2.9}')],
  ['set one of two values', 'set example.com www A 192.0.2.4 --ttl 5m', WWW, WWW.replace('192.0.2.3, ', '')],
  ['set a TTL', 'set example.com zz TXT last --ttl 60', '', '        ttl: 60\n'],
  ['remove a name', 'remove example.com mail A', MAIL, ''],
  ['remove a name with its comments', 'remove example.com www A', `    # Web servers.\n${WWW}`, ''],
  ['remove a value', 'remove example.com www A 192.0.2.3', WWW, WWW.replace('192.0.2.3, ', '')],
]

/** The removed and the added lines, without common lines. */
function changes(before: string, after: string): { gone: string; come: string } {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && old[start] === fresh[start]) start += 1
  let end = 0
  while (end < Math.min(old.length, fresh.length) - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1
  const lines = (all: string[]): string =>
    all
      .slice(start, all.length - end)
      .map((line) => `${line}\n`)
      .join('')
  return { gone: lines(old), come: lines(fresh) }
}

const FILE = 'zones/example.com.yaml'
const ZONE_FILE = 'zones/example.com.zone'

it.each(EDITS)('record, in a definition with settings: %s', async (_, words, gone, come) => {
  const { status, stdout, text } = await edit({ [FILE]: ZONE }, words)
  expect(status).toBe(0)
  expect(changes(ZONE, text(FILE))).toEqual({ gone, come })
  for (const line of come.split('\n').slice(0, -1)) expect(stdout).toContain(`+${line}\n`)
})

describe('record', () => {
  it('keeps comments between values', async () => {
    const { text, status } = await edit({ [FILE]: ZONE }, ['add', 'example.com', '@', 'MX', '30 @'])
    expect(status).toBe(0)
    expect(text(FILE)).toContain(`    # The apex.
    '':
        - {type: A, value: 192.0.2.1}
        - type: MX
          values:
              # first
              - {preference: 10, exchange: mail}   # behind
              - {preference: 20, exchange: mail2.example.net.}
              - {preference: 30, exchange: '@'}
    mail:`)
  })

  /** The definition without the new record, which goes to the mark `|`. */
  it.each<[string, string, head?: string, before?: (text: string) => string]>([
    ['no records', 'domain: example.com\nsoa_email: h@example.com\n|', 'records:\n'],
    ['an empty map', 'domain: example.com\nrecords:\n|', '', (text: string) => text.replace('records:', 'records: {}')],
    ['nothing below records', 'domain: example.com # c\nrecords:\n|'],
    ['no final line end', 'domain: example.com\nrecords:\n  a: {type: A, value: 192.0.2.1}|'],
    ['a byte order mark', '\ufeffdomain: example.com\nrecords:\n  a: {type: A, value: 192.0.2.1}\n|'],
    ['a comment in the last entry', 'domain: example.com\nrecords:\n  a:\n    - {type: A, value: 192.0.2.1}\n    # tail\n|'],
    ['settings in an unusual layout', 'domain:   example.com\ntags:\n- a   # first\n    # tail\n|# foot\n...\n', 'records:\n'],
    ['lines that end in CRLF', 'domain: example.com\r\nrecords:\r\n  a: {type: A, value: 192.0.2.1}\r\n|'],
    ['only a comment below records', 'domain:   example.com   # odd\r\nrecords: # none yet\r\n  # below\r\n|tags:   [a,   b]\r\n'],
    ['no line end at all', 'records:\r\n|domain: example.com'],
    ['no line end at the end, after CRLF', 'domain: example.com\r\nrecords:\r\n  a: {type: A, value: 192.0.2.1}|'],
  ])('adds to a definition with %s', async (_, marked, head = '', before = (text: string) => text) => {
    const end = marked.includes('\r\n') ? '\r\n' : '\n'
    const isLast = marked.endsWith('}|')
    const added = `${isLast ? end : ''}${head}  www: {type: A, value: 192.0.2.1}${isLast ? '' : end}`
    const { text, status } = await edit({ [FILE]: before(marked.replace('|', '')) }, 'add example.com www A 192.0.2.1')
    expect(status).toBe(0)
    expect(text(FILE)).toBe(marked.replace('|', () => added))
  })

  it('removes the last record and keeps everything else', async () => {
    const before = 'domain:   example.com\r\nrecords: # c\r\n  www: {type: A, value: 192.0.2.1}\r\n# foot\r\ntags:   [a]\r\n'
    const { text } = await edit({ [FILE]: before }, 'remove example.com www A')
    expect(text(FILE)).toBe('domain:   example.com\r\nrecords: # c\r\n# foot\r\ntags:   [a]\r\n')
  })

  it.each([
    ['comments', '---\n# head\n', 'www: {type: A, value: 192.0.2.1}\n# foot\n', '# foot\n'],
    ['CRLF and a line of dots', '# head\r\n---\r\n', 'www: {type: A, value: 192.0.2.1}\r\n...\r\n', '...\r\n'],
    ['no final line end', '# head\n', 'www: {type: A, value: 192.0.2.1}', ''],
  ])("leaves an empty mapping in octoDNS's layout, and replaces it later: %s", async (_, head, before, foot) => {
    const text = expectEnd(await edit({ [FILE]: head + before }, 'remove example.com www A'), 0).text(FILE)
    expect(text.split(/\r?\n/).filter((line) => line === '{}')).toHaveLength(1)
    expect(text.replace(/\{\}(?:\r?\n)?/, '')).toBe(`${head}${foot}`)
    const added = expectEnd(await edit({ [FILE]: text }, 'add example.com mail A 192.0.2.2'), 0)
    expect(added.text(FILE).replace(/mail:\r?\n {2}type: A\r?\n {2}value: 192\.0\.2\.2(?:\r?\n)?/, '')).toBe(`${head}${foot}`)
  })

  it('loses no concurrent edit: a late one fails with a message', async () => {
    const cwd = folderWith({ [FILE]: ZONE })
    const results = await Promise.all([1, 2, 3, 4].map((n) => cli(['record', 'add', 'example.com', `n${n}`, 'A', `192.0.2.${n}`], { cwd })))
    const text = readFileSync(join(cwd, FILE), 'utf8')
    for (const [index, { status, stderr }] of results.entries()) {
      expect(text.includes(`    n${index + 1}: `)).toBe(status === 0)
      if (status !== 0) expect(stderr).toContain('another process has changed it; run the command again')
    }
  })

  it("edits files in octoDNS's layout, also in a split folder", async () => {
    const files = {
      'zones/example.net.yaml': "---\n'':\n  - type: A\n    value: 192.0.2.1 # one\nwww:\n  ttl: 60\n  type: A\n  value: 192.0.2.2\n",
      'zones/example.org./$example.org.yaml': "---\n'':\n  type: A\n  value: 192.0.2.1\n",
      'zones/example.org./www.yaml': '---\nwww:\n  type: A\n  value: 192.0.2.2\n',
    }
    const { text, status } = await edit(
      files,
      'add example.net www A 192.0.2.3',
      ['add', 'example.net', 'mail', 'MX', '10 www'],
      'add example.org www AAAA 2001:db8::1 --ttl 60',
      ['add', 'example.org', '@', 'TXT', 'a; b'],
      'add example.org a.new A 192.0.2.9',
    )
    expect(status).toBe(0)
    expect(text('zones/example.net.yaml')).toBe(`---
'':
  - type: A
    value: 192.0.2.1 # one
mail:
  type: MX
  value: {exchange: www.example.net., preference: 10}
www:
  ttl: 60
  type: A
  values: [192.0.2.2, 192.0.2.3]
`)
    expect(text('zones/example.org./www.yaml')).toBe(`---
www:
  - type: A
    value: 192.0.2.2
  - ttl: 60
    type: AAAA
    value: 2001:db8::1
`)
    expect(text('zones/example.org./$example.org.yaml')).toContain('  - type: TXT\n    value: a\\; b\n')
    expect(text('zones/example.org./a.new.yaml')).toBe('---\na.new:\n  type: A\n  value: 192.0.2.9\n')
  })

  it.each([
    ['remove example.com www A 192.0.2.1', 'www A 192.0.2.2\n'],
    ['remove example.com www A', ''],
    ['add example.com www A 10.0.0.9', 'www A 192.0.2.1 ;1\nWWW 60 A 192.0.2.1\nwww A 192.0.2.2\nwww.example.com.\t300\tIN\tA\t10.0.0.9\n'],
  ])('treats a duplicate record in a zone file as one: %j', async (words, after) => {
    const head = '$TTL 300\n@ SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n@ NS ns1.example.net.\n'
    const { text } = await edit({ [ZONE_FILE]: `${head}www A 192.0.2.1 ;1\nWWW 60 A 192.0.2.1\nwww A 192.0.2.2\n` }, words)
    expect(text(ZONE_FILE)).toBe(head + after)
  })

  it('edits a zone file, line by line', async () => {
    const before = `$TTL 3600 ; an hour
@ SOA ns1.example.net. hostmaster 1 7200 3600 1209600 300
  NS ns1.example.net.
www   A 192.0.2.1 ; first
      A 192.0.2.2 ; second
      TXT ( "several"
            "lines" )
mail  300 A ( 192.0.2.3 ; rack 4
      ) ;; and more
`
    const { text, status, stdout } = await edit(
      { [ZONE_FILE]: before },
      'add example.com www A 192.0.2.4',
      'remove example.com www A 192.0.2.1',
      'remove example.com www TXT',
      'set example.com mail A 192.0.2.3 --ttl 60',
      'add example.com new CNAME www --ttl 60',
    )
    expect([status, stdout]).toEqual([0, expect.stringContaining('+new.example.com.\t60\tIN\tCNAME\twww.example.com.\n')])
    expect(text(ZONE_FILE)).toBe(`$TTL 3600 ; an hour
@ SOA ns1.example.net. hostmaster 1 7200 3600 1209600 300
  NS ns1.example.net.
www   A 192.0.2.2 ; second
www.example.com.\t3600\tIN\tA\t192.0.2.4
mail.example.com.\t60\tIN\tA\t192.0.2.3 ; rack 4 ;; and more
new.example.com.\t60\tIN\tCNAME\twww.example.com.
`)
  })

  it.each([
    ['blank lines at the end', 'a A 192.0.2.1\n\n  \n', 'a A 192.0.2.1\n\n  \nnew.example.com.\tIN\tA\t192.0.2.2\n', 'new'],
    ['no final line end', 'a A 192.0.2.1', 'a A 192.0.2.1\r\nnew.example.com.\tIN\tA\t192.0.2.2', 'new'],
    ['no line end after the name', 'a 60 A 192.0.2.1', 'a 60 A 192.0.2.1\r\na.example.com.\t60\tIN\tA\t192.0.2.2', 'a'],
  ])('keeps line ends of a zone file: %s', async (_, before, after, owner) => {
    const head = `$TTL 60\r\n@ SOA a. b. 1 2 3 4 5\r\n`
    const crlf = (text: string): string => head + text.replace(/\r?\n/g, '\r\n')
    expect((await edit({ [ZONE_FILE]: crlf(before) }, ['add', 'example.com', owner, 'A', '192.0.2.2'])).text(ZONE_FILE)).toBe(crlf(after))
  })

  it('shows the change and writes nothing with --dry-run', async () => {
    const { changed, status, stdout } = await edit({ [FILE]: ZONE }, 'set example.com mail A 192.0.2.9 --dry-run')
    expect({ status, changed }).toEqual({ status: 0, changed: {} })
    expect(stdout).toMatch(/^--- zones\/example\.com\.yaml\n\+\+\+ zones\/example\.com\.yaml\n@@ -11,7 \+11,7 @@\n/)
    expect(stdout).toContain(`-${MAIL}+${MAIL.replace('2.2}', '2.9}')}`)
  })

  it('reports that there is nothing to change', async () => {
    const { status, stderr, stdout } = await edit({ [FILE]: ZONE }, 'add example.com www A 192.0.2.3')
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: 'There is nothing to change.\n' })
  })

  const FRAGMENT = `mail: {type: A, value: "\${ip}"}\n`
  const INCLUDING =
    'domain: example.com\ninclude: [{file: ../shared/f.yaml, with: {ip: 192.0.2.7}}]\nrecords:\n  www: {type: A, value: 192.0.2.1}\n'
  const ANCHORS = 'domain: example.com\nrecords:\n  a: &a {type: A, value: 192.0.2.1}\n  b: *a\n'

  it.each<[string, string, Words, string | RegExp, path?: string]>([
    [
      'a record that breaks a rule',
      ZONE,
      'add example.com www CNAME mail',
      /^zones\/example\.com\.yaml:17:41: error\[cname-not-alone\] [^(]*\(to replace it, first run "zonewright record remove example\.com www A"\)/,
    ],
    [
      'a record beside a CNAME',
      "domain: example.com\nrecords: {'*': {type: CNAME, value: www}}\n",
      'set example.com * A 192.0.2.1',
      `(to replace it, first run "zonewright record remove example.com '*' CNAME")`,
    ],
    ['an invalid value', ZONE, 'add example.com www A 192.0.2', 'error[usage] www.example.com. A: '],
    ['a value in several arguments', ZONE, 'add example.com b MX 10 mail', "is a value; for one value write '10 mail'"],
    ['an unknown type', ZONE, 'add example.com www AA 192.0.2.1', 'error[usage] "AA" is not a record type'],
    ['a name outside the zone', ZONE, 'add example.com www.example.net. A 192.0.2.1', 'error[usage] www.example.net. is not in the zone'],
    ['an ambiguous target', ZONE, 'add example.com c CNAME a.b', 'Write "a.b." for the absolute name'],
    ['a missing record', ZONE, 'remove example.com nobody A', 'error[record-unknown] nobody.example.com. A: the definition has'],
    ['no type', ZONE, 'remove example.com www', 'error[usage] www.example.com.: name the type to remove; the name has A'],
    ['no type of a missing name', ZONE, 'remove example.com nobody', 'error[record-unknown] nobody.example.com.: the definition has'],
    ['a missing value', ZONE, 'remove example.com www A 192.0.2.99', 'error[record-unknown]'],
    ['the SOA', ZONE, ['set', 'example.com', '@', 'SOA', 'a b 1 2 3 4 5'], 'the fields of the SOA are settings'],
    ['a zone without a definition', ZONE, 'add example.org www A 192.0.2.1', 'error[zone-unknown]'],
    ['a value with a variable', INCLUDING, 'set example.com mail A 192.0.2.1', 'shared/f.yaml:1:24: error[edit-refused] mail.example'],
    ['a value beside included ones', INCLUDING, 'add example.com mail A 192.0.2.1', 'shared/f.yaml:1:24: error[record-elsewhere] mail.'],
    [
      'addresses from an inventory',
      'domain: example.com\nsoa_email: a@example.com\nrecords:\n  a: {type: A, from: {instances: {tag: web}}}\n',
      'remove example.com a A',
      'error[edit-refused] a.example.com. A: its values are read when the zone is planned',
    ],
    ['an anchor', ANCHORS, 'set example.com a A 192.0.2.2', 'error[edit-refused]'],
    ['an alias', ANCHORS, 'set example.com b A 192.0.2.2', 'error[edit-refused]'],
    [
      'an anchor that other entries use',
      'domain: example.com\nrecords:\n  c: {type: A, ttl: &t 60, value: 192.0.2.1}\n  d: {type: A, ttl: *t, value: 192.0.2.1}\n',
      'remove example.com c A',
      /error\[edit-refused\] c\.example\.com\. A: other entries of the file depend on it \(the alias \*\w+ has no anchor &t.*edit it by hand/,
    ],
    ['a definition in error', 'domain: example.com\nrecords: {w: {type: A}}\n', 'add example.com b TXT x', 'error[value-missing]'],
    ['an ambiguous name', ZONE, 'add example.com www.example.com A 192.0.2.1', '"www.example.com" is ambiguous. Write "www.example.com."'],
    ['$GENERATE', '$TTL 6\n@ SOA a. b. 1 2 3 4 5\n$GENERATE 1-3 h$ A 1.1.1.$\n', 'set example.com h2 A 1.1.1.9', 'edit-refused', ZONE_FILE],
    ['inherited TTL', '@ 6 SOA a. b. 1 2 3 4 5\nw 300 A 1.1.1.1\nm A 1.1.1.2\n', 'remove example.com w A', 'edit-refused', ZONE_FILE],
  ])('refuses %s and does not change the file', async (_, before, words, message, path = FILE) => {
    const { status, stdout, stderr, changed } = await edit({ [path]: before, 'shared/f.yaml': FRAGMENT }, words)
    expect({ status, stdout, changed }).toEqual({ status: 1, stdout: '', changed: {} })
    expect(stderr).toMatch(message)
  })

  it('edits the fragment of --file, for all zones that include it', async () => {
    const files = { [FILE]: INCLUDING, 'shared/f.yaml': FRAGMENT }
    expect(await edit(files, 'add example.com ftp CNAME www --file shared/f.yaml')).toMatchObject({
      status: 0,
      changed: { 'shared/f.yaml': `ftp: {type: CNAME, value: www}\n${FRAGMENT}` },
    })
  })

  it.each([
    ['set', 'set example.com a A 192.0.2.3', '  a: {type: A, value: 192.0.2.3}\n'],
    ['add', 'add example.com aa A 192.0.2.3', '  a: {type: A, value: 192.0.2.1}\n  aa: {type: A, value: 192.0.2.3}\n'],
  ])('uses the line end of the adjacent lines if line ends differ: %s', async (_, words, added) => {
    const before = 'domain: example.com\r\nrecords:\n  a: {type: A, value: 192.0.2.1}\n  b: {type: A, value: 192.0.2.2}\r\n'
    expect((await edit({ [FILE]: before }, words)).text(FILE)).toBe(before.replace('  a: {type: A, value: 192.0.2.1}\n', added))
  })

  it('shows no control characters of a file', async () => {
    const before = '$TTL 60\n@ SOA a. b. 1 2 3 4 5\n; \u001b[2J\u202eevil\twith a tab\nwww A 192.0.2.1\n'
    const { status, stdout, text } = await edit({ [ZONE_FILE]: before }, 'add example.com www A 192.0.2.2')
    expect(status).toBe(0)
    expect(stdout).toContain('; \\u001b[2J\\u202eevil\twith a tab\n')
    expect(text(ZONE_FILE)).toContain('; \u001b[2J\u202eevil\twith a tab\n')
  })

  it('ignores backup and swap files of editors', async () => {
    const names = ['.example.com.yaml.swp', 'example.com.yaml~', '#example.com.yaml#', '.#example.com.yaml', 'example.com.yaml.bak', '4913']
    const others = Object.fromEntries(names.map((name) => [`zones/${name}`, ZONE]))
    const { status, changed } = await edit({ ...others, [FILE]: ZONE }, 'add example.com b A 192.0.2.1')
    expect({ status, changed: Object.keys(changed) }).toEqual({ status: 0, changed: [FILE] })
  })

  it('loses no edit of concurrent processes', { tags: ['long'] }, async () => {
    const cwd = folderWith({ [FILE]: ZONE })
    const names = Array.from({ length: 8 }, (_, index) => `p${index}`)
    const programs = await Promise.all(names.map((name) => startProgram(['record', 'add', 'example.com', name, 'A', '192.0.2.1'], { cwd })))
    for (const { ended } of programs) expect(await ended).toEqual({ status: 0, signal: null })
    const text = readFileSync(join(cwd, FILE), 'utf8')
    for (const name of names) expect(text).toContain(`    ${name}: {type: A, value: 192.0.2.1}\n`)
    expect(readdirSync(join(cwd, 'zones'))).toEqual(['example.com.yaml'])
  })
})

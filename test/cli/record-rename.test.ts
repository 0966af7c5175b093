import { expect, it } from 'vitest'
import { edit, type Files } from './record-edits.ts'

/** Renames names of example.com. */
const rename = (files: Files, ...words: string[]) => edit(files, ['rename', 'example.com', ...words])
const FILE = 'zones/example.com.yaml'

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

it('changes only the name of the entry, and warns of records that still point at it', async () => {
  const { status, stdout, stderr, files } = await rename({ [FILE]: ZONE }, 'www', 'web')
  expect(status).toBe(0)
  expect(files[FILE]).toBe(ZONE.replace('    www:   #', '    web:   #'))
  expect(stdout).toContain('-    www:   # two kinds\n+    web:   # two kinds\n')
  expect(stderr.match(/^.*\[.*$/gm)).toEqual([expect.stringMatching(/^zones\/\S+:12:.*warning\[target-nonexistent\] blog/)])
})

it.each([
  [
    "'': {type: MX, values: [{preference: 10, exchange: www}, {preference: 20, exchange: mx.example.net.}]}",
    "@ MX '10 web.example.com.' '20 mx.example.net.'",
  ],
  ["'*': {type: CNAME, value: www}", "* CNAME 'web.example.com.'"],
  ['_sip._tcp: {type: SRV, value: {priority: 1, weight: 2, port: 5060, target: www}}', "_sip._tcp SRV '1 2 5060 web.example.com.'"],
])('shows the command that corrects %s', async (entry, command) => {
  const text = `domain: example.com\nsoa_email: a@example.com\nrecords:\n  www: {type: A, value: 192.0.2.1}\n  ${entry}\n`
  const { stderr } = await rename({ [FILE]: text }, 'www', 'web')
  expect(stderr.match(/^.*\[.*$/gm)).toEqual([
    expect.stringContaining(`still points to www.example.com. (zonewright record set example.com. ${command})`),
  ])
})

it.each<readonly [string, string, readonly [string, string], string]>([
  ['keeps quotes', "'a.www'", ['a.www', 'b'], "'b'"],
  ['quotes a name that YAML could read as another', 'blog', ['blog', '010'], "'010'"],
  ['quotes a wildcard', 'blog', ['blog', '*.blog'], "'*.blog'"],
  ['takes absolute names', 'blog', ['blog.example.com.', 'news.example.com.'], 'news'],
  ['moves the apex to a name', "''", ['@', 'old'], "'old'"],
])('%s', async (_, key, names, renamed) => {
  const { status, files } = await rename({ [FILE]: ZONE }, ...names)
  expect([status, files[FILE]]).toEqual([0, ZONE.replace(`    ${key}:`, `    ${renamed}:`)])
})

const HEAD = '$TTL 300\n@ SOA ns.example.net. h 1 2 3 4 5\n@ NS ns.example.net.\n'
const INCLUDING = 'domain: example.com\ninclude: [../shared/a.yaml]\nrecords:\n'

/** Files, and the replacements of text by the new name. */
it.each<readonly [string, Files, readonly (readonly [from: string, to: string])[]]>([
  ["octoDNS's layout", { [FILE]: '---\n# www\nwww: # at\n  octodns: {excluded: []}\n  type: TXT\n  value: x\n' }, [['www: #', 'web: #']]],
  ['a folder of split files', { 'zones/example.com./www.yaml': 'www: {type: A, value: 192.0.2.1}\n' }, [['www:', 'web:']]],
  [
    'a zone file',
    {
      'zones/example.com.zone': `${HEAD}www\tA 192.0.2.1 ; one\n\tTXT "www" ; two\nx A 192.0.2.2\nwww.example.com. MX 1 x\n$ORIGIN www.example.com.\n@ CAA 0 issue ";"\n`,
    },
    [
      ['www\tA', 'web\tA'],
      ['www.example.com. MX', 'web.example.com. MX'],
      ['@ CAA', 'web.example.com. CAA'],
    ],
  ],
  [
    'a definition and its own included file',
    { [FILE]: `${INCLUDING}  www: {type: TXT, value: x}\n`, 'shared/a.yaml': 'www: {type: A, value: 192.0.2.1}\n' },
    [['www: {', 'web: {']],
  ],
])('works in %s', async (_, before, replacements) => {
  const { status, stderr, files } = await rename(before, 'www', 'web')
  const renamed = (text: string): string => replacements.reduce((some, [from, to]) => some.replace(from, to), text)
  const expected = Object.fromEntries(Object.entries(before).map(([path, text]) => [path, renamed(text)]))
  expect([status, stderr, files]).toEqual([0, '', expected])
})

it('works in a file with another origin that a zone file includes', async () => {
  const files = { 'zones/example.com.zone': `${HEAD}$INCLUDE a sub.example.com.\n`, 'zones/a': 'www A 192.0.2.1\nx A 192.0.2.2\n' }
  const result = await rename(files, 'www.sub', 'web.sub')
  expect([result.status, result.changed]).toEqual([0, { 'zones/a': 'web A 192.0.2.1\nx A 192.0.2.2\n' }])
})

it('changes a file that other zones include only with --all-zones', async () => {
  const shared: Files = {
    [FILE]: `${INCLUDING}  {}\n`,
    'zones/example.net.yaml': INCLUDING.replace('.com', '.net'),
    'shared/a.yaml': 'www: {type: A, value: 192.0.2.1}\n',
  }
  const refused = await rename(shared, 'www', 'web')
  expect([refused.status, refused.changed]).toEqual([1, {}])
  expect(refused.stderr).toContain('error[record-elsewhere] www.example.com.: a change of shared/a.yaml would also change')
  const done = await rename(shared, 'www', 'web', '--all-zones')
  expect(done.changed).toEqual({ 'shared/a.yaml': 'web: {type: A, value: 192.0.2.1}\n' })
  expect(done.stderr).toContain('Other zones change too: example.net.')
})

it.each<readonly [string, Files, readonly string[], string]>([
  ['a name with records', { [FILE]: ZONE }, ['www', 'blog'], 'error[edit-refused] www.example.com.: blog.example.com. already has'],
  ['an unknown name', { [FILE]: ZONE }, ['nothing', 'web'], 'error[record-unknown] nothing.example.com.: the definition'],
  ['a name outside the zone', { [FILE]: ZONE }, ['www', 'web.example.net.'], 'web.example.net. is not in the zone example.com.'],
  ['an ambiguous name', { [FILE]: ZONE }, ['www', 'web.example.com'], '"web.example.com" is ambiguous'],
  ['a CNAME that would be at the apex', { [FILE]: ZONE.replace(/ {4}'': .*\n/, '') }, ['blog', '@'], 'error[cname-at-apex]'],
  ['the apex of a zone file', { 'zones/example.com.zone': `${HEAD}@ A 192.0.2.1\n` }, ['@', 'old'], 'error[edit-refused] example.com.: a'],
  [
    'a name that a variable makes',
    {
      [FILE]: 'domain: example.com\ninclude: [{file: ../shared/a.yaml, with: {host: www}}]\nrecords: {}\n',
      'shared/a.yaml': '$'.concat('{host}: {type: A, value: 192.0.2.1}\n'),
    },
    ['www', 'web'],
    'www.example.com. is not written there by its own name',
  ],
])('refuses %s', async (_, files, names, message) => {
  const { status, stderr, changed } = await rename(files, ...names)
  expect([status, stderr, changed]).toEqual([1, expect.stringContaining(message), {}])
})

it('takes names of the root zone', async () => {
  const zone = 'domain: .\nsoa_email: nstld@example.com\nrecords:\n  com: {type: NS, value: ns.example.net.}\n'
  const { status, changed } = await edit({ 'zones/root.yaml': zone }, 'rename . com org')
  expect([status, changed]).toEqual([0, { 'zones/root.yaml': zone.replace('com: {', 'org: {') }])
})

it('has nothing to do if both names are the same, and writes nothing with --dry-run', async () => {
  const same = await rename({ [FILE]: ZONE }, 'www', 'www.example.com.')
  expect(same).toMatchObject({ status: 0, stderr: 'There is nothing to change.\n', changed: {} })
  const shown = await rename({ [FILE]: ZONE }, 'blog', 'news', '--dry-run')
  expect(shown).toMatchObject({ status: 0, stdout: expect.stringContaining('+    news:'), changed: {} })
})

import { describe, expect, it } from 'vitest'
import { formatDiagnostic, hasErrors } from '../../src/base/diagnostic.ts'
import { failure, ok } from '../../src/base/result.ts'
import { readCommentedZone } from '../../src/convert/zone-files/import-zone-files.ts'
import type { ImportedZone } from '../../src/definition/imported-zone.ts'
import { formatDefinition } from '../../src/definition/print/format-definition.ts'
import { printDefinition } from '../../src/definition/print/print-definition.ts'
import { commentsOf } from '../../src/definition/yaml/comments.ts'
import type { ResourceRecord } from '../../src/dns/record.ts'
import type { IncludedZoneFile } from '../../src/dns/zone-file/scope.ts'
import { parse } from '../definition/parse.ts'
import { CORPUS, readCorpus } from '../dns/zone-file/corpus.ts'
import { line, lines, ORIGIN } from '../dns/zone-file/zone-text.ts'
import { anyCharacter, damagedText, fc, forAll } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'

const HEAD =
  '$ORIGIN example.com.\n$TTL 300\n@ SOA ns1.example.net. hostmaster.example.com. 1 7200 3600 1209600 300\n@ NS ns1.example.net.\n'

function read(text: string, files: Readonly<Record<string, string>> = {}): ReturnType<typeof readCommentedZone> {
  const include = (file: string): ReturnType<typeof ok<IncludedZoneFile>> | ReturnType<typeof failure> => {
    const included = files[file]
    return included === undefined ? failure(`${file} does not exist`) : ok({ file, text: included })
  }
  return readCommentedZone({ file: 'zone', text }, ORIGIN, include)
}

/** The imported definition; expects it to be valid and formatted. */
function definitionOf(text: string, files: Readonly<Record<string, string>> = {}): string {
  const { zone, dropped, diagnostics } = read(text, files)
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(formatDiagnostic)).toEqual([])
  expect(dropped).toEqual([])
  return expectSound(zone as ImportedZone)
}

const sortedLines = (records: Iterable<ResourceRecord>): string[] => lines(records).sort()

/** Expects that the printed definition parses to the same zone with and without comments, and that `fmt` does not change it. */
function expectSound(zone: ImportedZone): string {
  const text = printDefinition(zone)
  const parsed = parse(text, { zoneName: null })
  expect(parsed.diagnostics.map(formatDiagnostic)).toEqual([])
  expect(sortedLines(parsed.zone?.records ?? [])).toEqual(sortedLines(zone.records))
  expect(parsed.zone?.settings).toEqual(zone.settings)
  const bare = parse(printDefinition({ ...zone, comments: [] }), { zoneName: null })
  expect(parsed.zone?.records.map(line)).toEqual(bare.zone?.records.map(line))
  expect(formatDefinition(text)).toEqual({ ok: true, value: text })
  return text
}

/** The part of the definition after the apex records, without the common TTL. */
const recordsOf = (text: string, files: Readonly<Record<string, string>> = {}): string =>
  definitionOf(HEAD + text, files)
    .replace(/^.*\nrecords:\n {2}'': [^\n]*\n/s, '')
    .replaceAll(' ttl: 300,', '')

describe('comments of a zone file', () => {
  it('are placed beside their records in the definition', () => {
    const text = `;; Zone of example.com
; kept by ops
;;;;;;;;;;

; second head
$ORIGIN example.com.
$TTL 300 ; five minutes
; start of authority
@ IN SOA ns1.example.net. hostmaster.example.com. ( ; the people
    2024060101 ; serial as YYYYMMDDnn
    7200       ; refresh
    3600       ; retry after an hour
    1209600    ; expire
    ; for missing names
    300 )      ; minimum

; name servers
@ NS ns1.example.net. ; first
@ NS ns2.example.net. ; second

; ---- Mail

; exchangers
@ MX 10 mail
; the backup, see ticket 4711
@ MX 20 mail2 ; slow

mail A 192.0.2.10 ; rack 4
     AAAA 2001:db8::10 ; the same
mail2 A 192.0.2.11
;old A 192.0.2.99
; old2 A 192.0.2.98

dkim TXT ( "v=DKIM1; k=rsa; " ; key type
   "p=abc" ) ; the key
a A 192.0.2.3 ; "quoted ; (paren

; the end
`
    expect(definitionOf(text)).toBe(`## Zone of example.com
# kept by ops
##########

# second head
# five minutes
domain: example.com
# start of authority
# serial as YYYYMMDDnn
soa_email: hostmaster@example.com # the people
# for missing names
ttl_sec: 300
refresh_sec: 7200
retry_sec: 3600 # retry after an hour
expire_sec: 1209600
soa: {primary: ns1.example.net., serial: 2024060101}
default_ttl: 300
records:
  '':
    # name servers
    - type: NS
      values:
        - ns1.example.net. # first
        - ns2.example.net. # second
    # ---- Mail

    # exchangers
    - type: MX
      values:
        - {preference: 10, exchange: mail}
        # the backup, see ticket 4711
        - {preference: 20, exchange: mail2} # slow
  a: {type: A, value: 192.0.2.3} # "quoted ; (paren
  # key type
  # the key
  dkim: {type: TXT, value: {rdata: '"v=DKIM1; k=rsa; " "p=abc"'}}
  mail:
    - {type: A, value: 192.0.2.10} # rack 4
    - {type: AAAA, value: 2001:db8::10} # the same
  mail2: {type: A, value: 192.0.2.11}
  # old A 192.0.2.99
  # old2 A 192.0.2.98

# the end
`)
  })

  it.each([
    [
      'of an RRset in several places',
      '; one\nw A 192.0.2.1\nx A 192.0.2.9\n; two\nw A 192.0.2.2\n',
      '  # one\n  w:\n    type: A\n    values:\n      - 192.0.2.1\n      # two\n      - 192.0.2.2\n  x: {type: A, value: 192.0.2.9}',
    ],
    [
      'of duplicate records',
      'w A 192.0.2.1 ; one\nW 60 A 192.0.2.1 ; two\n; three\nw A 192.0.2.1 ; two\n',
      '  # three\n  # one\n  # two\n  w: {type: A, value: 192.0.2.1}',
    ],
    [
      'of an RRset with two TTLs',
      '; one\nw 60 A 192.0.2.1\n; two\nw 90 A 192.0.2.2 ; three\n',
      '  w:\n    # one\n    - {type: A, ttl: 60, value: 192.0.2.1}\n    # two\n    - {type: A, ttl: 90, value: 192.0.2.2} # three',
    ],
    [
      'of directives',
      'v A 192.0.2.1\n; below\n$ORIGIN sub.example.com. ; here\nw A 192.0.2.1\n; many\n$GENERATE 1-2 g$ A 192.0.2.$ ; pool\n',
      '  # many\n  # pool\n  g1.sub: {type: A, value: 192.0.2.1}\n  g2.sub: {type: A, value: 192.0.2.2}\n  v: {type: A, value: 192.0.2.1}\n  # below\n  # here\n  w.sub: {type: A, value: 192.0.2.1}',
    ],
    [
      'between blank lines',
      'x A 192.0.2.1\n\n; one\n\n; two\n;\n\n;\n\nw A 192.0.2.1 ;\n',
      '  # one\n\n  # two\n  #\n\n  w: {type: A, value: 192.0.2.1}\n  x: {type: A, value: 192.0.2.1}',
    ],
    [
      'with semicolons that start no comment',
      'a\\;b TXT ";" ";x\\";" ( "(" ; one\n ";" )\n',
      `  a\\;b: {type: TXT, value: {rdata: '";" ";x\\";" "(" ";"'}} # one`,
    ],
    [
      'in empty parentheses',
      '( ; one\n)\nw A ( ; two\n ; three\n 192.0.2.1 ; four\n )\n',
      '  # one\n\n  # two\n  # three\n  # four\n  w: {type: A, value: 192.0.2.1}',
    ],
    ['too long for their line', `w A 192.0.2.1 ; ${'x'.repeat(120)}\n`, `  # ${'x'.repeat(120)}\n  w: {type: A, value: 192.0.2.1}`],
    [
      'with line ends of other kinds',
      'w A 192.0.2.1 ; one\rtwo: 2\u0085- three\u2028# four\u2029five\r\nx A 192.0.2.1 ; six\r\n',
      '  # one\n  # two: 2\n  # - three\n  ## four\n  # five\n  w: {type: A, value: 192.0.2.1}\n  x: {type: A, value: 192.0.2.1} # six',
    ],
    [
      'with control characters',
      'w A 192.0.2.1 ;\ta\tb\u0000\u0007\u001b[1m\u007f\u009f\ufeff\uffff\n',
      '  w: {type: A, value: 192.0.2.1} # a\tb\\x00\\x07\\x1b[1m\\x7f\\x9f\\ufeff\\uffff',
    ],
    ['at the end of a file without a line end', 'w A 192.0.2.1\n; one', '  w: {type: A, value: 192.0.2.1}\n\n# one'],
  ])('%s', (_, text, expected) => expect(recordsOf(text)).toBe(`${expected}\n`))
})

describe('comments of included files', () => {
  const files = { a: '; head of a\n\n; x\nx A 192.0.2.1 ; one\n; tail of a\n', b: '; b\n', c: '; c\n$INCLUDE a c ; a in c\n' }

  it('stay with their records at every $INCLUDE', () => {
    expect(
      recordsOf('; both\n$INCLUDE a ; a\nw A 192.0.2.2\n; more\n$INCLUDE a y\n$INCLUDE b\n$INCLUDE c z\nv A 192.0.2.3\n', files),
    ).toBe(`  # tail of a

  v: {type: A, value: 192.0.2.3}
  # tail of a

  w: {type: A, value: 192.0.2.2}
  # both
  # a
  # head of a

  # x
  x: {type: A, value: 192.0.2.1} # one
  # tail of a

  # b

  # c
  # a in c
  # head of a

  # x
  x.c.z: {type: A, value: 192.0.2.1} # one
  # more
  # head of a

  # x
  x.y: {type: A, value: 192.0.2.1} # one
`)
  })

  it('are kept once if a file is included twice with the same records', () => {
    expect(recordsOf('$INCLUDE a\n$INCLUDE a\n', files)).toBe(`  # head of a

  # tail of a

  # x
  x: {type: A, value: 192.0.2.1} # one

# tail of a
`)
  })
})

describe('limits of comments', () => {
  it('are not read from a zone file with errors', () => {
    const { zone, diagnostics } = read(`${HEAD}; one\nw A 1.2.3\n`)
    expect(hasErrors(diagnostics)).toBe(true)
    expect(zone?.comments).toBeUndefined()
  })

  it('above the size limit of a definition are counted as dropped', () => {
    const text = `${HEAD}${`; ${'x'.repeat(98)}\n`.repeat(50_000)}w A 192.0.2.1\n`
    const { zone, dropped } = read(text)
    expect(dropped.map(({ what }) => what)).toEqual([expect.stringMatching(/^7,634 lines of comments above the limit$/)])
    expect(printDefinition(zone as ImportedZone).length).toBeGreaterThan(4_000_000)
  })

  it('take linear time', { tags: ['long'] }, () => {
    for (const text of [
      '\n'.repeat(3_000_000),
      ';\n'.repeat(1_000_000),
      `${HEAD}w A ( 192.0.2.1\n${';x\n'.repeat(100_000)})\n`,
      `(${'\n'.repeat(500_000)})`,
    ])
      expect(read(HEAD + text).dropped.length).toBeLessThan(10_000)
  })
})

/** Text of a comment: any characters except a line feed. */
const words = fc
  .oneof(
    fc.constantFrom(
      ...'; # " ( ) \r \t \0 \u0085 \u2028 \ufeff \ud800 %YAML --- ...'.split(' '),
      ...['', ' ', '# a', ' - b: [c', "'", '\\', 'www A 192.0.2.1'],
    ),
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.string({ maxLength: 150 }),
  )
  .map((text) => text.replaceAll('\n', ' '))

/** Templates with places for comments: `~` at the end of a line, `^` on separate lines. */
const PIECES = [
  ...['^www A 192.0.2.1~\n', '^www A 192.0.2.2~\n', '^www 60 A 192.0.2.3~\n', '^WWW A (~\n^192.0.2.2~\n )~\n'],
  ...['^@ TXT ( "a;b" ~\n^ "\\";" )~\n', '^\tAAAA 2001:db8::1~\n', '^mail HTTPS 1 . alpn="h2;,h3"~\n', '^b MX 10 mail~\n'],
  ...['^b MX 20 mail~\n', `^l TXT "${'x'.repeat(120)}"~\n`],
  `^m TXT "${'x'.repeat(70)}"~\nm TXT "${'y'.repeat(70)}"~\n`,
  '^$ORIGIN a.example.com.~\n',
  '^$ORIGIN example.com.~\n',
  '^$TTL 600~\n',
  '^$GENERATE 1-4/2 g$ A 192.0.2.$~\n',
  '^$INCLUDE part b.example.com.~\n',
  '^$INCLUDE part~\n',
  '\n',
  '^\n',
  '(~\n^)~\n',
]
const PART = '^p A 192.0.2.9~\n\n^p A 192.0.2.8~\n^'
const START =
  '^$ORIGIN example.com.~\n^$TTL 300~\n\n^@ SOA ns1.example.net. (~\n^hostmaster.example.com. 1~\n^ 7200~\n 3600 1209600~\n300~\n^)~\n^@ NS ns1.example.net.~\n'

/** A zone file and an included part, with comments, each with a unique mark. */
const commented = fc
  .record({ pieces: fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }), comments: fc.infiniteStream(fc.option(words)) })
  .map(({ pieces, comments }) => {
    const marks: string[] = []
    const put = (template: string): string =>
      template.replace(/[~^]/g, (place) => {
        const text = comments.next().value
        if (typeof text !== 'string') return ''
        const mark = `<${marks.push('')}>`
        marks[marks.length - 1] = mark
        return place === '~' ? `;${mark}${text}` : `;${text}${mark}\n`
      })
    const text = put(START) + pieces.map(put).join('')
    const isPartRead = pieces.some((piece) => piece.includes('part'))
    return { text, part: put(PART), bare: (START + pieces.join('')).replace(/[~^]/g, ''), isPartRead, marks }
  })

describe('any comments', () => {
  it('are all kept, and do not change the records', () => {
    forAll(rounds(300), commented, ({ text, part, bare, isPartRead, marks }) => {
      const { zone, dropped, diagnostics } = read(text, { part })
      expect(hasErrors(diagnostics)).toBe(false)
      expect(dropped).toEqual([])
      const printed = expectSound(zone as ImportedZone)
      const { zone: without } = read(bare, { part: PART.replace(/[~^]/g, '') })
      expect(sortedLines(zone?.records ?? [])).toEqual(sortedLines(without?.records ?? []))
      const carried = commentsOf(printed).join('\n')
      const inPart = new Set(part.match(/<[0-9]+>/g))
      for (const mark of marks) if (isPartRead || !inPart.has(mark)) expect(carried).toContain(mark)
    })
  })

  it('of damaged zone files give a definition or errors', () => {
    const texts = CORPUS.map(({ file }) => readCorpus(file)).filter((text) => text.length < 3000)
    const pieces = [';', ' ;x', '\n;y\n', '(', ')', '"', '\n', '\\']
    forAll(rounds(300), damagedText(texts, pieces, { maxLength: 5 }), (damaged) => {
      const { zone, diagnostics } = read(damaged)
      if (zone !== null && !hasErrors(diagnostics)) expectSound(zone)
    })
  })
})

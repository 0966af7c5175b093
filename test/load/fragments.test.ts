// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of fragments look like that
/** Malicious or mistaken fragments: each error is reported quickly, at its position. */
import { describe, expect, test } from 'vitest'
import { failure, ok } from '../../src/base/result.ts'
import { MAX_INCLUDES, type ReadInclude } from '../../src/definition/parse/file-loader.ts'
import { parse, recordLines } from '../definition/parse.ts'

type Files = Readonly<Record<string, string>>

const from =
  (files: Files): ReadInclude =>
  (path) => {
    const text = Object.hasOwn(files, path) ? files[path] : undefined
    return text === undefined ? failure('there is no such file') : ok({ file: path, text })
  }

const definition = (include: string, records = '{}'): string => `domain: example.com\ninclude: ${include}\nrecords: ${records}\n`
const parseWith = (include: string, files: Files, records?: string) => parse(definition(include, records), { include: from(files) })

const diagnosticsOf = (parsed: ReturnType<typeof parse>): string[] =>
  parsed.diagnostics.map(({ at, severity, code, message }) => `${at?.file}:${at?.line}:${at?.column} ${severity} ${code} ${message}`)

describe('a variable', () => {
  test('is replaced in names, types, TTLs, values and merge marks', () => {
    const fragment = `\${n}:
  type: \${t}
  ttl: \${ttl}
  value: \${ip}
  merge: \${yes}
mail.\${n}: {type: MX, ttl: '\${ttl}', value: {preference: '\${p}', exchange: '\${n}'}}
`
    const parsed = parseWith('[{file: a.yaml, with: {n: www, t: A, ttl: 5m, ip: 192.0.2.1, yes: true, p: 10}}]', { 'a.yaml': fragment })
    expect(diagnosticsOf(parsed)).toEqual([])
    expect(recordLines(parsed)).toEqual(['www.example.com. 300 A 192.0.2.1', 'mail.www.example.com. 300 MX 10 www.example.com.'])
  })

  test('is replaced in nested includes and aliases', () => {
    const files = { 'a.yaml': 'a: &a !include b.yaml\nb: *a\nc:\n  <<: *a\n  ttl: 60\n', 'b.yaml': "{type: A, value: '${ip}'}" }
    const parsed = parseWith('[{file: a.yaml, with: {ip: 192.0.2.1}}]', files)
    expect(diagnosticsOf(parsed)).toEqual([])
    expect(recordLines(parsed)).toEqual(['a.example.com. - A 192.0.2.1', 'b.example.com. - A 192.0.2.1', 'c.example.com. 60 A 192.0.2.1'])
  })

  test('is always a string', () => {
    const files = { 'a.yaml': 'a:\n  type: TXT\n  values: \n  - ${null}\n  - ${none}\n  - ${tilde}\n  - ${yaml}\n' }
    const given = '{"null": "null", none: "", tilde: "~", yaml: "a: {b: [1]} # c"}'
    const parsed = parseWith(`[{file: a.yaml, with: ${given}}]`, files)
    expect(diagnosticsOf(parsed)).toEqual([])
    expect(recordLines(parsed)).toEqual(['null', '', '~', 'a: {b: [1]} # c'].map((text) => `a.example.com. - TXT "${text}"`))
  })

  test('is replaced once: variables in its value are text', () => {
    const files = { 'a.yaml': "a: {type: TXT, values: ['${x}', '${y}', '$${x}', '$${z', '${x', '$x']}" }
    const parsed = parseWith('[{file: a.yaml, with: {x: "${y}", y: "$${x}"}}]', files)
    expect(diagnosticsOf(parsed)).toEqual([])
    expect(recordLines(parsed).map((line) => line.split(' TXT ')[1])).toEqual(['"${y}"', '"$${x}"', '"${x}"', '"${z"', '"${x"', '"$x"'])
  })

  test.each([
    [
      'create a merge key',
      '${k}: {type: A, value: 192.0.2.1}\nb: {type: A, value: 192.0.2.2}',
      '<<',
      [],
      ['<<.example.com. - A 192.0.2.1', 'b.example.com. - A 192.0.2.2'],
    ],
    ['reach the prototype', '${k}: {type: A, value: 192.0.2.1}', '__proto__', [], ['__proto__.example.com. - A 192.0.2.1']],
    [
      'create a duplicate key',
      'a:\n  type: A\n  ${k}: TXT\n  value: 192.0.2.1',
      'type',
      ['a.yaml:3:3 error yaml-duplicate-key after replacing variables, the key "type" is given twice'],
      ['a.example.com. - A 192.0.2.1'],
    ],
    [
      'create a duplicate name',
      'a: {type: A, value: 192.0.2.1}\n${k}: {type: TXT, value: x}',
      'a',
      ['a.yaml:2:1 error yaml-duplicate-key a.example.com.: "a" and "a" are the same name'],
      ['a.example.com. - A 192.0.2.1', 'a.example.com. - TXT "x"'],
    ],
    [
      'leave the zone',
      '${k}: {type: A, value: 192.0.2.1}',
      'www.example.org.',
      ['a.yaml:1:1 error name-outside-zone example.com.: "www.example.org." is an absolute name outside the zone'],
      [],
    ],
    [
      'end a line',
      '${k}: {type: A, value: 192.0.2.1}',
      'a\\nb: {type: A}',
      ['a.yaml:1:1 error name-invalid example.com.: not a valid name: "a\\nb: {type: A}" has a control character'],
      [],
    ],
  ])('does not %s', (_, text, value, problems, records) => {
    const parsed = parseWith(`[{file: a.yaml, with: {k: "${value}"}}]`, { 'a.yaml': text })
    expect(diagnosticsOf(parsed)).toEqual(problems)
    expect(recordLines(parsed)).toEqual(records)
  })

  test('named like an object property is unknown, or has its given value', () => {
    const files = { 'a.yaml': "a: {type: TXT, value: '${__proto__} ${constructor} ${toString}'}" }
    const parsed = parseWith('[{file: a.yaml, with: {__proto__: evil, constructor: c}}]', files)
    expect(diagnosticsOf(parsed)).toEqual(['a.yaml:1:23 error variable-unknown the variable ${toString} has no value'])
  })

  test('cannot create an endless zone', () => {
    const fragment = Array.from({ length: 2000 }, (_, i) => `a${i}: {type: TXT, value: '${'${x}'.repeat(20)}'}`).join('\n')
    const include = `[{file: a.yaml, with: {x: ${'y'.repeat(100_000)}}}, {file: b.yaml, with: {x: y}}]`
    const parsed = parseWith(include, { 'a.yaml': fragment, 'b.yaml': fragment })
    expect(diagnosticsOf(parsed)[0]).toBe(
      'a.yaml:1:1 error include-invalid the included files become too long when their variables are replaced',
    )
    expect(parsed.diagnostics.length).toBeLessThan(20)
  })
})

describe('files that include each other', () => {
  /** Without what all of these messages have. */
  const short = (one: string): string =>
    one
      .replace(/ error include-invalid (example\.com\.: )?/, ': ')
      .replace('has the setting', 'has')
      .replace('; a fragment can only contain records, at the top level', '')

  test.each([
    ['self', '[zone.yaml]', { 'zone.yaml': 'domain: example.com\n' }, 'zone.yaml:2:11: "zone.yaml" includes itself: zone.yaml, zone.yaml'],
    [
      'in a cycle',
      '[a.yaml]',
      { 'a.yaml': 'x: !include b.yaml', 'b.yaml': '[!include a.yaml]' },
      'b.yaml:1:11: "a.yaml" includes itself: zone.yaml, a.yaml, b.yaml, a.yaml',
    ],
    [
      'through the definition',
      '[a.yaml]',
      { 'a.yaml': 'x: !include zone.yaml', 'zone.yaml': '' },
      'a.yaml:1:13: "zone.yaml" includes itself: zone.yaml, a.yaml, zone.yaml',
    ],
    ['with include:', '[a.yaml]', { 'a.yaml': 'include: [b.yaml]' }, 'zone.yaml:2:11: "a.yaml" has "include"'],
    ['with settings', '[a.yaml]', { 'a.yaml': 'ttl_sec: 60' }, 'zone.yaml:2:11: "a.yaml" has "ttl_sec"'],
    ['with records:', '[a.yaml]', { 'a.yaml': 'records: {a: {type: A, value: 192.0.2.1}}' }, 'zone.yaml:2:11: "a.yaml" has "records"'],
  ])('%s', (_, include, files, expected) => expect(diagnosticsOf(parseWith(include, files)).map(short)).toEqual([expected]))

  test.each([
    [
      'deeply',
      Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`${i}.yaml`, `[!include ${i + 1}.yaml]`])),
      '[0.yaml]',
      'included files are nested more than 8 deep',
    ],
    [
      'too often',
      Object.fromEntries(Array.from({ length: MAX_INCLUDES + 5 }, (_, i) => [`${i}.yaml`, `a${i}: {type: A, value: 192.0.2.1}`])),
      `[${Array.from({ length: MAX_INCLUDES + 5 }, (_, i) => `${i}.yaml`).join(', ')}]`,
      `the definition has more than ${MAX_INCLUDES} includes`,
    ],
    [
      'too often from a fragment',
      {
        'a.yaml': Array.from({ length: MAX_INCLUDES + 5 }, (_, i) => `a${i}: !include b.yaml\n`).join(''),
        'b.yaml': '{type: A, value: 192.0.2.1}',
      },
      '[a.yaml]',
      `the definition has more than ${MAX_INCLUDES} includes`,
    ],
  ])('%s: one error', (_, files, include, expected) => {
    const parsed = parseWith(include, files)
    expect(parsed.diagnostics.filter(({ code }) => code === 'include-invalid').map(({ message }) => message)).toEqual([expected])
  })
})

describe('override and merge', () => {
  const WWW = 'www: {type: A, value: 192.0.2.1}'

  test('an override replaces everything, including targeting', () => {
    const fragment =
      'www: {type: A, value: 192.0.2.1, octodns: {ignored: true, lenient: true, healthcheck: {}}, geo: {}}\nb: {type: A, value: 192.0.2.1, octodns: {ignored: true}}'
    const parsed = parseWith('[a.yaml]', { 'a.yaml': fragment }, '{www: {type: A, value: 192.0.2.9, override: true}}')
    expect(recordLines(parsed)).toEqual(['www.example.com. - A 192.0.2.9', 'b.example.com. - A 192.0.2.1'])
    expect(parsed.zone?.rrsetTargets.map(({ name }) => name)).toEqual(['b.example.com.'])
    expect([[...parsed.lenient], parsed.unsupportedKeys]).toEqual([[], []])
  })

  test.each([
    ['of no records', 'b: {type: A, value: 192.0.2.1}', 'override has no effect: no included file has these records'],
    ['that changes nothing', WWW, 'override has no effect: a.yaml has the same records'],
  ])('warns of an override %s', (_, fragment, message) => {
    const parsed = parseWith('[a.yaml]', { 'a.yaml': fragment }, '{www: {type: A, value: 192.0.2.1, override: true}}')
    expect(diagnosticsOf(parsed)).toEqual([`zone.yaml:3:44 warning override-unused www.example.com. A: ${message}`])
  })

  test.each([
    ['another TTL', 'www: {type: A, ttl: 60, value: 192.0.2.1}'],
    ['another target', 'www: {type: A, value: 192.0.2.1, octodns: {excluded: [a]}}'],
    ['an additional value', 'www: {type: A, values: [192.0.2.1, 192.0.2.2]}'],
  ])('does not warn of an override of %s', (_, fragment) => {
    expect(diagnosticsOf(parseWith('[a.yaml]', { 'a.yaml': fragment }, '{www: {type: A, value: 192.0.2.1, override: true}}'))).toEqual([])
  })

  test('reports both positions if a fragment is included twice', () => {
    const parsed = parseWith('[a.yaml, a.yaml]', { 'a.yaml': WWW })
    expect(diagnosticsOf(parsed)).toEqual([
      'zone.yaml:2:19 error rrset-split www.example.com. A: a.yaml is included twice, so these records come from two inclusions',
    ])
    expect(parsed.diagnostics[0]?.related?.map(({ at }) => [at.file, at.line, at.column])).toEqual([['zone.yaml', 2, 11]])
  })

  test('reports merged records with different targets, with both positions', () => {
    const files = { 'a.yaml': 'www: {type: A, value: 192.0.2.1, merge: true, octodns: {ignored: true}}' }
    const parsed = parseWith('[a.yaml]', files, '{www: {type: A, value: 192.0.2.9}}')
    expect(diagnosticsOf(parsed)).toEqual([
      'a.yaml:1:23 error rrset-split www.example.com. A: the merged records of zone.yaml and a.yaml are for different targets',
    ])
    expect(parsed.diagnostics[0]?.related?.map(({ at }) => at.file)).toEqual(['zone.yaml'])
  })
})

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are those of $GENERATE
import { describe, expect, test } from 'vitest'
import { describeWithTools } from '../../support/skip.ts'
import { checkZone } from '../../support/tools.ts'
import { lines, ORIGIN, parse, problems } from './zone-text.ts'

const GENERATED: readonly (readonly [text: string, records: readonly string[]])[] = [
  ['$GENERATE 1-2 a$ 60 A 192.0.2.$', ['a1.example.com. 60 A 192.0.2.1', 'a2.example.com. 60 A 192.0.2.2']],
  ['$GENERATE 0-4/2 $ 60 IN PTR h$.example.org.', [0, 2, 4].map((n) => `${n}.example.com. 60 PTR h${n}.example.org.`)],
  ['$GENERATE 9-10 a${0,3} 60 NS b${-5,2,d}', ['a009.example.com. 60 NS b04.example.com.', 'a010.example.com. 60 NS b05.example.com.']],
  ['$GENERATE 255-255 ${0,4,x}-${0,4,X}-${1,0,o} 60 CNAME c', ['00ff-00ff-400.example.com. 60 CNAME c.example.com.']],
  ['$GENERATE 26-26 ${0,7,n}.a 60 CNAME ${0,0,n}.b', ['a.1.0.0.a.example.com. 60 CNAME a.1.b.example.com.']],
  ['$GENERATE 1-1 a 60 MX "10 b$"', ['a.example.com. 60 MX 10 b1.example.com.']],
  ['$GENERATE 1-1 a 60 TXT "b $"', ['a.example.com. 60 TXT "b" "1"']],
  ['$GENERATE 1-1 a 60 TXT "\\"b $\\" c"', ['a.example.com. 60 TXT "b 1" "c"']],
  ['$GENERATE 1-1 d 60 CNAME b\\$$$', ['d.example.com. 60 CNAME b\\$\\$.example.com.']],
  [
    '$GENERATE 1-1 e 60 TXT "${-2,0,x} ${-3,0,X} ${-2,0,o} ${-2,4,d}"',
    ['e.example.com. 60 TXT "ffffffff" "FFFFFFFE" "37777777777" "-001"'],
  ],
  ['$GENERATE 1-2/2147483647 f${2147483645} 60 TXT ${0,127}', [`f2147483646.example.com. 60 TXT "${'1'.padStart(127, '0')}"`]],
  ['$GENERATE 1-1 @ 60 NS ns$', ['example.com. 60 NS ns1.example.com.']],
]

describe('$GENERATE', () => {
  test.each(GENERATED)('%s', (text, expected) => {
    const parsed = parse(text)
    expect(parsed.diagnostics).toEqual([])
    expect(lines(parsed.records)).toEqual(expected)
  })

  test('rdata with several fields', () => {
    expect(lines(parse('$GENERATE 1-1 a 60 MX 10 b$').records)).toEqual(['a.example.com. 60 MX 10 b1.example.com.'])
  })

  test('records have the position of the directive, and the next line inherits the owner before it', () => {
    const { records } = parse('b 60 A 192.0.2.9\n$GENERATE 1-2 a$ 60 A 192.0.2.$\n 60 A 192.0.2.8')
    expect(records.map(({ name, at }) => `${name}${at.line}:${at.column}`)).toEqual([
      'b.example.com.1:1',
      'a1.example.com.2:1',
      'a2.example.com.2:1',
      'b.example.com.3:2',
    ])
  })

  test.each([
    ['$GENERATE 1-2 a$ A', ['1:19 error[zonefile-directive]']],
    ['$GENERATE 2-1 a$ A 192.0.2.$', ['1:11 error[zonefile-directive]']],
    ['$GENERATE 1-2/0 a$ A 192.0.2.$', ['1:11 error[zonefile-directive]']],
    ['$GENERATE x a$ A 192.0.2.$', ['1:11 error[zonefile-directive]']],
    ['$GENERATE 1-2 a${x} A 192.0.2.$', ['1:15 error[zonefile-directive]']],
    ['$GENERATE 1-2 a${0,300} A 192.0.2.$', ['1:15 error[zonefile-directive]']],
    ['$GENERATE 1-2/2147483648 a$ A 192.0.2.$', ['1:11 error[zonefile-directive]']],
    ['$GENERATE 1-2 a${0,128} A 192.0.2.$', ['1:15 error[zonefile-directive]']],
    ['$GENERATE 1-2 a${2147483646} A 192.0.2.$', ['1:15 error[zonefile-directive]']],
    ['$GENERATE 1-2 a${-2147483648} A 192.0.2.$', ['1:15 error[zonefile-directive]']],
    ['$GENERATE 1-2 a${0,1000000,d} A 192.0.2.$', ['1:15 error[zonefile-directive]']],
    ['$GENERATE 1-2 a${0 A 192.0.2.$', ['1:15 error[zonefile-directive]']],
    // The following records would have the same error.
    ['$GENERATE 255-300 a$ 60 A 192.0.2.$', ['1:1 error[value-invalid]']],
    ['$GENERATE 1-9 a$ 60 TXT "\\""', ['1:1 error[zonefile-syntax]']],
    ['$GENERATE 0-2147483647 a$ 60 A 192.0.2.1', ['1:11 error[zonefile-too-large]']],
  ])('%s is refused', (text, expected) => expect(problems(parse(text))).toEqual(expected))

  test('limits the total number of records, also after a refused directive', () => {
    const text = ['1-9', '1-99999', '1-99995'].map((range) => `$GENERATE ${range} a$ 60 A 192.0.2.$\n`).join('')
    const parsed = parse(text)
    expect(parsed.records).toHaveLength(9)
    expect(problems(parsed)).toEqual(['2:11 error[zonefile-too-large]', '3:11 error[zonefile-too-large]'])
    expect(parsed.diagnostics[0]?.message).toContain('100008 records, including those above')
  })

  test('limits the records of a range with large steps, not its width', () => {
    const parsed = parse('$GENERATE 0-2147483647/1073741824 a$ 60 A 192.0.2.1')
    expect(parsed.diagnostics).toEqual([])
    expect(lines(parsed.records)).toEqual(['a0.example.com. 60 A 192.0.2.1', 'a1073741824.example.com. 60 A 192.0.2.1'])
  })

  test.each([
    ['many records', '$GENERATE 1-1000000 a$ 60 A 192.0.2.1'],
    ['the largest range', '$GENERATE 0-2147483647 a$ 60 A 192.0.2.1'],
    ['wide numbers', `$GENERATE 1-99999 a$ 60 TXT ${'${0,127} '.repeat(8)}`],
    ['wide nibbles', `$GENERATE 1-99999 a$ 60 TXT ${'${0,127,n} '.repeat(8)}`],
    ['long text', `$GENERATE 1-99999 a$ 60 TXT ${'x'.repeat(200)}`],
    ['many numbers', `$GENERATE 1-99999 a$ 60 TXT ${'$ '.repeat(2 ** 16)}`],
    ['many directives', `$GENERATE 1-99999 a$ 60 TXT ${'x'.repeat(200)}\n`.repeat(1000)],
    ['an included file', '$INCLUDE generate 1\n'.repeat(1000)],
  ])('refuses %s above the limit before it generates a record', (_, text) => {
    const include = () => ({ ok: true as const, value: { file: 'generate', text: '$GENERATE 1-200000 a$ 60 A 192.0.2.1\n' } })
    const value = parse(text, { include })
    expect(value.records).toEqual([])
    expect(value.diagnostics[0]).toMatchObject({ code: 'zonefile-too-large', at: { line: 1, column: 11 } })
  })
})

describeWithTools(['named-checkzone'], '$GENERATE as BIND reads it', () => {
  test('gives the same records', async () => {
    const head = '@ 60 SOA ns.example.net. r.example.net. 1 2 3 4 5\n@ 60 NS ns.example.net.\n'
    const body = GENERATED.map(([text]) => text).filter((text) => !text.includes('@') && !text.includes('CNAME c'))
    const text = `${head}${body.join('\n')}\n`
    const { stdout } = await checkZone('example.com', text, ['-q'])
    expect(lines(parse(stdout).records).sort()).toEqual(lines(parse(text).records).sort())
    expect(parse(text).origin).toBe(ORIGIN)
  })
})

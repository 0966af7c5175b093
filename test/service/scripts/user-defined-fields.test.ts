import { expect, test } from 'vitest'
import { RequestError } from '../../../src/service/api/request-error.ts'
import { parseUserDefinedFields } from '../../../src/service/api/scripts/script-routes.ts'
import { fc } from '../../support/fast-check.ts'

const field = (attributes: string): string => `#!/bin/sh\n# <UDF ${attributes} />\necho\n`

test.each<[string, string, object[]]>([
  ['none', '#!/bin/sh\necho "<b>"\n', []],
  ['name and label', field('name="port" label="Port"'), [{ name: 'port', label: 'Port' }]],
  [
    'all attributes, in any case and quotes',
    field(`NAME='_a1' Label="What's it?" oneOf="a,b" default="" EXAMPLE='"x"'`),
    [{ name: '_a1', label: "What's it?", oneOf: 'a,b', default: '', example: '"x"' }],
  ],
  ['manyOf', field('name="a" label="b" manyof="x, y" default="x"'), [{ name: 'a', label: 'b', manyOf: 'x, y', default: 'x' }]],
  ['without a slash', '<udf name="a" label="b">', [{ name: 'a', label: 'b' }]],
  ['attributes for forms', field('name="a" label="b" header="yes"'), [{ name: 'a', label: 'b' }]],
  [
    'several, also on one line',
    '<UDF name="a" label="1"/><UDF name="b" label="2"/>\n<UDF name="c" label="3"/>',
    [
      { name: 'a', label: '1' },
      { name: 'b', label: '2' },
      { name: 'c', label: '3' },
    ],
  ],
  ['on several lines are text', '<UDF name="a"\nlabel="b"/>', []],
  ['without an end are text', '<UDF name="a" label="b"', []],
  ['with other names are text', '<UDFS name="a" label="b"/>', []],
])('%s', (_name, script, fields) => expect(parseUserDefinedFields(script)).toEqual(fields))

const NAME = 'the name of a field must have 1 to 64 letters, digits and underscores, and not begin with a digit'

test.each<[string, string, string]>([
  ['no name', field('label="b"'), NAME],
  ['another name', field('name="a-b" label="b"'), NAME],
  ['a long name', field(`name="${'a'.repeat(65)}" label="b"`), NAME],
  ['no label', field('name="a"'), 'the field a has no label'],
  ['a long value', field(`name="a" label="b" default="${'x'.repeat(1001)}"`), 'the field a has a value of more than 1000 characters'],
  ['both choices', field('name="a" label="b" oneof="x" manyof="y"'), 'the field a has both oneOf and manyOf'],
  ['a duplicate attribute', field('name="a" label="b" name="c"'), 'a field has the attribute name twice'],
  ['a duplicate name', field('name="a" label="b"') + field('name="a" label="c"'), 'the field a is defined twice'],
  ['too many', Array.from({ length: 101 }, (_, n) => field(`name="a${n}" label="b"`)).join(''), 'there are more than 100 fields'],
])('with %s are refused', (_name, script, problem) => {
  expect(() => parseUserDefinedFields(script)).toThrow(`script: A UDF tag is not valid: ${problem}`)
})

test('are parsed in linear time for any script', () => {
  for (const part of ['<udf ', '<udf a="', '<udf a=""', '<udf a="" ', '\t', '<udf name="a" label="b" ', '<udf a=\'"', '<udf\t\t\t']) {
    const script = `${part.repeat(65_535 / part.length)}>`
    try {
      parseUserDefinedFields(script)
    } catch (error) {
      expect(error).toBeInstanceOf(RequestError)
    }
  }
  parseUserDefinedFields(`<udf${' '.repeat(60_000)}`)
})

test('every script is parsed or refused', () => {
  const part = fc.constantFrom('<UDF ', 'name="a"', ' label="b"', ' oneof="x"', '/>', '>', '"', "'", '=', '\n', ' ', 'x')
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      try {
        for (const { name, label } of parseUserDefinedFields(parts.join(''))) expect([name, label]).not.toContain('')
      } catch (error) {
        expect(error).toBeInstanceOf(RequestError)
      }
    }),
  )
})

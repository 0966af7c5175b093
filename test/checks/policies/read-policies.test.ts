import { expect, test } from 'vitest'
import { problemsOf, read } from './policies.ts'

/** A rule with one schema, whose first key is at line 4, column 5. */
const ruleWith = (schema: string, each = 'record_set'): string => `- name: rule
  each: ${each}
  require:
    ${schema.trim().replaceAll('\n', '\n    ')}
`

/** A rule on one line that needs nothing, with more keys. */
const ruleWithout = (more: string, each = 'zone'): string => `- {name: a, each: ${each}, require: {}, ${more}}\n`

test.each([
  ['no list', 'name: a\n', /^p\.yaml:1:1: error\[schema-type\] the file must be a list/],
  ['an unknown key', ruleWithout('wher: {}'), /^p\.yaml:1:38: error\[schema-unknown-key\] .*"0\.wher"/],
  ['a name with capitals', '- {name: A, each: zone, require: {}}\n', /^p\.yaml:1:10: error\[schema-value\]/],
  ['another code', '- {name: kept, each: zone, require: {}}\n', /^p\.yaml:1:10: error\[policies-invalid\] .*kept has another meaning$/],
  [
    'a value of another type',
    ruleWith('minimum: low'),
    /^p\.yaml:4:14: error\[schema-type\] "0\.require\.minimum" must be a number, not "low"$/,
  ],
  ['an unknown type', ruleWith('properties: {ttl: {type: int}}'), /^p\.yaml:4:30: error\[schema-value\]/],
  ['a wrong keyword', ruleWith('properties: {ttl: {minimun: 300}}'), /^p\.yaml:4:33: error\[policies-invalid\] .* no keyword "minimun"$/],
  ['a misspelt property', ruleWith('properties: {tll: {minimum: 300}}'), /^p\.yaml:4:23: error\[policies-invalid\] .* no property "tll"/],
  ['a required key that no document has', ruleWith('required: [tll]'), /no property "tll" here$/],
  ['a property of a list', ruleWith('properties: {recordSets: {properties: {ttl: {}}}}', 'zone'), /a list has no property "ttl"$/],
  ['items of no list', ruleWith('properties: {ttl: {items: {}}}'), /no list here$/],
  ['a property in a branch', ruleWith('anyOf: [{properties: {nmae: {}}}, {}]'), /no property "nmae" here$/],
  ['an address in $ref', ruleWith('$ref: https://a.test/b'), /^p\.yaml:4:11: .*\$ref cannot lead to "https:\/\/a\.test\/b"$/],
  ['a file in $ref', ruleWith('$ref: other.yaml#/0'), /\$ref cannot lead to/],
  ['a $ref without a goal', ruleWith('$ref: "#/$defs/a"\n$defs: {b: true}'), /\$defs has no "a"$/],
  ['a $ref to itself', ruleWith('$ref: "#/$defs/a"\n$defs: {a: {not: {$ref: "#/$defs/a"}}}'), /"a" refers to itself$/],
  ['an $id', ruleWith('$id: https://example.com/'), /policies cannot use "\$id"$/],
  ['uniqueItems', ruleWith('properties: {values: {uniqueItems: true}}'), /policies cannot use "uniqueItems"$/],
  ['a keyword of an earlier draft', ruleWith('definitions: {a: {}}'), /policies cannot use "definitions"$/],
  ['a keyword without effect', ruleWith('properties: {ttl: {default: 300}}'), /policies cannot use "default"$/],
  [
    'a pattern with large repetitions',
    ruleWith(`properties: {name: {pattern: '${'.{1,1000}'.repeat(6)}'}}`),
    /the pattern cannot be used: it has \d+ steps, with its repetitions; at most 10000 are allowed$/,
  ],
  ['a format', ruleWith('properties: {name: {format: hostname}}'), /policies cannot use "format"$/],
  ['a pattern with look-ahead', ruleWith("properties: {name: {pattern: '^(?!a)'}}"), /^p\.yaml:4:34: .*the pattern cannot be used/],
  ['a pattern with a back-reference', ruleWith("properties: {name: {pattern: '(a)\\1'}}"), /the pattern cannot be used/],
  ['a pattern that is too long', ruleWith(`properties: {name: {pattern: ${'a'.repeat(1001)}}}`), /1001 characters; at most 1000/],
  ['a pattern of a property', ruleWith("patternProperties: {'(': {}}"), /the pattern cannot be used/],
  ['no placeholder', ruleWithout('message: "{name} is wrong"'), /^p\.yaml:1:47: .*\{name\} is no placeholder/],
  ['an exception without an end', ruleWithout('exceptions: [{zone: x, reason: r}]'), /needs the key "until"$/],
  ['an exception without a reason', ruleWithout('exceptions: [{zone: x, until: 2099-01-01, reason: " "}]'), /the reason is empty$/],
  ['an exception until no day', ruleWithout('exceptions: [{zone: x, until: 2099-02-30, reason: r}]'), /"2099-02-30" is not a date/],
  ['an exception from everything', ruleWithout('exceptions: [{until: 2099-01-01, reason: r}]'), /names a zone, a name or a type$/],
  ['an exception for no type', ruleWithout('exceptions: [{type: AX, until: 2099-01-01, reason: r}]', 'change'), /"AX" is not a known/],
  ['absolute name', ruleWithout('exceptions: [{name: www., until: 2099-01-01, reason: r}]', 'change'), /^p\.yaml:1:60: .*"www\." is not/],
  ['test with an unknown key', ruleWithout('tests: [{given: {tll: 1}, expect: pass}]', 'record_set'), /^p\.yaml:1:66: .*no property "tll"/],
])('a policy file with an error has its place: %s', (_, text, expected) => {
  expect(read(text).rules).toEqual([])
  expect(problemsOf(text)).toEqual([expect.stringMatching(expected)])
})

test('a schema that $ref makes exponentially large is refused at once', () => {
  const doublings = Array.from({ length: 40 }, (_, i) => `d${i}: {allOf: [{$ref: "#/$defs/d${i + 1}"}, {$ref: "#/$defs/d${i + 1}"}]}`)
  expect(problemsOf(ruleWith(`$ref: "#/$defs/d0"\n$defs: {${doublings.join(', ')}, d40: {}}`))).toEqual([
    expect.stringContaining('the schema has more than 5000 subschemas'),
  ])
})

test('a pattern that backtracking matches in exponential time takes linear time', () => {
  const { rules } = read(ruleWith("properties: {data: {items: {not: {pattern: '^(a|a|aa)+$'}}}}"))
  expect(rules[0]?.problemOf({ data: [`${'a'.repeat(65_000)}!`] })).toBeNull()
  expect(rules[0]?.problemOf({ data: ['a'.repeat(65_000)] })).toEqual({
    path: ['data', '0'],
    text: 'data[0] must not match pattern "^(a|a|aa)+$"',
  })
})

test('patterns that share a schema are told apart', () => {
  const { rules } = read(ruleWith("properties: {name: {pattern: '^www'}, zone: {pattern: '^example'}}"))
  expect(rules[0]?.problemOf({ name: 'www.example.com.', zone: 'example.com.' })).toBeNull()
  expect(rules[0]?.problemOf({ name: 'www.example.com.', zone: 'www.example.com.' })?.text).toMatch(/^zone must match pattern/)
})

test('$ref leads to $defs of the same schema, and YAML anchors to other rules', () => {
  const { rules, diagnostics } = read(`- name: a
  each: record_set
  require: &low {properties: {ttl: {$ref: '#/$defs/low'}}, $defs: {low: {maximum: 60}}}
- {name: b, each: record_set, require: *low}
`)
  expect(diagnostics).toEqual([])
  expect(rules.map(({ problemOf }) => problemOf({ ttl: 61 })?.text)).toEqual(['ttl must be <= 60', 'ttl must be <= 60'])
})

test.each([
  ['properties: {ttl: {type: [integer, "null"]}}', 'ttl must be of the type integer or null'],
  ['properties: {ttl: {not: {const: x}}}', 'ttl must not be "x"'],
  ['properties: {ttl: {not: {enum: [x, y]}}}', 'ttl must not be one of "x", "y"'],
  ['properties: {data: {not: {contains: {const: 1}}}}', 'data must not contain the described items'],
  ['not: {properties: {ttl: {const: x}}, required: [ttl]}', 'must not be as described'],
  ['not: true', 'must not be as described'],
  ['$ref: "#/$defs/a~1b"\n$defs: {a/b: {properties: {ttl: {not: {const: x}}}}}', 'ttl must not be "x"'],
])('what %s refuses, in words', (schema, text) =>
  expect(read(ruleWith(schema)).rules[0]?.problemOf({ ttl: 'x', data: [1] })?.text).toBe(text),
)

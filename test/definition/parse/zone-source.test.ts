import { expect, test } from 'vitest'
import { diagnosticLines, parse } from '../parse.ts'

const definition = (source: string, record = '{type: A, value: 192.0.2.1}'): string =>
  `domain: example.com\nsoa_email: hostmaster@example.com\n${source}records:\n  www: ${record}\n`

test('are parsed with their place and their quarantine', () => {
  const sources =
    'sources:\n  - {provider: one}\n  - {provider: two, zone: corp.example.net, name: "*.apps", type: aaaa, quarantine: {reads: 1000, for: 30d}}\n'
  const { zone, ...parsed } = parse(definition(sources, '{type: TXT, from: {provider: one, name: "@", quarantine: {for: 0}}}'))
  expect(diagnosticLines({ zone, ...parsed })).toEqual([])
  expect(zone?.sources?.map(({ at: _, ...pattern }) => pattern)).toEqual([
    { provider: 'one', zone: 'example.com.' },
    { provider: 'two', zone: 'corp.example.net.', name: '*.apps', type: 'AAAA', quarantine: { reads: 1000, seconds: 2_592_000 } },
  ])
  expect(zone?.sourced?.map(({ name, ttl, query, quarantine }) => ({ name, ttl, query, quarantine }))).toEqual([
    {
      name: 'www.example.com.',
      ttl: null,
      query: { kind: 'zone', provider: 'one', zone: 'example.com.', name: 'example.com.' },
      quarantine: { seconds: 0 },
    },
  ])
})

test.each([
  ['sources: [{zone: example.net}]', 'sources[0]: the key provider is missing'],
  ['sources: [{provider: one, zone: "a..b"}]', 'sources: zone: '],
  ['sources: [{provider: one, type: "?"}]', 'sources: type must be a record type'],
  ['sources: [{provider: one, name: ""}]', 'name'],
  ['sources: [one]', 'sources[0] must be keys with values'],
  ['sources: {provider: one}', 'sources must be a list'],
])('%s is refused', (source, message) => expect(diagnosticLines(parse(definition(`${source}\n`))).join('\n')).toContain(message))

test.each([
  ['{reads: 0}', 'reads must be a number from 1 to 1000'],
  ['{reads: 1001}', 'reads must be a number from 1 to 1000'],
  ['{reads: -1}', 'reads must be a number from 1 to 1000'],
  ['{reads: 1.5}', 'reads must be a whole number'],
  ['{for: 31d}', 'for must be a time of at most 30 days'],
  ['{for: -1}', 'for must be a time of at most 30 days'],
  ['{for: soon}', 'for must be a time of at most 30 days'],
  ['{times: 3}', 'unknown key "times"'],
  ['3', 'quarantine must be keys with values'],
])('quarantine: %s is refused, and the source is not read without it', (quarantine, message) => {
  const text = definition(
    `sources: [{provider: one, quarantine: ${quarantine}}]\n`,
    `{type: A, from: {provider: one, quarantine: ${quarantine}}}`,
  )
  const { zone, ...parsed } = parse(text)
  expect(diagnosticLines({ zone, ...parsed }).map((line) => line.includes(message))).toEqual([true, true])
  expect([zone?.sources ?? [], zone?.sourced ?? []]).toEqual([[], []])
})

test.each([
  ['{type: A, from: {provider: one, name: www.example.net.}}', 'www.example.net. is not in example.com.'],
  ['{type: A, from: {provider: one, instances: {tag: web}, zone: example.net}}', 'zone selects a record set of a zone'],
  ['{type: A, value: 192.0.2.1, from: {provider: one}}', 'the record has both values and "from"'],
])('%s is refused', (record, message) => expect(diagnosticLines(parse(definition('', record))).join('\n')).toContain(message))

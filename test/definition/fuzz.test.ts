// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of fragments look like that

import { describe, expect, test } from 'vitest'
import { validate } from '../../generated/zone-schema.js'
import { failure, ok } from '../../src/base/result.ts'
import { formatDefinition } from '../../src/definition/print/format-definition.ts'
import { parseEditableYaml } from '../../src/definition/yaml/editable-yaml.ts'
import { toJsonValue } from '../../src/definition/yaml/plain-scalars.ts'
import { readYaml } from '../../src/definition/yaml/read-yaml.ts'
import { CORPUS } from '../convert/octodns/corpus.ts'
import { damagedText, fc, forAll } from '../support/fast-check.ts'
import { rounds } from '../support/random.ts'
import { parse, recordLines } from './parse.ts'

const SETTINGS = `# yaml-language-server: $schema=../schemas/zone.schema.json
domain: example.com
type: master
tags: [a, 'b']   # two
include: [x.yaml, {file: y.yaml, with: {ip: 192.0.2.10}}]
unmanaged: [{name: _acme*, type: TXT}]
records:
  # the apex
  '': [{type: A, value: &ip 192.0.2.1}, {type: MX, values: [{preference: 10, exchange: mail}]}]
  www: &www
    type: CNAME
    value: '@'
  ftp: {<<: *www, ttl: 1h}
  txt:
    type: TXT
    value: >-
      v=DKIM1\\; k=rsa
      p=abc
`

const SEEDS = [SETTINGS, ...CORPUS.flatMap(({ files }) => files.map(({ text }) => text)).filter((text) => text.length < 4000)]

/** Pieces with a meaning in YAML or in a definition. */
const PIECES = [
  ...[...'* *a { } [ ] " |\n >-\n'.split(' '), ...['&a ', '<<: ', '!include x.yaml', '!!str ', '!x ', '- ', '? ', ': ', ', ', "'", '\\']],
  ...[...'# \n \r\n \n\n \t ---\n ...\n ~ null yes 010 1e2 .inf \u0000 \ufeff'.split(' '), ...[' # c\n', '  ', '%YAML 1.2\n']],
  ...['\u2028', 'é', '😀', '\ud800', '__proto__', 'domain: ', 'type: ', 'values: ', 'records:\n', 'octodns: ', 'ttl: -1', '${ip}', "''"],
] as const

const damaged = (edits: fc.ArrayConstraints) => damagedText(SEEDS, PIECES, edits)

/** Text that consists of pieces. */
const pieces = fc.array(fc.constantFrom(...PIECES, 'a', 'b.c', '1'), { maxLength: 40 }).map((list) => list.join(''))
const include = (path: string) => (path === 'x.yaml' ? ok({ file: path, text: 'x: !include y.yaml\n' }) : failure('there is no such file'))

describe('damaged files', () => {
  test('quickly give a zone or errors with positions', () => {
    forAll(rounds(1000), fc.oneof(damaged({ maxLength: 6 }), pieces), (text) => {
      const { zone, diagnostics } = parse(text, { include })
      expect(zone !== null || diagnostics.length > 0).toBe(true)
      for (const { at, message } of diagnostics) {
        expect(at).toBeDefined()
        expect(message.length).toBeLessThan(1000)
      }
    })
  })

  test('give a diagnostic if the schema refuses them', () => {
    forAll(rounds(500), damaged({ minLength: 1, maxLength: 2 }), (text) => {
      const { root, diagnostics } = readYaml(text, { file: 'zone.yaml' })
      if (root === null || diagnostics.length > 0 || validate(toJsonValue(root))) return
      expect(parse(text, { include }).diagnostics.length).toBeGreaterThan(0)
    })
  })

  test('are formatted without a change of meaning, or not at all', () => {
    let formattedCount = 0
    forAll(rounds(500), fc.oneof(damaged({ maxLength: 2 }), pieces), (text) => {
      const formatted = formatDefinition(text)
      if (!formatted.ok) return
      formattedCount += 1
      expect(formatDefinition(formatted.value)).toEqual(formatted)
      expect(recordLines(parse(formatted.value)).sort()).toEqual(recordLines(parse(text)).sort())
    })
    expect(formattedCount).toBeGreaterThan(rounds(60))
  })
})

describe('the two parsers', () => {
  test('accept every valid file', () => {
    for (const text of SEEDS) expect(parseEditableYaml(text)).toMatchObject({ ok: true })
  })

  test('agree on nearly all files that the first one accepts', () => {
    let accepted = 0
    let agreed = 0
    forAll(rounds(500), fc.oneof(damaged({ minLength: 1, maxLength: 2 }), pieces), (text) => {
      const { root, diagnostics } = readYaml(text, { file: '' })
      if (root === null || diagnostics.length > 0) return
      accepted += 1
      if (parseEditableYaml(text).ok) agreed += 1
    })
    expect(accepted).toBeGreaterThan(rounds(60))
    expect(agreed / accepted).toBeGreaterThan(0.9)
  })
})
